//! Logging, status, time, ticks, contexts, foreign functions, and what the toolchains expect.

use host_sim_host::abi::Status;
use wasmtime::{Caller, Linker};

use crate::data::{Data, Phase};
use crate::io::{import, import_in};

/// `critical`; a higher level is a bad argument, whatever the text.
const LAST_LOG_LEVEL: u32 = 5;

pub(super) fn link(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_log",
        |caller: Caller<'_, Data>, level: u32, at: u32, length: u32| {
            import_in(caller, Phase::Allocating, |io| {
                if level > LAST_LOG_LEVEL {
                    return Err(Status::BadArgument.into());
                }
                let text = io.bytes(at, length)?;
                io.host()?.log(level, &text)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_get_log_level",
        |caller: Caller<'_, Data>, out: u32| {
            import(caller, |io| {
                let level = io.host()?.get_log_level();
                io.put_u32(out, level)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_get_status",
        |caller: Caller<'_, Data>, code_out: u32, pointer_out: u32, length_out: u32| {
            import(caller, |io| {
                let (code, message) = io.host()?.get_status();
                io.put_u32(code_out, code)?;
                io.give(&message, pointer_out, length_out)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_get_current_time_nanoseconds",
        |caller: Caller<'_, Data>, out: u32| {
            import(caller, |io| {
                let now = io.host()?.get_current_time_nanoseconds();
                io.put_u64(out, now)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_set_tick_period_milliseconds",
        |caller: Caller<'_, Data>, period_ms: u32| {
            import(caller, |io| {
                io.host()?.set_tick_period_milliseconds(period_ms)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_set_effective_context",
        |caller: Caller<'_, Data>, context: u32| {
            import(caller, |io| io.host()?.set_effective_context(context))
        },
    )?;
    linker.func_wrap("env", "proxy_done", |caller: Caller<'_, Data>| {
        import(caller, |io| io.host()?.done())
    })?;
    foreign(linker)?;
    toolchain(linker)
}

fn foreign(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_call_foreign_function",
        |caller: Caller<'_, Data>,
         name: u32,
         name_length: u32,
         argument: u32,
         argument_length: u32,
         pointer_out: u32,
         length_out: u32| {
            import(caller, |io| {
                let name = io.bytes(name, name_length)?;
                let argument = io.bytes(argument, argument_length)?;
                if !io.host()?.knows_foreign_function(&name) {
                    return Err(Status::NotFound.into());
                }
                let result = io.host()?.call_foreign_function(&name, &argument);
                // Envoy writes both numbers whatever came out, unless the guest does not want them.
                let bytes = result.as_deref().unwrap_or_default();
                io.give_if_wanted(bytes, pointer_out, length_out)?;
                result.map(|_| ())
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "envoy_resolve_dns",
        |caller: Caller<'_, Data>, name: u32, name_length: u32, token_out: u32| {
            import(caller, |io| {
                let name = io.bytes(name, name_length)?;
                // Nothing is looked up for a guest that cannot be told the token.
                io.put_u32(token_out, 0)?;
                let token = io.host()?.resolve_dns(&name)?;
                io.put_u32(token_out, token)?;
                io.run_nested()
            })
        },
    )?;
    Ok(())
}

/// What Emscripten's modules import.
fn toolchain(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "pthread_equal",
        |caller: Caller<'_, Data>, left: u32, right: u32| {
            caller.data().check(Phase::Running)?;
            Ok(u32::from(left == right))
        },
    )?;
    linker.func_wrap(
        "env",
        "emscripten_notify_memory_growth",
        |caller: Caller<'_, Data>, _: u32| caller.data().check(Phase::Starting),
    )?;
    Ok(())
}
