//! Standard output and standard error, which are the log, and the end that is none.

use host_sim_host::abi::Answer;
use wasmtime::{Caller, Linker};

use super::{EBADF, call};
use crate::data::{Data, Phase};
use crate::io::Io;

/// More pieces than this in one write are no write of a guest's.
const MAX_PIECES: u32 = 1024;

fn write(io: &mut Io<'_, '_>, fd: u32, pieces: u32, count: u32, written_out: u32) -> Answer<u32> {
    if fd != 1 && fd != 2 {
        return Ok(EBADF);
    }
    let mut text = Vec::new();
    for index in 0..count.min(MAX_PIECES) {
        let at = pieces.wrapping_add(index * 8);
        let (pointer, length) = (io.get_u32(at)?, io.get_u32(at.wrapping_add(4))?);
        // The pointer of an empty piece may point anywhere.
        if length > 0 {
            text.extend(io.bytes(pointer, length)?);
        }
    }
    if !text.is_empty() {
        io.host()?.write(fd, &text);
    }
    io.put_u32(written_out, u32::try_from(text.len()).unwrap_or(u32::MAX))?;
    Ok(0)
}

pub(super) fn link(linker: &mut Linker<Data>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(
        module,
        "fd_write",
        |caller: Caller<'_, Data>, fd: u32, pieces: u32, count: u32, out: u32| {
            call(caller, Phase::Allocating, |io| {
                write(io, fd, pieces, count, out)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "fd_pwrite",
        |caller: Caller<'_, Data>, fd: u32, pieces: u32, count: u32, _offset: u64, out: u32| {
            call(caller, Phase::Starting, |io| {
                write(io, fd, pieces, count, out)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "fd_fdstat_get",
        |caller: Caller<'_, Data>, fd: u32, out: u32| {
            call(caller, Phase::Starting, |io| {
                if fd != 1 && fd != 2 {
                    return Ok(EBADF);
                }
                // A file of no known kind that can be written and nothing else.
                let mut stat = [0_u8; 24];
                stat[8] = 64;
                // Envoy does not look whether there was room for it.
                let _ = io.put(out, &stat);
                Ok(0)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "fd_tell",
        |caller: Caller<'_, Data>, fd: u32, out: u32| {
            call(caller, Phase::Starting, |io| {
                if fd != 1 && fd != 2 {
                    return Ok(EBADF);
                }
                io.put_u64(out, 0)?;
                Ok(0)
            })
        },
    )?;
    // Envoy returns: the guest goes on, into whatever stands behind it.
    linker.func_wrap(
        module,
        "proc_exit",
        |caller: Caller<'_, Data>, code: u32| {
            call(caller, Phase::Running, |io| {
                io.host()?.exit(code);
                Ok(0)
            })
            .map(|_| ())
        },
    )?;
    Ok(())
}
