//! Another candidate is tried when the first has given nothing.

use std::time::Duration;

use blackbox::{At, Engine, Faults, How, World, both_engines};
use serde_json::json;

use crate::support::{CHAT, STREAMED_CHAT, bodies};

both_engines![
    a_refused_connection_goes_to_the_next_worker,
    a_status_that_another_worker_may_better_goes_to_the_next_worker,
    a_connection_that_ends_before_the_answer_goes_to_the_next_worker,
    silence_before_the_first_byte_goes_to_the_next_worker,
    candidates_are_tried_in_order_over_clusters_and_back,
    a_stream_that_has_not_begun_goes_to_the_next_worker,
    many_requests_at_once_all_go_to_the_next_worker,
    an_address_that_is_no_member_of_its_cluster_reaches_nobody_else,
];

/// Time to the first byte of an attempt in these tests.
const TIMEOUT_MS: u64 = 1000;

/// `same`: `w1`, then `w2` of the same cluster; `across`: `w1`, then `w3` of another.
fn world(engine: Engine) -> World {
    let quick = || json!({"timeout_ms": TIMEOUT_MS});
    World::on(engine)
        .worker("w1")
        .worker("w2")
        .worker_in("elsewhere", "w3")
        .endpoint("patient", &[("w1", "first"), ("w2", "second")])
        .endpoint_with("same", &[("w1", "first"), ("w2", "second")], quick())
        .endpoint_with("across", &[("w1", "first"), ("w3", "third")], quick())
        .start()
}

