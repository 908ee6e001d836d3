//! Only workers that are alive get requests: checks, circuits and caps.

use std::time::{Duration, Instant};

use blackbox::{At, Engine, Faults, How, Seen, Settings, World, WorldBuilder, both_engines};
use serde_json::json;

use crate::support::{CHAT, chat_request, refused};

both_engines![
    a_draining_worker_leaves_and_returns,
    a_dead_worker_leaves_and_recovers,
    checks_come_once_an_interval_however_many_threads_there_are,
    a_worker_that_has_the_model_comes_before_one_that_has_not,
    checks_carry_the_workers_key_and_no_client_can_pretend_to_be_one,
    a_check_that_fails_in_any_way_traps_nothing_and_the_next_one_counts,
    failures_in_a_row_open_a_circuit_and_a_trial_closes_it,
    a_client_that_leaves_does_not_count_as_a_failure,
    a_worker_at_its_cap_is_spared_and_then_the_request_is_refused,
    what_is_in_flight_returns_to_zero_however_it_ends,
    without_the_sections_nothing_is_checked_and_no_circuit_opens,
];

/// Longest wait for something that the gateway does by itself within about a second.
const PATIENCE: Duration = Duration::from_secs(20);

/// `chat` is served by w1 and, if it cannot, by w2; both are checked each second.
fn checked(engine: Engine) -> WorldBuilder {
    World::on(engine)
        .worker("w1")
        .worker("w2")
        .endpoint("chat", &[("w1", "large"), ("w2", "medium")])
        .with(
            "health",
            json!({"health_check_seconds": 1, "timeout_ms": 500}),
        )
}

fn answered_by(world: &World) -> String {
    world
        .chat(CHAT)
        .header("x-aisuite-backend")
        .unwrap_or_default()
}

