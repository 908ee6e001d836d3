//! Which workers are left to be asked.

use std::time::{Duration, Instant};

use blackbox::{At, Engine, Faults, How, Seen, Settings, World, WorldBuilder, both_engines};
use serde_json::json;

use crate::support::{CHAT, chat_request, refused};

both_engines![
    each_worker_is_asked_again_and_again_how_it_is_and_what_it_has,
    a_worker_whose_models_are_not_known_counts_as_one_that_has_them,
    after_the_cooldown_one_request_tries_and_all_others_go_elsewhere,
    where_no_worker_is_ready_a_request_is_refused_and_none_is_asked,
    weights_count_among_those_that_are_left,
    the_strategy_orders_those_that_have_the_model,
    what_one_gateway_knows_of_a_worker_is_nothing_to_another,
];

/// Longest wait for something that the gateway does by itself within some seconds.
const PATIENCE: Duration = Duration::from_secs(20);

fn each_second() -> serde_json::Value {
    json!({"health_check_seconds": 1, "timeout_ms": 500})
}

/// The paths that a worker was asked for, oldest first.
fn paths(world: &World, worker: &str) -> Vec<String> {
    let requests = world.worker(worker).requests();
    requests
        .iter()
        .map(|request| request.path().to_owned())
        .collect()
}

fn wait_for_checks(world: &World, worker: &str, path: &str, count: usize) {
    let is_it = |seen: &Seen| matches!(seen, Seen::Request(request) if request.path() == path);
    let asked = world.worker(worker).wait_until(PATIENCE, |recorded| {
        recorded.iter().filter(|one| is_it(&one.seen)).count() >= count
    });
    assert!(asked, "{worker}: {:?}", paths(world, worker));
}

fn backend(world: &World) -> Option<String> {
    world.chat(CHAT).header("x-aisuite-backend")
}

fn each_worker_is_asked_again_and_again_how_it_is_and_what_it_has(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .worker_in("elsewhere", "w2")
        .endpoint("chat", &[("w1", "large")])
        .with("health", each_second())
        .start();
    for worker in ["w1", "w2"] {
        wait_for_checks(&world, worker, "/v1/models", 3);
        let paths = paths(&world, worker);
        for cycle in paths[..6].chunks(2) {
            assert_eq!(cycle, ["/readyz", "/v1/models"], "{worker}: {paths:?}");
        }
    }
}

/// `w1` shows its list to who has its key only. It has another model, but nobody knows.
fn a_worker_whose_models_are_not_known_counts_as_one_that_has_them(engine: Engine) {
    let world = |credential: Option<&str>| {
        let with_models = |id: &str, model: &str, key: Option<&str>| Settings {
            id: id.to_owned(),
            models: vec![model.to_owned()],
            key: key.map(str::to_owned),
        };
        World::on(engine)
            .environment("W1_KEY", "key-of-w1")
            .worker_with(
                "workers",
                with_models("w1", "other", Some("key-of-w1")),
                credential,
            )
            .worker_with("workers", with_models("w2", "medium", None), None)
            .endpoint("chat", &[("w1", "large"), ("w2", "medium")])
            .with("health", each_second())
            .start()
    };
    let unknown = world(None);
    for worker in ["w1", "w2"] {
        wait_for_checks(&unknown, worker, "/v1/models", 2);
    }
    let until = Instant::now() + Duration::from_millis(500);
    while Instant::now() < until {
        // It refuses, but it was asked first.
        assert_eq!(backend(&unknown).as_deref(), Some("w1"));
    }

    let known = world(Some("W1_KEY"));
    let until = Instant::now() + PATIENCE;
    while backend(&known).as_deref() != Some("w2") {
        assert!(Instant::now() < until, "w1 is known not to have the model");
    }
}

fn after_the_cooldown_one_request_tries_and_all_others_go_elsewhere(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .endpoint_with(
            "chat",
            &[("w1", "large"), ("w2", "medium")],
            json!({"timeout_ms": 60_000}),
        )
        .with("circuit", json!({"threshold": 1, "cooldown_seconds": 1}))
        .concurrency(2)
        .start();
    world.fail("w1", Faults::status(503));
    assert_eq!(backend(&world).as_deref(), Some("w2"));
    // A thread may know of it a tenth of a second later.
    std::thread::sleep(Duration::from_millis(150));
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Hold));
    let before = paths(&world, "w1").len();

    // One after the other, until one of them arrives at w1, where it is held.
    let trial = || {
        let until = Instant::now() + PATIENCE;
        loop {
            let mut client = world.connect();
            client.send(chat_request(CHAT));
            while !client.answers_within(Duration::from_millis(20)) {
                if paths(&world, "w1").len() > before {
                    return client;
                }
            }
            assert_eq!(client.response().content(), "hello from w2");
            assert!(Instant::now() < until, "w1 is not tried");
        }
    };
    let mut trial = trial();
    let others: Vec<_> = (0..20).map(|_| backend(&world)).collect();

    assert_eq!(others, vec![Some("w2".to_owned()); 20]);
    assert_eq!(paths(&world, "w1").len(), before + 1);
    world.worker("w1").clear_faults();
    world.worker("w1").release();
    assert_eq!(trial.response().content(), "hello from w1");
    let until = Instant::now() + PATIENCE;
    while backend(&world).as_deref() != Some("w1") {
        assert!(Instant::now() < until, "its success closes the circuit");
    }
}

