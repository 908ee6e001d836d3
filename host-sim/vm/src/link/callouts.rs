//! Callouts over HTTP.

use std::time::Duration;

use host_sim_host::abi::{HttpCall, Status, pairs};
use wasmtime::{Caller, Linker};

use crate::data::Data;
use crate::io::import;

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
    Ok(())
}
