//! WASI as Envoy has it: a few calls that work, and fixed refusals for the rest.

use host_sim_host::abi::{Answer, Refusal};
use wasmtime::{Caller, FuncType, Linker, Val, ValType};

use crate::data::{Data, Phase};
use crate::io::{Io, import};

const EBADF: u32 = 8;
const EINVAL: u32 = 28;
const EFAULT: u32 = 21;
const ENOTSUP: u32 = 58;
/// Envoy hands out no more random bytes in one call.
const MAX_RANDOM_BYTES: u32 = 64 * 1024;
/// More pieces than this in one write are no write of a guest's.
const MAX_PIECES: u32 = 1024;

/// Calls that always answer the same: name, parameters (`i` for 32 bits, `I` for 64), errno.
const FIXED: [(&str, &str, u32); 32] = [
    ("args_get", "ii", 0),
    ("sched_yield", "", 0),
    ("fd_seek", "iIii", 0),
    ("fd_close", "i", 0),
    ("fd_advise", "iIIi", 0),
    ("path_open", "iiiiiIIii", 44),
    ("fd_prestat_get", "ii", EBADF),
    ("fd_filestat_get", "ii", EBADF),
    ("fd_prestat_dir_name", "iii", 52),
    ("fd_read", "iiii", 52),
    ("fd_pread", "iiiIi", 52),
    ("fd_fdstat_set_flags", "ii", 52),
    ("fd_readdir", "iiiIi", 20),
    ("path_create_directory", "iii", ENOTSUP),
    ("path_filestat_get", "iiiii", ENOTSUP),
    ("path_filestat_set_times", "iiiiIIi", ENOTSUP),
    ("path_link", "iiiiiii", ENOTSUP),
    ("path_readlink", "iiiiii", ENOTSUP),
    ("path_remove_directory", "iii", ENOTSUP),
    ("path_rename", "iiiiii", ENOTSUP),
    ("path_symlink", "iiiii", ENOTSUP),
    ("path_unlink_file", "iii", ENOTSUP),
    ("sock_accept", "iii", ENOTSUP),
    ("sock_recv", "iiiiii", ENOTSUP),
    ("sock_send", "iiiii", ENOTSUP),
    ("sock_shutdown", "ii", ENOTSUP),
    ("fd_allocate", "iII", EBADF),
    ("fd_sync", "i", EBADF),
    ("fd_datasync", "i", EBADF),
    ("fd_filestat_set_size", "iI", EBADF),
    ("fd_filestat_set_times", "iIIi", EBADF),
    ("fd_fdstat_set_rights", "iII", EBADF),
];

/// Those of [`FIXED`] that succeed on stdout and stderr.
const FINE_ON_STDIO: [&str; 6] = [
    "fd_allocate",
    "fd_sync",
    "fd_datasync",
    "fd_filestat_set_size",
    "fd_filestat_set_times",
    "fd_fdstat_set_rights",
];

/// A call with an errno instead of a status of the ABI.
fn call(
    caller: Caller<'_, Data>,
    body: impl FnOnce(&mut Io<'_, '_>) -> Answer<u32>,
) -> wasmtime::Result<u32> {
    let mut errno = 0;
    let status = import(caller, |io| {
        errno = body(io)?;
        Ok(())
    })?;
    Ok(if status == 0 { errno } else { EFAULT })
}

pub(super) fn link(linker: &mut Linker<Data>, module: &str) -> wasmtime::Result<()> {
    for (name, parameters, errno) in FIXED {
        let kinds = parameters.chars().map(|kind| {
            if kind == 'I' {
                ValType::I64
            } else {
                ValType::I32
            }
        });
        let kind = FuncType::new(linker.engine(), kinds, [ValType::I32]);
        let fine = FINE_ON_STDIO.contains(&name);
        linker.func_new(module, name, kind, move |_, arguments, results| {
            let stdio = matches!(arguments.first(), Some(Val::I32(1 | 2)));
            results[0] = Val::I32(if fine && stdio {
                0
            } else {
                errno.cast_signed()
            });
            Ok(())
        })?;
    }
    output(linker, module)?;
    clocks(linker, module)?;
    environment(linker, module)
}