fn where_no_worker_is_ready_a_request_is_refused_and_none_is_asked(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .endpoint("chat", &[("w1", "large"), ("w2", "medium")])
        .with("health", each_second())
        .start();
    for worker in ["w1", "w2"] {
        world
            .worker(worker)
            .with(|worker| worker.set_draining(true));
    }
    let until = Instant::now() + PATIENCE;
    while world.chat(CHAT).status == 200 {
        assert!(Instant::now() < until, "both say that they are not ready");
    }
    let chats = || {
        ["w1", "w2"].map(|worker| {
            let paths = paths(&world, worker);
            paths.iter().filter(|path| path.contains("chat")).count()
        })
    };
    let before = chats();

    let refusal = world.chat(CHAT);

    assert_eq!(refusal.outcome(), refused(503, "no_backend_available"));
    assert!(refusal.header("retry-after").is_some(), "{refusal:?}");
    assert_eq!(chats(), before);
}

/// One of two even shares is missed by all of 40 requests once in 10^12 runs.
fn weights_count_among_those_that_are_left(engine: Engine) {
    let target = |worker: &str, weight: u32| json!({"worker": worker, "served_model_name": "m", "weight": weight});
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .worker("w3")
        .endpoint_with(
            "chat",
            &[],
            json!({
                "mode": "weighted", "max_attempts": 2,
                "targets": [target("w1", 1), target("w2", 1), target("w3", 1_000_000)],
            }),
        )
        .with("circuit", json!({"threshold": 1, "cooldown_seconds": 3600}))
        .start();
    world.fail("w3", Faults::status(503));
    assert_eq!(world.chat(CHAT).status, 200, "another is tried");
    // A thread may know of it a tenth of a second later.
    std::thread::sleep(Duration::from_millis(150));
    let before = world.hits();
    assert!(before[2] > 0, "nearly all the weight is on w3: {before:?}");

    for _ in 0..40 {
        assert_eq!(world.chat(CHAT).status, 200);
    }

    let after = world.hits();
    assert_eq!(after[2], before[2], "its circuit is open");
    assert!(after[0] > before[0] && after[1] > before[1], "{after:?}");
}

fn the_strategy_orders_those_that_have_the_model(engine: Engine) {
    let has = |id: &str, model: &str| Settings {
        id: id.to_owned(),
        models: vec![model.to_owned()],
        ..Settings::default()
    };
    let world = World::on(engine)
        .worker_with("workers", has("w1", "other"), None)
        .worker_with("workers", has("w2", "m"), None)
        .worker_with("workers", has("w3", "m"), None)
        .endpoint_with(
            "chat",
            &[("w1", "m"), ("w2", "m"), ("w3", "m")],
            json!({"mode": "round-robin"}),
        )
        .with("health", each_second())
        .start();
    // Three in a row without w1: its list is known.
    let until = Instant::now() + PATIENCE;
    while (0..3).any(|_| backend(&world).as_deref() == Some("w1")) {
        assert!(Instant::now() < until, "w1 is known not to have the model");
    }
    let asked: Vec<_> = (0..12).filter_map(|_| backend(&world)).collect();
    for pair in asked.windows(2) {
        assert!(pair[0] != pair[1], "{asked:?}");
    }
    assert!(!asked.contains(&"w1".to_owned()), "{asked:?}");
}

fn what_one_gateway_knows_of_a_worker_is_nothing_to_another(engine: Engine) {
    let targets = [("w1", "large"), ("w2", "medium")];
    let gateway = |world: WorldBuilder| {
        world
            .endpoint("chat", &targets)
            .endpoint_with("turns", &targets, json!({"mode": "round-robin"}))
            .with("circuit", json!({"threshold": 1, "cooldown_seconds": 3600}))
    };
    let one = gateway(World::on(engine).worker("w1").worker("w2")).start();
    let address = |worker: &str| one.worker(worker).address();
    let (w1, w2) = (address("w1"), address("w2"));
    let other = gateway(World::on(engine))
        .document(move |document| {
            document
                .worker("w1", "workers", w1, json!({}))
                .worker("w2", "workers", w2, json!({}))
        })
        .start();
    let turn = |world: &World| {
        let response = world.chat(&CHAT.replace("chat", "turns"));
        response.header("x-aisuite-backend").unwrap_or_default()
    };

    // Asked in turns, two gateways with one memory would each see one worker only.
    for worker in ["w1", "w2", "w1", "w2"] {
        assert_eq!([turn(&one), turn(&other)], [worker, worker]);
    }
    one.fail("w1", Faults::status(503));
    assert_eq!(backend(&one).as_deref(), Some("w2"));
    one.worker("w1").clear_faults();
    // A thread may know of it a tenth of a second later.
    std::thread::sleep(Duration::from_millis(150));

    for _ in 0..5 {
        assert_eq!(backend(&one).as_deref(), Some("w2"), "the circuit is open");
        assert_eq!(backend(&other).as_deref(), Some("w1"));
    }
}
