//! WASI as Envoy has it: a few calls that work, and fixed refusals for the rest.
//!
//! The table was taken from a running Envoy 1.40, call by call, in a guest's start functions, in its
//! allocator and while it runs. Signatures are Envoy's too: its `path_link` and `path_symlink` lack
//! a parameter of WASI's, so a module that imports them as WASI has them does not load.

mod environment;
mod fixed;
mod output;

use host_sim_host::abi::Answer;
use wasmtime::{Caller, Linker};

use crate::data::{Data, Phase};
use crate::io::{Io, import_in};

const EBADF: u32 = 8;
const EFAULT: u32 = 21;
const EINVAL: u32 = 28;
const ENOTSUP: u32 = 58;
/// Envoy hands out no more random bytes in one call.
const MAX_RANDOM_BYTES: u32 = 64 * 1024;

/// A call with an errno instead of a status of the ABI.
fn call(
    caller: Caller<'_, Data>,
    phase: Phase,
    body: impl FnOnce(&mut Io<'_, '_>) -> Answer<u32>,
) -> wasmtime::Result<u32> {
    let mut errno = 0;
    let status = import_in(caller, phase, |io| {
        errno = body(io)?;
        Ok(())
    })?;
    Ok(if status == 0 { errno } else { EFAULT })
}

pub(super) fn link(linker: &mut Linker<Data>, module: &str) -> wasmtime::Result<()> {
    fixed::link(linker, module)?;
    output::link(linker, module)?;
    clocks(linker, module)?;
    environment::link(linker, module)
}

fn clocks(linker: &mut Linker<Data>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(
        module,
        "clock_time_get",
        |caller: Caller<'_, Data>, clock: u32, _precision: u64, out: u32| {
            call(caller, Phase::Allocating, |io| {
                let host = io.host()?;
                let now = match clock {
                    0 => host.get_current_time_nanoseconds(),
                    1 => u64::try_from(host.monotonic().as_nanos()).unwrap_or(u64::MAX),
                    _ => return Ok(ENOTSUP),
                };
                io.put_u64(out, now)?;
                Ok(0)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "clock_res_get",
        |caller: Caller<'_, Data>, clock: u32, out: u32| {
            call(caller, Phase::Starting, |io| {
                if clock > 1 {
                    return Ok(ENOTSUP);
                }
                io.put_u64(out, 1)?;
                Ok(0)
            })
        },
    )?;
    // No events: a sleep returns at once.
    linker.func_wrap(
        module,
        "poll_oneoff",
        |caller: Caller<'_, Data>, _in: u32, _out: u32, _count: u32, events_out: u32| {
            call(caller, Phase::Allocating, |io| {
                io.put_u32(events_out, 0)?;
                Ok(0)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "random_get",
        |caller: Caller<'_, Data>, at: u32, length: u32| {
            call(caller, Phase::Starting, |io| {
                if length > MAX_RANDOM_BYTES {
                    return Ok(EINVAL);
                }
                let mut bytes = vec![0; length as usize];
                io.host()?.random(&mut bytes);
                io.put(at, &bytes)?;
                Ok(0)
            })
        },
    )?;
    Ok(())
}
