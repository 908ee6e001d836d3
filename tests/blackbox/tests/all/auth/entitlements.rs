//! What a key is good for, and when: scopes, time, generation, limits.

use blackbox::{Engine, Response, World, both_engines};
use serde_json::{Value, json};

use super::{bearer, id};
use crate::support::{CHAT, refused};

both_engines![
    a_key_serves_the_kinds_of_api_that_its_scopes_name_and_no_other,
    no_spelling_of_a_path_gets_around_a_scope,
    a_key_is_good_from_its_beginning_to_its_end,
    a_refusal_says_why_in_the_log_and_not_to_the_client,
    only_the_limits_that_a_key_names_count_it,
];

const MESSAGE: &str =
    r#"{"model":"chat","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}"#;

/// Method, path, body and scope of all that is served.
const SERVED: [(&str, &str, &str, &str); 9] = [
    ("POST", "/v1/chat/completions", CHAT, "chat"),
    (
        "POST",
        "/v1/completions",
        r#"{"model":"chat","prompt":"a"}"#,
        "completions",
    ),
    (
        "POST",
        "/v1/embeddings",
        r#"{"model":"chat","input":"a"}"#,
        "embeddings",
    ),
    (
        "POST",
        "/v1/responses",
        r#"{"model":"chat","input":"a"}"#,
        "responses",
    ),
    ("POST", "/v1/messages", MESSAGE, "messages"),
    (
        "POST",
        "/v1/images/generations",
        r#"{"model":"chat","prompt":"a"}"#,
        "images",
    ),
    (
        "POST",
        "/v1/audio/speech",
        r#"{"model":"chat","input":"a","voice":"b"}"#,
        "audio",
    ),
    ("GET", "/v1/models", "", "models"),
    ("GET", "/v1/models/chat", "", "models"),
];

/// A key for each of these sets of fields, and one worker.
fn world(engine: Engine, keys: &[Value]) -> World {
    World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .document(|document| {
            let document = document.tenant("team-a", json!({}));
            keys.iter()
                .zip(0..)
                .fold(document, |document, (fields, index)| {
                    document.key(&format!("k{index}"), &key(index), "team-a", fields.clone())
                })
        })
        .start()
}

/// The key that was given as this one.
fn key(index: usize) -> String {
    format!("sk-entitled-{index}-0c1a7f")
}

fn ask(world: &World, key: &str, (method, path): (&str, &str), body: &str) -> Response {
    world.request(method, path, &[&bearer(key)], body.as_bytes())
}

fn a_key_serves_the_kinds_of_api_that_its_scopes_name_and_no_other(engine: Engine) {
    const ALL: &[&str] = &[
        "chat",
        "completions",
        "embeddings",
        "responses",
        "messages",
        "images",
        "audio",
        "models",
    ];
    let table = [
        (json!({}), ALL),
        (json!({"scopes": []}), &[]),
        (json!({"scopes": ["admin", "videos"]}), &[]),
        (json!({"scopes": ["chat", "models"]}), &["chat", "models"]),
        (json!({"scopes": ["messages"]}), &["messages"]),
        (
            json!({"scopes": ["POST /v1/audio", "* /v1/embeddings", "GET /v1/chat"]}),
            &["audio", "embeddings"],
        ),
    ];
    let keys: Vec<_> = table.iter().map(|(fields, _)| fields.clone()).collect();
    let world = world(engine, &keys);
    for (index, (scopes, allowed)) in table.iter().enumerate() {
        for (method, path, body, scope) in SERVED {
            let before = world.hits();
            let response = ask(&world, &key(index), (method, path), body);
            if allowed.contains(&scope) {
                assert_eq!(response.status, 200, "{path} with {scopes}: {response:?}");
            } else {
                assert_eq!(response.status, 403, "{path} with {scopes}: {response:?}");
                assert_eq!(world.hits(), before, "{path} with {scopes}");
                let line = world.log().request(&id(&response));
                assert_eq!(
                    (&line["error"], &line["refusal"]),
                    (&"scope_denied".into(), &"scope".into())
                );
            }
        }
        // Where nothing is served, no scope is missing.
        let nowhere = ask(&world, &key(index), ("GET", "/nowhere"), "");
        assert_eq!(nowhere.outcome(), refused(404, "not_found"));
    }
}

fn no_spelling_of_a_path_gets_around_a_scope(engine: Engine) {
    let world = world(engine, &[json!({"scopes": ["GET /v1/models"]})]);
    let ask = |method: &str, path: &str, body: &str| ask(&world, &key(0), (method, path), body);
    for path in [
        "/v1/chat/completions",
        "/v1/chat/completions?/v1/models",
        "/v1/chat/completions/",
        "//v1/chat/completions",
        "/v1//chat/completions",
        "/v1/models/../chat/completions",
        "/v1/models/%2e%2e/chat/completions",
        "/v1/models%2f..%2fchat/completions",
        "/v1/models/..%2fchat/completions",
        "/v1/./chat/completions",
        "/v1/%63hat/completions",
        "/V1/chat/completions",
        "/v1/models;/../chat/completions",
        "/v1/chat/completions#/v1/models",
        "http://gateway.test/v1/chat/completions",
    ] {
        let response = ask("POST", path, CHAT);
        assert!(
            matches!(response.status, 400 | 403 | 404),
            "{path}: {response:?}"
        );
    }
    assert_eq!(world.hits(), [0]);
    assert_eq!(ask("GET", "/v1/models", "").status, 200);
    assert_eq!(ask("GET", "/v1/models/chat", "").status, 200);
}

