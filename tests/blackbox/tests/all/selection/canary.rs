//! The next version for a stable slice of the callers.

use blackbox::{Engine, World, both_engines};
use serde_json::json;

use super::{apps, ask, route, served_by, serving};
use crate::support::refused;

both_engines![
    a_slice_of_the_callers_gets_the_next_version_and_keeps_it,
    without_a_slice_nobody_gets_the_next_version,
    callers_of_the_slice_fall_back_and_the_others_never_get_it,
];

/// `next` serves the next version, `stable` the one of before.
fn versions(engine: Engine, percent: u32, apps: &[String]) -> World {
    let world = World::on(engine)
        .worker("stable")
        .worker("next")
        .that("canary", json!(true));
    serving(world, &["stable", "next"], apps, json!({}))
        .with("routing", json!({"canary_percent": percent}))
        .start()
}

fn a_slice_of_the_callers_gets_the_next_version_and_keeps_it(engine: Engine) {
    let apps = apps(40);
    let world = versions(engine, 50, &apps);
    let version_of = |app: &String| served_by(&ask(&world, app, &[]));
    let first: Vec<String> = apps.iter().map(version_of).collect();
    let next = first.iter().filter(|version| *version == "next").count();
    assert!((10..=30).contains(&next), "{next} of 40");
    for _ in 0..2 {
        assert_eq!(apps.iter().map(version_of).collect::<Vec<_>>(), first);
    }

    // A smaller slice is part of the larger one, on every gateway.
    let smaller = versions(engine, 20, &apps);
    for (app, before) in apps.iter().zip(&first) {
        if served_by(&ask(&smaller, app, &[])) == "next" {
            assert_eq!(before, "next", "{app}");
        }
    }
}

fn without_a_slice_nobody_gets_the_next_version(engine: Engine) {
    let apps = apps(10);
    let none = versions(engine, 0, &apps);
    for app in &apps {
        assert_eq!(served_by(&ask(&none, app, &[])), "stable");
    }
    let all = versions(engine, 100, &apps);
    for app in &apps {
        assert_eq!(served_by(&ask(&all, app, &[])), "next");
    }
}

fn callers_of_the_slice_fall_back_and_the_others_never_get_it(engine: Engine) {
    let apps = apps(1);
    let inside = versions(engine, 100, &apps);
    inside.worker("next").refuse();
    assert_eq!(served_by(&ask(&inside, "app-0", &[])), "stable");

    let outside = versions(engine, 0, &apps);
    outside.worker("stable").refuse();
    let refusal = ask(&outside, "app-0", &[]);
    assert_eq!(refusal.outcome(), refused(503, "no_backend_available"));
    assert_eq!(route(&outside, &refusal), "failover 1/2 next=version");
    assert_eq!(outside.hits()[1], 0);
}
