//! Head of a request over gRPC, with the metadata that goes along.

use std::time::Duration;

use super::service::Service;
use crate::headers;
use crate::inline::{self, Side};
use crate::io::Headers;

/// Digits that a time in `grpc-timeout` may have.
const LARGEST_TIMEOUT: u128 = 99_999_999;

/// The head: Envoy's own lines, the service's metadata in their place, the call's behind them, and last
/// whatever is binary. `None`: the service sets what no one but Envoy may set.
pub(super) fn request(
    service: &Service,
    path: Vec<u8>,
    timeout: Option<Duration>,
    metadata: &Headers,
) -> Option<Headers> {
    let authority = if service.authority.is_empty() {
        &service.cluster
    } else {
        &service.authority
    };
    let mut head: Headers = vec![
        (b":method".to_vec(), b"POST".to_vec()),
        (b":path".to_vec(), path),
        (b":authority".to_vec(), authority.as_bytes().to_vec()),
        (b":scheme".to_vec(), b"http".to_vec()),
        (b"te".to_vec(), b"trailers".to_vec()),
    ];
    if let Some(timeout) = timeout {
        head.push((b"grpc-timeout".to_vec(), timeout_text(timeout).into_bytes()));
    }
    head.push((b"content-type".to_vec(), b"application/grpc".to_vec()));
    for (name, value) in &service.metadata {
        let reserved = name.starts_with(':') || name.eq_ignore_ascii_case("host");
        if reserved || !is_format(value) {
            return None;
        }
        if !value.is_empty() {
            headers::set(&mut head, name.as_bytes(), value.as_bytes());
        }
    }
    for (name, value) in metadata {
        inline::add(&mut head, Side::Request, name, value);
    }
    let (binary, mut head): (Headers, Headers) = head
        .into_iter()
        .partition(|(name, _)| name.ends_with(b"-bin"));
    head.extend(
        binary
            .into_iter()
            .map(|(name, value)| (name, base64(&value))),
    );
    if !service.skip_envoy_headers {
        headers::set(&mut head, b"x-envoy-internal", b"true");
    }
    Some(head)
}

/// `grpc-timeout`: milliseconds, or a larger unit when they have too many digits.
fn timeout_text(timeout: Duration) -> String {
    let mut time = timeout.as_millis();
    for (unit, factor) in [("m", 1000), ("S", 60), ("M", 60)] {
        if time <= LARGEST_TIMEOUT {
            return format!("{time}{unit}");
        }
        time /= factor;
    }
    format!("{}H", time.min(LARGEST_TIMEOUT))
}

/// Whether Envoy could read a value as a format string. It is sent as it is written all the same.
fn is_format(value: &str) -> bool {
    let mut rest = value;
    while let Some(at) = rest.find('%') {
        let after = rest.get(at + 1..).unwrap_or_default();
        match after.find('%') {
            Some(end) => rest = after.get(end + 1..).unwrap_or_default(),
            None => return false,
        }
    }
    true
}

/// RFC 4648 with padding.
fn base64(bytes: &[u8]) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |index: usize| usize::from(group.get(index).copied().unwrap_or_default());
        let number = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = DIGITS.get(number >> (18 - 6 * place) & 63);
            let digit = digit.filter(|_| place <= group.len());
            text.push(digit.copied().unwrap_or(b'='));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(metadata: &[(&str, &str)]) -> Service {
        Service {
            cluster: "workers".to_owned(),
            metadata: metadata
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..Service::default()
        }
    }

    fn shown(head: Option<Headers>) -> Vec<String> {
        let line = |(name, value): (Vec<u8>, Vec<u8>)| {
            format!(
                "{}={}",
                String::from_utf8_lossy(&name),
                String::from_utf8_lossy(&value)
            )
        };
        head.unwrap().into_iter().map(line).collect()
    }

    #[test]
    fn metadata_of_the_service_replaces_and_that_of_the_call_is_added() {
        let service = service(&[
            ("X-A", "1"),
            ("x-a", "2"),
            ("x-e", ""),
            ("te", "t"),
            ("x-s-bin", "raw"),
        ]);
        let metadata = vec![
            (b"x-a".to_vec(), b"3".to_vec()),
            (b"x-c-bin".to_vec(), vec![0, 255]),
            (b"user-agent".to_vec(), b"me".to_vec()),
        ];
        let head = request(
            &service,
            b"/s/m".to_vec(),
            Some(Duration::from_millis(5)),
            &metadata,
        );
        assert_eq!(
            shown(head),
            [
                ":method=POST",
                ":path=/s/m",
                ":authority=workers",
                ":scheme=http",
                "te=t",
                "grpc-timeout=5m",
                "content-type=application/grpc",
                "x-a=2",
                "x-a=3",
                "user-agent=me",
                "x-s-bin=cmF3",
                "x-c-bin=AP8=",
                "x-envoy-internal=true",
            ]
        );
    }

    #[test]
    fn what_only_envoy_may_set_is_refused_and_so_is_half_an_operator() {
        for (line, accepted) in [
            ((":path", "/"), false),
            (("Host", "a"), false),
            (("x-a", "100%"), false),
            (("x-a", "%%%"), false),
            (("x-a", "100%%"), true),
            (("x-a", "%START_TIME%"), true),
        ] {
            let head = request(&service(&[line]), Vec::new(), None, &Headers::new());
            assert_eq!(head.is_some(), accepted, "{line:?}");
        }
    }

    #[test]
    fn a_time_has_the_smallest_unit_that_fits() {
        for (milliseconds, text) in [
            (0, "0m"),
            (99_999_999, "99999999m"),
            (100_000_000, "100000S"),
            (4_294_967_295, "4294967S"),
        ] {
            assert_eq!(timeout_text(Duration::from_millis(milliseconds)), text);
        }
    }

    #[test]
    fn base64_has_padding() {
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
        ] {
            assert_eq!(base64(bytes.as_bytes()), text.as_bytes());
        }
    }
}
