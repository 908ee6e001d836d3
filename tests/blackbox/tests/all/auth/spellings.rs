//! However a path is spelt: a scope is checked on the path that is served, or nothing is served.

use blackbox::h2::{self, Outcome};
use blackbox::{Engine, Response, Seen, World, both_engines, envoy_only};
use serde_json::json;

use super::bearer;
use super::spelt::spellings;
use crate::support::CHAT;

both_engines![
    no_spelling_brings_a_key_to_an_api_that_its_scopes_leave_out,
    a_path_that_is_another_one_after_all_needs_the_scope_of_that_one,
    a_scope_of_one_model_is_no_scope_of_its_neighbours,
];

envoy_only!["host-sim speaks HTTP/1.1 only": over_http2_no_spelling_gets_around_a_scope_either];

/// Keys by their only scope. The last one has none.
const SCOPES: [(&str, &[&str]); 5] = [
    ("chat", &["chat"]),
    ("embeddings", &["POST /v1/embeddings"]),
    ("models", &["GET /v1/models"]),
    ("one-model", &["GET /v1/models/chat"]),
    ("nothing", &[]),
];

/// Of these paths.
const SERVED: [(&str, &str); 3] = [
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/embeddings"),
    ("GET", "/v1/models/code"),
];

fn world(engine: Engine) -> World {
    World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .endpoint("code", &[("w1", "large")])
        .document(|document| {
            let document = document.tenant("team", json!({}));
            SCOPES.iter().fold(document, |document, (name, scopes)| {
                document.key(name, &key(name), "team", json!({"scopes": scopes}))
            })
        })
        .start()
}

fn key(name: &str) -> String {
    format!("sk-spelt-{name}-4c1d")
}

fn ask(world: &World, name: &str, method: &str, target: &str) -> Response {
    let body = if method == "POST" { CHAT } else { "" };
    world.request(method, target, &[&bearer(&key(name))], body.as_bytes())
}

/// What was served, if anything: at a worker, or a description of a model.
fn served(world: &World, response: &Response, method: &str) -> Option<String> {
    let arrived = world.worker("w1").with(|worker| worker.take()).pop();
    if let Some(arrived) = arrived {
        let Seen::Request(request) = arrived.seen else {
            panic!("{arrived:?}")
        };
        let path = request.target.split('?').next().unwrap_or_default();
        return Some(format!("{} {path}", request.method));
    }
    let is_there = response.status == 200 && method == "GET";
    is_there.then(|| match response.json()["id"].as_str() {
        Some(id) => format!("GET /v1/models/{id}"),
        None => "GET /v1/models".to_owned(),
    })
}

/// Whether a key of these scopes may have that; written down once more, and simply.
fn is_allowed(name: &str, served: &str) -> bool {
    match name {
        "chat" => served == "POST /v1/chat/completions",
        "embeddings" => served == "POST /v1/embeddings",
        "models" => served.starts_with("GET /v1/models"),
        "one-model" => served == "GET /v1/models/chat",
        _ => false,
    }
}

/// C32, C33
fn no_spelling_brings_a_key_to_an_api_that_its_scopes_leave_out(engine: Engine) {
    let world = world(engine);
    let mut accepted = 0;
    for (method, path) in SERVED {
        for target in spellings(path) {
            for (name, _) in SCOPES {
                let shown = format!("{name}: {method} {target:?}");
                let mut client = world.connect();
                let body = if method == "POST" { CHAT } else { "" };
                let lines = [&*bearer(&key(name))];
                client.send(blackbox::world::request(
                    method,
                    &target,
                    &lines,
                    body.as_bytes(),
                ));
                let response = client.response();
                match served(&world, &response, method) {
                    Some(served) => {
                        accepted += 1;
                        assert!(is_allowed(name, &served), "{shown} is served as {served}");
                    }
                    None => assert!(
                        matches!(response.status, 400 | 403 | 404),
                        "{shown}: {response:?}"
                    ),
                }
            }
        }
    }
    assert!(
        accepted > 30,
        "spellings that mean a path are served: {accepted}"
    );
}