fn a_key_is_good_from_its_beginning_to_its_end(engine: Engine) {
    const PAST: &str = "2020-01-01T00:00:00Z";
    const LONG_AGO: &str = "2019-01-01T00:00:00Z";
    const FUTURE: &str = "2120-01-01T00:00:00Z";
    const FAR: &str = "2121-01-01T00:00:00Z";
    let table = [
        (None, None, None),
        (Some(PAST), Some(FUTURE), None),
        (Some(PAST), None, None),
        (None, Some(FUTURE), None),
        (Some(FUTURE), Some(FAR), Some("not_yet_valid")),
        (Some(FUTURE), None, Some("not_yet_valid")),
        (Some(LONG_AGO), Some(PAST), Some("expired")),
        (None, Some(PAST), Some("expired")),
    ];
    let fields = |(start, end, _): &(Option<&str>, Option<&str>, _)| json!({"not_before": start, "expires_at": end, "generation": 7});
    let world = world(engine, &table.iter().map(fields).collect::<Vec<_>>());
    for (index, (start, end, reason)) in table.into_iter().enumerate() {
        let before = world.hits();
        let response = ask(&world, &key(index), ("POST", "/v1/chat/completions"), CHAT);
        let line = world.log().request(&id(&response));
        assert_eq!(line["key_version"], "7", "{line}");
        let Some(reason) = reason else {
            assert_eq!(response.status, 200, "{start:?} {end:?}");
            continue;
        };
        assert_eq!(response.outcome(), refused(401, "invalid_credential"));
        assert_eq!(line["refusal"], reason, "{line}");
        assert_eq!(world.hits(), before, "{start:?} {end:?}");
    }
}

/// The line of the access log is the record of the refusal: who from where, and why.
fn a_refusal_says_why_in_the_log_and_not_to_the_client(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .document(|document| {
            document
                .tenant("team-a", json!({}))
                .tenant("team-gone", json!({"status": "suspended"}))
                .key(
                    "k-old",
                    "sk-old",
                    "team-a",
                    json!({"expires_at": "2020-01-01T00:00:00Z"}),
                )
                .key("k-gone", "sk-gone", "team-gone", json!({}))
        })
        .start();
    let long = format!("x-api-key: {}", "k".repeat(5000));
    let mut bodies = Vec::new();
    for (line, code, refusal, key) in [
        ("accept: */*", "missing_credential", "missing", None),
        (
            "authorization: Basic dTpw",
            "invalid_credential",
            "malformed",
            None,
        ),
        (&long, "invalid_credential", "too_long", None),
        (&bearer("sk-nobody"), "invalid_credential", "unknown", None),
        (
            &bearer("sk-old"),
            "invalid_credential",
            "expired",
            Some("k-old"),
        ),
        (
            &bearer("sk-gone"),
            "tenant_inactive",
            "tenant_suspended",
            Some("k-gone"),
        ),
    ] {
        let response = world.request("POST", "/v1/chat/completions", &[line], CHAT.as_bytes());
        let id = id(&response);
        let line = world.log().request(&id);
        assert_eq!(line["error"], code, "{line}");
        assert_eq!(line["refusal"], refusal, "{line}");
        assert_eq!(line["key"], json!(key), "{line}");
        assert!(
            line["ip"].as_str().is_some_and(|ip| !ip.is_empty()),
            "{line}"
        );
        bodies.push((code, response.text().replace(&id, "<id>")));
    }
    // Of one code, one body: nobody learns which keys there once were.
    let invalid: Vec<_> = bodies
        .iter()
        .filter(|(code, _)| *code == "invalid_credential")
        .collect();
    assert_eq!(invalid.len(), 4);
    assert!(
        invalid.windows(2).all(|pair| pair[0] == pair[1]),
        "{invalid:?}"
    );
    assert_eq!(world.hits(), [0]);
}

fn only_the_limits_that_a_key_names_count_it(engine: Engine) {
    let one = |name: &str| json!({"name": name, "by": ["key"], "rate": {"per_second": 0.001, "burst": 1}});
    let world = World::on(engine)
        .with("limits", json!([one("silver"), one("gold")]))
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .document(|document| {
            document
                .tenant("team-a", json!({}))
                .key("k-all", "sk-all", "team-a", json!({}))
                .key("k-gold", "sk-gold", "team-a", json!({"limits": ["gold"]}))
                .key("k-free", "sk-free", "team-a", json!({"limits": []}))
        })
        .start();
    let third = |key: &str| {
        let ask = || {
            world.request(
                "POST",
                "/v1/chat/completions",
                &[&bearer(key)],
                CHAT.as_bytes(),
            )
        };
        let _ = (ask(), ask());
        ask()
    };
    let all = third("sk-all");
    assert_eq!(all.outcome(), refused(429, "rate_limited"));
    assert!(all.text().contains("silver"), "{all:?}");
    let gold = third("sk-gold");
    assert_eq!(gold.outcome(), refused(429, "rate_limited"));
    assert!(gold.text().contains("gold"), "{gold:?}");
    assert_eq!(third("sk-free").status, 200);
}
