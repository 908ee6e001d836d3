//! Callouts over gRPC, to a real server and to one that breaks the rules.

use std::net::SocketAddr;

use blackbox::differential::{Case, Client, Seen};
use blackbox::grpc::{Real, Rude};
use blackbox::plugin::scripted;
use serde_json::json;

/// What a guest reads of what it is told, and that its request goes on at the end of a stream.
const HEARS: &str = "
    grpc_receive_initial_metadata: get_header_map_pairs 4
    grpc_receive: get_buffer_bytes 5 0 1000
    grpc_receive_trailing_metadata: get_header_map_pairs 5
    grpc_close: get_status
    grpc_close: set_effective_context $caller
    grpc_close: continue_stream 0
";
/// The same for a call, which may end with a message.
const GOES_ON: &str = "
    grpc_receive: set_effective_context $caller
    grpc_receive: continue_stream 0
";

/// A guest with this script, and the cluster `side` at this place.
fn case(address: SocketAddr, script: &str) -> Case {
    Case::new()
        .filter(scripted("a", &format!("{script}{HEARS}")))
        .shape(move |raw| {
            raw.http2_cluster("side", &[address], json!({}))
                .http2_cluster("nohosts", &[], json!({}))
        })
}

fn get(path: &'static str) -> impl Fn(&mut Client<'_>) + Sync {
    move |client| drop(client.get(path))
}

/// A line for each path: a call, or a stream with one message, to the method of that name.
fn for_each(methods: &[&str], unary: bool) -> String {
    let mut script = String::new();
    for method in methods {
        let line = if unary {
            format!("request_headers @/{method}: grpc_call side raw {method} - hello 1000\n")
        } else {
            format!(
                "request_headers @/{method}: token = grpc_stream side raw {method} -\n\
                 request_headers @/{method}: grpc_send $token hello 1\n"
            )
        };
        script.push_str(&line);
    }
    script.push_str("request_headers: return 1\n");
    if unary {
        script.push_str(GOES_ON);
    }
    script
}

/// All of these methods, asked one after the other.
fn asked(methods: &'static [&'static str], unary: bool) -> Seen {
    let server = Rude::start();
    case(server.address(), &for_each(methods, unary)).run(|client| {
        for method in methods {
            // The worker knows no such path, but was asked.
            assert_eq!(client.get(&format!("/{method}")).status, 404, "{method}");
        }
    })
}

#[test]
fn a_call_brings_back_a_message() {
    let server = Real::start();
    let script = format!(
        "request_headers: grpc_call side test.Echo Unary - hello 5000
         request_headers: return 1
         {GOES_ON}"
    );
    let seen = case(server.address(), &script).run(get("/x"));
    assert_eq!(seen.answers("grpc_call"), ["0 token 5"]);
    assert_eq!(seen.answers("get_buffer_bytes"), ["0 \"hello\""]);
    assert_eq!(seen.said("grpc_close("), 0, "a good call has no other end");
}

#[test]
fn an_error_has_a_status_and_a_message() {
    let server = Real::start();
    let script = "request_headers: grpc_call side test.Echo Fail - 9%20t%c3%a4xt 5000
         request_headers: return 1
         ";
    let seen = case(server.address(), script).run(get("/x"));
    assert_eq!(
        seen.answers("get_status"),
        ["0 \"t%C3%A4xt{via_upstream}\" code 9"]
    );
}

#[test]
fn metadata_goes_both_ways_binary_too() {
    let server = Real::start();
    let script =
        "request_headers: token = grpc_stream side test.Echo Metadata x-mine-bin=%00%ff;x-mine=1
         request_headers: grpc_send $token x 1
         request_headers: return 1
         ";
    let seen = case(server.address(), script).run(get("/x"));
    let all = seen.guests().join("\n");
    for part in [
        "x-initial-bin: AP8",
        "x-trailing-bin: Af6A",
        r"x-mine-bin=b\'\\x00\\xff\'",
        r"x-mine=\'1\'",
        "x-envoy-internal",
    ] {
        assert!(all.contains(part), "{part} in {all}");
    }
}

#[test]
fn an_empty_message_is_one() {
    let server = Real::start();
    let script = format!(
        "request_headers: grpc_call side test.Echo Empty - - 5000
         request_headers: return 1
         {GOES_ON}"
    );
    let seen = case(server.address(), &script).run(get("/x"));
    assert_eq!(seen.said("grpc_receive(1, 5, 0)"), 1);
}

