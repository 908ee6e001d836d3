//! Metrics.

use host_sim_host::abi::{MetricKind, Status};
use wasmtime::{Caller, Linker};

use crate::data::Data;
use crate::io::import;

pub(super) fn link(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_define_metric",
        |caller: Caller<'_, Data>, kind: u32, name: u32, name_length: u32, id_out: u32| {
            import(caller, |io| {
                let kind = MetricKind::from_number(kind).ok_or(Status::BadArgument)?;
                let name = io.bytes(name, name_length)?;
                let id = io.host()?.define_metric(kind, &name)?;
                io.put_u32(id_out, id)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_increment_metric",
        |caller: Caller<'_, Data>, id: u32, offset: i64| {
            import(caller, |io| io.host()?.increment_metric(id, offset))
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_record_metric",
        |caller: Caller<'_, Data>, id: u32, value: u64| {
            import(caller, |io| io.host()?.record_metric(id, value))
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_get_metric",
        |caller: Caller<'_, Data>, id: u32, out: u32| {
            import(caller, |io| {
                let value = io.host()?.get_metric(id)?;
                io.put_u64(out, value)
            })
        },
    )?;
    Ok(())
}
