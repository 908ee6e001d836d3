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
        |caller: Caller<'_, Data>, name: u32, name_length: u32, token_out: u32| {
            import(caller, |io| {
                let name = io.bytes(name, name_length)?;
                let token = io.host()?.register_shared_queue(&name)?;
                io.put_u32(token_out, token)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_resolve_shared_queue",
        |caller: Caller<'_, Data>,
         vm_id: u32,
         vm_id_length: u32,
         name: u32,
         name_length: u32,
         token_out: u32| {
            import(caller, |io| {
                let vm_id = io.bytes(vm_id, vm_id_length)?;
                let name = io.bytes(name, name_length)?;
                let token = io.host()?.resolve_shared_queue(&vm_id, &name)?;
                io.put_u32(token_out, token)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_dequeue_shared_queue",
        |caller: Caller<'_, Data>, token: u32, pointer_out: u32, length_out: u32| {
            import(caller, |io| {
                let value = io.host()?.dequeue_shared_queue(token)?;
                io.give(&value, pointer_out, length_out)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_enqueue_shared_queue",
        |caller: Caller<'_, Data>, token: u32, value: u32, value_length: u32| {
            import(caller, |io| {
                let value = io.bytes(value, value_length)?;
                io.host()?.enqueue_shared_queue(token, &value)
            })
        },
    )?;
    Ok(())
}
