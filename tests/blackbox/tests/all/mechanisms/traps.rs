//! A trap fails its VM: what ends, when, and how soon all is well again.

use std::time::{Duration, Instant};

use blackbox::world::request;
use blackbox::{At, Engine, Faults, How, World, both_engines};

use super::waiting::asked;
use crate::support::{CHAT, chat_request, refused};
use blackbox::plugin::probe;
use blackbox::raw::{before_the_chain, with_cluster};

both_engines![
    after_a_trap_later_requests_succeed_and_the_streams_of_that_vm_end,
    streams_with_the_trapped_filter_in_their_chain_fail_at_its_next_callback,
];

const PATIENCE: Duration = Duration::from_secs(10);
const BOOM: &[&str] = &["x-boom: 1"];

/// A filter that traps on demand and asks `checker` on demand.
const TRAPPING: &[&str] = &["trap x-boom", "call checker", "hold"];

/// Never answers its callout.
fn silent() -> Faults {
    Faults {
        path: Some("/readyz".to_owned()),
        ..Faults::interrupt(At::BeforeHeaders, How::Stall)
    }
}

/// The shipped chain behind a filter that traps, with this limit on silence.
fn shipped(engine: Engine, silence: &'static str) -> World {
    World::on(engine)
        .worker("w1")
        .worker_in("other", "checker")
        .endpoint("chat", &[("w1", "large")])
        .edit_yaml_with(move |yaml, places| {
            let yaml = before_the_chain(&yaml, &probe("trapping", TRAPPING));
            with_cluster(&yaml, "checker", places.worker("checker")).replace(
                "stream_idle_timeout: 60s",
                &format!("stream_idle_timeout: {silence}"),
            )
        })
        .start()
}

fn after_a_trap_later_requests_succeed_and_the_streams_of_that_vm_end(engine: Engine) {
    let world = shipped(engine, "1s");
    world.fail("checker", silent());
    let mut paused = world.connect();
    paused.send(request(
        "POST",
        "/v1/chat/completions",
        &["x-call: -"],
        CHAT.as_bytes(),
    ));
    asked(&world, 1);

    let trap = world.request("POST", "/v1/chat/completions", BOOM, CHAT.as_bytes());
    assert_eq!(trap.outcome(), refused(503, "gateway_error"));
    let until = Instant::now() + PATIENCE;
    while world.chat(CHAT).status != 200 {
        assert!(Instant::now() < until, "it does not heal");
        std::thread::sleep(Duration::from_millis(10));
    }

    assert_eq!(paused.response().outcome(), refused(503, "gateway_error"));
    assert_eq!(world.hits()[0], 1);
}

fn streams_with_the_trapped_filter_in_their_chain_fail_at_its_next_callback(engine: Engine) {
    let world = shipped(engine, "60s");
    let bytes = chat_request(CHAT);
    let (head, tail) = bytes.split_at(bytes.len() - 10);
    let mut uploading = world.connect();
    uploading.send(head);
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Hold));
    let mut waiting = world.connect();
    waiting.send(&bytes);
    let asked = |recorded: &[_]| recorded.len() == 1;
    assert!(world.worker("w1").wait_until(PATIENCE, asked));

    assert_eq!(
        world
            .request("POST", "/v1/chat/completions", BOOM, CHAT.as_bytes())
            .status,
        503
    );
    world.worker("w1").release();
    world.worker("w1").clear_faults();
    uploading.send(tail);

    for stream in [&mut waiting, &mut uploading] {
        let response = stream.response();
        assert_eq!(response.outcome(), refused(503, "gateway_error"));
    }
}
