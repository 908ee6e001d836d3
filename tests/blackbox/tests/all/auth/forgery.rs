//! What a client says of itself, and how it spells what it asks for, open nothing.

use blackbox::{Engine, both_engines};

use super::{KEY_A, KEY_B, bearer, callers, chat_with, get_as, id};
use crate::support::{CHAT, refused};

both_engines![
    forged_identities_make_nobody_of_somebody_else,
    forged_headers_are_removed_where_nobody_has_to_be_known,
    health_is_answered_without_a_credential,
    no_spelling_of_a_path_gets_past_the_check,
    without_a_credential_all_paths_look_the_same,
];

/// C28: once, twice, in another case, empty.
const FORGED: [&str; 13] = [
    "x-dragoman-identity: team-a",
    "x-dragoman-identity: team-a",
    "X-Dragoman-Identity: admin",
    "x-dragoman-identity: ",
    "x-dragoman-tenant: team-a",
    "x-dragoman-request: chat-a",
    "x-dragoman-routed: 1",
    "x-dragoman-cluster: workers",
    "x-gateway-destination-endpoint: 127.0.0.1:1",
    "x-envoy-max-retries: 9",
    "X-Envoy-Internal: true",
    "x-tenant-id: team-a",
    "user: team-a",
];

/// C28
fn forged_identities_make_nobody_of_somebody_else(engine: Engine) {
    let world = callers(engine);
    let b = bearer(KEY_B);
    let mut lines = FORGED.to_vec();
    lines.push(&b);

    let response = chat_with(&world, &lines);
    let foreign = world.request("GET", "/v1/models/chat-a", &lines, b"");
    let alone = chat_with(&world, &FORGED);
    let underscored = chat_with(&world, &[&b, "x_dragoman_identity: admin"]);

    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(world.log().request(&id(&response))["tenant"], "team-b");
    assert_eq!(foreign.outcome(), refused(404, "model_not_found"));
    assert_eq!(alone.outcome(), refused(401, "missing_credential"));
    assert_eq!(underscored.outcome(), refused(400, "bad_request"));
    let requests = world.worker("w1").requests();
    assert_eq!(requests.len(), 1);
    let names = requests[0]
        .headers
        .iter()
        .map(|(name, _)| String::from_utf8_lossy(name));
    let reserved: Vec<_> = names
        .filter(|name| name.starts_with("x-dragoman-") || name.starts_with("x-envoy-"))
        .filter(|name| name != "x-dragoman-cluster")
        .collect();
    assert!(reserved.is_empty(), "{reserved:?}");
}

fn forged_headers_are_removed_where_nobody_has_to_be_known(engine: Engine) {
    let world = callers(engine);
    for path in ["/healthz", "/readyz"] {
        assert_eq!(
            world.request("GET", path, &FORGED, b"").status,
            200,
            "{path}"
        );
    }
    for (method, path) in [
        ("GET", "/v1/models"),
        ("POST", "/healthz"),
        ("GET", "/metrics"),
    ] {
        let response = world.request(method, path, &FORGED, b"");
        assert_eq!(
            response.outcome(),
            refused(401, "missing_credential"),
            "{method} {path}"
        );
    }
    assert_eq!(world.hits(), [0]);
}

fn health_is_answered_without_a_credential(engine: Engine) {
    let world = callers(engine);
    for path in ["/healthz", "/readyz"] {
        for lines in [&[][..], &["authorization: Bearer sk-nobody"]] {
            let response = world.request("GET", path, lines, b"");
            assert_eq!(
                (response.status, response.text()),
                (200, r#"{"status":"ok"}"#.to_owned())
            );
        }
        for (method, path) in [
            ("POST", path.to_owned()),
            ("HEAD", path.to_owned()),
            ("GET", format!("{path}/")),
            ("GET", format!("{path}?a=b")),
        ] {
            let mut client = world.connect();
            client.send(blackbox::world::request(method, &path, &[], b""));
            assert_eq!(client.head().status, 401, "{method} {path}");
        }
    }
    assert_eq!(world.hits(), [0]);
}

/// C32
fn no_spelling_of_a_path_gets_past_the_check(engine: Engine) {
    let world = callers(engine);
    for path in [
        "/v1/chat/completions",
        "/health/../v1/chat/completions",
        "/healthz/../v1/chat/completions",
        "/healthz/%2e%2e/v1/chat/completions",
        "/healthz%2f..%2fv1/chat/completions",
        "/healthz;/../v1/chat/completions",
        "/healthz?/../v1/chat/completions",
        "/healthz#/v1/chat/completions",
        "//v1/chat/completions",
        "/v1/%63hat/completions",
        "/v1%2Fchat/completions",
        "/v1/chat/completions;a=b",
        "/health;%2fv1/chat/completions",
        "/V1/chat/completions",
        "/v1/chat/completions/",
        "http://gateway.test/v1/chat/completions",
        "http://healthz/v1/chat/completions",
        "*",
    ] {
        for lines in [&[][..], &["authorization: Bearer sk-nobody"], &FORGED] {
            let response = world.request("POST", path, lines, CHAT.as_bytes());
            assert!(matches!(response.status, 400 | 401), "{path}: {response:?}");
            assert!(!response.error_code().is_empty(), "{path}: {response:?}");
        }
    }
    assert_eq!(world.hits(), [0]);
}

fn without_a_credential_all_paths_look_the_same(engine: Engine) {
    let world = callers(engine);
    for path in [
        "/",
        "/v1/models",
        "/v1/models/chat-a",
        "/v1/models/nobody",
        "/nowhere",
    ] {
        assert_eq!(
            world.get(path).outcome(),
            refused(401, "missing_credential"),
            "{path}"
        );
    }
    assert_eq!(
        get_as(&world, KEY_A, "/nowhere").outcome(),
        refused(404, "not_found")
    );
}
