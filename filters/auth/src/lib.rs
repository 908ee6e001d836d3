//! dragoman-auth
