//! `scripted.wasm`: carries out its configuration, step by step, and says in its log what it is called for and what each host call
//! answers. It imports all of ABI 0.2.1, exports every callback, and has no rules: no status makes it trap.
#![cfg(target_arch = "wasm32")]

#[path = "scripted/answer.rs"]
mod answer;
#[path = "scripted/callbacks.rs"]
mod callbacks;
#[path = "scripted/imports.rs"]
mod imports;
#[path = "scripted/run.rs"]
mod run;
#[path = "scripted/script.rs"]
mod script;
#[path = "scripted/start.rs"]
mod start;
#[path = "scripted/steps.rs"]
mod steps;
#[path = "scripted/toolchain.rs"]
mod toolchain;
#[path = "scripted/vm.rs"]
mod vm;
#[path = "scripted/wasi.rs"]
mod wasi;
#[path = "scripted/words.rs"]
mod words;