/// Asks both endpoints and checks who answered and what `w1` got: `hits` requests each.
fn both_move_on(world: &World, what: &str, hits: usize) {
    for (endpoint, next, served) in [("same", "w2", "second"), ("across", "w3", "third")] {
        let before = [
            world.worker("w1").recorded().len(),
            world.worker(next).recorded().len(),
        ];
        let response = world.chat(&format!(r#"{{"model":"{endpoint}","messages":[]}}"#));
        assert_eq!(response.status, 200, "{what}, {endpoint}: {response:?}");
        assert_eq!(
            response.content(),
            format!("hello from {next}"),
            "{what}, {endpoint}"
        );
        assert_eq!(
            bodies(world, next).pop(),
            Some(format!(r#"{{"model":"{served}","messages":[]}}"#)),
            "{what}"
        );
        let after = [
            world.worker("w1").recorded().len(),
            world.worker(next).recorded().len(),
        ];
        assert_eq!(
            after,
            [before[0] + hits, before[1] + 1],
            "{what}, {endpoint}"
        );
    }
}

fn a_refused_connection_goes_to_the_next_worker(engine: Engine) {
    let world = world(engine);
    world.worker("w1").refuse();
    both_move_on(&world, "refused", 0);

    world.worker("w1").accept_again();
    assert_eq!(
        world.chat(r#"{"model":"same"}"#).content(),
        "hello from w1",
        "it is asked again"
    );
}

fn a_status_that_another_worker_may_better_goes_to_the_next_worker(engine: Engine) {
    let world = world(engine);
    for status in [429, 502, 503, 504] {
        world.fail("w1", Faults::status(status));
        both_move_on(&world, &status.to_string(), 1);
    }
}

fn a_connection_that_ends_before_the_answer_goes_to_the_next_worker(engine: Engine) {
    let world = world(engine);
    for how in [How::Reset, How::Close] {
        world.fail("w1", Faults::interrupt(At::BeforeHeaders, how));
        both_move_on(&world, &format!("{how:?}"), 1);
    }
    world.fail(
        "w1",
        Faults {
            garbage: Some("this is not HTTP\r\n\r\n".to_owned()),
            ..Faults::default()
        },
    );
    both_move_on(&world, "garbage", 1);
}

fn silence_before_the_first_byte_goes_to_the_next_worker(engine: Engine) {
    let world = world(engine);
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Stall));
    both_move_on(&world, "silence", 1);
}

fn candidates_are_tried_in_order_over_clusters_and_back(engine: Engine) {
    let mut builder = World::on(engine);
    for (cluster, worker) in [("a", "a1"), ("b", "b1"), ("a", "a2"), ("b", "b2")] {
        builder = builder.worker_in(cluster, worker);
    }
    let targets = [("a1", "1"), ("b1", "2"), ("a2", "3"), ("b2", "4")];
    let world = builder.endpoint("chat", &targets).start();
    world.worker("a1").refuse();
    world.fail("b1", Faults::status(503));
    world.fail("a2", Faults::interrupt(At::BeforeHeaders, How::Reset));

    let response = world.chat(CHAT);

    assert_eq!(response.content(), "hello from b2");
    assert_eq!(world.hits(), [0, 1, 1, 1]);
    for (worker, served) in &targets[1..] {
        assert_eq!(
            bodies(&world, worker),
            [CHAT.replace(r#""chat""#, &format!("{served:?}"))]
        );
    }
}

fn a_stream_that_has_not_begun_goes_to_the_next_worker(engine: Engine) {
    let world = world(engine);
    world.fail("w1", Faults::status(503));

    let response = world.chat(&STREAMED_CHAT.replace("chat", "same"));

    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(
        response.header("content-type").as_deref(),
        Some("text/event-stream; charset=utf-8")
    );
    let text = response.text();
    assert!(
        text.contains(" w2") && text.ends_with("data: [DONE]\n\n"),
        "{text}"
    );
}

/// Envoy's own bound on retries would let three through at a time.
fn many_requests_at_once_all_go_to_the_next_worker(engine: Engine) {
    const CLIENTS: usize = 40;
    let world = world(engine);
    world.fail("w1", Faults::status(503));
    world.fail("w2", Faults::interrupt(At::BeforeHeaders, How::Hold));

    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let ask = || world.chat(r#"{"model":"patient"}"#).status;
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(ask)).collect();
        let all_there = world
            .worker("w2")
            .wait_until(Duration::from_secs(10), |seen| seen.len() == CLIENTS);
        world.worker("w2").release();
        assert!(all_there, "only {:?} were tried", world.hits());
        clients
            .into_iter()
            .map(|client| client.join().expect("a client does not panic"))
            .collect()
    });

    assert_eq!(statuses, [200; CLIENTS]);
}

/// The document knows `w2`, but its cluster has no such member any more.
fn an_address_that_is_no_member_of_its_cluster_reaches_nobody_else(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .worker("w3")
        .endpoint("alone", &[("w2", "second")])
        .endpoint("first", &[("w2", "second"), ("w3", "third")])
        .edit_yaml_with(|yaml, places| {
            let member = format!("port_value: {}}}", places.worker("w2").port());
            let kept: Vec<_> = yaml
                .lines()
                .filter(|line| !line.contains(&member))
                .collect();
            assert_eq!(
                yaml.lines().count() - kept.len(),
                1,
                "one line makes it a member"
            );
            kept.join("\n")
        })
        .start();

    let alone = world.chat(r#"{"model":"alone"}"#);
    let first = world.chat(r#"{"model":"first"}"#);

    assert_eq!(
        alone.outcome(),
        (503, "no_backend_available".to_owned()),
        "{alone:?}"
    );
    let line = world.log().request(
        &alone
            .header("x-request-id")
            .expect("every answer has an id"),
    );
    assert_eq!(line["flags"], "UH", "no attempt was begun: {line}");
    assert_eq!(
        world.worker("w1").recorded().len() + world.worker("w2").recorded().len(),
        0
    );
    if first.status == 200 {
        assert_eq!(first.content(), "hello from w3");
    } else {
        assert_eq!(
            first.outcome(),
            (503, "no_backend_available".to_owned()),
            "{first:?}"
        );
    }
}
