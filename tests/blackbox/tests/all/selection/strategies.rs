//! Each strategy, as clients and workers see it.

use std::collections::BTreeSet;
use std::time::Duration;

use blackbox::{At, Engine, Faults, How, World, both_engines};
use serde_json::json;

use super::{WORKERS, apps, ask, hold, route, served_by, serving, three};

both_engines![
    the_one_with_the_fewest_requests_is_asked,
    the_one_that_answers_soonest_is_asked,
    weights_are_kept_exactly_and_evenly,
    callers_are_divided_by_weight_and_stay,
    a_caller_keeps_its_worker_and_moves_only_when_that_is_gone,
    chance_reaches_everybody,
    the_usual_strategy_is_for_endpoints_that_name_none,
    a_hundred_targets_are_no_trouble,
];

fn the_one_with_the_fewest_requests_is_asked(engine: Engine) {
    let world = three(engine, json!({"mode": "least-connections"}));
    for worker in WORKERS {
        world.fail(worker, Faults::interrupt(At::BeforeHeaders, How::Hold));
    }
    let mut held: Vec<_> = (0..9).map(|_| hold(&world, "app-0", &[])).collect();
    assert_eq!(world.hits(), [3, 3, 3]);
    // One that is free again is the one with the fewest.
    world.worker("w2").clear_faults();
    world.worker("w2").release();
    let mut freed = 0;
    while freed < 3 {
        held.retain_mut(|connection| {
            let answered = connection.answers_within(Duration::from_millis(5));
            freed += usize::from(answered && served_by(&connection.response()) == "w2");
            !answered
        });
    }
    assert_eq!(served_by(&ask(&world, "app-0", &[])), "w2");
}

fn the_one_that_answers_soonest_is_asked(engine: Engine) {
    let world = three(engine, json!({"mode": "least-latency"}));
    // So long that no pause of the machine makes the third as slow.
    world.fail("w1", Faults::delay_ms(700));
    world.fail("w2", Faults::delay_ms(700));
    // One that is not known is tried soon, but not before those that are as fast as the fastest.
    while world.hits()[2] == 0 {
        served_by(&ask(&world, "app-0", &[]));
    }
    // What a thread saw is told and read after a tenth of a second each, at the latest.
    std::thread::sleep(Duration::from_millis(250));
    let asked = (0..10).map(|_| served_by(&ask(&world, "app-0", &[])));
    let by_w3 = asked.filter(|worker| worker == "w3").count();
    // Of the others each may be asked once, if it was not known yet.
    assert!(by_w3 >= 8, "{by_w3} of 10");
}

fn weights_are_kept_exactly_and_evenly(engine: Engine) {
    let targets = json!([
        {"worker": "w1", "served_model_name": "m", "weight": 50},
        {"worker": "w2", "served_model_name": "m", "weight": 30},
        {"worker": "w3", "served_model_name": "m", "weight": 20},
    ]);
    let world = three(engine, json!({"mode": "weighted", "targets": targets}));
    for round in 1..=3 {
        for _ in 0..10 {
            served_by(&ask(&world, "app-0", &[]));
        }
        assert_eq!(world.hits(), [5 * round, 3 * round, 2 * round]);
    }
}

fn callers_are_divided_by_weight_and_stay(engine: Engine) {
    let apps = apps(40);
    let targets = json!([
        {"worker": "w1", "served_model_name": "m", "weight": 50},
        {"worker": "w2", "served_model_name": "m", "weight": 50},
    ]);
    let fields = json!({"mode": "weighted", "split": "caller", "targets": targets});
    let world = World::on(engine).worker("w1").worker("w2");
    let world = serving(world, &["w1", "w2"], &apps, fields).start();
    for app in &apps {
        let worker = served_by(&ask(&world, app, &[]));
        for _ in 0..2 {
            assert_eq!(served_by(&ask(&world, app, &[])), worker, "{app}");
        }
    }
    // Forty coins show ten to thirty heads but once in a thousand times, and these always fall alike.
    let hits = world.hits();
    assert!(hits.iter().all(|hits| (30..=90).contains(hits)), "{hits:?}");
}

