//! `idle.wasm`: does nothing, in two callbacks.
#![cfg(target_arch = "wasm32")]

dragoman_sdk::module!(guests::Idle, callbacks: b"request_headers response_headers");
