use super::{Row, check_rows};

#[test]
fn envoy_buffers_what_the_gateway_accepts_and_a_piece_more() {
    let limit = "request_body_buffer_limit: 5505024";
    check_rows(&[
        Row {
            behind: "- name: gateway",
            old: limit,
            new: "request_body_buffer_limit: 4194304",
            line: "request_body_buffer_limit:",
            found: &["error body-limit"],
            says: "4194304: the document accepts bodies of 4194304 bytes",
        },
        Row {
            behind: "virtual_hosts:",
            old: limit,
            new: "",
            line: "- name: gateway",
            found: &["error body-limit"],
            says: "is missing",
        },
        Row {
            behind: "",
            old: "per_connection_buffer_limit_bytes: 1048576",
            new: "per_connection_buffer_limit_bytes: 2097152",
            line: "request_body_buffer_limit: 5505024",
            found: &["error body-limit"],
            says: "5505024: the document accepts",
        },
        Row {
            behind: "",
            old: "match: {prefix: \"/\"}\n",
            new: "match: {prefix: \"/\"}\n                request_body_buffer_limit: 1\n",
            line: "request_body_buffer_limit: 1\n",
            found: &["error body-limit"],
            says: "1: the document",
        },
        Row {
            behind: "",
            old: "\"max_body_bytes\": 4194304",
            new: "\"max_body_bytes\": 8388608",
            line: "request_body_buffer_limit: 5505024",
            found: &["error body-limit"],
            says: "8388608",
        },
    ]);
}

#[test]
fn a_larger_window_lets_streams_fill_more() {
    let window = "http2_protocol_options: {initial_stream_window_size: 5505024}";
    check_rows(&[
        Row {
            behind: "",
            old: window,
            new: "",
            line: "typed_config:",
            found: &["warning window"],
            says: "Envoy's default is 16777216",
        },
        Row {
            behind: "",
            old: window,
            new: "http2_protocol_options: {initial_stream_window_size: 99999999}",
            line: "http2_protocol",
            found: &["warning window"],
            says: "99999999",
        },
    ]);
}

#[test]
fn a_last_route_that_answers_by_itself_takes_the_body_limit_away() {
    check_rows(&[Row {
        behind: "",
        old: "route: {cluster: dragoman-refused}",
        new: "direct_response: {status: 503}",
        line: "direct_response: {",
        found: &["error last-route"],
        says: "bodies above 1 MiB get 413",
    }]);
}
