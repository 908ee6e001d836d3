//! Work classes: who is refused first, who waits longer, and who makes nobody load a model.

use blackbox::{At, Engine, Faults, How, Seen, Settings, World, both_engines};
use serde_json::json;

use super::{PATIENCE, apps, ask, chat_of, hold, key_of, route, served_by, serving};
use crate::support::{CHAT, refused};

both_engines![
    background_work_is_refused_first_and_told_to_wait_longer,
    a_caller_may_call_its_work_background_and_a_background_key_stays_one,
    a_worker_takes_the_classes_it_is_for,
    background_work_makes_no_cold_worker_load_a_model,
];

const BACKGROUND: &str = "x-work-class: background";

fn background_work_is_refused_first_and_told_to_wait_longer(engine: Engine) {
    let world = World::on(engine).worker("w1").capped(4);
    let world = serving(world, &["w1"], &apps(1), json!({}))
        .with("routing", json!({"background_percent": 50}))
        .start();
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Hold));
    let mut held: Vec<_> = (0..2)
        .map(|_| hold(&world, "app-0", &[BACKGROUND]))
        .collect();

    let background = ask(&world, "app-0", &[BACKGROUND]);
    assert_eq!(background.outcome(), refused(503, "overloaded"));
    assert_eq!(background.header("retry-after").as_deref(), Some("3"));
    assert_eq!(route(&world, &background), "failover 0/1 w1=full");

    held.extend((0..2).map(|_| hold(&world, "app-0", &[])));
    let interactive = ask(&world, "app-0", &[]);
    assert_eq!(interactive.outcome(), refused(503, "overloaded"));
    assert_eq!(interactive.header("retry-after").as_deref(), Some("1"));
    assert_eq!(world.hits(), [4]);

    world.worker("w1").clear_faults();
    world.worker("w1").release();
    for connection in &mut held {
        assert_eq!(connection.response().status, 200);
    }
    assert_eq!(world.hits(), [4]);
}

/// w1 has one place, of which background work may have one, and w2 takes background work only.
fn a_caller_may_call_its_work_background_and_a_background_key_stays_one(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .that("classes", json!(["interactive"]))
        .worker("w2")
        .that("classes", json!(["background"]));
    let world = serving(world, &["w1", "w2"], &apps(1), json!({}))
        .document(|document| {
            let fields = json!({"app": "night", "class": "background"});
            document.key("night", &key_of("night"), "team-a", fields)
        })
        .start();
    for (app, line, worker) in [
        ("app-0", "x-other: 1", "w1"),
        ("app-0", "x-work-class: interactive", "w1"),
        ("app-0", "x-work-class: background", "w2"),
        ("app-0", "x-work-class: batch", "w2"),
        ("app-0", "x-work-class: Batch", "w1"),
        ("app-0", "x-work-class: nonsense", "w1"),
        ("app-0", "x-work-class:", "w1"),
        ("app-0", "x-work-class: \u{ff}", "w1"),
        ("night", "x-other: 1", "w2"),
        ("night", "x-work-class: interactive", "w2"),
        ("night", "x-work-class: background", "w2"),
    ] {
        assert_eq!(
            served_by(&ask(&world, app, &[line])),
            worker,
            "{app} {line}"
        );
    }
    let both = ["x-work-class: background", "x-work-class: interactive"];
    assert_eq!(served_by(&ask(&world, "app-0", &both)), "w2");
}

fn a_worker_takes_the_classes_it_is_for(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .that("classes", json!(["background"]));
    let world = serving(world, &["w1"], &apps(1), json!({})).start();
    let refusal = ask(&world, "app-0", &[]);
    assert_eq!(refusal.outcome(), refused(503, "no_capacity"));
    assert_eq!(route(&world, &refusal), "failover 0/1 w1=class");
    assert_eq!(served_by(&ask(&world, "app-0", &[BACKGROUND])), "w1");
}

fn background_work_makes_no_cold_worker_load_a_model(engine: Engine) {
    let worker = |id: &str, model: &str| Settings {
        id: id.to_owned(),
        models: vec![model.to_owned()],
        ..Settings::default()
    };
    let world = World::on(engine)
        .worker_with("workers", worker("warm", "m"), None)
        .capped(1)
        // It would load `m` when asked for it: here it refuses, which is as visible.
        .worker_with("workers", worker("cold", "other"), None);
    let world = serving(world, &["cold", "warm"], &apps(1), json!({}))
        .with(
            "health",
            json!({"health_check_seconds": 1, "timeout_ms": 500}),
        )
        .start();
    let chats = |worker: &str| {
        let requests = world.worker(worker).requests();
        requests
            .iter()
            .filter(|request| request.method == "POST")
            .count()
    };
    for worker in ["warm", "cold"] {
        let asked = world.worker(worker).wait_until(PATIENCE, |recorded| {
            let is_it =
                |seen: &Seen| matches!(seen, Seen::Request(it) if it.path() == "/v1/models");
            recorded.iter().any(|one| is_it(&one.seen))
        });
        assert!(asked, "{worker} was never asked for its models");
    }
    // Until the finding has reached this thread, the cold one may still be asked.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let before = chats("cold");
    world.fail("warm", Faults::interrupt(At::BeforeHeaders, How::Hold));
    let mut held = world.connect();
    held.send(chat_of("app-0", &[BACKGROUND], CHAT));
    let asked = world.worker("warm").wait_until(PATIENCE, |recorded| {
        let is_chat = |seen: &Seen| matches!(seen, Seen::Request(it) if it.method == "POST");
        recorded.iter().any(|one| is_chat(&one.seen))
    });
    assert!(asked, "the warm worker was never asked");

    let refusal = ask(&world, "app-0", &[BACKGROUND]);
    assert_eq!(refusal.outcome(), refused(503, "overloaded"));
    assert_eq!(route(&world, &refusal), "failover 0/2 cold=cold warm=full");
    assert_eq!(chats("cold"), before);
    // Who waits for an answer gets the cold one.
    let interactive = ask(&world, "app-0", &[]);
    assert_eq!(route(&world, &interactive), "failover 1/2 warm=full");
    assert_eq!(chats("cold"), before + 1);
    world.worker("warm").clear_faults();
    world.worker("warm").release();
    assert_eq!(held.response().status, 200);
}
