//! `grpc.wasm`: calls over gRPC, step by step, as the header `x-grpc` of a request says, and answers with what came of it.
//!
//! It speaks to the host without any sdk, since those hide numbers, and what arrives while a call is under way.
#![cfg(target_arch = "wasm32")]

#[path = "grpc/abi.rs"]
mod abi;
#[path = "grpc/script.rs"]
mod script;
#[path = "grpc/transcript.rs"]
mod transcript;

use std::cell::RefCell;

use abi::Event;
use script::Script;

#[used]
#[unsafe(link_section = "dragoman.callbacks")]
static CALLBACKS: [u8; 122] = *b"request_headers request_body tick log grpc_receive_initial_metadata grpc_receive grpc_receive_trailing_metadata grpc_close";

thread_local! {
    /// The script of the request that came last; a test sends one at a time.
    static SCRIPT: RefCell<Script> = RefCell::default();
}

/// What arrived; the script goes on if it waited for that. Nothing is borrowed while the host runs.
fn arrived(event: Event) {
    transcript::note(&event.line());
    SCRIPT.with_borrow_mut(|script| script.arrived(event.kind()));
    go_on();
}

/// Carries out steps until one has to wait.
fn go_on() {
    while let Some(step) = SCRIPT.with_borrow_mut(Script::next) {
        step.carry_out();
        SCRIPT.with_borrow_mut(Script::done);
    }
}
