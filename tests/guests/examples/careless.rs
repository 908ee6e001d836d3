//! `careless.wasm`: the same filter without a body callback.
#![cfg(target_arch = "wasm32")]

dragoman_sdk::module!(guests::Asking, callbacks: b"request_headers http_call_response");
