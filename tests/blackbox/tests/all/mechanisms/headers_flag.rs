//! The field `allow_on_headers_stop_iteration`, which a body reader cannot do without.

use blackbox::world::request;
use blackbox::{Engine, Faults, World, both_engines};
use dragoman_contract::chain::MODULES;
use serde_json::json;

use crate::support::{CHAT, refused};
use blackbox::plugin::guest;
use blackbox::raw::{Choice, Raw};

both_engines![
    without_the_flag_a_paused_header_callback_holds_the_body_too,
    without_the_flag_the_body_reader_lets_nothing_pass_unread,
    the_modules_that_hold_the_body_need_the_flag_and_no_others,
];

fn without_the_flag_a_paused_header_callback_holds_the_body_too(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .worker("checker")
        .start_yaml(|places| {
            Raw::new(places)
                .filter(&guest("careless").without_headers_stop())
                .cluster("workers", Choice::RoundRobin, &["w1"], &[])
                .cluster("checker", Choice::RoundRobin, &["checker"], &[])
                .yaml()
        });
    let path = Some("/readyz".to_owned());
    world.fail(
        "checker",
        Faults {
            path,
            ..Faults::status(401)
        },
    );

    assert_eq!(world.chat(CHAT).status, 401);
    assert_eq!(world.hits(), [0, 1]);
}

/// C04: the body callback never comes. What needs no body is served; what needs one ends with the
/// limit on silence.
fn without_the_flag_the_body_reader_lets_nothing_pass_unread(engine: Engine) {
    const FLAG: &str = "allow_on_headers_stop_iteration: true";
    for instead in ["allow_on_headers_stop_iteration: false", ""] {
        let world = World::on(engine)
            .worker("w1")
            .endpoint("chat", &[("w1", "large")])
            .edit_yaml(move |yaml| {
                yaml.replacen(FLAG, instead, 1)
                    .replace("stream_idle_timeout: 60s", "stream_idle_timeout: 1s")
            })
            .start();

        let models = world.request("GET", "/v1/models", &[], b"");
        let chunked = request(
            "POST",
            "/v1/chat/completions",
            &["transfer-encoding: chunked"],
            b"",
        );
        let chunked = String::from_utf8_lossy(&chunked).replace("content-length: 0\r\n", "");
        let chunked = format!("{chunked}{:x}\r\n{CHAT}\r\n0\r\n\r\n", CHAT.len());

        assert_eq!(models.status, 200, "{instead}: {models:?}");
        for response in [world.chat(CHAT), world.connect().send(chunked).response()] {
            let outcome = response.outcome();
            assert_eq!(outcome, refused(504, "upstream_timeout"), "{instead}");
        }
        assert_eq!(world.hits(), [0], "{instead}");
    }
}

/// The list by which `host-sim check` asks for the flag, against the modules themselves.
fn the_modules_that_hold_the_body_need_the_flag_and_no_others(engine: Engine) {
    for module in &MODULES {
        let name = module.name;
        let world = World::on(engine)
            .worker("w1")
            .endpoint("chat", &[("w1", "large")])
            .document(|document| {
                let app = json!({"app": "chatbot"});
                document
                    .tenant("team", json!({}))
                    .key("k", "sk-1", "team", app)
            })
            .with(
                "limits",
                json!([{"name": "l", "by": ["key"], "rate": {"per_second": 9, "burst": 9}}]),
            )
            .with("idempotency", json!({}))
            .with("health", json!({}))
            .edit_yaml(move |yaml| {
                without_flag(&yaml, name)
                    .replace("_timeout: 60s", "_timeout: 1s")
                    .replace("600s", "1s")
            })
            .start();
        let lines = ["authorization: Bearer sk-1", "idempotency-key: k"];

        let response = world.request("POST", "/v1/chat/completions", &lines, CHAT.as_bytes());

        assert_eq!(
            response.status != 200,
            module.holds_body,
            "{name}: {response:?}"
        );
    }
}

/// The configuration with the flag of one plugin off.
fn without_flag(yaml: &str, name: &str) -> String {
    const FLAG: &str = "allow_on_headers_stop_iteration: true";
    let (before, plugin) = yaml
        .split_once(&format!("root_id: {name}\n"))
        .expect("the plugin");
    let plugin = plugin.replacen(FLAG, "allow_on_headers_stop_iteration: false", 1);
    format!("{before}root_id: {name}\n{plugin}")
}
