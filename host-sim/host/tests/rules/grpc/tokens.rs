//! What can be done with a token, and how long it lives.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use host_sim_host::abi::{Answer, Call, HostCalls, MapKind, Refusal, Trap};
use host_sim_host::config::FailurePolicy;
use host_sim_host::io::{Command, UpstreamId};

use super::{Told, call, setup, stage, target};
use crate::stage::{Script, Stage};

fn shown(answer: Answer<()>) -> &'static str {
    match answer {
        Ok(()) => "ok",
        Err(Refusal::Tell(status)) => match status as u32 {
            1 => "NotFound",
            2 => "BadArgument",
            _ => "another status",
        },
        Err(Refusal::Stop(_)) => "stopped",
    }
}

/// Send, close, cancel.
fn all(host: &mut dyn HostCalls, token: u32) -> [&'static str; 3] {
    [
        shown(host.grpc_send(token, b"x", false)),
        shown(host.grpc_close(token)),
        shown(host.grpc_cancel(token)),
    ]
}

/// Answers a stream in full.
fn answer(stage: &mut Stage) {
    stage.answer(200, &[("content-type", "application/grpc")], false);
    stage.answer_trailers(&[("grpc-status", "0")]);
}

#[test]
fn a_token_says_by_its_number_what_it_is() {
    let told = Told::default();
    let _ = stage(&told, |host, told| {
        for token in [0, 4, 5, 6, 7] {
            told.add(format!("{token} {:?}", all(host, token)));
        }
    });
    let bad = r#"["BadArgument", "BadArgument", "BadArgument"]"#;
    assert_eq!(
        told.take(),
        [
            format!("0 {bad}"),
            format!("4 {bad}"),
            r#"5 ["BadArgument", "NotFound", "NotFound"]"#.to_owned(),
            r#"6 ["NotFound", "NotFound", "NotFound"]"#.to_owned(),
            format!("7 {bad}"),
        ]
    );
}

#[test]
fn what_is_cancelled_is_not_heard_of_again() {
    for unary in [true, false] {
        let told = Told::default();
        let mut stage = stage(&told, move |host, told| {
            let token = if unary {
                call(host, b"side").unwrap()
            } else {
                host.grpc_stream(target(b"side")).unwrap()
            };
            for _ in 0..2 {
                told.add(shown(host.grpc_cancel(token)).to_owned());
            }
        });
        assert!(stage.is_cancelled());
        stage.wait(1000);
        assert_eq!(told.take(), ["ok", "NotFound"]);
    }
}

#[test]
fn to_close_a_call_is_to_cancel_it() {
    let told = Told::default();
    let stage = stage(&told, |host, told| {
        let token = call(host, b"side").unwrap();
        told.add(shown(host.grpc_close(token)).to_owned());
        told.add(shown(host.grpc_close(token)).to_owned());
    });
    assert!(stage.is_cancelled());
    assert_eq!(told.take(), ["ok", "NotFound"]);
}

#[test]
fn a_stream_that_the_guest_closed_first_is_gone_with_the_workers_end() {
    let told = Told::default();
    let mut stage = stage(&told, |host, told| {
        if let Ok(token) = host.grpc_stream(target(b"side")) {
            told.add(format!("{token} {}", shown(host.grpc_close(token))));
            told.add(shown(host.grpc_close(token)).to_owned());
        }
        told.add(shown(host.grpc_cancel(2)).to_owned());
    });
    answer(&mut stage);
    assert!(stage.sent_upstream().2, "its end was sent");
    assert_eq!(told.take()[..3], ["6 ok", "ok", "NotFound"]);
}

/// A stream; the requests that follow act on its token.
fn with_stream(told: &Told, act: fn(&mut dyn HostCalls, &Told)) -> Stage {
    let begun = AtomicBool::new(false);
    stage(told, move |host, told| {
        if begun.swap(true, Ordering::Relaxed) {
            act(host, told);
        } else {
            host.grpc_stream(target(b"side")).unwrap();
        }
    })
}

#[test]
fn a_stream_that_the_worker_ended_is_the_guests_until_it_closes_it() {
    let told = Told::default();
    let mut stage = with_stream(&told, |host, told| {
        told.add(shown(host.grpc_send(6, b"x", true)).to_owned());
        told.add(format!("{:?}", all(host, 6)));
    });
    answer(&mut stage);
    told.take();
    let sent = stage.commands.len();
    stage.get(2);
    assert_eq!(told.take(), ["ok", r#"["ok", "ok", "NotFound"]"#]);
    let upstream = |command: &Command| matches!(command, Command::SendUpstreamData { .. });
    assert!(!stage.commands[sent..].iter().any(upstream));
}

#[test]
fn a_stream_that_both_have_closed_is_not_found() {
    let told = Told::default();
    let mut stage = with_stream(&told, |host, told| {
        told.add(shown(host.grpc_close(6)).to_owned());
    });
    stage.get(2);
    answer(&mut stage);
    stage.get(3);
    let told = told.take();
    assert_eq!(told.first().map(String::as_str), Some("ok"));
    assert_eq!(told.last().map(String::as_str), Some("NotFound"));
}

#[test]
fn a_call_goes_on_when_the_request_that_made_it_is_gone() {
    let told = Told::default();
    let mut stage = stage(&told, |host, _| {
        call(host, b"side").unwrap();
    });
    stage.leave(1);
    stage.answer(200, &[("content-type", "application/grpc")], false);
    stage.answer_data("\0\0\0\0\x02hi", false);
    stage.answer_trailers(&[("grpc-status", "0")]);
    assert_eq!(told.take(), ["message 5 hi"]);
}

/// A guest that opens a stream for each request, and traps instead if the request says so.
fn opens_or_traps(told: &Told) -> Script {
    let told = told.clone();
    Arc::new(move |host, event| {
        if matches!(event, Call::RequestHeaders { .. }) {
            let trap = host.get_header_map_value(MapKind::RequestHeaders, b"x-trap");
            if trap.is_ok() {
                return Err(Trap("told to".to_owned()));
            }
            told.add(host.grpc_stream(target(b"side")).unwrap().to_string());
        }
        Ok(None)
    })
}

#[test]
fn a_vm_that_is_loaded_anew_has_no_streams() {
    let told = Told::default();
    let mut stage = setup(&told, |_, _| {})
        .plugin(0, |plugin| {
            plugin.failure_policy = FailurePolicy::Reload {
                base_interval: Duration::from_millis(1),
            };
        })
        .replace("asks", opens_or_traps(&told))
        .start();
    stage.get(1);
    let first = UpstreamId(1);
    stage.wait(100);
    stage.request(2, &[("x-trap", "1")], true);
    let cancel = Command::CancelUpstream { upstream: first };
    assert!(!stage.commands.contains(&cancel));

    stage.wait(100);
    stage.get(3);

    assert!(stage.commands.contains(&cancel));
    assert_eq!(told.take(), ["6", "6"], "tokens begin anew");
}
