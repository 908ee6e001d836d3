//! The module `auth.wasm`.
#![cfg(target_arch = "wasm32")]
#![allow(
    missing_docs,
    reason = "the start function comes from a macro of the SDK"
)]

dragoman_sdk::module!(dragoman_auth::Auth, callbacks: b"request_headers request_body request_trailers");
