//! One key for several requests.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use blackbox::world::request;
use blackbox::{At, Engine, Faults, How, Response, World, both_engines};
use serde_json::json;

use super::{PATH, builder, chat, gateway, is_replayed, keyed, send, word};
use crate::support::{CHAT, refused};

both_engines![
    a_key_is_for_one_request,
    a_key_is_for_one_path,
    of_twenty_duplicates_one_is_carried_out,
    the_form_of_a_key_is_checked,
    a_key_on_a_get_is_ignored,
    tenants_do_not_share_keys,
    who_is_not_known_takes_no_key_and_spends_nothing,
];

const PATIENCE: Duration = Duration::from_secs(10);
const OTHER: &str = r#"{"model":"chat","messages":[{"role":"user","content":"bye"}]}"#;
/// The same as [`CHAT`] to a reader of JSON.
const SPACED: &str = r#"{ "model": "chat", "messages": [{"role":"user","content":"hi"}]}"#;

fn hold(world: &World) {
    world.fail(
        "w1",
        Faults::interrupt(At::BeforeHeaders, How::Hold).times(1),
    );
}

fn arrived(world: &World) {
    let worker = world.worker("w1");
    let is_there = worker.wait_until(PATIENCE, |recorded| !recorded.is_empty());
    assert!(is_there, "nothing arrives");
}

/// C46
fn a_key_is_for_one_request(engine: Engine) {
    let world = gateway(engine);
    hold(&world);
    let mut first = world.connect();
    first.send(keyed("k", CHAT));
    arrived(&world);
    let reused = refused(409, "idempotency_key_reused");

    assert_eq!(send(&world, "k", OTHER).outcome(), reused);
    assert_eq!(send(&world, "k", SPACED).outcome(), reused);
    let waiting = chat(&world, "k");
    world.worker("w1").release();
    let answer = first.response();
    let late = send(&world, "k", OTHER);

    assert_eq!(waiting.outcome(), refused(409, "request_in_progress"));
    assert_eq!(waiting.header("retry-after").as_deref(), Some("2"));
    assert_eq!(word(&world, &waiting), "in_progress");
    assert_eq!(answer.content(), "hello from w1");
    assert_eq!(late.outcome(), reused);
    assert_eq!(word(&world, &late), "reused");
    assert_eq!(send(&world, "k", SPACED).outcome(), reused);
    assert!(is_replayed(&chat(&world, "k")));
    assert_eq!(world.hits(), [1]);
}

fn a_key_is_for_one_path(engine: Engine) {
    let world = gateway(engine);
    let at = |path: &str| {
        let lines = ["content-type: application/json", "idempotency-key: k"];
        world.request("POST", path, &lines, CHAT.as_bytes())
    };
    assert_eq!(at(PATH).status, 200);
    assert!(is_replayed(&at("/v1/chat/completions?api-version=1")));
    let messages = at("/v1/messages");
    assert_eq!(messages.outcome(), refused(409, "idempotency_key_reused"));
    assert_eq!(messages.json()["type"], "error", "{messages:?}");
    assert_eq!(world.hits(), [1]);
}

fn of_twenty_duplicates_one_is_carried_out(engine: Engine) {
    let world = builder(engine, json!({})).concurrency(2).start();
    hold(&world);
    let (sender, answers) = mpsc::channel::<Response>();
    for _ in 0..20 {
        let mut client = world.connect();
        let sender = sender.clone();
        thread::spawn(move || {
            let response = client.send(keyed("k", CHAT)).response();
            let _ = sender.send(response);
        });
    }
    let next = || answers.recv_timeout(PATIENCE).expect("an answer");

    for _ in 0..19 {
        let answer = next();
        assert_eq!(answer.outcome(), refused(409, "request_in_progress"));
        assert_eq!(answer.header("retry-after").as_deref(), Some("2"));
    }
    // The refusals may be quicker than the one that is carried out.
    let worker = world.worker("w1");
    assert!(worker.wait_until(PATIENCE, |recorded| recorded.len() == 1));
    worker.release();
    let answer = next();

    assert_eq!(answer.content(), "hello from w1");
    for _ in 0..4 {
        let replay = chat(&world, "k");
        assert!(is_replayed(&replay), "{replay:?}");
        assert_eq!(replay.body, answer.body);
    }
    assert_eq!(world.hits(), [1]);
}

