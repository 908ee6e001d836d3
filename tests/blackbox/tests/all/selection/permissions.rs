//! Workers that a tenant may not use, or that cannot do what a request needs.

use blackbox::{Engine, World, both_engines};
use serde_json::json;

use super::{apps, ask, chat_of, key_of, route, served_by, serving};
use crate::support::{CHAT, refused};

both_engines![
    a_worker_that_is_reserved_serves_its_tenants_alone,
    a_tenants_requests_stay_in_its_regions,
    a_request_goes_where_it_fits,
    a_request_that_fits_nowhere_is_told_why,
];

/// w1 is reserved for `team-b` and in the eu, w2 is in the us, of w3 no region is known.
fn regions(engine: Engine) -> World {
    let world = World::on(engine)
        .worker("w1")
        .that("tenants", json!(["team-b", "team-eu"]))
        .that("region", json!("eu"))
        .worker("w2")
        .that("region", json!("us"))
        .worker("w3");
    let tenant = |id: &'static str, fields| {
        move |document: blackbox::Document| {
            let document = document.tenant(id, fields);
            document.key(id, &key_of(id), id, json!({"app": id}))
        }
    };
    serving(world, &["w1", "w2", "w3"], &apps(1), json!({}))
        .document(tenant("team-b", json!({})))
        .document(tenant("team-eu", json!({"residency": ["eu"]})))
        .document(tenant("team-asia", json!({"residency": ["asia", "india"]})))
        .start()
}

fn a_worker_that_is_reserved_serves_its_tenants_alone(engine: Engine) {
    let world = regions(engine);
    let of_b = ask(&world, "team-b", &[]);
    assert_eq!(served_by(&of_b), "w1");
    assert_eq!(route(&world, &of_b), "failover 3/3");
    let of_a = ask(&world, "app-0", &[]);
    assert_eq!(served_by(&of_a), "w2");
    assert_eq!(route(&world, &of_a), "failover 2/3 w1=not_permitted");
    // Not even when all others fail.
    world.worker("w2").refuse();
    world.worker("w3").refuse();
    assert_eq!(ask(&world, "app-0", &[]).status, 503);
    assert_eq!(world.hits()[0], 1);
}

fn a_tenants_requests_stay_in_its_regions(engine: Engine) {
    let world = regions(engine);
    let in_eu = ask(&world, "team-eu", &[]);
    assert_eq!(served_by(&in_eu), "w1");
    assert_eq!(
        route(&world, &in_eu),
        "failover 1/3 w2=not_permitted w3=not_permitted"
    );
    world.worker("w1").refuse();
    assert_eq!(ask(&world, "team-eu", &[]).status, 503);
    let nowhere = ask(&world, "team-asia", &[]);
    assert_eq!(nowhere.outcome(), refused(503, "no_capacity"));
    assert_eq!(world.hits()[1..], [0, 0]);
}

/// `small` reads 100 tokens and has no tools; `large` is asked last.
fn sizes(engine: Engine, targets: &[&str]) -> World {
    let target = |worker: &&str| match *worker {
        "small" => json!({"worker": "small", "context_tokens": 100, "tools": false}),
        other => json!({"worker": other}),
    };
    let targets: Vec<_> = targets.iter().map(target).collect();
    let world = World::on(engine).worker("small").worker("large");
    serving(
        world,
        &[],
        &apps(1),
        json!({"targets": targets, "max_attempts": 2}),
    )
    .start()
}

fn long() -> String {
    let prompt = "word ".repeat(100);
    format!(r#"{{"model":"chat","messages":[{{"role":"user","content":"{prompt}"}}]}}"#)
}

fn with(field: &str) -> String {
    CHAT.replacen('{', &format!("{{{field},"), 1)
}

fn a_request_goes_where_it_fits(engine: Engine) {
    let world = sizes(engine, &["small", "large"]);
    for (body, worker) in [
        (CHAT.to_owned(), "small"),
        (long(), "large"),
        (with(r#""max_tokens":50"#), "small"),
        (with(r#""max_tokens":100"#), "large"),
        (with(r#""tools":null"#), "small"),
        (with(r#""tools":[{"type":"function"}]"#), "large"),
    ] {
        let response = world
            .connect()
            .send(chat_of("app-0", &[], &body))
            .response();
        assert_eq!(served_by(&response), worker, "{body}");
    }
}

fn a_request_that_fits_nowhere_is_told_why(engine: Engine) {
    let world = sizes(engine, &["small"]);
    for (body, code) in [
        (long(), "context_length_exceeded"),
        (
            with(r#""tools":[{"type":"function"}]"#),
            "tools_not_supported",
        ),
    ] {
        let response = world
            .connect()
            .send(chat_of("app-0", &[], &body))
            .response();
        assert_eq!(response.outcome(), refused(400, code));
        assert_eq!(response.header("retry-after"), None);
    }
    assert_eq!(world.hits(), [0, 0]);
}
