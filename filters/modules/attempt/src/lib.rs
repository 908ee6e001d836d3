//! The module `attempt.wasm`.
#![cfg(target_arch = "wasm32")]
#![allow(
    missing_docs,
    reason = "the start function comes from a macro of the SDK"
)]

dragoman_sdk::module!(dragoman_attempt::Attempt, callbacks: b"request_headers request_body request_trailers response_headers response_body response_trailers done tick");
