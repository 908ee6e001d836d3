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

/// `connection` names what it may not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadHop;

/// The client asks for another protocol; the one for HTTP/2 is not looked at.
#[must_use]
pub fn asks_to_upgrade(headers: &Headers) -> bool {
    let other = values(headers, b"upgrade").any(|to| !to.eq_ignore_ascii_case(b"h2c"));
    other && has_token(headers, b"connection", b"upgrade")
}

/// Takes them away, and with them every header that `connection` names, as Envoy does: any client
/// can have any of its own headers dropped that way. Who asks for another protocol keeps them all.
///
/// # Errors
/// See [`BadHop`].
pub fn remove(headers: &mut Headers) -> Result<(), BadHop> {
    let lists = values(headers, b"connection").flat_map(|value| value.split(|byte| *byte == b','));
    let named: Vec<Vec<u8>> = lists
        .map(|name| name.trim_ascii().to_ascii_lowercase())
        .collect();
    if named
        .iter()
        .any(|name| name.starts_with(b":") || PROTECTED.contains(&name.as_slice()))
    {
        return Err(BadHop);
    }
    headers.retain(|(name, _)| {
        let frames_the_body = name == b"content-length";
        let is_named = named.contains(name) && !frames_the_body;
        !is_named && !CONNECTION_HEADERS.contains(&name.as_slice())
    });
    Ok(())
}
