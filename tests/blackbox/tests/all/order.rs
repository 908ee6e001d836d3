//! In which order workers are asked.

use blackbox::{Engine, World, both_engines};
use serde_json::json;

both_engines![
    failover_asks_the_first_as_long_as_it_answers,
    round_robin_asks_each_in_turn_over_all_threads,
    weights_decide_how_often,
];

fn world(engine: Engine, fields: serde_json::Value) -> World {
    World::on(engine)
        .worker("w1")
        .worker("w2")
        .endpoint_with("chat", &[("w1", "a"), ("w2", "b")], fields)
        .concurrency(2)
        .start()
}

fn ask(world: &World, times: usize) {
    for _ in 0..times {
        let response = world.chat(r#"{"model":"chat"}"#);
        assert_eq!(response.status, 200, "{response:?}");
    }
}

fn failover_asks_the_first_as_long_as_it_answers(engine: Engine) {
    let world = world(engine, json!({"mode": "failover"}));
    ask(&world, 10);
    assert_eq!(world.hits(), [10, 0]);
}

fn round_robin_asks_each_in_turn_over_all_threads(engine: Engine) {
    let world = world(engine, json!({"mode": "round-robin"}));
    ask(&world, 20);
    assert_eq!(world.hits(), [10, 10]);
}

/// All the weight on one side is certain; a share of a half is missed by all of 64 requests once
/// in 10^19 runs.
fn weights_decide_how_often(engine: Engine) {
    let targets = |first: u32, second: u32| {
        json!({"mode": "weighted", "targets": [
            {"worker": "w1", "served_model_name": "a", "weight": first},
            {"worker": "w2", "served_model_name": "b", "weight": second},
        ]})
    };
    let one_sided = world(engine, targets(0, 1));
    ask(&one_sided, 10);
    assert_eq!(one_sided.hits(), [0, 10]);

    let even = world(engine, targets(50, 50));
    ask(&even, 64);
    assert!(
        even.hits().iter().all(|hits| *hits > 0),
        "{:?}",
        even.hits()
    );
}
