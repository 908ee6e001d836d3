//! The gateway's own headers: clients cannot set them, workers neither see nor answer them.

use blackbox::{Engine, Faults, Request, World, both_engines};

use crate::support::{CHAT, refused};

both_engines![
    forged_headers_change_nothing,
    forged_headers_do_not_turn_a_refusal_into_a_request,
    a_worker_cannot_speak_for_the_gateway,
    the_answer_names_the_worker,
    a_worker_sees_only_its_own_address,
];

/// `chat` is served by `w1` alone; `w2` must never hear of it.
fn world(engine: Engine) -> World {
    World::on(engine)
        .worker("w1")
        .worker("w2")
        .worker_in("elsewhere", "w3")
        .endpoint("chat", &[("w1", "large")])
        .endpoint("other", &[("w2", "medium"), ("w3", "small")])
        .start()
}

fn forged(world: &World) -> Vec<String> {
    let other = world.worker("w2").address();
    [
        "x-dragoman-routed: 1",
        "X-Dragoman-Routed: 1",
        "x-dragoman-cluster: elsewhere",
        "x-dragoman-anything: 1",
        "x-envoy-max-retries: 9",
        "x-envoy-retry-on: 5xx,retriable-4xx,reset",
        "x-envoy-retriable-status-codes: 400,500",
        "x-envoy-retriable-header-names: server",
        "x-envoy-upstream-rq-timeout-ms: 1",
        "x-envoy-upstream-rq-per-try-timeout-ms: 1",
        "x-envoy-upstream-alt-stat-name: forged",
        "x-envoy-expected-rq-timeout-ms: 1",
        "x-envoy-original-path: /v1/models",
        "x-envoy-internal: true",
        "x-envoy-force-trace: 1",
        "x-envoy-decorator-operation: forged",
        "x-envoy-hedge-on-per-try-timeout: true",
        "x-envoy-ip-tags: forged",
        "x-envoy-original-dst-host: 127.0.0.1:1",
        "X-Envoy-Attempt-Count: 7",
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([
        format!("x-gateway-destination-endpoint: {other}"),
        format!("X-Gateway-Destination-Endpoint: {other}"),
    ])
    .collect()
}

/// Header lines without those that differ from request to request.
fn stable(request: &Request) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let lines = request
        .headers
        .iter()
        .map(|(name, value)| (text(name), text(value)));
    lines.filter(|(name, _)| name != "x-request-id").collect()
}

fn forged_headers_change_nothing(engine: Engine) {
    let world = world(engine);
    assert_eq!(world.chat(CHAT).status, 200);
    let plain = world
        .worker("w1")
        .requests()
        .pop()
        .expect("a request at the worker");

    let mut all = forged(&world);
    all.push(all.join("\r\n"));
    for lines in &all {
        let headers = ["content-type: application/json", lines];
        let response = world.request("POST", "/v1/chat/completions", &headers, CHAT.as_bytes());
        assert_eq!(response.status, 200, "{lines}: {response:?}");
        let seen = world
            .worker("w1")
            .requests()
            .pop()
            .expect("a request at the worker");
        assert_eq!(stable(&seen), stable(&plain), "{lines}");
    }
    world.fail("w1", Faults::status(500));
    let failed = world.request(
        "POST",
        "/v1/chat/completions",
        &[all.last().expect("forged lines")],
        CHAT.as_bytes(),
    );

    assert_eq!(
        failed.status, 500,
        "no retry was asked for by anybody who may"
    );
    assert_eq!(world.hits(), [2 + all.len(), 0, 0]);
}

fn forged_headers_do_not_turn_a_refusal_into_a_request(engine: Engine) {
    let world = world(engine);
    let all = forged(&world).join("\r\n");

    for (method, path, body) in [
        ("POST", "/v1/files", CHAT),
        ("GET", "/metrics", ""),
        ("GET", "/v1/models/none", ""),
        ("POST", "/v1/chat/completions", r#"{"model":"none"}"#),
    ] {
        let response = world.request(method, path, &[&all], body.as_bytes());
        assert_eq!(response.status, 404, "{path}: {response:?}");
    }
    let broken = world.request("POST", "/v1/chat/completions", &[&all], b"{");
    assert_eq!(broken.outcome(), refused(400, "invalid_json"));

    assert_eq!(world.hits(), [0, 0, 0]);
}

fn a_worker_cannot_speak_for_the_gateway(engine: Engine) {
    let world = world(engine);
    let lines = [
        ("x-dragoman-routed", "1"),
        ("x-dragoman-plan", "forged"),
        ("x-gateway-destination-endpoint", "127.0.0.1:1"),
        ("x-cache", "hit"),
        ("idempotency-replayed", "true"),
        ("x-aisuite-backend", "forged"),
        ("x-request-id", "forged"),
        ("x-kept", "kept"),
    ];
    let headers = lines
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    world.fail(
        "w1",
        Faults {
            headers,
            ..Faults::default()
        },
    );

    let response = world.chat(CHAT);

    assert_eq!(response.status, 200, "{response:?}");
    let names: Vec<_> = response
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    for (name, _) in &lines[..5] {
        assert!(!names.contains(name), "{name}: {response:?}");
    }
    assert_eq!(response.header("x-aisuite-backend").as_deref(), Some("w1"));
    assert_eq!(response.header("x-kept").as_deref(), Some("kept"));
    assert_eq!(
        names.iter().filter(|name| **name == "x-request-id").count(),
        1,
        "{response:?}"
    );
    assert_ne!(response.header("x-request-id").as_deref(), Some("forged"));
    assert!(
        !names.iter().any(|name| name.starts_with("x-envoy-")),
        "{response:?}"
    );
}

fn the_answer_names_the_worker(engine: Engine) {
    let world = world(engine);
    world.fail("w2", Faults::status(503));

    let first = world.chat(CHAT);
    let after_failover = world.chat(r#"{"model":"other"}"#);
    let refusal = world.chat(r#"{"model":"none"}"#);

    assert_eq!(first.header("x-aisuite-backend").as_deref(), Some("w1"));
    assert_eq!(
        after_failover.header("x-aisuite-backend").as_deref(),
        Some("w3")
    );
    assert_eq!(refusal.header("x-aisuite-backend"), None);
}

fn a_worker_sees_only_its_own_address(engine: Engine) {
    let world = world(engine);
    world.fail("w2", Faults::status(503));

    assert_eq!(
        world.chat(r#"{"model":"other"}"#).content(),
        "hello from w3"
    );

    for (worker, others) in [("w2", ["w1", "w3"]), ("w3", ["w1", "w2"])] {
        let request = world
            .worker(worker)
            .requests()
            .pop()
            .expect("a request at the worker");
        let lines = stable(&request);
        for other in others {
            let address = world.worker(other).address().to_string();
            assert!(
                !lines.iter().any(|(_, value)| value.contains(&address)),
                "{worker}: {lines:?}"
            );
        }
        let internal = |name: &str| {
            (name.starts_with("x-dragoman-") && name != "x-dragoman-cluster")
                || name == "x-gateway-destination-endpoint"
                || name.starts_with("x-envoy-")
        };
        assert!(
            !lines.iter().any(|(name, _)| internal(name)),
            "{worker}: {lines:?}"
        );
        let authority = request.header("host").map(<[u8]>::to_vec);
        assert_eq!(
            authority,
            Some(world.worker(worker).address().to_string().into_bytes())
        );
    }
}
