//! dragoman-rate_limit
