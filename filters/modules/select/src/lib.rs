//! The module `select.wasm`.
#![cfg(target_arch = "wasm32")]

dragoman_sdk::module!(dragoman_select::Select, callbacks: b"request_headers");
