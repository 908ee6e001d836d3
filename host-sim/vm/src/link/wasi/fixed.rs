//! Calls that always answer the same.

use wasmtime::{FuncType, Linker, Val, ValType};

use super::{EBADF, ENOTSUP};
use crate::data::{Data, Phase};

/// Name, parameters (`i` for 32 bits, `I` for 64), errno.
const ALWAYS: [(&str, &str, u32); 23] = [
    ("args_get", "ii", 0),
    ("fd_advise", "iIIi", 0),
    ("fd_prestat_get", "ii", EBADF),
    ("fd_filestat_get", "ii", EBADF),
    ("fd_prestat_dir_name", "iii", 52),
    ("fd_pread", "iiiIi", 52),
    ("fd_fdstat_set_flags", "ii", 52),
    ("fd_readdir", "iiiIi", 20),
    ("path_create_directory", "iii", ENOTSUP),
    ("path_filestat_get", "iiiii", ENOTSUP),
    ("path_filestat_set_times", "iiiiIIi", ENOTSUP),
    ("path_link", "iiiiii", ENOTSUP),
    ("path_readlink", "iiiiii", ENOTSUP),
    ("path_remove_directory", "iii", ENOTSUP),
    ("path_rename", "iiiiii", ENOTSUP),
    ("path_symlink", "iiii", ENOTSUP),
    ("path_unlink_file", "iii", ENOTSUP),
    ("sock_accept", "iii", ENOTSUP),
    ("sock_recv", "iiiiii", ENOTSUP),
    ("sock_send", "iiiii", ENOTSUP),
    ("sock_shutdown", "ii", ENOTSUP),
    ("fd_close", "i", 0),
    ("fd_seek", "iIii", 0),
];

/// The same, for stdout and stderr (which succeed) and all others (which do not).
const ON_STDIO: [(&str, &str); 6] = [
    ("fd_allocate", "iII"),
    ("fd_sync", "i"),
    ("fd_datasync", "i"),
    ("fd_filestat_set_size", "iI"),
    ("fd_filestat_set_times", "iIIi"),
    ("fd_fdstat_set_rights", "iII"),
];

/// Those that the start functions may not call.
const RUNNING_ONLY: [(&str, &str, u32); 3] = [
    ("sched_yield", "", 0),
    ("path_open", "iiiiiIIii", 44),
    ("fd_read", "iiii", 52),
];

/// Those of [`ALWAYS`] that the start functions may not call either.
const NOT_AT_START: [&str; 2] = ["fd_close", "fd_seek"];

pub(super) fn link(linker: &mut Linker<Data>, module: &str) -> wasmtime::Result<()> {
    for (name, parameters, errno) in ALWAYS.into_iter().chain(RUNNING_ONLY) {
        let late = RUNNING_ONLY.iter().any(|(late, ..)| *late == name);
        let phase = if late || NOT_AT_START.contains(&name) {
            Phase::Running
        } else {
            Phase::Starting
        };
        answer(linker, module, name, parameters, phase, move |_| errno)?;
    }
    for (name, parameters) in ON_STDIO {
        answer(linker, module, name, parameters, Phase::Starting, |fds| {
            if stdio(fds.first()) { 0 } else { EBADF }
        })?;
    }
    answer(
        linker,
        module,
        "fd_renumber",
        "ii",
        Phase::Starting,
        |fds| {
            if fds.iter().all(|fd| stdio(Some(fd))) {
                ENOTSUP
            } else {
                EBADF
            }
        },
    )
}

fn stdio(fd: Option<&Val>) -> bool {
    matches!(fd, Some(Val::I32(1 | 2)))
}

/// Links a call whose errno is made of its arguments alone.
fn answer(
    linker: &mut Linker<Data>,
    module: &str,
    name: &str,
    parameters: &str,
    phase: Phase,
    errno: impl Fn(&[Val]) -> u32 + Send + Sync + 'static,
) -> wasmtime::Result<()> {
    let kinds = parameters.chars().map(|kind| {
        if kind == 'I' {
            ValType::I64
        } else {
            ValType::I32
        }
    });
    let kind = FuncType::new(linker.engine(), kinds, [ValType::I32]);
    linker.func_new(module, name, kind, move |caller, arguments, results| {
        caller.data().check(phase)?;
        if let Some(result) = results.first_mut() {
            *result = Val::I32(errno(arguments).cast_signed());
        }
        Ok(())
    })?;
    Ok(())
}
