//! What strings of the document must look like.

use dragoman_contract::identity::MAX_MODEL_PATTERNS;
use dragoman_contract::names::{ENVOY_PREFIX, is_internal};

use crate::error::ConfigError;
use crate::raw::Raw;
use crate::read::{list, text};

/// Most bytes of a public or served model name. Names travel in records, logs and paths, and no
/// known catalogue has longer ones.
pub const MAX_MODEL_NAME_BYTES: usize = 256;
/// Most bytes of a header name that the document may give.
pub const MAX_HEADER_NAME_BYTES: usize = 64;
/// Most bytes of the name of an environment variable.
pub const MAX_ENV_NAME_BYTES: usize = 128;
/// Most bytes of a path on a worker.
pub const MAX_PATH_BYTES: usize = 256;

/// Headers that carry the message itself; writing another meaning into them breaks requests.
const FRAMING_HEADERS: &[&str] = &[
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-request-id",
];

/// An id: 1 to `most` bytes of `A-Z a-z 0-9 . _ -`, safe in URLs, logs and YAML.
pub(crate) fn id(raw: &Raw, most: usize) -> Result<String, ConfigError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let text = text(raw)?;
    if (1..=most).contains(&text.len()) && text.bytes().all(allowed) {
        return Ok(text.to_owned());
    }
    let reason = format!("must be 1 to {most} of A-Z a-z 0-9 . _ -");
    Err(ConfigError::of(raw, reason))
}

/// A model name: any text without control characters.
pub(crate) fn model_name(raw: &Raw) -> Result<String, ConfigError> {
    let text = text(raw)?;
    if !(1..=MAX_MODEL_NAME_BYTES).contains(&text.len()) {
        let reason = format!("must have 1 to {MAX_MODEL_NAME_BYTES} bytes");
        return Err(ConfigError::of(raw, reason));
    }
    if text.chars().any(char::is_control) {
        return Err(ConfigError::of(raw, "must not have control characters"));
    }
    Ok(text.to_owned())
}

/// An allowlist of models: names, and beginnings that end with `*`.
pub(crate) fn model_patterns(raw: &Raw) -> Result<Vec<String>, ConfigError> {
    list(raw, MAX_MODEL_PATTERNS, |raw, _| {
        let pattern = model_name(raw)?;
        let beginning = pattern.strip_suffix('*').unwrap_or(&pattern);
        if beginning.contains('*') {
            return Err(ConfigError::of(raw, "must have * at its end only"));
        }
        Ok(pattern)
    })
}

/// A path on a worker, with a query or without.
pub(crate) fn path(raw: &Raw) -> Result<String, ConfigError> {
    let text = text(raw)?;
    let allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'#';
    if text.starts_with('/') && text.len() <= MAX_PATH_BYTES && text.bytes().all(allowed) {
        return Ok(text.to_owned());
    }
    let reason =
        format!("must be a path: / and at most {MAX_PATH_BYTES} bytes of visible ASCII without #");
    Err(ConfigError::of(raw, reason))
}

/// The name of an environment variable.
pub(crate) fn env_name(raw: &Raw) -> Result<String, ConfigError> {
    let text = text(raw)?;
    let first = |byte: &u8| byte.is_ascii_uppercase() || *byte == b'_';
    let starts = text.as_bytes().first().is_some_and(first);
    let allowed = |byte: u8| first(&byte) || byte.is_ascii_digit();
    if starts && text.len() <= MAX_ENV_NAME_BYTES && text.bytes().all(allowed) {
        return Ok(text.to_owned());
    }
    let reason = format!(
        "must be the name of an environment variable: 1 to {MAX_ENV_NAME_BYTES} of A-Z 0-9 _, not starting with a digit"
    );
    Err(ConfigError::of(raw, reason))
}

/// The name of a header that the gateway may write a value of its own into.
pub(crate) fn header_name(raw: &Raw) -> Result<String, ConfigError> {
    let text = text(raw)?;
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&byte)
    };
    if !(1..=MAX_HEADER_NAME_BYTES).contains(&text.len()) || !text.bytes().all(allowed) {
        let reason =
            format!("must be a header name in lower case of at most {MAX_HEADER_NAME_BYTES} bytes");
        return Err(ConfigError::of(raw, reason));
    }
    if is_internal(text.as_bytes()) || text.starts_with(ENVOY_PREFIX) {
        let reason = "must not be a header that the gateway itself runs on";
        return Err(ConfigError::of(raw, reason));
    }
    if FRAMING_HEADERS.contains(&text) {
        let reason = "must not be a header that HTTP itself runs on";
        return Err(ConfigError::of(raw, reason));
    }
    Ok(text.to_owned())
}
