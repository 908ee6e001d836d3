//! What a guest does with a stream: answer, resume, close.

use host_sim_host::abi::{LocalResponse, Status, StreamKind, pairs};
use wasmtime::{Caller, Linker};

use crate::data::Data;
use crate::io::import;

/// Of gRPC's own; any other number is none.
const LARGEST_GRPC_STATUS: u32 = 16;

pub(super) fn link(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_send_local_response",
        |caller: Caller<'_, Data>,
         status: u32,
         details: u32,
         details_length: u32,
         body: u32,
         body_length: u32,
         headers: u32,
         headers_length: u32,
         grpc_status: i32| {
            import(caller, |io| {
                let details = io.bytes(details, details_length)?;
                let body = io.bytes(body, body_length)?;
                let headers = pairs::read(&io.bytes(headers, headers_length)?);
                io.host()?.send_local_response(LocalResponse {
                    status,
                    grpc_status: u32::try_from(grpc_status)
                        .ok()
                        .filter(|status| *status <= LARGEST_GRPC_STATUS),
                    details,
                    body,
                    headers,
                })
            })
        },
    )?;
    going_on(linker)?;
    linker.func_wrap(
        "env",
        "proxy_close_stream",
        |caller: Caller<'_, Data>, stream: u32| {
            import(caller, |io| {
                let stream = StreamKind::from_number(stream).ok_or(Status::BadArgument)?;
                io.host()?.close_stream(stream)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_clear_route_cache",
        |caller: Caller<'_, Data>| import(caller, |io| io.host()?.clear_route_cache()),
    )?;
    Ok(())
}

/// One import for each direction in the first version of the ABI, one for both later.
fn going_on(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    let directions = [
        ("proxy_continue_request", StreamKind::Request),
        ("proxy_continue_response", StreamKind::Response),
    ];
    for (name, stream) in directions {
        linker.func_wrap("env", name, move |caller: Caller<'_, Data>| {
            import(caller, |io| io.host()?.continue_stream(stream))
        })?;
    }
    linker.func_wrap(
        "env",
        "proxy_continue_stream",
        |caller: Caller<'_, Data>, stream: u32| {
            import(caller, |io| {
                let stream = StreamKind::from_number(stream).ok_or(Status::BadArgument)?;
                io.host()?.continue_stream(stream)
            })
        },
    )?;
    Ok(())
}
