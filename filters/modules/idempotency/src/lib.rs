//! The module `idempotency.wasm`.
#![cfg(target_arch = "wasm32")]
#![allow(
    missing_docs,
    reason = "the start function comes from a macro of the SDK"
)]

dragoman_sdk::module!(dragoman_idempotency::Idempotency, callbacks: b"request_headers response_headers response_body response_trailers log tick");
