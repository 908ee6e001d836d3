//! What a guest is told of each answer.

use host_sim_host::io::ResetReason;

use super::{Told, call, stage, target};
use crate::stage::Stage;

/// What a worker does.
type Act = fn(&mut Stage);

const GRPC: (&str, &str) = ("content-type", "application/grpc");
const HI: &str = "\0\0\0\0\x02hi";

fn good(stage: &mut Stage) {
    stage.answer(200, &[GRPC], false);
}

/// Answers, the end that a call is told of, and all that a stream is.
const ANSWERS: &[(&str, Act, &str, &[&str])] = &[
    (
        "a message",
        |stage| {
            good(stage);
            stage.answer_data(HI, false);
            stage.answer_trailers(&[("grpc-status", "0"), ("grpc-message", "fine")]);
        },
        "message 5 hi",
        &[
            "initial 2 :status,content-type",
            "message 6 hi",
            "trailing 2 grpc-status,grpc-message",
            "close 6 0 fine{via_upstream}",
        ],
    ),
    (
        "two messages: a call has the last",
        |stage| {
            good(stage);
            stage.answer_data("\0\0\0\0\x02hi\0\0\0\0\x02", false);
            stage.answer_data("ho", false);
            stage.answer_trailers(&[("grpc-status", "0")]);
        },
        "message 5 ho",
        &[
            "initial 2 :status,content-type",
            "message 6 hi",
            "message 6 ho",
            "trailing 1 grpc-status",
            "close 6 0 via_upstream",
        ],
    ),
    (
        "no message",
        |stage| {
            good(stage);
            stage.answer_trailers(&[("grpc-status", "0")]);
        },
        "close 5 13 ",
        &[
            "initial 2 :status,content-type",
            "trailing 1 grpc-status",
            "close 6 0 via_upstream",
        ],
    ),
    (
        "a message and an error",
        |stage| {
            good(stage);
            stage.answer_data(HI, false);
            stage.answer_trailers(&[("grpc-status", "13"), ("grpc-message", "late")]);
        },
        "close 5 13 late{via_upstream}",
        &[
            "initial 2 :status,content-type",
            "message 6 hi",
            "trailing 2 grpc-status,grpc-message",
            "close 6 13 late{via_upstream}",
        ],
    ),
    (
        "trailers only",
        |stage| stage.answer(200, &[GRPC, ("grpc-status", "5")], true),
        "close 5 5 via_upstream",
        &[
            "initial 0 ",
            "trailing 3 :status,content-type,grpc-status",
            "close 6 5 via_upstream",
        ],
    ),
    (
        "the end without trailers",
        |stage| {
            good(stage);
            stage.answer_data(HI, true);
        },
        "close 5 2 via_upstream",
        &[
            "initial 2 :status,content-type",
            "message 6 hi",
            "trailing 0 ",
            "close 6 2 via_upstream",
        ],
    ),
    (
        "trailers without a status",
        |stage| {
            good(stage);
            stage.answer_trailers(&[("x", "y")]);
        },
        "close 5 2 via_upstream",
        &[
            "initial 2 :status,content-type",
            "trailing 1 x",
            "close 6 2 via_upstream",
        ],
    ),
    (
        "a status that is none",
        |stage| {
            good(stage);
            stage.answer_trailers(&[("grpc-status", "99")]);
        },
        "close 5 -1 via_upstream",
        &[
            "initial 2 :status,content-type",
            "trailing 1 grpc-status",
            "close 6 -1 via_upstream",
        ],
    ),
    (
        "no gRPC at all",
        |stage| {
            stage.answer(200, &[("content-type", "text/html")], false);
            stage.answer_data("<html>", false);
        },
        "close 5 13 via_upstream",
        &[
            "initial 2 :status,content-type",
            "trailing 0 ",
            "close 6 13 via_upstream",
        ],
    ),
    (
        "a compressed message",
        |stage| {
            good(stage);
            stage.answer_data("\x01\0\0\0\x02hi", false);
        },
        "close 5 13 via_upstream",
        &[
            "initial 2 :status,content-type",
            "trailing 0 ",
            "close 6 13 via_upstream",
        ],
    ),
    (
        "an empty message, called compressed",
        |stage| {
            good(stage);
            stage.answer_data("\x01\0\0\0\0", false);
            stage.answer_trailers(&[("grpc-status", "0")]);
        },
        "message 5 ",
        &[
            "initial 2 :status,content-type",
            "message 6 ",
            "trailing 1 grpc-status",
            "close 6 0 via_upstream",
        ],
    ),
    (
        "an error of HTTP",
        |stage| stage.answer(404, &[], true),
        "close 5 12 via_upstream",
        &["initial 0 ", "trailing 0 ", "close 6 12 via_upstream"],
    ),
    (
        "an error of HTTP with a body",
        |stage| stage.answer(503, &[], false),
        "close 5 14 via_upstream",
        &["initial 0 ", "trailing 0 ", "close 6 14 via_upstream"],
    ),
    (
        "an error of HTTP with a status",
        |stage| {
            stage.answer(
                503,
                &[("grpc-status", "9"), ("grpc-message", "a%20b")],
                true,
            );
        },
        "close 5 9 a%20b{via_upstream}",
        &[
            "initial 0 ",
            "trailing 3 :status,grpc-status,grpc-message",
            "close 6 9 a%20b{via_upstream}",
        ],
    ),
    (
        "a reset after the head",
        |stage| {
            good(stage);
            stage.reset(ResetReason::RemoteReset);
        },
        "close 5 13 upstream_reset_after_response_started{remote_reset}",
        &[
            "initial 2 :status,content-type",
            "trailing 0 ",
            "close 6 13 upstream_reset_after_response_started{remote_reset}",
        ],
    ),
    (
        "a reset before the head",
        |stage| stage.reset(ResetReason::RemoteReset),
        "close 5 14 upstream connect error or disconnect/reset before headers. reset reason: remote reset\
         {upstream_reset_before_response_started{remote_reset}}",
        &[
            "initial 0 ",
            "trailing 4 :status,content-type,grpc-status,grpc-message",
            "close 6 14 upstream connect error or disconnect/reset before headers. reset reason: remote reset\
             {upstream_reset_before_response_started{remote_reset}}",
        ],
    ),
    (
        "a stream that was refused",
        |stage| stage.reset(ResetReason::RemoteRefused),
        "close 5 14 upstream connect error or disconnect/reset before headers. reset reason: \
         remote refused stream reset{upstream_reset_before_response_started{remote_refused_stream_reset}}",
        &[
            "initial 0 ",
            "trailing 4 :status,content-type,grpc-status,grpc-message",
            "close 6 14 upstream connect error or disconnect/reset before headers. reset reason: \
             remote refused stream reset{upstream_reset_before_response_started{remote_refused_stream_reset}}",
        ],
    ),
];

