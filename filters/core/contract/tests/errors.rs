//! The error table and its two shapes.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::collections::BTreeSet;

use dragoman_contract::{Code, Dialect, ErrorBody};
use serde_json::{Value, json};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn body(code: Code, message: Option<&str>, dialect: Dialect) -> Value {
    let error = ErrorBody {
        code,
        message,
        param: Some("model"),
        request_id: "r-1",
    };
    serde_json::from_str(&error.to_json(dialect)).unwrap()
}

#[test]
fn openai_clients_get_openais_error_object() {
    assert_eq!(
        body(Code::ModelNotFound, None, Dialect::OpenAi),
        json!({"error": {
            "message": "the model does not exist", "type": "invalid_request_error",
            "code": "model_not_found", "param": "model", "request_id": "r-1",
        }})
    );
}

#[test]
fn anthropic_clients_get_anthropics() {
    assert_eq!(
        body(Code::RequestTooLarge, None, Dialect::Anthropic),
        json!({
            "type": "error", "request_id": "r-1",
            "error": {"type": "request_too_large", "code": "request_too_large",
                      "message": "the body is larger than the gateway accepts"},
        })
    );
}

#[test]
fn a_path_says_who_asks_even_where_nothing_is_served() {
    for (path, dialect) in [
        ("/v1/messages", Dialect::Anthropic),
        ("/v1/messages?beta=true", Dialect::Anthropic),
        ("/v1/messages/count_tokens", Dialect::Anthropic),
        ("/v1/messagesx", Dialect::OpenAi),
        ("/v1/chat/completions", Dialect::OpenAi),
        ("", Dialect::OpenAi),
    ] {
        assert_eq!(Dialect::of_path(path.as_bytes()), dialect, "{path}");
    }
}

#[test]
fn any_message_is_a_json_string() {
    for message in [
        "quote \" backslash \\ line\nfeed tab\t nul\0",
        "ümlaut 漢字 🦀",
        "",
    ] {
        for dialect in [Dialect::OpenAi, Dialect::Anthropic] {
            let body = body(Code::BadRequest, Some(message), dialect);
            assert_eq!(body["error"]["message"], message);
        }
    }
}

#[test]
fn codes_are_unique_and_statuses_are_errors() {
    let codes: BTreeSet<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    assert_eq!(codes.len(), Code::ALL.len());
    assert!(
        Code::ALL
            .iter()
            .all(|code| (400..600).contains(&code.status()))
    );
}

#[test]
fn whoever_may_try_again_is_told_when() {
    for code in Code::ALL
        .iter()
        .filter(|code| [429, 503].contains(&code.status()))
    {
        assert!(
            code.retry_after_s().is_some_and(|seconds| seconds > 0),
            "{code:?}"
        );
    }
}
