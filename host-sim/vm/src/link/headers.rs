//! Header maps and properties.

use host_sim_host::abi::{Answer, HostCalls, MapKind, Refusal, Status, pairs};
use wasmtime::{Caller, Linker};

use crate::abi::Version;
use crate::data::Data;
use crate::io::import;

fn map(number: u32) -> Answer<MapKind> {
    MapKind::from_number(number).ok_or(Status::BadArgument.into())
}

/// Import that changes one name.
type Change = fn(&mut dyn HostCalls, MapKind, &[u8], &[u8]) -> Answer<()>;

pub(super) fn link(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_get_header_map_value",
        |caller: Caller<'_, Data>,
         kind: u32,
         name: u32,
         name_length: u32,
         pointer_out: u32,
         length_out: u32| {
            import(caller, |io| {
                let name = io.bytes(name, name_length)?;
                let value = io.host()?.get_header_map_value(map(kind)?, &name);
                let value = match value {
                    // The first version of the ABI cannot say that there is none.
                    Err(Refusal::Tell(Status::NotFound)) if io.version() == Version::V0_1_0 => {
                        Vec::new()
                    }
                    value => value?,
                };
                io.give(&value, pointer_out, length_out)
            })
        },
    )?;
    let changes: [(&str, Change); 2] = [
        ("proxy_add_header_map_value", |host, map, name, value| {
            host.add_header_map_value(map, name, value)
        }),
        (
            "proxy_replace_header_map_value",
            |host, map, name, value| host.replace_header_map_value(map, name, value),
        ),
    ];
    for (import_name, change) in changes {
        linker.func_wrap(
            "env",
            import_name,
            move |caller: Caller<'_, Data>,
                  kind: u32,
                  name: u32,
                  name_length: u32,
                  value: u32,
                  value_length: u32| {
                import(caller, |io| {
                    let name = io.bytes(name, name_length)?;
                    let value = io.bytes(value, value_length)?;
                    change(io.host()?, map(kind)?, &name, &value)
                })
            },
        )?;
    }
    linker.func_wrap(
        "env",
        "proxy_remove_header_map_value",
        |caller: Caller<'_, Data>, kind: u32, name: u32, name_length: u32| {
            import(caller, |io| {
                let name = io.bytes(name, name_length)?;
                io.host()?.remove_header_map_value(map(kind)?, &name)
            })
        },
    )?;
    whole_maps(linker)?;
    properties(linker)
}

fn whole_maps(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_get_header_map_pairs",
        |caller: Caller<'_, Data>, kind: u32, pointer_out: u32, length_out: u32| {
            import(caller, |io| {
                let pairs = io.host()?.get_header_map_pairs(map(kind)?)?;
                io.give(&pairs::write(&pairs), pointer_out, length_out)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_set_header_map_pairs",
        |caller: Caller<'_, Data>, kind: u32, at: u32, length: u32| {
            import(caller, |io| {
                let bytes = io.bytes(at, length)?;
                io.host()?
                    .set_header_map_pairs(map(kind)?, pairs::read(&bytes))
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_get_header_map_size",
        |caller: Caller<'_, Data>, kind: u32, out: u32| {
            import(caller, |io| {
                let size = io.host()?.get_header_map_size(map(kind)?)?;
                io.put_u32(out, size)
            })
        },
    )?;
    Ok(())
}

fn properties(linker: &mut Linker<Data>) -> wasmtime::Result<()> {
    linker.func_wrap(
        "env",
        "proxy_get_property",
        |caller: Caller<'_, Data>,
         path: u32,
         path_length: u32,
         pointer_out: u32,
         length_out: u32| {
            import(caller, |io| {
                let path = io.bytes(path, path_length)?;
                let value = io.host()?.get_property(&path)?;
                io.give(&value, pointer_out, length_out)
            })
        },
    )?;
    linker.func_wrap(
        "env",
        "proxy_set_property",
        |caller: Caller<'_, Data>, path: u32, path_length: u32, value: u32, value_length: u32| {
            import(caller, |io| {
                let path = io.bytes(path, path_length)?;
                let value = io.bytes(value, value_length)?;
                io.host()?.set_property(&path, &value)
            })
        },
    )?;
    Ok(())
}