fn a_caller_keeps_its_worker_and_moves_only_when_that_is_gone(engine: Engine) {
    let apps = apps(20);
    let world = WORKERS
        .iter()
        .fold(World::on(engine), |world, worker| world.worker(worker));
    let world = serving(world, &WORKERS, &apps, json!({"mode": "sticky"}))
        .concurrency(2)
        .start();
    let worker_of = |app: &String| served_by(&ask(&world, app, &[]));
    let first: Vec<String> = apps.iter().map(worker_of).collect();
    let used: BTreeSet<&str> = first.iter().map(String::as_str).collect();
    assert_eq!(used, BTreeSet::from(WORKERS));
    assert_eq!(apps.iter().map(worker_of).collect::<Vec<_>>(), first);

    world.worker("w1").refuse();
    for (app, before) in apps.iter().zip(&first) {
        let now = worker_of(app);
        assert_eq!(now == *before, before != "w1", "{app}");
    }
    world.worker("w1").accept_again();
    assert_eq!(apps.iter().map(worker_of).collect::<Vec<_>>(), first);
}

/// A worker that a fair draw leaves out of sixty requests is seen once in 10^10 runs.
fn chance_reaches_everybody(engine: Engine) {
    for mode in ["random", "power-of-two", "least-request-top-k"] {
        let world = three(engine, json!({"mode": mode}));
        for _ in 0..60 {
            served_by(&ask(&world, "app-0", &[]));
        }
        let hits = world.hits();
        assert!(hits.iter().all(|hits| *hits > 0), "{mode}: {hits:?}");
    }
}

fn the_usual_strategy_is_for_endpoints_that_name_none(engine: Engine) {
    let endpoint =
        |name: &str, targets: serde_json::Value| json!({"name": name, "targets": targets});
    let plain = json!([{"worker": "w1"}, {"worker": "w2"}]);
    let weighted = json!([{"worker": "w1", "weight": 0}, {"worker": "w2", "weight": 1}]);
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .with("routing", json!({"strategy": "round-robin"}))
        .with(
            "endpoints",
            json!([endpoint("chat", plain), endpoint("heavy", weighted)]),
        )
        .start();
    let ask = |model: &str| world.chat(&format!(r#"{{"model":"{model}"}}"#));
    for _ in 0..4 {
        served_by(&ask("chat"));
    }
    assert_eq!(world.hits(), [2, 2]);
    let heavy = ask("heavy");
    assert_eq!(served_by(&heavy), "w2");
    assert_eq!(route(&world, &heavy), "weighted 1/2 w1=no_weight");
}

fn a_hundred_targets_are_no_trouble(engine: Engine) {
    let names: Vec<String> = (0..100).map(|number| format!("w{number}")).collect();
    let address = |number: usize| format!("127.0.0.1:{}", 1 + number);
    // Nobody listens below: each is tried once and then left alone.
    let dead = |(number, name): (usize, &String)| json!({"id": name, "cluster": "dead", "address": address(number)});
    let targets: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "m")).collect();
    let fields = json!({"mode": "round-robin", "max_attempts": 16});
    let targets = [&targets[..], &[("alive", "m")]].concat();
    let world = World::on(engine)
        .worker("alive")
        .endpoint_with("chat", &targets, fields)
        .with("circuit", json!({"threshold": 1, "cooldown_seconds": 3600}))
        .document(|document| {
            let workers: Vec<_> = names.iter().enumerate().map(dead).collect();
            document.with("workers", json!(workers))
        })
        .start();
    let mut answered = 0;
    for _ in 0..20 {
        let response = world.chat(r#"{"model":"chat"}"#);
        answered += usize::from(response.status == 200);
    }
    assert!(answered > 0, "the one that is alive is found");
    assert_eq!(world.hits(), [answered]);
}
