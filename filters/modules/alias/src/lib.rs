//! The module `alias.wasm`.
#![cfg(target_arch = "wasm32")]

dragoman_sdk::module!(dragoman_alias::Alias, callbacks: b"request_headers request_body request_trailers");
