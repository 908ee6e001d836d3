//! Requests that end without an answer to keep: may the next one with the key run?

use std::time::{Duration, Instant};

use blackbox::client::Piece;
use blackbox::{At, End, Engine, Faults, Guest, How, Request, World, both_engines};
use serde_json::{Value, json};

use super::{PATH, builder, chat, keyed, send, word};
use crate::support::{CHAT, refused};

both_engines![
    a_worker_that_breaks_off_leaves_the_outcome_unknown,
    an_answer_that_breaks_off_leaves_the_outcome_unknown,
    a_worker_that_is_too_slow_leaves_the_outcome_unknown,
    a_client_that_does_not_wait_leaves_the_outcome_unknown,
    a_client_that_leaves_within_a_stream_leaves_the_outcome_unknown,
    a_worker_that_refuses_the_connection_frees_the_key,
    a_worker_that_says_try_again_frees_the_key,
    a_failure_that_another_worker_makes_good_is_none,
    an_unknown_outcome_is_not_made_good_by_another_failure,
    a_request_that_outlives_the_lease_keeps_its_key,
    a_refusal_for_want_of_workers_frees_the_key,
    a_refusal_by_a_limit_frees_the_key,
    a_trap_behind_it_frees_the_key,
    a_request_whose_vm_trapped_locks_its_key_no_longer_than_the_lease,
    a_key_is_free_before_the_client_has_its_refusal,
];

const PATIENCE: Duration = Duration::from_secs(10);

fn hold() -> Value {
    json!({"on_unknown": "hold"})
}

fn arrived(world: &World) {
    let patience = PATIENCE;
    assert!(
        world
            .worker("w1")
            .wait_until(patience, |seen| !seen.is_empty()),
        "nothing arrives"
    );
}

/// The line of a request whose client got no answer, which is written once its key is settled.
fn line(world: &World) -> Value {
    world.log().wait(|line| line["log"] != "attempt")
}

/// After this the key is free, or held if that is the rule.
fn is_unknown(engine: Engine, fail: impl Fn(&World)) {
    for (section, is_held) in [(json!({}), false), (hold(), true)] {
        let world = builder(engine, section).start();
        fail(&world);
        world.worker("w1").clear_faults();
        let first = line(&world);

        let again = chat(&world, "k");

        if is_held {
            assert_eq!(first["idempotency"], "held", "{first}");
            assert_eq!(again.outcome(), refused(409, "outcome_unknown"));
            let message = again.json()["error"]["message"].to_string();
            let id = request_id(&world.worker("w1").requests()[0]);
            assert!(message.contains(&id), "{message} does not name {id}");
            assert_eq!(world.hits(), [1]);
        } else {
            assert_eq!(first["idempotency"], "released", "{first}");
            assert_eq!(again.content(), "hello from w1");
            assert_eq!(world.hits(), [2]);
        }
    }
}

/// The id that a worker knows a request by.
fn request_id(request: &Request) -> String {
    let mut lines = request.headers.iter();
    let line = lines.find(|(name, _)| name == b"x-request-id");
    let (_, value) = line.expect("every request has an id");
    String::from_utf8_lossy(value).into_owned()
}

fn a_worker_that_breaks_off_leaves_the_outcome_unknown(engine: Engine) {
    is_unknown(engine, |world| {
        world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Reset));
        let first = chat(world, "k");
        assert_eq!(first.outcome(), refused(503, "no_backend_available"));
    });
}

fn an_answer_that_breaks_off_leaves_the_outcome_unknown(engine: Engine) {
    is_unknown(engine, |world| {
        world.fail("w1", Faults::interrupt(At::Bytes(10), How::Reset));
        let first = chat(world, "k");
        assert_eq!((first.status, first.end), (200, End::BrokenOff));
    });
}

fn a_worker_that_is_too_slow_leaves_the_outcome_unknown(engine: Engine) {
    let world = World::on(engine)
        .with("idempotency", hold())
        .worker("w1")
        .endpoint_with("chat", &[("w1", "large")], json!({"timeout_ms": 200}))
        .start();
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Stall));

    let first = chat(&world, "k");

    assert_eq!(first.outcome(), refused(504, "upstream_timeout"));
    assert_eq!(chat(&world, "k").outcome(), refused(409, "outcome_unknown"));
    assert_eq!(world.hits(), [1]);
}

