//! The request line, as far as it decides which answer a bad request gets.

/// What Envoy's codec knows, plus `CONNECT`; any other method is an error.
const METHODS: [&str; 34] = [
    "ACL",
    "BIND",
    "CHECKOUT",
    "CONNECT",
    "COPY",
    "DELETE",
    "GET",
    "HEAD",
    "LINK",
    "LOCK",
    "MERGE",
    "MKACTIVITY",
    "MKCALENDAR",
    "MKCOL",
    "MOVE",
    "MSEARCH",
    "NOTIFY",
    "OPTIONS",
    "PATCH",
    "POST",
    "PROPFIND",
    "PROPPATCH",
    "PURGE",
    "PUT",
    "REBIND",
    "REPORT",
    "SEARCH",
    "SOURCE",
    "SUBSCRIBE",
    "TRACE",
    "UNBIND",
    "UNLINK",
    "UNLOCK",
    "UNSUBSCRIBE",
];

/// The line is none of an HTTP/1.1 request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadLine {
    /// It is of another version, 0.9 included.
    Version,
    /// It is no request line.
    Malformed,
    /// It would be one without some character.
    Character,
}

/// Looks at the first line of a head, without its line feed.
///
/// # Errors
/// It cannot be the line of an HTTP/1.1 request.
pub fn check(line: &[u8]) -> Result<(), BadLine> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut words = line.split(|byte| *byte == b' ');
    let (method, target, version, more) = (words.next(), words.next(), words.next(), words.next());
    let known = method.is_some_and(|method| METHODS.iter().any(|known| known.as_bytes() == method));
    if version.is_some() && more.is_none() && line.iter().any(|byte| is_forbidden(*byte)) {
        return Err(BadLine::Character);
    }
    if !known || more.is_some() || !line.is_ascii() {
        return Err(BadLine::Malformed);
    }
    match (target, version) {
        (Some(_), Some(b"HTTP/1.1")) => Ok(()),
        (Some(_), Some(version)) if is_version(version) => Err(BadLine::Version),
        (Some([b'/', ..]), None) => Err(BadLine::Version),
        _ => Err(BadLine::Malformed),
    }
}

/// What no head may hold.
fn is_forbidden(byte: u8) -> bool {
    byte.is_ascii_control() && !matches!(byte, b'\t' | b'\r' | b'\n')
}

fn is_version(text: &[u8]) -> bool {
    matches!(text, [b'H', b'T', b'T', b'P', b'/', major, b'.', minor] if major.is_ascii_digit() && minor.is_ascii_digit())
}