#[test]
fn a_message_may_be_larger_than_the_answer_of_a_plain_callout() {
    let server = Real::start();
    let script = format!(
        "request_headers: grpc_call side test.Echo Big - 34000000 20000
         request_headers: return 1
         {GOES_ON}"
    );
    let seen = case(server.address(), &script).run(get("/x"));
    assert_eq!(seen.said("grpc_receive(1, 5, 34000000)"), 1);
}

#[test]
fn a_large_message_is_sent() {
    let server = Real::start();
    let script = format!(
        "request_headers: grpc_call side test.Echo Unary - 3000000*x 20000
         request_headers: return 1
         {GOES_ON}"
    );
    let seen = case(server.address(), &script).run(get("/x"));
    assert_eq!(seen.said("grpc_receive(1, 5, 3000000)"), 1);
}

#[test]
fn a_stream_goes_message_by_message_both_ways() {
    let server = Real::start();
    let script = "request_headers: token = grpc_stream side test.Echo Talk -
         request_headers: grpc_send $token one 0
         request_headers: return 1
         grpc_receive #1: grpc_send $token two 0
         grpc_receive #2: grpc_close $token
         grpc_close: grpc_cancel $token
         ";
    let seen = case(server.address(), script).run(get("/x"));
    assert_eq!(seen.answers("get_buffer_bytes"), ["0 \"one\"", "0 \"two\""]);
    assert_eq!(seen.answers("get_status"), ["0 \"via_upstream\" code 0"]);
}

#[test]
fn a_server_streams() {
    let server = Real::start();
    let script = "request_headers: token = grpc_stream side test.Echo Count -
         request_headers: grpc_send $token 3 1
         request_headers: return 1
         ";
    let seen = case(server.address(), script).run(get("/x"));
    assert_eq!(seen.answers("get_buffer_bytes").len(), 3);
}

#[test]
fn a_method_that_there_is_not() {
    let server = Real::start();
    let script = "request_headers: grpc_call side test.Echo None - x 5000
         request_headers: return 1
         ";
    let seen = case(server.address(), script).run(get("/x"));
    assert_eq!(
        seen.answers("get_status"),
        ["0 \"Method not found!{via_upstream}\" code 12"]
    );
}

#[test]
fn a_time_of_none_is_none_left_for_the_server() {
    let server = Real::start();
    let script = "request_headers: grpc_call side test.Echo Unary - x 0
         request_headers: return 1
         ";
    let seen = case(server.address(), script).run(get("/x"));
    assert_eq!(
        seen.answers("get_status"),
        ["0 \"Deadline Exceeded{via_upstream}\" code 4"]
    );
}

const ANSWERS: &[&str] = &[
    "Html",
    "Garbage",
    "Compressed",
    "Half",
    "NoTrailers",
    "NoStatus",
    "BadStatus",
    "NoMessage",
    "TwoMessages",
    "TrailersOnly",
    "NotFound",
    "Unavailable",
];

#[test]
fn an_answer_that_breaks_the_rules_ends_a_call() {
    let seen = asked(ANSWERS, true);
    let statuses: Vec<_> = seen
        .answers("get_status")
        .iter()
        .filter_map(|answer| answer.rsplit(' ').next())
        .collect();
    let expected = [
        "13",
        "13",
        "13",
        "13",
        "2",
        "2",
        "4294967295",
        "13",
        "5",
        "12",
        "9",
    ];
    assert_eq!(statuses, expected);
    assert_eq!(seen.answers("get_buffer_bytes"), ["0 \"ho\""]);
}

#[test]
fn a_stream_is_told_of_all_of_an_answer() {
    let seen = asked(ANSWERS, false);
    assert_eq!(seen.said("grpc_receive_initial_metadata("), ANSWERS.len());
    assert_eq!(seen.said("grpc_receive_trailing_metadata("), ANSWERS.len());
    assert_eq!(seen.said("grpc_close("), ANSWERS.len());
}

const BREAKS: &[&str] = &["Reset", "Refuse", "BreakOff", "Close"];

