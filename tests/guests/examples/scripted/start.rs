//! The start of the VM, and memory for the host.

use std::mem;

use crate::imports::proxy_log;
use crate::run::{self, Event};
use crate::{script, vm, wasi};

/// Environment variable with the lines for `initialize`.
const START: &str = "SCRIPT_INITIALIZE";

unsafe extern "C" {
    safe fn __wasm_call_ctors();
}

#[unsafe(no_mangle)]
extern "C" fn proxy_abi_version_0_2_1() {}

#[unsafe(no_mangle)]
extern "C" fn _initialize() {
    __wasm_call_ctors();
    let mut tag = [0; 4];
    let _ = wasi::random_get(tag.as_mut_ptr(), tag.len());
    vm::set_tag(format!("{:08x}", u32::from_le_bytes(tag)));
    match script::parse(&std::env::var(START).unwrap_or_default()) {
        Ok(lines) => vm::set_script(0, lines),
        Err(line) => run::say(&format!("no such line: {line}")),
    }
    let _ = run::run(&Event::new("initialize", 0, &[]));
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_memory_allocate(size: usize) -> *mut u8 {
    if vm::take_arm() {
        let _ = run::run(&Event::new("memory_allocate", 0, &[]));
    }
    let mut bytes = mem::ManuallyDrop::new(Vec::<u8>::with_capacity(size));
    bytes.as_mut_ptr()
}

/// A line of this module in the host's log, at info.
pub fn log(text: &str) -> u32 {
    proxy_log(2, text.as_ptr(), text.len())
}
