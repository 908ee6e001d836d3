//! dragoman-poll
