//! Headers of which Envoy keeps one value: several lines of them become one line, joined by commas,
//! wherever they are added. All other names keep their lines. Which names these are was tried out
//! with Envoy 1.40 and two lines of each.

use crate::headers;
use crate::io::Headers;

/// Whose names count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Request,
    Response,
    /// Trailers: no name is special.
    Neither,
}

/// In requests and in responses.
const BOTH: [&str; 15] = [
    "cache-control",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "keep-alive",
    "proxy-connection",
    "proxy-status",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-envoy-attempt-count",
    "x-envoy-decorator-operation",
    "x-request-id",
    ":protocol",
];

const REQUEST: [&str; 51] = [
    ":authority",
    ":method",
    ":path",
    ":scheme",
    "accept",
    "accept-encoding",
    "access-control-request-headers",
    "access-control-request-method",
    "access-control-request-private-network",
    "authorization",
    "cdn-loop",
    "expect",
    "grpc-accept-encoding",
    "grpc-timeout",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "origin",
    "pragma",
    "referer",
    "te",
    "user-agent",
    "x-client-trace-id",
    "x-envoy-downstream-service-cluster",
    "x-envoy-downstream-service-node",
    "x-envoy-expected-rq-timeout-ms",
    "x-envoy-external-address",
    "x-envoy-force-trace",
    "x-envoy-hedge-on-per-try-timeout",
    "x-envoy-internal",
    "x-envoy-ip-tags",
    "x-envoy-is-timeout-retry",
    "x-envoy-max-retries",
    "x-envoy-original-path",
    "x-envoy-original-url",
    "x-envoy-retriable-header-names",
    "x-envoy-retriable-status-codes",
    "x-envoy-retry-grpc-on",
    "x-envoy-retry-on",
    "x-envoy-upstream-alt-stat-name",
    "x-envoy-upstream-rq-per-try-timeout-ms",
    "x-envoy-upstream-rq-timeout-alt-response",
    "x-envoy-upstream-rq-timeout-ms",
    "x-envoy-upstream-stream-duration-ms",
    "x-forwarded-client-cert",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-proto",
];

const RESPONSE: [&str; 24] = [
    ":status",
    "access-control-allow-credentials",
    "access-control-allow-headers",
    "access-control-allow-methods",
    "access-control-allow-origin",
    "access-control-allow-private-network",
    "access-control-expose-headers",
    "access-control-max-age",
    "age",
    "date",
    "etag",
    "expires",
    "grpc-message",
    "grpc-status",
    "last-modified",
    "location",
    "server",
    "vary",
    "x-envoy-degraded",
    "x-envoy-immediate-health-check-fail",
    "x-envoy-ratelimited",
    "x-envoy-upstream-canary",
    "x-envoy-upstream-healthchecked-cluster",
    "x-envoy-upstream-service-time",
];

fn has_one_value(side: Side, name: &[u8]) -> bool {
    let own: &[&str] = match side {
        Side::Request => &REQUEST,
        Side::Response => &RESPONSE,
        Side::Neither => return false,
    };
    let among = |names: &[&str]| names.iter().any(|known| known.as_bytes() == name);
    among(&BOTH) || among(own)
}

/// Adds a line, or its value to the line that there is. An empty value adds nothing to one.
pub(crate) fn add(headers: &mut Headers, side: Side, name: &[u8], value: &[u8]) {
    let name = name.to_ascii_lowercase();
    let line = has_one_value(side, &name)
        .then(|| headers.iter_mut().find(|(key, _)| *key == name))
        .flatten();
    match line {
        Some(_) if value.is_empty() => {}
        Some((_, current)) => {
            if !current.is_empty() {
                current.push(b',');
            }
            current.extend_from_slice(value);
        }
        None => headers::add(headers, &name, value),
    }
}

/// A map as Envoy's codec builds it from the lines that came.
pub(crate) fn joined(side: Side, lines: Headers) -> Headers {
    let mut headers = Headers::with_capacity(lines.len());
    for (name, value) in lines {
        add(&mut headers, side, &name, &value);
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[(&str, &str)]) -> Headers {
        let bytes = |text: &str| text.as_bytes().to_vec();
        let line = |(name, value): &(&str, &str)| (bytes(name), bytes(value));
        lines.iter().map(line).collect()
    }

    #[test]
    fn lines_of_a_header_that_has_one_value_are_joined_where_the_first_stood() {
        let came = lines(&[
            ("x-a", "1"),
            ("authorization", "1"),
            ("x-a", "2"),
            ("authorization", "2"),
            ("authorization", "3"),
        ]);
        let expected = lines(&[("x-a", "1"), ("authorization", "1,2,3"), ("x-a", "2")]);
        assert_eq!(joined(Side::Request, came), expected);
    }

    #[test]
    fn an_empty_value_leaves_no_comma() {
        for (first, second, both) in [("", "x", "x"), ("x", "", "x"), ("", "", "")] {
            let came = lines(&[("accept", first), ("accept", second)]);
            assert_eq!(joined(Side::Request, came), lines(&[("accept", both)]));
        }
    }

    #[test]
    fn requests_and_responses_have_names_of_their_own() {
        for (name, side, count) in [
            ("vary", Side::Request, 2),
            ("vary", Side::Response, 1),
            ("accept", Side::Request, 1),
            ("accept", Side::Response, 2),
            ("content-type", Side::Request, 1),
            ("content-type", Side::Response, 1),
            ("content-type", Side::Neither, 2),
            ("cookie", Side::Request, 2),
            ("set-cookie", Side::Response, 2),
            ("x-api-key", Side::Request, 2),
        ] {
            let came = lines(&[(name, "1"), (name, "2")]);
            assert_eq!(joined(side, came).len(), count, "{name} {side:?}");
        }
    }
}