/// Sends chats until one is answered by this worker.
fn wait_for(world: &World, worker: &str) {
    let started = Instant::now();
    while answered_by(world) != worker {
        assert!(started.elapsed() < PATIENCE, "{worker} never answered");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until a worker has been asked for a path.
fn wait_for_check(world: &World, worker: &str, path: &str) {
    let asked = world.worker(worker).wait_until(PATIENCE, |recorded| {
        let is_it = |seen: &Seen| matches!(seen, Seen::Request(request) if request.path() == path);
        recorded.iter().any(|one| is_it(&one.seen))
    });
    assert!(asked, "{worker} was never asked for {path}");
}

fn a_draining_worker_leaves_and_returns(engine: Engine) {
    let world = checked(engine).start();
    wait_for(&world, "w1");
    world.worker("w1").with(|worker| worker.set_draining(true));
    wait_for(&world, "w2");
    world.worker("w1").with(|worker| worker.set_draining(false));
    wait_for(&world, "w1");
}

fn a_dead_worker_leaves_and_recovers(engine: Engine) {
    let world = checked(engine).start();
    wait_for(&world, "w1");
    world.worker("w1").refuse();
    wait_for(&world, "w2");
    // It is left out, not tried and given up: the request has one attempt.
    let started = Instant::now();
    loop {
        let response = world.chat(CHAT);
        let id = response
            .header("x-request-id")
            .expect("every answer has an id");
        if world.log().request(&id)["tried"] == "w2=200" {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "w1 is still tried");
    }
    world.worker("w1").accept_again();
    wait_for(&world, "w1");
}

/// C13
fn checks_come_once_an_interval_however_many_threads_there_are(engine: Engine) {
    const CHECKS: usize = 6;
    let world = checked(engine).concurrency(4).start();
    let is_check =
        |seen: &Seen| matches!(seen, Seen::Request(request) if request.path() == "/readyz");
    let wait = |count| {
        let came = world.worker("w1").wait_until(PATIENCE, |recorded| {
            let checks = recorded.iter().filter(|one| is_check(&one.seen));
            checks.count() >= count
        });
        assert!(came, "w1 is not asked {count} times");
    };
    wait(1);
    let started = Instant::now();
    wait(CHECKS);

    // A second apart, give or take a tenth: four threads that all ask would need a quarter of it.
    let least = Duration::from_millis(900) * (CHECKS as u32 - 2);
    assert!(started.elapsed() >= least, "{:?}", started.elapsed());
}

fn a_worker_that_has_the_model_comes_before_one_that_has_not(engine: Engine) {
    let with_models = |id: &str, model: &str| Settings {
        id: id.to_owned(),
        models: vec![model.to_owned()],
        ..Settings::default()
    };
    let world = World::on(engine)
        .worker_with("workers", with_models("w1", "other"), None)
        .worker_with("workers", with_models("w2", "medium"), None)
        .endpoint("chat", &[("w1", "large"), ("w2", "medium")])
        .with(
            "health",
            json!({"health_check_seconds": 1, "timeout_ms": 500}),
        )
        .start();
    wait_for_check(&world, "w1", "/v1/models");
    wait_for(&world, "w2");
}

fn checks_carry_the_workers_key_and_no_client_can_pretend_to_be_one(engine: Engine) {
    let world = World::on(engine)
        .worker_with_key("w1", "W1_KEY", "key-of-w1")
        .endpoint("chat", &[("w1", "large")])
        .with(
            "health",
            json!({"health_check_seconds": 1, "timeout_ms": 500}),
        )
        .start();
    wait_for_check(&world, "w1", "/readyz");
    wait_for_check(&world, "w1", "/v1/models");
    let requests = world.worker("w1").requests();
    let check = requests
        .iter()
        .find(|request| request.path() == "/v1/models")
        .expect("asked");
    assert_eq!(
        check.header("authorization"),
        Some(b"Bearer key-of-w1".as_slice())
    );
    assert_eq!(
        check.header("x-dragoman-probe"),
        None,
        "the token stays in the gateway"
    );

    for token in ["", "guess"] {
        let header = format!("x-dragoman-probe: {token}");
        let response = world.request("GET", "/readyz-of-a-worker", &[&header], b"");
        assert_eq!(response.status, 404);
    }
}

/// C08: a callout that ends without an answer, with one that has no body, with half a document.
fn a_check_that_fails_in_any_way_traps_nothing_and_the_next_one_counts(engine: Engine) {
    let world = checked(engine).start();
    wait_for(&world, "w1");
    let to = |path: &str, faults: Faults| Faults {
        path: Some(path.to_owned()),
        ..faults
    };
    let half = Faults {
        body: Some(r#"{"object":"list","data":[{"id":"#.to_owned()),
        ..Faults::default()
    };
    let unready = [
        to("/readyz", Faults::interrupt(At::BeforeHeaders, How::Close)),
        to("/readyz", Faults::interrupt(At::BeforeHeaders, How::Reset)),
        to("/readyz", Faults::interrupt(At::BeforeHeaders, How::Stall)),
    ];
    for faults in unready {
        world.fail("w1", faults);
        wait_for(&world, "w2");
        world.worker("w1").clear_faults();
        wait_for(&world, "w1");
    }
    for faults in [
        to("/v1/models", Faults::status(204)),
        to("/v1/models", half),
        to("/v1/models", Faults::interrupt(At::Bytes(5), How::Close)),
    ] {
        world.fail("w1", faults);
        let before = hits(&world);
        assert!(
            world
                .worker("w1")
                .wait_until(PATIENCE, |recorded| recorded.len() >= before + 4)
        );
        assert_eq!(answered_by(&world), "w1");
    }
    let output = world.output();
    assert!(!output.contains("unreachable"), "{output}");
}

fn circuits(engine: Engine) -> World {
    World::on(engine)
        .worker("w1")
        .worker("w2")
        .endpoint("chat", &[("w1", "large"), ("w2", "medium")])
        .with("circuit", json!({"threshold": 2, "cooldown_seconds": 1}))
        .start()
}

fn hits(world: &World) -> usize {
    world.worker("w1").requests().len()
}

fn failures_in_a_row_open_a_circuit_and_a_trial_closes_it(engine: Engine) {
    let world = circuits(engine);
    world.fail("w1", Faults::status(503));
    for _ in 0..2 {
        assert_eq!(answered_by(&world), "w2");
    }
    let started = Instant::now();
    // A thread may know of it a tenth of a second later.
    std::thread::sleep(Duration::from_millis(150));
    let opened = hits(&world);
    for _ in 0..5 {
        assert_eq!(answered_by(&world), "w2");
    }
    if started.elapsed() < Duration::from_millis(900) {
        assert_eq!(hits(&world), opened, "an open circuit lets nothing through");
    }
    world.worker("w1").clear_faults();
    wait_for(&world, "w1");
    for _ in 0..3 {
        wait_for(&world, "w1");
    }
}

fn a_client_that_leaves_does_not_count_as_a_failure(engine: Engine) {
    let world = circuits(engine);
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Stall));
    for count in 1..=3 {
        let mut connection = world.connect();
        connection.send(chat_request(CHAT));
        assert!(
            world
                .worker("w1")
                .wait_until(PATIENCE, |recorded| recorded.len() == count)
        );
        connection.abort();
        assert!(world.worker("w1").wait_until_left(PATIENCE));
    }
    world.worker("w1").clear_faults();
    std::thread::sleep(Duration::from_millis(150));
    assert_eq!(answered_by(&world), "w1");
}

/// `chat` is served by w1, at most one request at a time; `pair` by w1, then w2.
fn capped(engine: Engine) -> World {
    World::on(engine)
        .worker("w1")
        .capped(1)
        .worker("w2")
        .endpoint("chat", &[("w1", "large")])
        .endpoint("pair", &[("w1", "large"), ("w2", "medium")])
        .start()
}

fn a_worker_at_its_cap_is_spared_and_then_the_request_is_refused(engine: Engine) {
    let world = capped(engine);
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Hold));
    let mut held = world.connect();
    held.send(chat_request(CHAT));
    assert!(
        world
            .worker("w1")
            .wait_until(PATIENCE, |recorded| recorded.len() == 1)
    );

    let refusal = world.chat(CHAT);
    assert_eq!(refusal.outcome(), refused(503, "overloaded"));
    assert!(refusal.header("retry-after").is_some());
    let pair = CHAT.replace("chat", "pair");
    assert_eq!(
        world.chat(&pair).header("x-aisuite-backend").as_deref(),
        Some("w2")
    );
    assert_eq!(hits(&world), 1);

    world.worker("w1").clear_faults();
    world.worker("w1").release();
    assert_eq!(held.response().status, 200);
    wait_for(&world, "w1");
}