#[test]
fn a_call_has_one_end() {
    for (name, answer, end, _) in ANSWERS {
        let told = Told::default();
        let mut stage = stage(&told, |host, _| {
            call(host, b"side").unwrap();
        });
        answer(&mut stage);
        assert_eq!(told.take(), [*end], "{name}");
        stage.wait(1000);
        assert!(told.take().is_empty(), "{name}");
    }
}

#[test]
fn a_stream_is_told_of_everything() {
    for (name, answer, _, all) in ANSWERS {
        let told = Told::default();
        let mut stage = stage(&told, |host, _| {
            host.grpc_stream(target(b"side")).unwrap();
        });
        answer(&mut stage);
        let lines = told.take();
        // A request of which not all is sent has no service time.
        assert_eq!(lines, *all, "{name}");
        stage.wait(1000);
        assert!(told.take().is_empty(), "{name}");
    }
}

#[test]
fn a_call_has_so_long() {
    let told = Told::default();
    let mut stage = stage(&told, |host, _| {
        call(host, b"side").unwrap();
    });
    stage.wait(499);
    assert!(told.take().is_empty());
    stage.wait(1);
    assert_eq!(
        told.take(),
        ["close 5 14 upstream request timeout{response_timeout}"]
    );
    assert!(stage.is_cancelled());
}

#[test]
fn a_time_that_runs_out_after_the_head_is_an_internal_error() {
    let told = Told::default();
    let mut stage = stage(&told, |host, _| {
        call(host, b"side").unwrap();
    });
    good(&mut stage);
    stage.answer_data("\0\u{7f}\0\0\0hi", false);
    stage.wait(500);
    assert_eq!(told.take(), ["close 5 13 response_timeout"]);
}

#[test]
fn a_message_above_the_services_limit_ends_a_call() {
    // envoy_grpc { cluster_name: "side", max_receive_message_length: 1 }
    const SERVICE: &[u8] = b"\x0a\x0a\x0a\x04side\x22\x02\x08\x01";
    let told = Told::default();
    let mut stage = stage(&told, |host, _| {
        call(host, SERVICE).unwrap();
    });
    good(&mut stage);
    stage.answer_data(HI, false);
    assert_eq!(told.take(), ["close 5 8 via_upstream"]);
    assert!(stage.is_cancelled());
}