fn over_http2_no_spelling_gets_around_a_scope_either(engine: Engine) {
    let world = world(engine);
    let is_sendable = |target: &String| {
        target.starts_with('/')
            && format!("http://gateway.test{target}")
                .parse::<http::Uri>()
                .is_ok()
    };
    let mut accepted = 0;
    for target in spellings("/v1/chat/completions")
        .iter()
        .filter(|target| is_sendable(target))
    {
        for (name, _) in SCOPES {
            let lines = [("x-api-key", &*key(name))];
            let outcome = h2::post(world.address(), target, &lines, CHAT.as_bytes());
            let status = match outcome {
                Outcome::Response { status, .. } => status,
                Outcome::Reset(_) => 0,
            };
            let arrived = world.worker("w1").with(|worker| worker.take()).pop();
            assert_eq!(
                arrived.is_some(),
                status == 200,
                "{name}: {target:?}: {status}"
            );
            let Some(Seen::Request(request)) = arrived.map(|arrived| arrived.seen) else {
                assert!(
                    matches!(status, 0 | 400 | 403 | 404),
                    "{name}: {target:?}: {status}"
                );
                continue;
            };
            accepted += 1;
            let path = request.target.split('?').next().unwrap_or_default();
            assert!(
                is_allowed(name, &format!("POST {path}")),
                "{name}: {target:?} is {path}"
            );
        }
    }
    assert!(
        accepted > 10,
        "spellings that mean a path are served: {accepted}"
    );
}

fn a_path_that_is_another_one_after_all_needs_the_scope_of_that_one(engine: Engine) {
    let world = world(engine);
    for (target, scope) in [
        ("/v1/embeddings/../chat/completions", "chat"),
        ("/v1/chat/completions/../../embeddings", "embeddings"),
        ("/v1/chat/%2e%2e/embeddings", "embeddings"),
        ("//v1//embeddings", "embeddings"),
        ("/v1/embeddings?/v1/chat/completions", "embeddings"),
        ("http://v1.chat/v1/embeddings", "embeddings"),
        ("/v1/%65mbeddings", "embeddings"),
    ] {
        for (name, _) in SCOPES {
            let response = ask(&world, name, "POST", target);
            if name == scope {
                assert_eq!(response.status, 200, "{name}: {target}: {response:?}");
            } else {
                assert_eq!(
                    response.error_code(),
                    "scope_denied",
                    "{name}: {target}: {response:?}"
                );
            }
        }
    }
}

fn a_scope_of_one_model_is_no_scope_of_its_neighbours(engine: Engine) {
    let world = world(engine);
    assert_eq!(
        ask(&world, "one-model", "GET", "/v1/models/chat").status,
        200
    );
    for target in [
        "/v1/models",
        "/v1/models/",
        "/v1/models/code",
        "/v1/models/chat/../code",
        "/v1/models/chat/%2e%2e/code",
        "/v1/models/chat%2f..%2fcode",
        "/v1/models/chat/..%2fcode",
        "/v1/models/chat;/../code",
        "/v1/models/chat\\..\\code",
        "/v1/models/chat?/../code",
        "/v1/models/chatter",
        "/v1/models/cha",
    ] {
        let response = ask(&world, "one-model", "GET", target);
        let told = response.json()["id"].clone();
        let is_chat = target.contains('?') && told == "chat";
        assert!(
            is_chat || matches!(response.status, 400 | 403 | 404),
            "{target}: {response:?}"
        );
        assert_ne!(told, "code", "{target}");
    }
}

/// The rules of paths are Envoy's, and host-sim has the same.
#[test]
fn every_spelling_is_answered_alike_by_both_engines() {
    if !Engine::Envoy.is_here() {
        return;
    }
    let worlds = [Engine::Envoy, Engine::HostSim].map(world);
    let mut surprises = Vec::new();
    for (method, path) in SERVED {
        for target in spellings(path) {
            let told = worlds.each_ref().map(|world| {
                let response = ask(world, "embeddings", method, &target);
                let served = served(world, &response, method);
                (response.outcome(), served)
            });
            if told[0] != told[1] {
                surprises.push(format!("{method} {target:?}: {told:?}"));
            }
        }
    }
    assert!(surprises.is_empty(), "{surprises:#?}");
}
