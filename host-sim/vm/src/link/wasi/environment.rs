//! Arguments, of which there are none, and the configured environment.

use host_sim_host::abi::{Answer, Refusal};
use wasmtime::{Caller, Linker};

use super::call;
use crate::data::{Data, Phase};

pub(super) fn link(linker: &mut Linker<Data>, module: &str) -> wasmtime::Result<()> {
    linker.func_wrap(
        module,
        "args_sizes_get",
        |caller: Caller<'_, Data>, count_out: u32, size_out: u32| {
            call(caller, Phase::Starting, |io| {
                io.put_u32(count_out, 0)?;
                io.put_u32(size_out, 0)?;
                Ok(0)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "environ_sizes_get",
        |caller: Caller<'_, Data>, count_out: u32, size_out: u32| {
            call(caller, Phase::Starting, |io| {
                let variables = io.host()?.environment();
                let size: usize = variables.iter().map(|variable| variable.len() + 1).sum();
                io.put_u32(count_out, number(variables.len())?)?;
                io.put_u32(size_out, number(size)?)?;
                Ok(0)
            })
        },
    )?;
    linker.func_wrap(
        module,
        "environ_get",
        |caller: Caller<'_, Data>, pointers: u32, mut text: u32| {
            call(caller, Phase::Starting, |io| {
                let variables = io.host()?.environment();
                for (index, variable) in variables.iter().enumerate() {
                    io.put_u32(pointers.wrapping_add(number(index * 4)?), text)?;
                    let bytes = [variable.as_bytes(), b"\0"].concat();
                    io.put(text, &bytes)?;
                    text = text.wrapping_add(number(bytes.len())?);
                }
                Ok(0)
            })
        },
    )?;
    Ok(())
}

fn number(value: usize) -> Answer<u32> {
    u32::try_from(value).map_err(|_| Refusal::Stop("environment too large".to_owned()))
}
