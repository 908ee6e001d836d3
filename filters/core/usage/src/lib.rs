//! dragoman-usage
