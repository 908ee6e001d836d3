//! Clusters over HTTP/2, and clients that speak gRPC over HTTP/1.

use blackbox::differential::Case;
use blackbox::grpc::Rude;
use blackbox::plugin::scripted;
use serde_json::json;

fn to_side(server: &Rude, script: &str) -> Case {
    let address = server.address();
    Case::new()
        .filter(scripted("a", script))
        .shape(move |raw| raw.http2_cluster("side", &[address], json!({})))
        .route(json!({"cluster": "side", "timeout": "5s"}))
}

#[test]
fn a_request_goes_on_over_http_2() {
    let server = Rude::start();
    let seen = to_side(&server, "response_trailers: get_header_map_pairs 3").run(|client| {
        let lines = ["te: trailers", "connection: x-hop", "x-hop: 1", "x-a: 1"];
        client.request("POST", "/Head", &lines, b"body");
    });
    assert_eq!(seen.statuses(), [200]);
    let body = seen.responses[0].text().to_string();
    assert!(body.contains("te: trailers"), "{body}");
    assert!(body.contains("x-a: 1"), "{body}");
    assert!(!body.contains("connection"), "{body}");
    assert_eq!(
        seen.answers("get_header_map_pairs 3"),
        ["0 2 {x-trailer: 1, grpc-status: 0}"]
    );
}

#[test]
fn a_stream_that_the_worker_resets_is_a_503_that_says_so() {
    let server = Rude::start();
    let seen = to_side(&server, "log: get_property response/flags").run(|client| {
        for path in ["/Reset", "/Refuse", "/Close", "/BreakOff"] {
            client.get(path);
        }
    });
    assert_eq!(seen.statuses(), [503, 503, 503, 200]);
    let text = seen.client().join("\n");
    assert!(text.contains("reset reason: remote reset"), "{text}");
    assert!(text.contains("remote refused stream reset"), "{text}");
}

#[test]
fn clients_that_speak_grpc_get_a_status_for_an_answer() {
    let script = "
        request_headers @/guest: send_local_response 418 50%25%20tea%0a x-more=1 - -
        request_headers @/status: send_local_response 200 - - - 7";
    let seen = Case::new().filter(scripted("a", script)).run(|client| {
        for kind in [
            "application/grpc",
            "application/grpc+proto",
            "application/grpcx",
        ] {
            let line = format!("content-type: {kind}");
            for path in ["/guest", "/status"] {
                client.request("POST", path, &[&line], b"");
            }
        }
    });
    assert_eq!(seen.statuses(), [200, 200, 200, 200, 418, 200]);
    let text = seen.client().join("\n");
    assert_eq!(text.matches("grpc-message: 50%25 tea%0A").count(), 2);
    assert_eq!(text.matches("grpc-status: 7").count(), 2);
    assert_eq!(text.matches("grpc-status: 2").count(), 2);
}

#[test]
fn envoys_own_answer_is_a_status_too() {
    let closed = json!({"cluster": "absent", "timeout": "5s"});
    let seen = Case::new()
        .route(closed)
        .shape(|raw| raw.http2_cluster("absent", &[], json!({})))
        .run(|client| {
            client.request("POST", "/x", &["content-type: application/grpc"], b"x");
        });
    assert_eq!(seen.statuses(), [200]);
    let text = seen.client().join("\n");
    assert!(text.contains("grpc-status: 14"), "{text}");
    assert!(text.contains("grpc-message: no healthy upstream"), "{text}");
}

#[test]
fn the_answer_of_a_plain_callout_is_at_most_32_mib() {
    let server = Rude::start();
    let address = server.address();
    let script = "
        request_headers @/Mib32: http_call side :method=GET;:path=/Mib32;:authority=c - - 20000
        request_headers @/Mib33: http_call side :method=GET;:path=/Mib33;:authority=c - - 20000
        request_headers: return 1
        http_call_response: get_status
        http_call_response: set_effective_context $caller
        http_call_response: continue_stream 0";
    let seen = Case::new()
        .filter(scripted("a", script))
        .shape(move |raw| raw.http2_cluster("side", &[address], json!({})))
        .run(|client| {
            client.get("/Mib32");
            client.get("/Mib33");
        });
    assert_eq!(
        seen.answers("get_status"),
        ["0 \"\" code 0", "0 \"reset\" code 11"]
    );
    assert_eq!(seen.said(", 33554432, 0)"), 1);
}
