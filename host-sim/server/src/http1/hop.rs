//! Headers that concern one connection only: no filter sees them.

use host_sim_host::io::Headers;

use super::head::{has_token, values};

/// Always such.
const CONNECTION_HEADERS: [&[u8]; 6] = [
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"transfer-encoding",
    b"upgrade",
    b"http2-settings",
];

/// What `connection` may not name: others rely on it.
const PROTECTED: [&[u8]; 3] = [
    b"x-forwarded-for",
    b"x-forwarded-host",
    b"x-forwarded-proto",
];

/// Why the headers cannot be put in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadHop {
    /// `connection` names what it may not.
    Rejected,
    /// The client asks for another protocol.
    Upgrade,
}

/// Takes them away, and with them every header that `connection` names, as Envoy does: any client
/// can have any of its own headers dropped that way.
///
/// # Errors
/// See [`BadHop`].
pub fn remove(headers: &mut Headers) -> Result<(), BadHop> {
    if has_token(headers, b"connection", b"upgrade") && values(headers, b"upgrade").next().is_some()
    {
        return Err(BadHop::Upgrade);
    }
    let lists = values(headers, b"connection").flat_map(|value| value.split(|byte| *byte == b','));
    let named: Vec<Vec<u8>> = lists
        .map(|name| name.trim_ascii().to_ascii_lowercase())
        .collect();
    if named
        .iter()
        .any(|name| name.starts_with(b":") || PROTECTED.contains(&name.as_slice()))
    {
        return Err(BadHop::Rejected);
    }
    headers.retain(|(name, _)| {
        let frames_the_body = name == b"content-length";
        let is_named = named.contains(name) && !frames_the_body;
        !is_named && !CONNECTION_HEADERS.contains(&name.as_slice())
    });
    Ok(())
}