/// C47 (c)
fn a_client_that_does_not_wait_leaves_the_outcome_unknown(engine: Engine) {
    is_unknown(engine, |world| {
        world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Stall));
        let mut client = world.connect();
        client.send(keyed("k", CHAT));
        arrived(world);
        client.abort();
        assert!(world.worker("w1").wait_until_left(PATIENCE));
    });
}

fn a_client_that_leaves_within_a_stream_leaves_the_outcome_unknown(engine: Engine) {
    is_unknown(engine, |world| {
        world.fail("w1", Faults::interrupt(At::Bytes(10), How::Stall));
        let mut client = world.connect();
        client.send(keyed("k", CHAT));
        let head = client.head();
        assert!(matches!(client.piece(&mut head.rest()), Piece::Data(..)));
        client.abort();
        assert!(world.worker("w1").wait_until_left(PATIENCE));
    });
}

fn a_worker_that_refuses_the_connection_frees_the_key(engine: Engine) {
    let world = builder(engine, hold()).start();
    world.worker("w1").refuse();
    let first = chat(&world, "k");
    assert_eq!(first.outcome(), refused(503, "no_backend_available"));

    world.worker("w1").accept_again();

    assert_eq!(chat(&world, "k").content(), "hello from w1");
    assert_eq!(word(&world, &first), "released");
}

fn a_worker_that_says_try_again_frees_the_key(engine: Engine) {
    let world = builder(engine, hold()).start();
    let statuses = [408, 429, 500, 502, 503, 504];
    for status in statuses {
        world.fail("w1", Faults::status(status));
        for _ in 0..2 {
            let answer = chat(&world, "k");
            assert_eq!(answer.status, status);
            assert_eq!(word(&world, &answer), "released");
        }
    }
    world.worker("w1").clear_faults();
    assert_eq!(chat(&world, "k").content(), "hello from w1");
    assert_eq!(world.hits(), [2 * statuses.len() + 1]);
}

fn a_failure_that_another_worker_makes_good_is_none(engine: Engine) {
    let world = World::on(engine)
        .with("idempotency", hold())
        .worker("w1")
        .worker("w2")
        .endpoint("chat", &[("w1", "large"), ("w2", "medium")])
        .start();
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Reset));

    let first = chat(&world, "k");
    let again = chat(&world, "k");

    assert_eq!(first.content(), "hello from w2");
    assert_eq!(again.body, first.body);
    assert_eq!(world.hits(), [1, 1]);
}

fn an_unknown_outcome_is_not_made_good_by_another_failure(engine: Engine) {
    let world = World::on(engine)
        .with("idempotency", hold())
        .worker("w1")
        .worker("w2")
        .endpoint("chat", &[("w1", "large"), ("w2", "medium")])
        .start();
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Reset));
    world.fail("w2", Faults::status(503));

    assert_eq!(chat(&world, "k").status, 503);
    assert_eq!(chat(&world, "k").outcome(), refused(409, "outcome_unknown"));
    assert_eq!(world.hits(), [1, 1]);
}

/// C47 (b). The shortest lease is 10 s; longer ones are scenarios of host-sim.
fn a_request_that_outlives_the_lease_keeps_its_key(engine: Engine) {
    let world = builder(engine, json!({"lease_s": 10}))
        .document(|document| {
            let fields = json!({"timeout_ms": 60_000});
            document.endpoint_with("slow", &[("w1", "large")], fields)
        })
        .start();
    let body = CHAT.replace("\"chat\"", "\"slow\"");
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Hold));
    let mut client = world.connect();
    client.send(keyed("k", &body));
    arrived(&world);

    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(12) {
        let outcome = send(&world, "k", &body).outcome();
        assert_eq!(outcome, refused(409, "request_in_progress"));
        std::thread::sleep(Duration::from_millis(500));
    }
    world.worker("w1").release();

    assert_eq!(client.response().content(), "hello from w1");
    assert!(super::is_replayed(&send(&world, "k", &body)));
    assert_eq!(world.hits(), [1]);
}

