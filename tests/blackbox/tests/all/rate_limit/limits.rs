//! Whose requests count where.

use std::time::Duration;

use blackbox::{Engine, Response, World, both_engines};
use serde_json::json;

use super::{KEY_A, KEY_A2, KEY_B, KEY_BATCH, NEVER, ask, bearer, builder, chat_with, limit, told};
use crate::support::{CHAT, refused};

both_engines![
    a_caller_that_is_refused_is_served_after_the_time_it_is_told,
    the_keys_of_an_app_share_its_bucket_and_nobody_else_does,
    what_a_client_says_of_itself_opens_no_other_bucket,
    every_limit_must_admit_and_a_refusal_takes_from_none,
    what_is_refused_before_costs_nothing,
    a_request_counts_when_it_is_admitted_whatever_becomes_of_it,
    an_answer_that_is_replayed_costs_nothing,
    a_request_that_is_refused_leaves_its_idempotency_key_free,
];

fn one_for_each_key(engine: Engine) -> World {
    builder(engine, &[limit("per-key", &["key"], NEVER, 1)]).start()
}

fn a_caller_that_is_refused_is_served_after_the_time_it_is_told(engine: Engine) {
    let world = builder(engine, &[limit("per-key", &["key"], 1.0, 3)]).start();
    let answers: Vec<_> = (0..60).map(|_| ask(&world, KEY_A)).collect();
    let refusal = answers
        .iter()
        .find(|response| response.status != 200)
        .expect("60 requests take less than a minute");
    assert_eq!(refusal.outcome(), refused(429, "rate_limited"));
    let served = answers.iter().filter(|it| it.status == 200).count();
    assert_eq!(world.hits(), [served], "a refusal reaches no worker");

    let last = ask(&world, KEY_A);
    if last.status == 429 {
        let told = wait(&last);
        assert_eq!(told.as_secs(), 1, "a token comes every second");
        std::thread::sleep(told);
    }

    assert_eq!(ask(&world, KEY_A).content(), "hello from w1");
}

fn the_keys_of_an_app_share_its_bucket_and_nobody_else_does(engine: Engine) {
    let world = builder(engine, &[limit("per-app", &["app"], NEVER, 2)]).start();

    assert_eq!(ask(&world, KEY_A).status, 200);
    assert_eq!(ask(&world, KEY_A2).status, 200);

    for key in [KEY_A, KEY_A2] {
        assert_eq!(ask(&world, key).outcome(), refused(429, "rate_limited"));
    }
    for (whose, key) in [("another app", KEY_BATCH), ("another tenant", KEY_B)] {
        for _ in 0..2 {
            assert_eq!(ask(&world, key).status, 200, "{whose}");
        }
        assert_eq!(ask(&world, key).status, 429, "{whose}");
    }
    assert_eq!(world.hits(), [6]);
}

