//! Authentication on, off, and on without the filter that does it.

use blackbox::{Engine, World, both_engines};
use serde_json::json;

use super::{KEY_A, bearer, builder, chat_with};
use crate::support::{CHAT, refused};

both_engines![
    with_auth_off_everybody_is_served_what_belongs_to_nobody,
    nothing_passes_where_callers_must_be_known_and_nobody_asks_them,
    a_document_without_keys_lets_nobody_in,
];

fn with_auth_off_everybody_is_served_what_belongs_to_nobody(engine: Engine) {
    let world = builder(engine)
        .with("auth", json!({"mode": "off"}))
        .edit_yaml(|yaml| {
            assert!(!yaml.contains("auth.wasm"), "the module is left out");
            yaml
        })
        .start();
    for line in [
        "accept: */*",
        &bearer(KEY_A),
        "authorization: Basic x",
        "x-api-key: sk-nobody",
    ] {
        assert_eq!(chat_with(&world, &[line]).status, 200, "{line}");
        let list = world.request("GET", "/v1/models", &[line], b"").json();
        assert_eq!(
            list["data"].as_array().map(Vec::len),
            Some(1),
            "{line}: {list}"
        );
        let foreign = CHAT.replace("\"chat\"", "\"chat-a\"");
        let foreign = world.request("POST", "/v1/chat/completions", &[line], foreign.as_bytes());
        assert_eq!(foreign.outcome(), refused(404, "model_not_found"), "{line}");
    }
    assert_eq!(world.get("/healthz").status, 200);
}

/// The document says that callers must be known, the chain has no `auth`.
fn nothing_passes_where_callers_must_be_known_and_nobody_asks_them(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .replace_in_yaml(r#""mode": "off""#, r#""mode": "on""#)
        .start();
    for line in ["accept: */*", &bearer(KEY_A)] {
        assert_eq!(
            chat_with(&world, &[line]).outcome(),
            refused(500, "misconfigured")
        );
        for path in ["/v1/models", "/v1/models/chat", "/nowhere", "/readyz"] {
            let response = world.request("GET", path, &[line], b"");
            assert_eq!(response.outcome(), refused(500, "misconfigured"), "{path}");
        }
    }
    assert_eq!(world.hits(), [0]);
}

fn a_document_without_keys_lets_nobody_in(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .with("auth", json!({}))
        .start();

    let response = chat_with(&world, &[&bearer(KEY_A)]);

    assert_eq!(response.outcome(), refused(401, "invalid_credential"));
    assert_eq!(world.hits(), [0]);
    assert_eq!(world.get("/healthz").status, 200);
}
