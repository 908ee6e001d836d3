//! `trapping.wasm`: the filter `idempotency`, which traps when a worker says so.
#![cfg(target_arch = "wasm32")]

use dragoman_idempotency::Idempotency;

dragoman_sdk::module!(guests::Trapping<Idempotency>, callbacks: b"request_headers response_headers response_body response_trailers log tick");