/// C51
fn the_form_of_a_key_is_checked(engine: Engine) {
    let world = gateway(engine);
    let ask = |lines: &[&str]| world.request("POST", PATH, lines, CHAT.as_bytes());
    let long = format!("idempotency-key: {}", "k".repeat(256));
    for lines in [
        &[long.as_str()][..],
        &["idempotency-key:"],
        &["idempotency-key:   "],
        &["idempotency-key: two words"],
        &["idempotency-key: a", "idempotency-key: b"],
        &["idempotency-key: \u{e9}"],
    ] {
        let answer = ask(lines);
        assert_eq!(
            answer.outcome(),
            refused(400, "invalid_idempotency_key"),
            "{lines:?}"
        );
        assert_eq!(word(&world, &answer), "invalid");
    }
    assert_eq!(world.hits(), [0]);
    assert_eq!(ask(&[&long[..long.len() - 1]]).status, 200);
    let twice = ["idempotency-key: a", "Idempotency-Key: a"];
    assert_eq!(ask(&twice).status, 200);
    assert!(is_replayed(&ask(&twice[..1])));
    assert_eq!(world.hits(), [2]);
    assert!(
        !is_replayed(&ask(&["idempotency-key: \"a\""])),
        "quotes are part of the key"
    );
}

fn a_key_on_a_get_is_ignored(engine: Engine) {
    let world = gateway(engine);
    for key in ["k", "k", "two words"] {
        let line = format!("idempotency-key: {key}");
        let answer = world.request("GET", "/v1/models", &[&line], b"");
        assert_eq!(answer.status, 200);
        assert!(!is_replayed(&answer));
    }
}

/// C49
fn tenants_do_not_share_keys(engine: Engine) {
    let tenants = [
        ("a", "sk-a", "1"),
        ("b", "sk-b", "1"),
        ("a.1", "sk-a1", "2"),
    ];
    let world = builder(engine, json!({}))
        .document(move |document| {
            tenants
                .into_iter()
                .fold(document, |document, (tenant, key, _)| {
                    document.tenant(tenant, json!({})).key(
                        &format!("k-{tenant}"),
                        key,
                        tenant,
                        json!({}),
                    )
                })
        })
        .start();
    let ask = |key: &str, idempotency_key: &str, body: &str| {
        let lines = [
            "content-type: application/json".to_owned(),
            format!("authorization: Bearer {key}"),
            format!("idempotency-key: {idempotency_key}"),
        ];
        let lines = lines.each_ref().map(String::as_str);
        let bytes = request("POST", PATH, &lines, body.as_bytes());
        world.connect().send(bytes).response()
    };
    let says = |text: &str| {
        world.fail(
            "w1",
            Faults {
                body: Some(text.to_owned()),
                ..Faults::default()
            },
        );
    };

    for (tenant, key, idempotency_key) in tenants {
        says(&format!("for {tenant}"));
        assert_eq!(
            ask(key, idempotency_key, CHAT).text(),
            format!("for {tenant}")
        );
    }
    says("for a again");
    assert_eq!(ask("sk-a", "1.2", CHAT).text(), "for a again");

    for (tenant, key, idempotency_key) in tenants {
        let replay = ask(key, idempotency_key, CHAT);
        assert_eq!(replay.text(), format!("for {tenant}"));
        assert!(is_replayed(&replay));
    }
    let other = ask("sk-b", "1", OTHER);
    assert_eq!(other.outcome(), refused(409, "idempotency_key_reused"));
    assert_eq!(world.hits(), [4]);
}

fn who_is_not_known_takes_no_key_and_spends_nothing(engine: Engine) {
    let rate = json!({"per_second": 0.001, "burst": 1});
    let world = builder(engine, json!({}))
        .document(|document| {
            document
                .tenant("a", json!({}))
                .key("k-a", "sk-a", "a", json!({}))
        })
        .with(
            "limits",
            json!([{"name": "l", "by": ["tenant"], "rate": rate}]),
        )
        .start();
    let ask = |key: &str| {
        let lines = [key, "idempotency-key: k"];
        world.request("POST", PATH, &lines, CHAT.as_bytes())
    };

    for _ in 0..3 {
        let stranger = ask("authorization: Bearer sk-b");
        assert_eq!(stranger.outcome(), refused(401, "invalid_credential"));
        assert!(word(&world, &stranger).is_null());
    }
    let known = ask("authorization: Bearer sk-a");

    assert_eq!(known.status, 200, "{known:?}");
    assert!(!is_replayed(&known));
}