fn write(io: &mut Io<'_, '_>, fd: u32, pieces: u32, count: u32, written_out: u32) -> Answer<u32> {
    if fd != 1 && fd != 2 {
        return Ok(EBADF);
    }
    let mut text = Vec::new();
    for index in 0..count.min(MAX_PIECES) {
        let at = pieces.wrapping_add(index * 8);
        let (pointer, length) = (io.get_u32(at)?, io.get_u32(at.wrapping_add(4))?);
        text.extend(io.bytes(pointer, length)?);
    }
    io.host_in(Phase::Allocating)?.write(fd, &text);
    io.put_u32(written_out, u32::try_from(text.len()).unwrap_or(u32::MAX))?;
    Ok(0)
}

fn output(linker: &mut Linker<Data>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(
        module,
        "fd_write",
        |caller: Caller<'_, Data>, fd: u32, pieces: u32, count: u32, out: u32| {
            call(caller, |io| write(io, fd, pieces, count, out))
        },
    )?;
    linker.func_wrap(
        module,
        "fd_pwrite",
        |caller: Caller<'_, Data>, fd: u32, pieces: u32, count: u32, _offset: u64, out: u32| {
            call(caller, |io| write(io, fd, pieces, count, out))
        },
    )?;
    linker.func_wrap(
        module,
        "fd_fdstat_get",
        |caller: Caller<'_, Data>, fd: u32, out: u32| {
            call(caller, |io| {
                if fd != 1 && fd != 2 {
                    return Ok(EBADF);
                }
                // A character device that can be written and nothing else.
                let mut stat = [0_u8; 24];
                stat[0] = 2;
                stat[8] = 64;
                io.put(out, &stat)?;
                Ok(0)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "fd_tell",
        |caller: Caller<'_, Data>, fd: u32, out: u32| {
            call(caller, |io| {
                if fd != 1 && fd != 2 {
                    return Ok(EBADF);
                }
                io.put_u64(out, 0)?;
                Ok(0)
            })
        },
    )?;
    // Envoy only logs this and returns: the guest goes on, into whatever stands behind it.
    linker.func_wrap(
        module,
        "proc_exit",
        |caller: Caller<'_, Data>, code: u32| {
            call(caller, |io| {
                io.host_in(Phase::Starting)?.write(
                    2,
                    format!("proc_exit({code}) is not an exit here").as_bytes(),
                );
                Ok(0)
            })
            .map(|_| ())
        },
    )?;
    Ok(())
}

fn clocks(linker: &mut Linker<Data>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(
        module,
        "clock_time_get",
        |caller: Caller<'_, Data>, clock: u32, _precision: u64, out: u32| {
            call(caller, |io| {
                let host = io.host_in(Phase::Allocating)?;
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
        |caller: Caller<'_, Data>, _clock: u32, out: u32| {
            call(caller, |io| {
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
            call(caller, |io| {
                io.put_u32(events_out, 0)?;
                Ok(0)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "random_get",
        |caller: Caller<'_, Data>, at: u32, length: u32| {
            call(caller, |io| {
                if length > MAX_RANDOM_BYTES {
                    return Ok(EINVAL);
                }
                let mut bytes = vec![0; length as usize];
                io.host_in(Phase::Starting)?.random(&mut bytes);
                io.put(at, &bytes)?;
                Ok(0)
            })
        },
    )?;
    Ok(())
}

fn environment(linker: &mut Linker<Data>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(
        module,
        "args_sizes_get",
        |caller: Caller<'_, Data>, count_out: u32, size_out: u32| {
            call(caller, |io| {
                io.put_u32(count_out, 0)?;
                io.put_u32(size_out, 0)?;
                Ok(0)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "environ_sizes_get",
        |caller: Caller<'_, Data>, count_out: u32, size_out: u32| {
            call(caller, |io| {
                let variables = io.host_in(Phase::Starting)?.environment();
                let size: usize = variables.iter().map(|variable| variable.len() + 1).sum();
                io.put_u32(count_out, number(variables.len())?)?;
                io.put_u32(size_out, number(size)?)?;
                Ok(0)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "environ_get",
        |caller: Caller<'_, Data>, pointers: u32, mut text: u32| {
            call(caller, |io| {
                let variables = io.host_in(Phase::Starting)?.environment();
                for (index, variable) in variables.iter().enumerate() {
                    io.put_u32(pointers.wrapping_add(number(index * 4)?), text)?;
                    let bytes = [variable.as_bytes(), b"\0"].concat();
                    io.put(text, &bytes)?;
                    text = text.wrapping_add(number(bytes.len())?);
                }
                Ok(0)
            })
        },
    )?;
    Ok(())
}

fn number(value: usize) -> Answer<u32> {
    u32::try_from(value).map_err(|_| Refusal::Stop("environment too large".to_owned()))
}