fn a_refusal_for_want_of_workers_frees_the_key(engine: Engine) {
    let world = World::on(engine)
        .with("idempotency", hold())
        .worker("w1")
        .endpoint("chat", &[])
        .start();
    for _ in 0..2 {
        let answer = chat(&world, "k");
        assert_eq!(answer.outcome(), refused(503, "no_capacity"));
        assert_eq!(word(&world, &answer), "released");
    }
}

fn a_refusal_by_a_limit_frees_the_key(engine: Engine) {
    let rate = json!({"per_second": 0.001, "burst": 1});
    let world = builder(engine, hold())
        .document(|document| {
            document
                .tenant("a", json!({}))
                .key("k-a", "sk-a", "a", json!({}))
        })
        .with(
            "limits",
            json!([{"name": "l", "by": ["tenant"], "rate": rate}]),
        )
        .start();
    let ask = |key: &str| {
        let key = format!("idempotency-key: {key}");
        let lines = ["authorization: Bearer sk-a", &key];
        world.request("POST", PATH, &lines, CHAT.as_bytes())
    };
    assert_eq!(ask("one").status, 200);

    for _ in 0..2 {
        let answer = ask("two");
        assert_eq!(answer.outcome(), refused(429, "rate_limited"));
        assert_eq!(word(&world, &answer), "released");
    }
    let replay = ask("one");

    assert!(
        super::is_replayed(&replay),
        "a replay costs nothing: {replay:?}"
    );
    assert_eq!(replay.header("x-ratelimit-remaining-requests"), None);
    assert_eq!(world.hits(), [1]);
}

fn a_trap_behind_it_frees_the_key(engine: Engine) {
    let world = builder(engine, hold())
        .guest(Guest::downstream("obey"))
        .start();
    let lines = ["x-test: trap", "idempotency-key: k"];
    let trapped = world.request("POST", PATH, &lines, CHAT.as_bytes());
    assert_eq!(trapped.status, 503);

    let again = || chat(&world, "k").outcome();
    let until = Instant::now() + PATIENCE;
    let mut outcome = again();
    while outcome == refused(503, "gateway_error") && Instant::now() < until {
        // The trapped guest is not back yet.
        outcome = again();
    }

    assert_eq!(outcome.0, 200, "{outcome:?}");
    assert_eq!(world.hits(), [1]);
}

/// C47 (a). How long exactly is a scenario of host-sim; the shortest lease is 10 s.
fn a_request_whose_vm_trapped_locks_its_key_no_longer_than_the_lease(engine: Engine) {
    let world = builder(engine, json!({"lease_s": 10}))
        .replace_in_yaml("/idempotency.wasm", "/guests/trapping.wasm")
        .start();
    let headers = [("x-trap".to_owned(), "1".to_owned())].into();
    let trap = Faults {
        headers,
        ..Faults::default()
    };
    world.fail("w1", trap.times(1));
    assert_eq!(chat(&world, "k").outcome(), refused(503, "gateway_error"));

    let until = Instant::now() + PATIENCE * 2;
    let mut was_locked = false;
    loop {
        let outcome = chat(&world, "k").outcome();
        was_locked |= outcome == refused(409, "request_in_progress");
        if outcome.0 == 200 {
            break;
        }
        assert!(Instant::now() < until, "the key stays locked: {outcome:?}");
        std::thread::sleep(Duration::from_millis(100));
    }

    assert!(was_locked, "the request that trapped was carried out");
    assert_eq!(world.hits(), [2]);
    assert!(super::is_replayed(&chat(&world, "k")));
}

/// The key is settled when the stream ends, and the client may be as quick as it likes.
fn a_key_is_free_before_the_client_has_its_refusal(engine: Engine) {
    let world = builder(engine, json!({})).concurrency(2).start();
    world.fail("w1", Faults::status(503));
    // Connections of different threads, kept open.
    let mut clients = [(); 4].map(|()| world.connect());
    for round in 0..40 {
        for client in &mut clients {
            let answer = client.send(keyed("k", CHAT)).response();
            assert_eq!(answer.status, 503, "round {round}: {answer:?}");
        }
    }
    world.worker("w1").clear_faults();
    assert_eq!(send(&world, "k", CHAT).content(), "hello from w1");
}
