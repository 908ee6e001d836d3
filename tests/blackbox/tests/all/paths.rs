//! Which requests mean something, by path and method alone.

use blackbox::{Engine, both_engines};

use crate::support::{CHAT, one_worker, refused};

both_engines![
    requests_without_a_body_are_answered,
    a_path_in_another_spelling_reaches_no_worker_past_the_chain,
    a_query_does_not_hide_the_path,
    a_model_is_found_by_its_name_in_the_path,
    a_wrong_method_is_not_found,
];

/// C18
fn requests_without_a_body_are_answered(engine: Engine) {
    let world = one_worker(engine);
    let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\n";
    let send = |bytes: String| world.connect().send(bytes).response();

    assert_eq!(world.get("/v1/models").status, 200);
    for bytes in [
        format!("{head}\r\n"),
        format!("{head}content-length: 0\r\n\r\n"),
        format!("{head}transfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
    ] {
        let response = send(bytes.clone());
        assert_eq!(
            response.outcome(),
            refused(400, "invalid_json"),
            "{bytes:?}"
        );
    }
    let delete = send("DELETE /v1/files/x HTTP/1.1\r\nhost: g\r\n\r\n".to_owned());
    assert_eq!(delete.outcome(), refused(404, "not_found"));

    assert_eq!(world.hits(), [0]);
}

/// C32: either it is the same path by the rules of URLs, and then the whole chain ran (the name is
/// rewritten), or it is refused.
fn a_path_in_another_spelling_reaches_no_worker_past_the_chain(engine: Engine) {
    let world = one_worker(engine);
    for (path, served) in [
        ("/health/../v1/chat/completions", true),
        ("//v1/chat/completions", true),
        ("/v1//chat/completions", true),
        ("/v1/./chat/completions", true),
        ("/v1/%63hat/completions", true),
        ("/v1%2Fchat/completions", false),
        ("/v1%2fchat/completions", false),
        ("/v1%5Cchat/completions", false),
        ("/v1/chat/completions;a=b", false),
        ("/health;%2fv1/chat/completions", false),
        ("/V1/chat/completions", false),
        ("/v1/chat/completions/", false),
        ("/v1/chat/completions#x", false),
        ("/v1/chat/completions%00", false),
        (
            "/openai/deployments/d1/chat/completions?api-version=x",
            false,
        ),
        ("http://other.test/v1/chat/completions", true),
        ("*", false),
    ] {
        let before = world.hits();
        let response = world.post(path, CHAT);
        if served {
            assert_eq!(response.status, 200, "{path}: {response:?}");
            let last = world
                .worker("w1")
                .requests()
                .pop()
                .expect("a request at the worker");
            assert_eq!(last.target, "/v1/chat/completions", "{path}");
            assert_eq!(
                last.body,
                CHAT.replace(r#""chat""#, r#""large""#).into_bytes(),
                "{path}"
            );
        } else {
            assert!(matches!(response.status, 400 | 404), "{path}: {response:?}");
            assert!(!response.error_code().is_empty(), "{path}: {response:?}");
            assert_eq!(world.hits(), before, "{path}");
        }
    }
}

/// C33
fn a_query_does_not_hide_the_path(engine: Engine) {
    let world = one_worker(engine);
    for target in [
        "/v1/chat/completions?api-version=2025-01-01",
        "/v1/chat/completions?",
        "/v1/chat/completions?a=/../b",
    ] {
        let response = world.post(target, CHAT);
        assert_eq!(response.content(), "hello from w1", "{target}");
        let last = world
            .worker("w1")
            .requests()
            .pop()
            .expect("a request at the worker");
        assert_eq!(last.target, target);
        assert_eq!(
            last.body,
            CHAT.replace(r#""chat""#, r#""large""#).into_bytes()
        );
    }
}

fn a_model_is_found_by_its_name_in_the_path(engine: Engine) {
    let world = one_worker(engine);

    let found = world.get("/v1/models/chat");

    assert_eq!(
        (found.status, found.json()["id"].as_str()),
        (200, Some("chat"))
    );
    for path in ["/v1/models/large", "/v1/models/chat/x", "/v1/models/%zz"] {
        let response = world.get(path);
        assert!(matches!(response.status, 400 | 404), "{path}: {response:?}");
        assert!(!response.error_code().is_empty(), "{path}: {response:?}");
    }
    assert_eq!(world.hits(), [0]);
}

fn a_wrong_method_is_not_found(engine: Engine) {
    let world = one_worker(engine);
    for (method, path) in [
        ("GET", "/v1/chat/completions"),
        ("PUT", "/v1/chat/completions"),
        ("OPTIONS", "/v1/chat/completions"),
        ("POST", "/v1/models"),
        ("DELETE", "/v1/models/chat"),
    ] {
        let response = world.request(method, path, &[], CHAT.as_bytes());
        assert_eq!(
            response.outcome(),
            refused(404, "not_found"),
            "{method} {path}"
        );
    }
    assert_eq!(world.hits(), [0]);
}