#[test]
fn a_call_that_breaks_off_says_how() {
    let seen = asked(BREAKS, true);
    for text in [
        "reset reason: remote reset{",
        "reset reason: remote refused stream reset{",
        "upstream_reset_after_response_started{remote_reset}",
        "reset reason: connection termination{",
    ] {
        assert_eq!(seen.said(text), 1, "{text}");
    }
}

#[test]
fn a_stream_that_breaks_off_says_how() {
    let seen = asked(BREAKS, false);
    assert_eq!(seen.said("grpc_close("), BREAKS.len());
}

#[test]
fn a_call_that_takes_too_long_is_unavailable() {
    let server = Rude::start();
    let script = "request_headers: grpc_call side raw Hang - x 200
         request_headers: return 1
         ";
    let seen = case(server.address(), script).run(get("/x"));
    assert_eq!(
        seen.answers("get_status"),
        ["0 \"upstream request timeout{response_timeout}\" code 14"]
    );
}

#[test]
fn a_time_that_runs_out_in_the_middle_is_internal() {
    let server = Rude::start();
    let script = "request_headers: grpc_call side raw Open - x 200
         request_headers: return 1
         ";
    let seen = case(server.address(), script).run(get("/x"));
    assert_eq!(
        seen.answers("get_status"),
        ["0 \"response_timeout\" code 13"]
    );
}

#[test]
fn a_refused_connection_is_unavailable() {
    let closed = SocketAddr::from(([127, 0, 0, 1], 1));
    let script = "request_headers @/call: grpc_call side raw Ok - x 1000
         request_headers @/stream: grpc_stream side raw Ok -
         request_headers: return 1
         ";
    let seen = case(closed, script).run(|client| {
        client.get("/call");
        client.get("/stream");
    });
    assert_eq!(seen.said("delayed_connect_error:_Connection_refused"), 2);
}

#[test]
fn what_cannot_begin_is_told_afterwards_and_a_stream_inside_of_its_call() {
    let server = Rude::start();
    // envoy_grpc { cluster_name: "absent" }
    let script = "request_headers @/name: grpc_call absent raw Ok - x 1000
         request_headers @/name: grpc_stream absent raw Ok -
         request_headers @/service: grpc_call %0a%08%0a%06absent raw Ok - x 1000
         request_headers @/call: grpc_call nohosts raw Ok - x 1000
         request_headers @/stream: grpc_stream nohosts raw Ok -
         ";
    let seen = case(server.address(), script).run(|client| {
        for path in ["/name", "/service", "/call", "/stream"] {
            client.get(path);
        }
    });
    assert_eq!(seen.answers("grpc_call"), ["4", "10", "10"]);
    assert_eq!(seen.answers("grpc_stream"), ["4", "10"]);
    let position = |text: &str| {
        let line = seen.guests().iter().position(|line| line.contains(text));
        line.unwrap_or_else(|| panic!("{text} in {:?}", seen.guests()))
    };
    assert!(position("grpc_receive_trailing_metadata(") < position("grpc_stream nohosts"));
    assert!(position("grpc_stream nohosts") < position("grpc_close(1, 6, 14)"));
}

#[test]
fn a_service_says_more_than_a_cluster() {
    let server = Rude::start();
    // envoy_grpc { cluster_name: "side" authority: "other" max_receive_message_length: 1 } and
    // initial_metadata { key: "x-up" value: "1" }, { key: "x-b-bin" value: "raw" }; then one with ":path".
    let script = format!(
        "request_headers @/head: grpc_call %0a%0d%0a%04side%12%05other%2a%09%0a%04x-up%12%011%2a%0e%0a%07x-b-bin%12%03raw raw Head x-up=2 x 1000
         request_headers @/short: grpc_call %0a%0a%0a%04side%22%02%08%01 raw Ok - x 1000
         request_headers @/path: grpc_call %0a%06%0a%04side%2a%0a%0a%05:path%12%01/ raw Ok - x 1000
         request_headers @/head: return 1
         request_headers @/short: return 1
         {GOES_ON}"
    );
    let seen = case(server.address(), &script).run(|client| {
        for path in ["/head", "/short", "/path"] {
            client.get(path);
        }
    });
    let all = seen.guests().join("\n");
    for part in [
        "http://other/raw/Head",
        "x-up: 1",
        "x-up: 2",
        "x-b-bin: cmF3",
    ] {
        assert!(all.contains(part), "{part} in {all}");
    }
    assert_eq!(seen.answers("grpc_call").last(), Some(&"2"));
    assert_eq!(seen.answers("get_status"), ["0 \"via_upstream\" code 8"]);
}