fn what_a_client_says_of_itself_opens_no_other_bucket(engine: Engine) {
    let world = one_for_each_key(engine);
    assert_eq!(ask(&world, KEY_A).status, 200);
    let a = bearer(KEY_A);
    for line in [
        "user: somebody",
        "x-user: somebody",
        "x-forwarded-for: 9.9.9.9",
        "openai-organization: other",
        "x-dragoman-identity: team-b",
        "x-tenant-id: team-b",
    ] {
        let response = chat_with(&world, &[&a, line]);
        assert_eq!(response.outcome(), refused(429, "rate_limited"), "{line}");
    }
    let user = CHAT.replacen('{', r#"{"user":"somebody","#, 1);
    let response = world.request("POST", "/v1/chat/completions", &[&a], user.as_bytes());
    assert_eq!(response.outcome(), refused(429, "rate_limited"));
    assert_eq!(world.hits(), [1]);
}

fn every_limit_must_admit_and_a_refusal_takes_from_none(engine: Engine) {
    let limits = [
        limit("per-tenant", &["tenant"], NEVER, 3),
        limit("per-app", &["app"], NEVER, 3),
        limit("per-key", &["key"], NEVER, 1),
    ];
    let world = builder(engine, &limits).start();
    assert_eq!(ask(&world, KEY_A).status, 200);
    for _ in 0..10 {
        let refusal = ask(&world, KEY_A);
        assert_eq!(refusal.status, 429);
        assert!(refusal.text().contains("per-key"), "{refusal:?}");
    }

    assert_eq!(ask(&world, KEY_A2).status, 200, "two of three are left");
    assert_eq!(ask(&world, KEY_BATCH).status, 200, "the tenant's last");
    assert_eq!(ask(&world, KEY_B).status, 200, "of another tenant");
}

fn what_is_refused_before_costs_nothing(engine: Engine) {
    let world = one_for_each_key(engine);
    let a = bearer(KEY_A);
    let chat = "/v1/chat/completions";
    let unknown = CHAT.replace("\"chat\"", "\"nobody\"");
    let both = [&*a, "x-api-key: another"];
    let early: [(&str, &str, &[&str], &str, u16); 8] = [
        (
            "POST",
            chat,
            &["authorization: Bearer sk-nobody"],
            CHAT,
            401,
        ),
        ("POST", chat, &both, CHAT, 401),
        ("POST", chat, &[], CHAT, 401),
        ("POST", chat, &[&a], &unknown, 404),
        ("POST", "/nowhere", &[&a], CHAT, 404),
        ("POST", chat, &[&a], "{", 400),
        ("GET", "/v1/models", &[&a], "", 200),
        ("GET", "/healthz", &[&a], "", 200),
    ];
    for (method, path, lines, body, status) in early {
        let response = world.request(method, path, lines, body.as_bytes());
        assert_eq!(response.status, status, "{path} {response:?}");
        assert_eq!(told(&response), [None, None, None], "{path}");
    }

    assert_eq!(ask(&world, KEY_A).status, 200);
    assert_eq!(ask(&world, KEY_A).status, 429);
}

fn a_request_counts_when_it_is_admitted_whatever_becomes_of_it(engine: Engine) {
    let world = one_for_each_key(engine);
    world.worker("w1").refuse();

    assert_eq!(ask(&world, KEY_A).status, 503);

    assert_eq!(ask(&world, KEY_A).status, 429);
}

/// A chat of this caller with an idempotency key.
fn keyed(world: &World, key: &str, name: &str) -> Response {
    let line = format!("idempotency-key: {name}");
    chat_with(world, &[&bearer(key), &line])
}

fn an_answer_that_is_replayed_costs_nothing(engine: Engine) {
    let world = builder(engine, &[limit("per-key", &["key"], NEVER, 2)])
        .with("idempotency", json!({}))
        .start();
    assert_eq!(keyed(&world, KEY_A, "one").status, 200);

    for _ in 0..5 {
        let replay = keyed(&world, KEY_A, "one");
        assert_eq!(replay.status, 200, "{replay:?}");
        let mark = replay.header("idempotency-replayed");
        assert_eq!(mark.as_deref(), Some("true"));
        assert_eq!(
            told(&replay),
            [None, None, None],
            "what was left then is old"
        );
    }

    assert_eq!(ask(&world, KEY_A).status, 200, "the second of two");
    assert_eq!(ask(&world, KEY_A).status, 429);
    assert_eq!(keyed(&world, KEY_A, "one").status, 200);
    assert_eq!(world.hits(), [2]);
}

fn a_request_that_is_refused_leaves_its_idempotency_key_free(engine: Engine) {
    let world = builder(engine, &[limit("per-key", &["key"], 0.5, 1)])
        .with("idempotency", json!({}))
        .start();
    // A token comes every two seconds.
    let spent = (0..60).any(|_| ask(&world, KEY_A).status == 429);
    assert!(spent, "60 requests take less than two minutes");

    let refusal = keyed(&world, KEY_A, "one");
    if refusal.status == 429 {
        std::thread::sleep(wait(&refusal));
    }
    assert_eq!(keyed(&world, KEY_A, "one").status, 200);
}

/// The time in `retry-after`.
fn wait(refusal: &Response) -> Duration {
    let text = refusal.header("retry-after").expect("a time to wait");
    Duration::from_secs(text.parse().expect("whole seconds"))
}
