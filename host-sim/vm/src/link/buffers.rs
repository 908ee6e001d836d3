//! Bodies and configurations.

use host_sim_host::abi::{Answer, BufferKind, Status};
use wasmtime::{Caller, Linker};

use crate::data::Data;
use crate::io::import;

fn buffer(number: u32) -> Answer<BufferKind> {
    BufferKind::from_number(number).ok_or(Status::BadArgument.into())
}

pub(super) fn link(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_get_buffer_bytes",
        |caller: Caller<'_, Data>,
         kind: u32,
         start: u32,
         length: u32,
         pointer_out: u32,
         length_out: u32| {
            import(caller, |io| {
                let bytes = io.host()?.get_buffer_bytes(buffer(kind)?, start, length)?;
                io.give(&bytes, pointer_out, length_out)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_get_buffer_status",
        |caller: Caller<'_, Data>, kind: u32, length_out: u32, flags_out: u32| {
            import(caller, |io| {
                let (length, flags) = io.host()?.get_buffer_status(buffer(kind)?)?;
                io.put_u32(length_out, length)?;
                io.put_u32(flags_out, flags)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_set_buffer_bytes",
        |caller: Caller<'_, Data>,
         kind: u32,
         start: u32,
         length: u32,
         data: u32,
         data_length: u32| {
            import(caller, |io| {
                let data = io.bytes(data, data_length)?;
                io.host()?
                    .set_buffer_bytes(buffer(kind)?, start, length, &data)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_get_configuration",
        |caller: Caller<'_, Data>, pointer_out: u32, length_out: u32| {
            import(caller, |io| {
                let configuration = io.host()?.get_configuration()?;
                io.give(&configuration, pointer_out, length_out)
            })
        },
    )?;
    Ok(())
}
