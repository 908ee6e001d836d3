//! All that a module may import, one file per family of calls.

mod buffers;
mod callouts;
mod grpc;
mod headers;
mod metrics;
mod phases;
mod resolve;
mod shared;
mod streams;
mod system;
mod wasi;

pub(crate) use resolve::{Rights, resolve, signature};
use wasmtime::{Engine, Linker};

use crate::data::Data;

/// A linker with Envoy's table of imports, no more and no less.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<Data>> {
    let mut linker = Linker::new(engine);
    system::link(&mut linker)?;
    headers::link(&mut linker)?;
    buffers::link(&mut linker)?;
    shared::link(&mut linker)?;
    metrics::link(&mut linker)?;
    streams::link(&mut linker)?;
    callouts::link(&mut linker)?;
    grpc::link(&mut linker)?;
    for module in ["wasi_snapshot_preview1", "wasi_unstable"] {
        wasi::link(&mut linker, module)?;
    }
    Ok(linker)
}
