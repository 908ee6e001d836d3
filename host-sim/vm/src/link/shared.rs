//! Shared data and shared queues.

use wasmtime::{Caller, Linker};

use crate::data::Data;
use crate::io::import;

pub(super) fn link(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_get_shared_data",
        |caller: Caller<'_, Data>,
         key: u32,
         key_length: u32,
         pointer_out: u32,
         length_out: u32,
         cas_out: u32| {
            import(caller, |io| {
                let key = io.bytes(key, key_length)?;
                let (value, cas) = io.host()?.get_shared_data(&key)?;
                io.give(&value, pointer_out, length_out)?;
                io.put_u32(cas_out, cas)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_set_shared_data",
        |caller: Caller<'_, Data>,
         key: u32,
         key_length: u32,
         value: u32,
         value_length: u32,
         cas: u32| {
            import(caller, |io| {
                let key = io.bytes(key, key_length)?;
                let value = io.bytes(value, value_length)?;
                io.host()?.set_shared_data(&key, &value, cas)
            })
        },
    )?;
    queues(linker)
}

fn queues(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_register_shared_queue",
        |caller: Caller<'_, Data>, _: u32, _: u32, _: u32| {
            import(caller, |io| {
                Err(io.host()?.not_modelled("proxy_register_shared_queue"))
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_resolve_shared_queue",
        |caller: Caller<'_, Data>, _: u32, _: u32, _: u32, _: u32, _: u32| {
            import(caller, |io| {
                Err(io.host()?.not_modelled("proxy_resolve_shared_queue"))
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_dequeue_shared_queue",
        |caller: Caller<'_, Data>, _: u32, _: u32, _: u32| {
            import(caller, |io| {
                Err(io.host()?.not_modelled("proxy_dequeue_shared_queue"))
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_enqueue_shared_queue",
        |caller: Caller<'_, Data>, _: u32, _: u32, _: u32| {
            import(caller, |io| {
                Err(io.host()?.not_modelled("proxy_enqueue_shared_queue"))
            })
        },
    )?;
    Ok(())
}
