//! What a request leaves behind.

use blackbox::{At, How};
use blackbox::{Engine, Faults, Response, World, both_engines};
use serde_json::{Value, json};

use crate::support::{CHAT, refused, two_workers};

both_engines![
    one_request_has_one_id_wherever_it_is_seen,
    who_was_let_in_and_who_was_not_is_in_the_log_with_the_reason,
    each_attempt_leaves_its_status_and_its_times,
    an_attempt_that_is_too_slow_leaves_how_long_it_took,
    no_prompt_and_no_answer_stands_in_a_log,
];

fn id(response: &Response) -> String {
    let id = response.header("x-request-id");
    id.expect("every answer has an id")
}

/// A client's own is not taken over, or two requests could have one.
fn one_request_has_one_id_wherever_it_is_seen(engine: Engine) {
    let world = two_workers(engine);
    world.fail("w1", Faults::status(503));
    let mut ids = Vec::new();
    for lines in [&[][..], &["x-request-id: same"], &["x-request-id: same"]] {
        let response = world.request("POST", "/v1/chat/completions", lines, CHAT.as_bytes());
        let id = id(&response);
        for worker in ["w1", "w2"] {
            let request = world.worker(worker).requests().pop().expect("a request");
            let told = request.header("x-request-id").map(String::from_utf8_lossy);
            assert_eq!(told.as_deref(), Some(&*id), "{worker}");
        }
        assert_eq!(world.log().attempts(&id).len(), 2);
        ids.push(id);
    }
    let refusal = world.chat("{");
    assert_eq!(refusal.json()["error"]["request_id"], id(&refusal));
    ids.push(id(&refusal));

    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4, "no two requests have one: {ids:?}");
}

fn who_was_let_in_and_who_was_not_is_in_the_log_with_the_reason(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .document(|document| {
            document
                .tenant("good", json!({}))
                .tenant("idle", json!({"status": "suspended"}))
                .key("k", "sk-good", "good", json!({"models": ["chat"]}))
                .key("k-idle", "sk-idle", "idle", json!({}))
        })
        .endpoint("chat", &[("w1", "large")])
        .endpoint("code", &[("w1", "large")])
        .start();
    for (key, model, outcome, tenant) in [
        ("sk-good", "chat", refused(200, ""), json!("good")),
        (
            "sk-good",
            "code",
            refused(403, "model_not_allowed"),
            json!("good"),
        ),
        (
            "sk-idle",
            "chat",
            refused(403, "tenant_inactive"),
            json!("idle"),
        ),
        (
            "sk-none",
            "chat",
            refused(401, "invalid_credential"),
            Value::Null,
        ),
    ] {
        let bearer = format!("authorization: Bearer {key}");
        let body = CHAT.replace("chat", model);
        let response = world.request("POST", "/v1/chat/completions", &[&bearer], body.as_bytes());
        assert_eq!(response.outcome(), outcome, "{key} {model}");
        let line = world.log().request(&id(&response));
        assert_eq!(line["tenant"], tenant, "{line}");
        let reason = line["error"].as_str().unwrap_or_default();
        assert_eq!(reason, outcome.1, "{line}");
        assert_eq!(line["ip"], "127.0.0.1", "{line}");
    }
    assert_eq!(world.hits(), [1]);
}

fn each_attempt_leaves_its_status_and_its_times(engine: Engine) {
    let world = two_workers(engine);
    world.fail(
        "w1",
        Faults {
            delay_before_headers_ms: 300,
            ..Faults::status(503)
        },
    );

    let id = id(&world.chat(CHAT));

    let line = world.log().request(&id);
    assert_eq!(line["attempts"], 2, "{line}");
    let attempts = world.log().attempts(&id);
    let codes: Vec<_> = attempts.iter().map(|attempt| &attempt["code"]).collect();
    assert_eq!(codes, [503, 200]);
    for attempt in &attempts {
        assert!(
            attempt["ms"].is_u64() && attempt["ttfb_ms"].is_u64(),
            "{attempt}"
        );
    }
    let least = |value: &Value| value.as_u64().is_some_and(|ms| ms >= 290);
    assert!(least(&attempts[0]["ttfb_ms"]), "{:?}", attempts[0]);
    assert!(least(&line["ms"]), "{line}");
}

fn an_attempt_that_is_too_slow_leaves_how_long_it_took(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint_with("chat", &[("w1", "large")], json!({"timeout_ms": 400}))
        .start();
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Stall));

    let response = world.chat(CHAT);

    assert_eq!(response.outcome(), refused(504, "upstream_timeout"));
    let line = world.log().request(&id(&response));
    assert_eq!(
        (&line["code"], &line["error"]),
        (&json!(504), &Value::Null),
        "{line}"
    );
    assert_eq!(line["tried"], "w1=timeout", "{line}");
    let attempts = world.log().attempts(&id(&response));
    assert_eq!(attempts.len(), 1);
    let took = attempts[0]["ms"].as_u64();
    assert!(took.is_some_and(|ms| ms >= 350), "{:?}", attempts[0]);
}

fn no_prompt_and_no_answer_stands_in_a_log(engine: Engine) {
    const PROMPT: &str = "zebra-prompt-4711";
    let world = two_workers(engine);
    let good = format!(
        r#"{{"model":"chat","user":"{PROMPT}","messages":[{{"role":"user","content":"{PROMPT}"}}]}}"#
    );
    let bodies = [
        good.clone(),
        good.replace("{\"model\"", "{\"stream\":true,\"model\""),
        good.replace("}]}", "}],}"),
        good.replace("\"chat\"", &format!("\"{PROMPT}\"")),
        format!(r#"{{"model":"chat","stream":"{PROMPT}"}}"#),
        PROMPT.to_owned(),
    ];
    let mut answers = Vec::new();
    for body in &bodies {
        let target = format!("/v1/chat/completions?key={PROMPT}");
        answers.push(world.post(&target, body));
    }
    world.fail(
        "w1",
        Faults {
            body: Some(PROMPT.to_owned()),
            ..Faults::status(400)
        },
    );
    answers.push(world.post("/v1/messages", &good));
    assert_eq!(answers.iter().filter(|it| it.status == 200).count(), 2);

    for answer in &answers {
        let line = world.log().request(&id(answer));
        assert!(line.is_object(), "{line}");
    }
    // Reading a line that is not JSON fails.
    let lines = format!("{:?}", world.log().lines());
    for (place, text) in [
        ("the access log", lines),
        ("the gateway's own", world.output()),
    ] {
        for word in [PROMPT, "hello from"] {
            assert!(!text.contains(word), "{place} has {word}: {text}");
        }
    }
}
