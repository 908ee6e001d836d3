//! Instructions as a watcher sees them.

use std::sync::{Arc, Mutex};

use host_sim_host::abi::watch::{View, Watcher, Whose};
use host_sim_host::abi::{Call, Trap};

use crate::stage::{module, start_watched};

/// Instructions of each `on_request_headers`.
#[derive(Debug, Default)]
struct Counted(Mutex<Vec<u64>>);

impl Watcher for Counted {
    fn returned(
        &self,
        _whose: &Whose,
        call: &Call,
        _answer: Result<u32, &Trap>,
        instructions: u64,
        _view: &mut View<'_>,
    ) {
        if matches!(call, Call::RequestHeaders { .. }) {
            self.0.lock().unwrap().push(instructions);
        }
    }
}

/// Instructions of two requests to a guest that runs this body.
fn instructions(body: &str) -> [u64; 2] {
    let counted = Arc::new(Counted::default());
    let text = format!(
        r#"(global $round (mut i32) (i32.const 0))
           (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32) {body} (i32.const 0))"#
    );
    let mut stage = start_watched(&module("", &text), counted.clone()).unwrap();
    stage.request(1, &[]);
    stage.request(2, &[]);
    let counted = counted.0.lock().unwrap();
    counted.as_slice().try_into().unwrap()
}

#[test]
fn the_same_call_takes_the_same_instructions_every_time() {
    let [first, second] = instructions("");
    assert!(first > 0);
    assert_eq!(first, second);
}

#[test]
fn every_instruction_counts_once() {
    let [shorter, _] = instructions("(nop) (drop (i32.const 1))");
    let [longer, _] = instructions(
        "(nop) (drop (i32.const 1)) (global.set $round (i32.add (global.get $round) (i32.const 1)))",
    );
    // Four more: get, const, add, set.
    assert_eq!(longer - shorter, 4);
}

#[test]
fn a_call_that_traps_counts_as_far_as_it_came() {
    let counted = Arc::new(Counted::default());
    let text = r#"(func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32) unreachable)"#;
    let mut stage = start_watched(&module("", text), counted.clone()).unwrap();
    stage.request(1, &[]);
    let counted = counted.0.lock().unwrap();
    assert!(matches!(counted.as_slice(), [1..10]), "{counted:?}");
}
