//! dragoman-idempotency
