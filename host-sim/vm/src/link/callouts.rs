//! Callouts over HTTP; those over gRPC are not modelled.

use std::time::Duration;

use host_sim_host::abi::{HttpCall, Status};
use wasmtime::{Caller, FuncType, Linker, Val, ValType};

use crate::data::Data;
use crate::io::import;
use crate::pairs;

/// Imports of gRPC and how many `i32` they take.
const GRPC: [(&str, usize); 5] = [
    ("proxy_grpc_call", 12),
    ("proxy_grpc_stream", 9),
    ("proxy_grpc_cancel", 1),
    ("proxy_grpc_close", 1),
    ("proxy_grpc_send", 4),
];

pub(super) fn link(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_http_call",
        |caller: Caller<'_, Data>,
         cluster: u32,
         cluster_length: u32,
         headers: u32,
         headers_length: u32,
         body: u32,
         body_length: u32,
         _trailers: u32,
         _trailers_length: u32,
         timeout_ms: i32,
         token_out: u32| {
            import(caller, |io| {
                io.put_u32(token_out, 0)?;
                let timeout_ms = u64::try_from(timeout_ms).map_err(|_| Status::BadArgument)?;
                let call = HttpCall {
                    cluster: io.bytes(cluster, cluster_length)?,
                    headers: pairs::read(&io.bytes(headers, headers_length)?),
                    body: io.bytes(body, body_length)?,
                    timeout: Duration::from_millis(timeout_ms),
                };
                let token = io.host()?.http_call(call)?;
                io.put_u32(token_out, token)
            })
        },
    )?;
    for (name, parameters) in GRPC {
        let kind = FuncType::new(
            linker.engine(),
            vec![ValType::I32; parameters],
            [ValType::I32],
        );
        linker.func_new("env", name, kind, move |caller, _, results| {
            let status = import(caller, |io| Err(io.host()?.not_modelled(name)))?;
            results[0] = Val::I32(status.cast_signed());
            Ok(())
        })?;
    }
    Ok(())
}