fn what_is_in_flight_returns_to_zero_however_it_ends(engine: Engine) {
    let world = capped(engine);
    for (how, at) in [(How::Stall, At::BeforeHeaders), (How::Stall, At::Bytes(10))] {
        world.fail("w1", Faults::interrupt(at, how));
        let before = hits(&world);
        let mut connection = world.connect();
        connection.send(chat_request(CHAT));
        assert!(
            world
                .worker("w1")
                .wait_until(PATIENCE, |recorded| recorded.len() > before)
        );
        connection.abort();
        assert!(world.worker("w1").wait_until_left(PATIENCE));
        world.worker("w1").clear_faults();
        wait_for(&world, "w1");
    }
    for (how, at) in [
        (How::Reset, At::BeforeHeaders),
        (How::Reset, At::Bytes(10)),
        (How::Close, At::Bytes(10)),
    ] {
        world.fail("w1", Faults::interrupt(at, how));
        let mut connection = world.connect();
        connection.send(chat_request(CHAT));
        if let Some(head) = connection.try_head() {
            let mut rest = head.rest();
            connection.to_end(&mut rest);
        }
        world.worker("w1").clear_faults();
        wait_for(&world, "w1");
    }
}

fn without_the_sections_nothing_is_checked_and_no_circuit_opens(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .start();
    world.fail("w1", Faults::status(503));
    for count in 1..=20 {
        assert_eq!(world.chat(CHAT).status, 503);
        assert_eq!(hits(&world), count);
    }
    assert!(
        world
            .worker("w1")
            .requests()
            .iter()
            .all(|request| request.method == "POST")
    );
}
