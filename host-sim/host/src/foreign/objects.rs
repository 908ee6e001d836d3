//! Objects of Envoy's own that a guest may put into the filter state: which names there are, which
//! bytes they take, and what they read as. The list is the one Envoy 1.40 logs at its start.

use std::net::{IpAddr, SocketAddr};

use crate::abi::Status;

/// What an object reads as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    /// Text, for attributes and logs.
    Text(Vec<u8>),
    /// An address: guests read an empty map, logs its text.
    Address(SocketAddr),
    /// It is there and cannot be read.
    Opaque,
}

/// An object of this name from these bytes.
pub(crate) fn make(name: &str, value: &str) -> Result<Object, Status> {
    let text = |text: String| Ok(Object::Text(text.into_bytes()));
    match name {
        "envoy.hashable_string"
        | "envoy.network.network_namespace"
        | "envoy.network.upstream_server_name"
        | "envoy.network.upstream_subject_alt_names"
        | "envoy.string"
        | "envoy.tcp_proxy.cluster"
        | "envoy.upstream.dynamic_host" => text(value.to_owned()),
        "envoy.ai.model.request" if !value.is_empty() => text(value.to_owned()),
        "envoy.network.application_protocols" | "envoy.router.debug_config" => Ok(Object::Opaque),
        "envoy.tcp_proxy.disable_tunneling" => text((value == "true").to_string()),
        "envoy.bool" => text(boolean(value)?.to_string()),
        "envoy.ratelimit.hits_addend" => text(number(value, u32::MAX.into())?),
        "envoy.upstream.dynamic_port" => text(number(value, u32::MAX.into())?),
        "envoy.tcp_proxy.per_connection_idle_timeout_ms" => text(number(value, u64::MAX)?),
        "envoy.network.ip" => {
            let address: IpAddr = value.parse().map_err(|_| Status::BadArgument)?;
            text(SocketAddr::new(address, 0).to_string())
        }
        "envoy.filters.listener.original_dst.local_ip"
        | "envoy.filters.listener.original_dst.remote_ip"
        | "envoy.network.transport_socket.original_dst_address" => value
            .parse()
            .map(Object::Address)
            .map_err(|_| Status::BadArgument),
        "envoy.network.transport_socket.http_11_proxy.info" => {
            let (host, address) = value.split_once(',').ok_or(Status::BadArgument)?;
            let _: SocketAddr = address.parse().map_err(|_| Status::BadArgument)?;
            (!host.is_empty())
                .then_some(Object::Opaque)
                .ok_or(Status::BadArgument)
        }
        "envoy.ai.model.request" | "envoy.ai.llm_protocol.request" => Err(Status::BadArgument),
        _ => Err(Status::NotFound),
    }
}

/// As Abseil reads one.
fn boolean(text: &str) -> Result<bool, Status> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "1" => Ok(true),
        "false" | "f" | "no" | "n" | "0" => Ok(false),
        _ => Err(Status::BadArgument),
    }
}

/// As Abseil reads one: blanks around it do not matter.
fn number(text: &str, largest: u64) -> Result<String, Status> {
    let number: u64 = text.trim_ascii().parse().map_err(|_| Status::BadArgument)?;
    (number <= largest)
        .then(|| number.to_string())
        .ok_or(Status::BadArgument)
}
