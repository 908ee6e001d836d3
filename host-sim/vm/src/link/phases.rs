//! From when on a guest may call an import. Envoy holds nearly all of them back while the start
//! functions run, and again while the guest allocates inside a host call.

use crate::data::Phase;

/// What an allocator may call.
const ALLOCATING: [&str; 4] = ["proxy_log", "fd_write", "clock_time_get", "poll_oneoff"];

/// The only other import of `env` that the start functions may call.
const STARTING: &str = "emscripten_notify_memory_growth";

/// What the start functions may not call of WASI.
const RUNNING_WASI: [&str; 6] = [
    "fd_close",
    "fd_read",
    "fd_seek",
    "path_open",
    "proc_exit",
    "sched_yield",
];

/// The first phase in which an import may be called.
pub(super) fn phase_of(module: &str, name: &str) -> Phase {
    if ALLOCATING.contains(&name) {
        Phase::Allocating
    } else if module == "env" {
        if name == STARTING {
            Phase::Starting
        } else {
            Phase::Running
        }
    } else if RUNNING_WASI.contains(&name) {
        Phase::Running
    } else {
        Phase::Starting
    }
}
