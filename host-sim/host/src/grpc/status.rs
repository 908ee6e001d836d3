//! Status numbers of gRPC, and what HTTP becomes in them.

use std::fmt::Write as _;

use crate::headers;
use crate::io::Headers;

pub(crate) const OK: u32 = 0;
pub(crate) const UNKNOWN: u32 = 2;
pub(crate) const RESOURCE_EXHAUSTED: u32 = 8;
pub(crate) const INTERNAL: u32 = 13;
pub(crate) const UNAVAILABLE: u32 = 14;
/// Numbers go up to this.
const LARGEST: u64 = 16;
/// What Envoy makes of a `grpc-status` that is none: -1.
const INVALID: u32 = u32::MAX;
const CONTENT_TYPE: &[u8] = b"application/grpc";

/// Whether a request is one of gRPC, by its `content-type`.
pub(crate) fn is_grpc(request: &Headers) -> bool {
    let kind = headers::get(request, b"content-type").unwrap_or_default();
    let rest = kind.strip_prefix(CONTENT_TYPE);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"+"))
}

/// What an answer without a status of gRPC's own means.
pub(crate) fn of_http(status: u16) -> u32 {
    match status {
        400 => INTERNAL,
        401 => 16,
        403 => 7,
        404 => 12,
        429 | 502 | 503 | 504 => UNAVAILABLE,
        _ => UNKNOWN,
    }
}

/// `grpc-status`, if there is one.
pub(crate) fn of_trailers(trailers: &Headers) -> Option<u32> {
    let value = headers::get(trailers, b"grpc-status").filter(|value| !value.is_empty())?;
    let number = std::str::from_utf8(value)
        .ok()
        .and_then(|text| text.trim().parse::<u64>().ok());
    let status = number.filter(|number| *number <= LARGEST);
    Some(
        status
            .and_then(|status| u32::try_from(status).ok())
            .unwrap_or(INVALID),
    )
}

/// A text as `grpc-message`: bytes that are not printable, and `%`, as `%` and two digits.
pub(crate) fn percent_encoded(text: &[u8]) -> Vec<u8> {
    let mut encoded = String::with_capacity(text.len());
    for byte in text {
        match byte {
            b' '..=b'~' if *byte != b'%' => encoded.push(char::from(*byte)),
            _ => {
                // Writing into a string never fails.
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(name: &str, value: &str) -> Headers {
        vec![(name.into(), value.into())]
    }

    #[test]
    fn the_content_type_says_whether_a_request_is_one_of_grpc() {
        for (kind, expected) in [
            ("application/grpc", true),
            ("application/grpc+proto", true),
            ("application/grpc-web", false),
            ("application/grpcx", false),
            ("text/plain", false),
        ] {
            assert_eq!(is_grpc(&line("content-type", kind)), expected, "{kind}");
        }
        assert!(!is_grpc(&Headers::new()));
    }

    #[test]
    fn a_status_that_is_none_is_minus_one_and_an_empty_one_is_not_there() {
        for (value, expected) in [
            ("0", Some(0)),
            ("16", Some(16)),
            ("17", Some(u32::MAX)),
            ("-1", Some(u32::MAX)),
            ("abc", Some(u32::MAX)),
            ("", None),
        ] {
            assert_eq!(
                of_trailers(&line("grpc-status", value)),
                expected,
                "{value}"
            );
        }
        assert_eq!(of_trailers(&Headers::new()), None);
    }

    #[test]
    fn a_message_is_encoded_with_its_spaces_kept() {
        assert_eq!(percent_encoded("a b\n%ä".as_bytes()), b"a b%0A%25%C3%A4");
    }
}
