//! By which listener and host somebody comes in, and what exists there.

use blackbox::{Engine, Response, World, both_engines};
use serde_json::{Value, json};

use super::{bearer, comparable, id};
use crate::support::{CHAT, refused};

both_engines![
    a_private_endpoint_exists_on_the_internal_listener_only,
    what_somebody_may_not_know_of_is_answered_like_what_does_not_exist,
    in_every_form_it_is_refused_byte_for_byte_like_what_does_not_exist,
    a_key_is_good_at_its_tenants_hosts_and_nowhere_else,
    on_the_internal_listener_the_host_does_not_matter_and_every_endpoint_exists,
    without_a_credential_a_private_endpoint_is_as_private,
    without_an_internal_listener_private_endpoints_exist_nowhere,
];

const KEY_A: &str = "sk-host-a-5d02";
const KEY_B: &str = "sk-host-b-91fe";
/// Of a tenant without hosts.
const KEY_C: &str = "sk-host-c-77aa";

fn world(engine: Engine, hosts: bool) -> World {
    let of = |hosts_of: Value| {
        if hosts {
            json!({"hosts": hosts_of})
        } else {
            json!({})
        }
    };
    World::on(engine)
        .internal_listener()
        .worker("w1")
        .document(|document| {
            document
                .tenant("team-a", of(json!(["a.example", "*.a.example"])))
                .tenant("team-b", of(json!(["b.example"])))
                .tenant("team-c", json!({}))
                .key("k-a", KEY_A, "team-a", json!({}))
                .key("k-b", KEY_B, "team-b", json!({}))
                .key("k-c", KEY_C, "team-c", json!({}))
        })
        .endpoint("chat", &[("w1", "large")])
        .endpoint_with(
            "private",
            &[("w1", "large")],
            json!({"visibility": "private"}),
        )
        .endpoint_with("of-a", &[("w1", "large")], json!({"tenant": "team-a"}))
        .endpoint_with(
            "private-a",
            &[("w1", "large")],
            json!({"tenant": "team-a", "visibility": "private"}),
        )
        .start()
}

const MODELS: [&str; 5] = ["chat", "private", "of-a", "private-a", "nobody"];

/// The listener by which somebody comes in.
#[derive(Clone, Copy)]
enum By {
    Public,
    Internal,
}

impl By {
    fn ask(
        self,
        world: &World,
        (method, path): (&str, &str),
        lines: &[&str],
        body: &str,
    ) -> Response {
        match self {
            Self::Public => world.request(method, path, lines, body.as_bytes()),
            Self::Internal => world.request_inside(method, path, lines, body.as_bytes()),
        }
    }

    /// A chat with a model, and its description.
    fn ask_for(self, world: &World, lines: &[&str], model: &str) -> [Response; 2] {
        let body = CHAT.replace("\"chat\"", &format!("\"{model}\""));
        let described = format!("/v1/models/{model}");
        [
            self.ask(world, ("POST", "/v1/chat/completions"), lines, &body),
            self.ask(world, ("GET", &described), lines, ""),
        ]
    }
}

/// Which of [`MODELS`] can be used, described and found in the list, which must agree.
fn reachable(world: &World, by: By, lines: &[&str]) -> Vec<&'static str> {
    let list = by.ask(world, ("GET", "/v1/models"), lines, "").json();
    let listed = |model: &str| {
        let models = list["data"].as_array().expect("a list of models");
        models.iter().any(|one| one["id"] == model)
    };
    let is_there = |model: &&str| {
        let statuses = by
            .ask_for(world, lines, model)
            .map(|response| response.status);
        assert_eq!(statuses[0], statuses[1], "{model}");
        assert_eq!(statuses[0] == 200, listed(model), "{model}: {statuses:?}");
        statuses[0] == 200
    };
    MODELS.into_iter().filter(is_there).collect()
}

fn a_private_endpoint_exists_on_the_internal_listener_only(engine: Engine) {
    let world = world(engine, false);

    assert_eq!(
        reachable(&world, By::Public, &[&bearer(KEY_A)]),
        ["chat", "of-a"]
    );
    assert_eq!(reachable(&world, By::Public, &[&bearer(KEY_B)]), ["chat"]);
    assert_eq!(
        reachable(&world, By::Internal, &[&bearer(KEY_A)]),
        ["chat", "private", "of-a", "private-a"]
    );
    let nobody = world.request_inside("GET", "/v1/models", &[], b"");
    assert_eq!(nobody.outcome(), refused(401, "missing_credential"));
}

fn what_somebody_may_not_know_of_is_answered_like_what_does_not_exist(engine: Engine) {
    let world = world(engine, false);
    let key = bearer(KEY_B);
    let absent = By::Public
        .ask_for(&world, &[&key], "nobody")
        .map(comparable);
    for model in ["private", "of-a", "private-a"] {
        assert_eq!(
            By::Public.ask_for(&world, &[&key], model).map(comparable),
            absent,
            "{model}"
        );
    }
    assert_eq!(absent[0].0, 404);
    assert_eq!(world.hits(), [0]);
}