#[test]
fn a_worker_gets_this_head() {
    let server = Rude::start();
    let script = format!(
        "request_headers: grpc_call side raw Head x-mine=1;:authority=more x 1000
         request_headers: return 1
         {GOES_ON}"
    );
    let seen = case(server.address(), &script).run(get("/x"));
    let all = seen.guests().join("\n");
    for part in [
        "POST http://side,more/raw/Head",
        "te: trailers",
        "grpc-timeout: 1000m",
        "x-envoy-expected-rq-timeout-ms: 1000",
    ] {
        assert!(all.contains(part), "{part} in {all}");
    }
}

#[test]
fn a_token_is_good_for_what_it_names() {
    let server = Rude::start();
    let script = "request_headers @/none: grpc_send 5 x 0
         request_headers @/none: grpc_close 5
         request_headers @/none: grpc_send 6 x 0
         request_headers @/none: grpc_close 6
         request_headers @/none: grpc_cancel 6
         request_headers @/none: grpc_cancel 4
         request_headers @/none: grpc_close 7
         request_headers @/call: token = grpc_call side raw Hang - x 1000
         request_headers @/call: grpc_cancel $token
         request_headers @/call: grpc_close $token
         request_headers @/stream: token = grpc_stream side raw Hang -
         request_headers @/stream: grpc_send $token x 0
         request_headers @/stream: grpc_close $token
         request_headers @/stream: grpc_send $token x 0
         request_headers @/stream: grpc_close $token
         request_headers @/stream: grpc_cancel $token
         request_headers @/stream: grpc_cancel $token
         ";
    let seen = case(server.address(), script).run(|client| {
        for path in ["/none", "/call", "/stream"] {
            client.get(path);
        }
    });
    assert_eq!(seen.answers("grpc_send"), ["2", "1", "0", "0"]);
    assert_eq!(seen.answers("grpc_close"), ["1", "1", "2", "1", "0", "0"]);
    assert_eq!(seen.answers("grpc_cancel"), ["1", "2", "0", "0", "1"]);
    assert_eq!(seen.said("grpc_close("), 0, "nothing of it is heard again");
}

#[test]
fn a_stream_that_the_server_ended_is_the_guests_until_it_lets_go() {
    let server = Rude::start();
    let script = "request_headers: token = grpc_stream side raw Ok -
         request_headers: return 1
         grpc_close: grpc_send $token x 0
         grpc_close: grpc_close $token
         grpc_close: grpc_close $token
         ";
    let seen = case(server.address(), script).run(get("/x"));
    assert_eq!(seen.answers("grpc_send"), ["0"]);
    assert_eq!(seen.answers("grpc_close $token"), ["0", "1"]);
}

#[test]
fn a_cluster_takes_so_many_at_a_time() {
    let server = Rude::start();
    let address = server.address();
    // The first request waits for its message, so that nothing of both happens at once.
    let script = "request_headers @/first: grpc_stream one raw Open -
         request_headers @/first: return 1
         grpc_receive #1: set_effective_context $caller
         grpc_receive #1: continue_stream 0
         request_headers @/second: grpc_call one raw Ok - x 1000
         ";
    let one = json!({"circuit_breakers": {"thresholds": [{"max_requests": 1}]}});
    let seen = case(address, script)
        .shape(move |raw| raw.http2_cluster("one", &[address], one.clone()))
        .run(|client| {
            client.get("/first");
            client.get("/second");
        });
    assert_eq!(seen.said("grpc_receive(1, 6, "), 1);
    assert_eq!(seen.said("reset reason: overflow{"), 1);
}

#[test]
fn a_call_outlives_the_request_that_made_it() {
    let server = Rude::start();
    let script = "request_headers @/leaves: grpc_call side raw Hang - x 300
         request_headers @/leaves: return 1
         ";
    let seen = case(server.address(), script).run(|client| {
        let mut talk = client.open("leaves");
        talk.request("GET", "/leaves", &[], b"");
        client.wait_for("grpc_call side", 1);
        talk.abort();
        client.wait_for("grpc_close(", 1);
    });
    assert_eq!(seen.said("grpc_close("), 1);
    assert_eq!(seen.said("14)"), 1, "for the root context");
}
