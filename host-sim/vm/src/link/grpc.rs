//! Callouts over gRPC.

use std::time::Duration;

use host_sim_host::abi::{Answer, GrpcTarget, pairs};
use wasmtime::{Caller, Linker};

use crate::data::Data;
use crate::io::{Io, import};

/// Pointer and length of four arguments: service, its name, method, metadata.
type Target = [(u32, u32); 4];

fn target(io: &mut Io<'_, '_>, at: Target) -> Answer<GrpcTarget> {
    let [service, service_name, method_name, initial_metadata] = at;
    let mut bytes = |(pointer, length): (u32, u32)| io.bytes(pointer, length);
    Ok(GrpcTarget {
        service: bytes(service)?,
        service_name: bytes(service_name)?,
        method_name: bytes(method_name)?,
        initial_metadata: pairs::read(&bytes(initial_metadata)?),
    })
}

pub(super) fn link(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_grpc_call",
        |caller: Caller<'_, Data>,
         service: u32,
         service_length: u32,
         service_name: u32,
         service_name_length: u32,
         method: u32,
         method_length: u32,
         metadata: u32,
         metadata_length: u32,
         message: u32,
         message_length: u32,
         timeout_ms: u32,
         token_out: u32| {
            import(caller, |io| {
                let at = [
                    (service, service_length),
                    (service_name, service_name_length),
                    (method, method_length),
                    (metadata, metadata_length),
                ];
                let target = target(io, at)?;
                let message = io.bytes(message, message_length)?;
                // A negative time is a very long one.
                let timeout = Duration::from_millis(timeout_ms.into());
                let token = io.host()?.grpc_call(&message, timeout, target);
                io.run_nested()?;
                io.put_u32(token_out, token?)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_grpc_stream",
        |caller: Caller<'_, Data>,
         service: u32,
         service_length: u32,
         service_name: u32,
         service_name_length: u32,
         method: u32,
         method_length: u32,
         metadata: u32,
         metadata_length: u32,
         token_out: u32| {
            import(caller, |io| {
                let at = [
                    (service, service_length),
                    (service_name, service_name_length),
                    (method, method_length),
                    (metadata, metadata_length),
                ];
                let target = target(io, at)?;
                let token = io.host()?.grpc_stream(target);
                io.run_nested()?;
                io.put_u32(token_out, token?)
            })
        },
    )?;
    under_way(linker)
}

/// What can be done with a token.
fn under_way(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_grpc_send",
        |caller: Caller<'_, Data>, token: u32, message: u32, length: u32, end: u32| {
            import(caller, |io| {
                let message = io.bytes(message, length)?;
                let sent = io.host()?.grpc_send(token, &message, end != 0);
                io.run_nested()?;
                sent
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_grpc_close",
        |caller: Caller<'_, Data>, token: u32| {
            import(caller, |io| {
                let closed = io.host()?.grpc_close(token);
                io.run_nested()?;
                closed
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_grpc_cancel",
        |caller: Caller<'_, Data>, token: u32| import(caller, |io| io.host()?.grpc_cancel(token)),
    )?;
    Ok(())
}