/// `host-sim/scenario/tests/all/existence.rs` shows that it takes the same way through the chain, too.
fn in_every_form_it_is_refused_byte_for_byte_like_what_does_not_exist(engine: Engine) {
    let world = world(engine, false);
    let key = bearer(KEY_B);
    let ask = |(method, path, rest): (&str, &str, &str), model: &str| {
        let path = path.replace("{model}", model);
        let body = match method {
            "GET" => String::new(),
            _ => format!(r#"{{"model":"{model}",{rest}}}"#),
        };
        let lines = [key.as_str(), "idempotency-key: once"];
        let keyed = world.request(method, &path, &lines, body.as_bytes());
        let plain = world.request(method, &path, &lines[..1], body.as_bytes());
        [keyed, plain].map(comparable)
    };
    for form in [
        ("POST", "/v1/chat/completions", r#""messages":[]"#),
        (
            "POST",
            "/v1/chat/completions",
            r#""messages":[],"stream":true"#,
        ),
        (
            "POST",
            "/v1/chat/completions?model={model}",
            r#""messages":[]"#,
        ),
        ("POST", "/v1/completions", r#""prompt":"a""#),
        ("POST", "/v1/embeddings", r#""input":"a""#),
        ("POST", "/v1/responses", r#""input":"a""#),
        ("POST", "/v1/messages", r#""max_tokens":5,"messages":[]"#),
        ("POST", "/v1/images/generations", r#""prompt":"a""#),
        ("POST", "/v1/audio/speech", r#""input":"a","voice":"b""#),
        ("GET", "/v1/models/{model}", ""),
        ("GET", "/v1/models/{model}?a=b", ""),
        ("GET", "/v1/./models/x/../{model}", ""),
    ] {
        let absent = ask(form, "nobody");
        assert!(
            absent.iter().all(|answer| answer.0 == 404),
            "{form:?}: {absent:?}"
        );
        for model in ["private", "of-a", "private-a"] {
            assert_eq!(ask(form, model), absent, "{model}: {form:?}");
        }
    }
    assert_eq!(world.hits(), [0]);
}

fn a_key_is_good_at_its_tenants_hosts_and_nowhere_else(engine: Engine) {
    let world = world(engine, true);
    let ask = |key: &str, host: &str| {
        let lines = [&*bearer(key), &format!("host: {host}")];
        world.request("POST", "/v1/chat/completions", &lines, CHAT.as_bytes())
    };
    for host in [
        "a.example",
        "A.Example",
        "a.example:8080",
        "a.example.",
        "x.a.example",
        "x.y.A.EXAMPLE.:1",
    ] {
        assert_eq!(ask(KEY_A, host).status, 200, "{host}");
    }
    for (key, host) in [
        (KEY_A, "b.example"),
        (KEY_A, "gateway.test"),
        (KEY_A, "xa.example"),
        (KEY_A, "a.example.evil"),
        (KEY_A, "127.0.0.1"),
        (KEY_B, "a.example"),
        (KEY_B, "x.b.example"),
        (KEY_C, "a.example"),
        (KEY_C, "gateway.test"),
    ] {
        let before = world.hits();
        let response = ask(key, host);
        assert_eq!(
            response.outcome(),
            refused(401, "invalid_credential"),
            "{key} {host}"
        );
        assert_eq!(world.log().request(&id(&response))["refusal"], "wrong_host");
        assert_eq!(world.hits(), before);
    }
    let forwarded = [
        &*bearer(KEY_B),
        "host: a.example",
        "x-forwarded-host: b.example",
        "forwarded: host=b.example",
        "x-original-host: b.example",
    ];
    let response = world.request("POST", "/v1/chat/completions", &forwarded, CHAT.as_bytes());
    assert_eq!(response.outcome(), refused(401, "invalid_credential"));
    assert_eq!(
        world
            .request("GET", "/healthz", &["host: nobody"], b"")
            .status,
        200
    );
}

fn on_the_internal_listener_the_host_does_not_matter_and_every_endpoint_exists(engine: Engine) {
    let world = world(engine, true);
    for key in [KEY_A, KEY_B, KEY_C] {
        for host in ["host: a.example", "host: nobody.example"] {
            assert_eq!(
                reachable(&world, By::Internal, &[&bearer(key), host]),
                ["chat", "private", "of-a", "private-a"],
                "{key} {host}"
            );
        }
    }
}

fn without_a_credential_a_private_endpoint_is_as_private(engine: Engine) {
    let world = World::on(engine)
        .internal_listener()
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .endpoint_with(
            "private",
            &[("w1", "large")],
            json!({"visibility": "private"}),
        )
        .start();

    assert_eq!(reachable(&world, By::Public, &[]), ["chat"]);
    assert_eq!(reachable(&world, By::Internal, &[]), ["chat", "private"]);
}

fn without_an_internal_listener_private_endpoints_exist_nowhere(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .endpoint_with(
            "private",
            &[("w1", "large")],
            json!({"visibility": "private"}),
        )
        .start();

    assert_eq!(reachable(&world, By::Public, &[]), ["chat"]);
}
