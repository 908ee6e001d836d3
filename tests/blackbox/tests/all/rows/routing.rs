//! From a name to the workers behind it.

use blackbox::{Engine, Faults, World, both_engines};
use serde_json::{Value, json};

use crate::support::{CHAT, bodies, refused};

both_engines![
    round_robin_asks_the_next_each_time,
    weights_move_the_traffic_from_one_worker_to_the_other,
    a_client_notices_nothing_of_a_worker_that_is_renamed,
    one_model_has_a_name_for_each_tenant_and_two_for_one,
    without_weights_the_targets_are_tried_in_order,
    a_request_is_switched_once_and_only_for_a_failure,
];

fn target(worker: &str) -> Value {
    json!({"worker": worker, "served_model_name": "m"})
}

fn three_workers(engine: Engine) -> blackbox::WorldBuilder {
    World::on(engine).worker("w1").worker("w2").worker("w3")
}

fn round_robin_asks_the_next_each_time(engine: Engine) {
    let world = three_workers(engine)
        .endpoint_with(
            "chat",
            &[("w1", "a"), ("w2", "b"), ("w3", "c")],
            json!({"mode": "round-robin"}),
        )
        .concurrency(2)
        .start();
    let asked: Vec<_> = (0..12)
        .map(|_| world.chat(CHAT).header("x-aisuite-backend"))
        .map(Option::unwrap_or_default)
        .collect();
    let next = |worker: &str| match worker {
        "w1" => "w2",
        "w2" => "w3",
        _ => "w1",
    };
    for pair in asked.windows(2) {
        assert_eq!(pair[1], next(&pair[0]), "{asked:?}");
    }
}

/// Of 300 fair draws 240 are expected, give or take 7; seven times that is missed once in 10^11 runs.
fn weights_move_the_traffic_from_one_worker_to_the_other(engine: Engine) {
    for (blue, green, expected) in [(1, 0, 300..=300), (80, 20, 192..=288), (0, 1, 0..=0)] {
        let weighted = |worker: &str, weight: u32| {
            let mut target = target(worker);
            target["weight"] = weight.into();
            target
        };
        let targets = [weighted("blue", blue), weighted("green", green)];
        let world = World::on(engine)
            .worker("blue")
            .worker("green")
            .endpoint_with("chat", &[], json!({"mode": "weighted", "targets": targets}))
            .start();
        let mut client = world.connect();
        for _ in 0..300 {
            let response = client.send(crate::support::chat_request(CHAT)).response();
            assert_eq!(response.status, 200, "{response:?}");
        }
        let hits = world.hits();
        assert_eq!(hits[0] + hits[1], 300);
        assert!(expected.contains(&hits[0]), "{blue}/{green}: {hits:?}");
    }
}

fn a_client_notices_nothing_of_a_worker_that_is_renamed(engine: Engine) {
    for (worker, cluster, served) in [
        ("w1", "workers", "large"),
        ("other", "workers", "large"),
        ("w1", "elsewhere", "large"),
        ("w1", "workers", "org/large-2026"),
    ] {
        let world = World::on(engine)
            .worker_in(cluster, worker)
            .endpoint("chat", &[(worker, served)])
            .start();
        let listed = world.get("/v1/models").json()["data"][0]["id"].clone();
        assert_eq!(listed, "chat");
        let response = world.chat(CHAT);
        assert_eq!(response.content(), format!("hello from {worker}"));
        assert_eq!(
            bodies(&world, worker),
            [CHAT.replace("\"chat\"", &format!("{served:?}"))]
        );
    }
}

fn one_model_has_a_name_for_each_tenant_and_two_for_one(engine: Engine) {
    let of = |tenant: &str, slug: &str| json!({"tenant": tenant, "slug": slug});
    let targets = [("w1", "private")];
    let world = World::on(engine)
        .worker("w1")
        .document(|document| {
            document
                .tenant("a", json!({}))
                .tenant("b", json!({}))
                .key("k-a", "sk-a", "a", json!({}))
                .key("k-b", "sk-b", "b", json!({}))
        })
        .endpoint_with("first", &targets, of("a", "ours"))
        .endpoint_with("alias", &targets, of("a", "ours-too"))
        .endpoint_with("second", &targets, of("b", "theirs"))
        .start();
    let mut served = 0;
    for (key, reaches) in [("sk-a", &["ours", "ours-too"][..]), ("sk-b", &["theirs"])] {
        let bearer = format!("authorization: Bearer {key}");
        for model in ["ours", "ours-too", "theirs", "first", "alias", "private"] {
            let body = CHAT.replace("chat", model);
            let response =
                world.request("POST", "/v1/chat/completions", &[&bearer], body.as_bytes());
            if reaches.contains(&model) {
                served += 1;
                assert_eq!(response.content(), "hello from w1", "{key} {model}");
            } else {
                let unknown = refused(404, "model_not_found");
                assert_eq!(response.outcome(), unknown, "{key} {model}");
            }
        }
    }
    let body = CHAT.replace("chat", "private");
    assert_eq!(bodies(&world, "w1"), vec![body; served]);
}

/// Decision C8: weights that are given split; none given, or `failover` said, keeps the order.
fn without_weights_the_targets_are_tried_in_order(engine: Engine) {
    let plain = ["w1", "w2", "w3"].map(target);
    let mut weighted = plain.clone();
    for target in &mut weighted {
        target["weight"] = 50.into();
    }
    let world = three_workers(engine)
        .with(
            "endpoints",
            json!([
                {"name": "unset", "targets": plain},
                {"name": "equal", "mode": "failover", "targets": weighted},
            ]),
        )
        .with(
            "health",
            json!({"health_check_seconds": 1, "timeout_ms": 500}),
        )
        .start();
    let first = |model: &str| {
        let response = world.chat(&CHAT.replace("chat", model));
        assert_eq!(response.status, 200, "{response:?}");
        response.header("x-aisuite-backend").unwrap_or_default()
    };
    for (draining, next) in [(None, "w1"), (Some("w1"), "w2"), (Some("w2"), "w3")] {
        if let Some(draining) = draining {
            world.worker(draining).with(|it| it.set_draining(true));
        }
        let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while first("unset") != next {
            assert!(
                std::time::Instant::now() < until,
                "{next} is the first left"
            );
        }
        for model in ["unset", "equal"] {
            for _ in 0..10 {
                assert_eq!(first(model), next, "{model}");
            }
        }
    }
}

/// What an endpoint with weights does unless it says otherwise.
fn a_request_is_switched_once_and_only_for_a_failure(engine: Engine) {
    let mut targets = ["w1", "w2", "w3"].map(target);
    for target in &mut targets {
        target["weight"] = 1.into();
    }
    let world = three_workers(engine)
        .with("endpoints", json!([{"name": "chat", "targets": targets}]))
        .start();
    let all = |status: u16| {
        for worker in ["w1", "w2", "w3"] {
            world.fail(worker, Faults::status(status));
        }
        let before: usize = world.hits().iter().sum();
        assert_eq!(world.chat(CHAT).status, status);
        world.hits().iter().sum::<usize>() - before
    };
    for (status, asked) in [(503, 2), (502, 2), (429, 2), (400, 1), (404, 1), (500, 1)] {
        assert_eq!(all(status), asked, "{status}");
    }
}
