//! A request that waits for a callout is held only if the body callback says so too.

use std::time::Duration;

use blackbox::h2::{self, Outcome};
use blackbox::world::request;
use blackbox::{At, Engine, Faults, How, World, both_engines, envoy_only};

use crate::support::{CHAT, bodies, chat_request};
use blackbox::plugin::{Plugin, guest, probe};
use blackbox::raw::{Choice, Raw};

both_engines![
    a_callout_holds_a_request_without_a_body,
    without_a_body_callback_a_request_with_a_body_is_served_before_the_answer,
    a_body_callback_that_lets_all_pass_serves_the_request_before_the_answer,
    a_filter_on_the_sdk_holds_a_request_with_its_body_until_the_answer,
];

envoy_only!["host-sim speaks HTTP/1.1 only":
    the_same_over_http2,
];

const PATIENCE: Duration = Duration::from_secs(10);

/// A filter that asks `checker` about every request. `checker` says no, once the test lets it.
fn world(engine: Engine, filter: Plugin) -> World {
    let world = World::on(engine)
        .worker("w1")
        .worker("checker")
        .start_yaml(move |places| {
            Raw::new(places)
                .filter(&filter)
                .cluster("workers", Choice::RoundRobin, &["w1"], &[])
                .cluster("checker", Choice::RoundRobin, &["checker"], &[])
                .yaml()
        });
    world.fail("checker", answer(401));
    world
}

/// What `checker` says, held until it is released.
fn answer(status: u16) -> Faults {
    Faults {
        path: Some("/readyz".to_owned()),
        status: Some(status),
        ..Faults::interrupt(At::BeforeHeaders, How::Hold)
    }
}

/// Waits until `checker` was asked `times` in all.
pub(super) fn asked(world: &World, times: usize) {
    let there = world
        .worker("checker")
        .wait_until(PATIENCE, |recorded| recorded.len() >= times);
    assert!(there, "checker was not asked");
}

fn a_callout_holds_a_request_without_a_body(engine: Engine) {
    for filter in [guest("careless"), guest("asking")] {
        let world = world(engine, filter);
        let mut client = world.connect();

        client.send(request("GET", "/readyz", &[], b""));
        asked(&world, 1);
        world.worker("checker").release();

        assert_eq!(client.response().status, 401);
        assert_eq!(world.hits(), [0, 1]);
    }
}

fn lets_a_body_through(world: &World) {
    let response = world.chat(CHAT);

    assert_eq!(
        response.status, 200,
        "the answer is still held: {response:?}"
    );
    assert_eq!(world.hits()[0], 1);
}

fn without_a_body_callback_a_request_with_a_body_is_served_before_the_answer(engine: Engine) {
    lets_a_body_through(&world(engine, guest("careless")));
}

fn a_body_callback_that_lets_all_pass_serves_the_request_before_the_answer(engine: Engine) {
    let caller = probe("caller", &["set x-call -", "call checker"]);
    lets_a_body_through(&world(engine, caller));
}

fn a_filter_on_the_sdk_holds_a_request_with_its_body_until_the_answer(engine: Engine) {
    let world = world(engine, guest("asking"));
    let bytes = chat_request(CHAT);
    let head = bytes.len() - CHAT.len();
    let cuts: [&[usize]; 3] = [&[], &[head], &[head, head + 1, head + 20, bytes.len() - 1]];
    for (round, cut) in cuts.into_iter().enumerate() {
        let mut refused = world.connect();
        refused.send_cut_at(&bytes, cut);
        asked(&world, round + 1);
        world.worker("checker").release();

        assert_eq!(refused.response().status, 401, "{cut:?}");
        assert_eq!(world.hits()[0], 0, "{cut:?}");
    }

    world.fail("checker", answer(200));
    let mut admitted = world.connect();
    admitted.send_cut_at(&bytes, cuts[2]);
    asked(&world, 4);
    assert_eq!(world.hits()[0], 0);
    world.worker("checker").release();

    assert_eq!(admitted.response().status, 200);
    assert_eq!(bodies(&world, "w1"), [CHAT]);
}

fn the_same_over_http2(engine: Engine) {
    for (filter, status, hits) in [("careless", 200, 1), ("asking", 401, 0)] {
        let world = world(engine, guest(filter));
        let late = Faults {
            delay_before_headers_ms: 300,
            path: Some("/readyz".to_owned()),
            ..Faults::status(401)
        };
        world.fail("checker", late);

        let outcome = h2::post(
            world.address(),
            "/v1/chat/completions",
            &[],
            CHAT.as_bytes(),
        );

        let answered = matches!(outcome, Outcome::Response { status: seen, .. } if seen == status);
        assert!(answered, "{filter}: {outcome:?}");
        assert_eq!(world.hits()[0], hits, "{filter}");
    }
}
