//! Trailers of HTTP/1.

use blackbox::Faults;
use blackbox::differential::{Case, Seen};
use blackbox::plugin::scripted;
use serde_json::json;

const SCRIPT: &str = "
    request_trailers: get_header_map_pairs 1
    request_trailers: add_header_map_value 1 x-more 1
    response_trailers: get_header_map_pairs 3
    response_trailers: add_header_map_value 3 x-more 2
    log: get_header_map_pairs 1
    log: get_header_map_pairs 3";

/// The connection ends, so that no later request finds it about to be closed.
const ANSWER: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Up: 1\r\nx-up: 2\r\n\r\n";

const BOTH: (bool, bool) = (true, true);

/// A request with this rest of its head and this body, in chunks.
fn request(rest: &str, body: &str) -> String {
    format!(
        "POST /x HTTP/1.1\r\nhost: g\r\nconnection: close\r\ntransfer-encoding: chunked\r\n{rest}\r\n{body}"
    )
}

/// Requests with trailers switched on in the listener and in the cluster.
fn with_trailers(on: (bool, bool), requests: &[(&str, String)]) -> Seen {
    run(on, "", requests)
}

/// Requests that get no further than the second filter.
fn held(on: (bool, bool), requests: &[(&str, String)]) -> Seen {
    run(on, "request_headers: return 1", requests)
}

fn run((listener, cluster): (bool, bool), second: &str, requests: &[(&str, String)]) -> Seen {
    let name = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
    let on = json!({"enable_trailers": true});
    let protocol = json!({"typed_extension_protocol_options": {name: {
        "@type": format!("type.googleapis.com/{name}"),
        "explicit_http_config": {"http_protocol_options": on}}}});
    Case::new()
        .filter(scripted("a", SCRIPT))
        .filter(scripted("b", second))
        .answers("w1", ANSWER)
        .shape(move |raw| {
            let raw = match listener {
                true => raw.hcm("http_protocol_options", on.clone()),
                false => raw,
            };
            match cluster {
                true => raw.cluster_fields("workers", protocol.clone()),
                false => raw,
            }
        })
        .run(|client| {
            for (name, request) in requests {
                client.everything(name, request.as_bytes());
            }
        })
}

fn with_two() -> [(&'static str, String); 1] {
    let body = "1\r\nx\r\n0\r\nX-One: 1\r\nx-two:  b  \r\n\r\n";
    [("two", request("", body))]
}

#[test]
fn trailers_are_dropped_unless_they_are_asked_for() {
    let seen = with_trailers((false, false), &with_two());

    assert_eq!(seen.said("_trailers("), 0);
}

#[test]
fn a_listener_reads_and_writes_trailers() {
    let seen = with_trailers((true, false), &with_two());

    assert_eq!(seen.said("request_trailers("), 2);
    assert_eq!(
        seen.said("response_trailers("),
        0,
        "the worker's are dropped"
    );
    assert!(!seen.workers().iter().any(|line| line.contains("trailer")));
}

#[test]
fn a_cluster_reads_and_writes_trailers() {
    let seen = with_trailers((false, true), &with_two());

    assert_eq!(seen.said("request_trailers("), 0);
    assert_eq!(seen.said("response_trailers("), 2);
    assert!(!seen.client().iter().any(|line| line.contains("x-up")));
}

#[test]
fn trailers_go_all_the_way_and_filters_change_them() {
    let seen = with_trailers(BOTH, &with_two());

    assert!(seen.workers().contains(&"  trailer x-more: 1".to_owned()));
    assert!(seen.workers().contains(&"  trailer x-two: b".to_owned()));
    assert!(seen.client().contains(&"  x-more: 2".to_owned()));
}

#[test]
fn bodies_end_with_or_without_trailers() {
    let length = "POST /x HTTP/1.1\r\nhost: g\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx";
    let head = "HEAD /x HTTP/1.1\r\nhost: g\r\nconnection: close\r\n\r\n";
    let seen = with_trailers(
        BOTH,
        &[
            (
                "te",
                request("te: trailers\r\n", "1\r\nx\r\n0\r\na: 1\r\n\r\n"),
            ),
            ("length", length.to_owned()),
            ("head", head.to_owned()),
            ("no body", request("", "0\r\nx-t: 1\r\n\r\n")),
            ("no trailers", request("", "1\r\nx\r\n0\r\n\r\n")),
        ],
    );

    assert_eq!(seen.said("a: request_trailers("), 2);
}

#[test]
fn trailers_may_have_the_names_of_headers() {
    let odd = "x_u: 1\r\ncontent-length: 7\r\nhost: other\r\nx-empty:\r\n";
    let seen = with_trailers(
        BOTH,
        &[("odd", request("", &format!("1\r\nx\r\n0\r\n{odd}\r\n")))],
    );

    assert_eq!(seen.said("a: request_trailers(2, 4)"), 1);
}

#[test]
fn trailers_have_the_bounds_of_a_head() {
    let body = |lines: &str| request("", &format!("1\r\nx\r\n0\r\n{lines}\r\n"));
    // The second filter keeps them from the worker, who would get more or less of them.
    let seen = held(
        BOTH,
        &[
            ("many", body(&"x: 1\r\n".repeat(101))),
            ("long", body(&format!("x: {}\r\n", "a".repeat(70_000)))),
            ("bad", body("b ad: 1\r\n")),
        ],
    );

    let logged = |details: &str| {
        let has = |line: &&String| line.contains(details);
        seen.access_log().iter().filter(has).count()
    };
    assert_eq!(logged("http1.too_many_headers"), 1);
    assert_eq!(logged("http1.headers_too_large"), 1);
    assert_eq!(logged("http1.codec_error"), 1);
}

#[test]
fn trailers_that_are_dropped_are_bounded_too() {
    let body = |lines: &str| request("", &format!("1\r\nx\r\n0\r\n{lines}\r\n"));

    let seen = held(
        (false, false),
        &[("long", body(&format!("x: {}\r\n", "a".repeat(70_000))))],
    );

    assert_eq!(seen.said("_trailers("), 0);
    assert!(seen.client()[1].contains("431"), "{:?}", seen.client());
}

#[test]
fn a_retry_sends_the_trailers_again() {
    let name = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
    let on = json!({"enable_trailers": true});
    let protocol = json!({"typed_extension_protocol_options": {name: {
        "@type": format!("type.googleapis.com/{name}"),
        "explicit_http_config": {"http_protocol_options": on}}}});
    let (_, request) = &with_two()[0];
    let busy = Faults {
        garbage: Some(ANSWER.replace("200 OK", "503 Busy")),
        times: Some(1),
        ..Faults::default()
    };

    let seen = Case::new()
        .filter(scripted("a", SCRIPT))
        .fault("w1", busy)
        .route(json!({"cluster": "workers", "retry_policy": {"retry_on": "5xx", "num_retries": 1}}))
        .shape(move |raw| {
            raw.hcm("http_protocol_options", on.clone())
                .cluster_fields("workers", protocol.clone())
        })
        .run(|client| drop(client.everything("retried", request.as_bytes())));

    let sent = |line: &&String| line.contains("trailer x-one: 1");
    assert_eq!(seen.workers().iter().filter(sent).count(), 2);
}
