//! `asking.wasm`: the filter as it should be.
#![cfg(target_arch = "wasm32")]

dragoman_sdk::module!(guests::Asking, callbacks: b"request_headers request_body request_trailers http_call_response");
