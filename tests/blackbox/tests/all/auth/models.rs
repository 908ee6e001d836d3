//! Which models a caller can reach, and what it learns of the others: nothing.

use blackbox::{Engine, Response, World, both_engines};

use super::{KEY_A, KEY_B, KEY_NARROW, bearer, callers, comparable, get_as};
use crate::support::CHAT;

both_engines![
    a_foreign_model_does_not_exist_and_an_excluded_one_is_forbidden,
    a_foreign_model_is_refused_byte_for_byte_like_one_that_does_not_exist,
    the_model_list_has_what_the_caller_can_use,
    a_model_in_the_list_can_be_used_and_no_other,
];

const MODELS: [&str; 6] = ["chat", "chat-a", "code-a", "embed-a", "chat-b", "nobody"];

fn chat_about(world: &World, key: &str, model: &str) -> Response {
    let body = CHAT.replace("\"chat\"", &format!("\"{model}\""));
    world.request(
        "POST",
        "/v1/chat/completions",
        &[&bearer(key)],
        body.as_bytes(),
    )
}

/// C1
fn a_foreign_model_does_not_exist_and_an_excluded_one_is_forbidden(engine: Engine) {
    let world = callers(engine);
    for (key, statuses) in [
        (KEY_A, [200, 200, 200, 403, 404, 404]),
        (KEY_NARROW, [200, 200, 403, 403, 404, 404]),
        (KEY_B, [200, 404, 404, 404, 200, 404]),
    ] {
        for (model, status) in MODELS.into_iter().zip(statuses) {
            let code = match status {
                200 => "",
                403 => "model_not_allowed",
                _ => "model_not_found",
            };
            let before = world.hits();
            let chat = chat_about(&world, key, model);
            assert_eq!(
                chat.outcome(),
                (status, code.to_owned()),
                "{model} with {key}"
            );
            assert_eq!(world.hits() == before, status != 200, "{model} with {key}");
            let described = get_as(&world, key, &format!("/v1/models/{model}"));
            assert_eq!(
                described.outcome(),
                (status, code.to_owned()),
                "{model} with {key}"
            );
        }
    }
}

fn a_foreign_model_is_refused_byte_for_byte_like_one_that_does_not_exist(engine: Engine) {
    let world = callers(engine);
    for key in [KEY_A, KEY_NARROW] {
        assert_eq!(
            comparable(chat_about(&world, key, "chat-b")),
            comparable(chat_about(&world, key, "nobody"))
        );
        assert_eq!(
            comparable(get_as(&world, key, "/v1/models/chat-b")),
            comparable(get_as(&world, key, "/v1/models/nobody"))
        );
    }
}

fn listed(world: &World, key: &str) -> Vec<String> {
    let list = get_as(world, key, "/v1/models").json();
    let models = list["data"].as_array().expect("a list of models");
    let id = |model: &serde_json::Value| model["id"].as_str().map(str::to_owned);
    models.iter().filter_map(id).collect()
}

/// C17
fn the_model_list_has_what_the_caller_can_use(engine: Engine) {
    let world = callers(engine);
    for (key, models) in [
        (KEY_A, &["chat", "chat-a", "code-a"][..]),
        (KEY_NARROW, &["chat", "chat-a"]),
        (KEY_B, &["chat", "chat-b"]),
    ] {
        assert_eq!(listed(&world, key), models, "{key}");
    }
    assert_eq!(world.hits(), [0]);
}

fn a_model_in_the_list_can_be_used_and_no_other(engine: Engine) {
    let world = callers(engine);
    for key in [KEY_A, KEY_NARROW, KEY_B] {
        let listed = listed(&world, key);
        for model in MODELS {
            let served = chat_about(&world, key, model).status == 200;
            assert_eq!(
                served,
                listed.iter().any(|id| id == model),
                "{model} with {key}"
            );
        }
    }
}
