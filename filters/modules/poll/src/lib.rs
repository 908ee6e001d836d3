//! The module `poll.wasm`.
#![cfg(target_arch = "wasm32")]
#![allow(
    missing_docs,
    reason = "the start function comes from a macro of the SDK"
)]

dragoman_sdk::module!(service dragoman_poll::Poll, callbacks: b"tick http_call_response");
