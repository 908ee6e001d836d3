//! The module `rate_limit.wasm`.
#![cfg(target_arch = "wasm32")]
#![allow(
    missing_docs,
    reason = "the start function comes from a macro of the SDK"
)]

dragoman_sdk::module!(dragoman_rate_limit::RateLimit, callbacks: b"request_headers response_headers");
