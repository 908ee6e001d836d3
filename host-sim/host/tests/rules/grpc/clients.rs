//! Answers without a worker for clients that speak gRPC.

use host_sim_host::abi::{Call, LocalResponse};

use crate::stage::{Response, Setup, guest, value};

const GRPC: (&str, &str) = ("content-type", "application/grpc");

fn answered(setup: Setup, kind: &str) -> Response {
    let mut stage = setup.start();
    stage.request(1, &[("content-type", kind)], true);
    stage.response(1)
}

fn nobody() -> Setup {
    let mut setup = Setup::new(&[]);
    setup
        .config
        .clusters
        .get_mut("workers")
        .unwrap()
        .endpoints
        .clear();
    setup
}

#[test]
fn envoys_own_answer_is_a_head_with_a_status() {
    let response = answered(nobody(), GRPC.1);
    assert_eq!(response.status, 200);
    assert_eq!(value(&response.headers, "content-type"), Some(GRPC.1));
    assert_eq!(value(&response.headers, "grpc-status"), Some("14"));
    assert_eq!(
        value(&response.headers, "grpc-message"),
        Some("no healthy upstream")
    );
    assert_eq!(value(&response.headers, "content-length"), None);
    assert!(response.complete);
    assert_eq!(response.body, "");
}

#[test]
fn other_clients_get_the_plain_one() {
    for kind in ["application/grpcx", "application/json"] {
        let response = answered(nobody(), kind);
        assert_eq!(response.status, 503, "{kind}");
        assert_eq!(response.body, "no healthy upstream", "{kind}");
    }
}

#[test]
fn a_guest_may_say_which_status_or_leave_it() {
    for (grpc_status, expected) in [(None, "2"), (Some(9), "9")] {
        let script = guest(move |host, event| {
            if matches!(event, Call::RequestHeaders { .. }) {
                host.send_local_response(LocalResponse {
                    status: 418,
                    grpc_status,
                    details: Vec::new(),
                    body: b"50% tea\n".to_vec(),
                    headers: Vec::new(),
                })
                .unwrap();
            }
            None
        });
        let response = answered(Setup::new(&[("answers", script)]), GRPC.1);
        assert_eq!(response.status, 200);
        assert_eq!(value(&response.headers, "grpc-status"), Some(expected));
        assert_eq!(
            value(&response.headers, "grpc-message"),
            Some("50%25 tea%0A")
        );
    }
}
