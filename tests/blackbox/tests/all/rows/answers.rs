//! What passes between client and worker.

use std::net::IpAddr;

use blackbox::client::Connection;
use blackbox::world::request;
use blackbox::{End, Engine, Faults, Response, World, both_engines, envoy_only};
use serde_json::json;

use crate::support::{CHAT, STREAMED_CHAT, bodies, one_worker, refused, two_workers};

both_engines![
    each_request_goes_to_one_worker_and_its_answer_to_the_client,
    a_workers_refusal_passes_once_with_its_headers_and_every_byte,
    output_begins_the_idle_time_anew,
    each_worker_that_is_tried_learns_the_callers_address,
    a_workers_own_model_name_is_no_name_for_clients,
    a_priority_tier_changes_nothing,
];

envoy_only!["host-sim has no listener filters": a_caller_on_another_machine_is_named_by_its_address];

const PATH: &str = "/v1/chat/completions";

/// Status, content type and body: what a program reads.
fn read(response: &Response) -> (u16, Option<String>, String) {
    let content_type = response.header("content-type");
    (response.status, content_type, response.text())
}

fn each_request_goes_to_one_worker_and_its_answer_to_the_client(engine: Engine) {
    let world = two_workers(engine);
    let paths = [
        "/v1/chat/completions",
        "/v1/completions",
        "/v1/embeddings",
        "/v1/responses",
        "/v1/messages",
        "/v1/images/generations",
        "/v1/audio/speech",
    ];
    let asked = paths.into_iter().flat_map(|path| {
        ["", r#","stream":true"#].map(|stream| (path, format!(r#""input":"hi"{stream}}}"#)))
    });
    for (count, (path, rest)) in asked.enumerate() {
        let through = world.post(path, &format!(r#"{{"model":"chat",{rest}"#));
        assert_eq!(world.hits(), [2 * count + 1, 0], "{path}");
        let direct = request(
            "POST",
            path,
            &["content-type: application/json"],
            format!(r#"{{"model":"large",{rest}"#).as_bytes(),
        );
        let direct = Connection::open(world.worker("w1").address())
            .send(direct)
            .response();
        assert_eq!(direct.status, 200, "{path}: {direct:?}");
        assert_eq!(read(&through), read(&direct), "{path}");
    }
}

/// 429 is the one that another worker may better (decision C3).
fn a_workers_refusal_passes_once_with_its_headers_and_every_byte(engine: Engine) {
    let world = two_workers(engine);
    let told = [
        ("content-type", "text/plain; charset=latin1"),
        ("retry-after", "17"),
        ("www-authenticate", "Basic realm=\"w\""),
        ("x-worker-says", "a  b"),
    ];
    let headers = told.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let statuses: Vec<u16> = (400..=451).filter(|status| *status != 429).collect();
    for status in &statuses {
        let body = format!("\u{e9} {{\r\n{status}\0");
        world.fail(
            "w1",
            Faults {
                headers: headers.clone().into(),
                body: Some(body.clone()),
                ..Faults::status(*status)
            },
        );
        let response = world.chat(CHAT);
        assert_eq!(
            (response.status, response.text(), response.end),
            (*status, body, End::Complete)
        );
        for (name, value) in &told[1..] {
            assert_eq!(
                response.header(name).as_deref(),
                Some(*value),
                "{name}: {response:?}"
            );
        }
    }
    assert_eq!(world.hits(), [statuses.len(), 0]);
}

/// The default stands in what the product renders; the test sets a shorter time.
fn output_begins_the_idle_time_anew(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .replace_in_yaml("per_try_idle_timeout: 600s", "per_try_idle_timeout: 1.5s")
        .start();
    world.fail(
        "w1",
        Faults {
            event_interval_ms: 700,
            ..Faults::default()
        },
    );

    let response = world.chat(STREAMED_CHAT);

    assert_eq!(
        (response.status, response.end),
        (200, End::Complete),
        "{response:?}"
    );
    let events = response.text().matches("data: ").count();
    assert!(
        events >= 4,
        "they take longer than the idle time: {response:?}"
    );
}

/// What each of two workers was told of where two requests came from, the second with a forged line.
fn told(world: &World, send: impl Fn(&[&str]) -> Response) -> Vec<Vec<String>> {
    world.fail("w1", Faults::status(503));
    for lines in [&[][..], &["x-forwarded-for: 10.0.0.9"]] {
        assert_eq!(send(lines).content(), "hello from w2");
    }
    let of = |worker| {
        let requests = world.worker(worker).requests();
        let told = requests.iter().map(|it| it.header("x-forwarded-for"));
        told.map(|it| String::from_utf8_lossy(it.unwrap_or_default()).into_owned())
            .collect()
    };
    ["w1", "w2"].map(of).into()
}

/// Of a caller on the same machine Envoy gives the machine's address.
fn each_worker_that_is_tried_learns_the_callers_address(engine: Engine) {
    let world = two_workers(engine);

    let told = told(&world, |lines| {
        world.request("POST", PATH, lines, CHAT.as_bytes())
    });

    let own = told[0][0].clone();
    assert!(own.parse::<IpAddr>().is_ok(), "{own}");
    if engine == Engine::HostSim {
        assert_eq!(own, "127.0.0.1");
    }
    assert_eq!(told, vec![vec![own.clone(), format!("10.0.0.9,{own}")]; 2]);
}

/// In the words of the PROXY protocol, for a test has no other machine to call from.
fn a_caller_on_another_machine_is_named_by_its_address(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .endpoint("chat", &[("w1", "large"), ("w2", "medium")])
        .edit_yaml(|yaml| {
            yaml.replace(
                "    filter_chains:\n",
                "    listener_filters: [{name: proxy, typed_config: {\"@type\": \
                 type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol}}]\n    \
                 filter_chains:\n",
            )
        })
        .start();

    let told = told(&world, |lines| {
        let from = "PROXY TCP4 203.0.113.7 203.0.113.1 40000 10000\r\n";
        let bytes = request("POST", PATH, lines, CHAT.as_bytes());
        world.connect().send(from).send(bytes).response()
    });

    assert_eq!(told, vec![["203.0.113.7", "10.0.0.9,203.0.113.7"]; 2]);
}

fn a_workers_own_model_name_is_no_name_for_clients(engine: Engine) {
    let world = one_worker(engine);

    for name in ["large", "w1", "workers"] {
        let response = world.chat(&CHAT.replace("chat", name));
        assert_eq!(
            response.outcome(),
            refused(404, "model_not_found"),
            "{name}"
        );
    }

    assert_eq!(world.hits(), [0]);
    assert_eq!(world.chat(CHAT).status, 200);
    assert!(bodies(&world, "w1")[0].contains(r#""model":"large""#));
}

/// Nothing maps a tier to a priority, so the body is forwarded byte for byte.
fn a_priority_tier_changes_nothing(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "chat")])
        .start();
    let sent = [
        CHAT.to_owned(),
        json!({"priority": 7, "model": "chat", "messages": []}).to_string(),
        "{ \"model\":\"chat\" ,\n\"priority\": -1.0 }".to_owned(),
    ];
    for body in &sent {
        for tier in ["batch", "background", "Batch", "realtime"] {
            let line = format!("x-aibrix-priority-tier: {tier}");
            let lines = ["content-type: application/json", &line];
            let response = world.request("POST", "/v1/chat/completions", &lines, body.as_bytes());
            assert_eq!(response.content(), "hello from w1", "{tier}");
            assert_eq!(bodies(&world, "w1").pop().as_ref(), Some(body), "{tier}");
        }
    }
}
