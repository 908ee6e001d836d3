//! The upstream filter: one run per attempt, on shared headers and a fresh body.

use blackbox::{Engine, Faults, Request, Seen, World, both_engines};

use crate::support::{CHAT, bodies, chat_request};
use blackbox::plugin::probe;
use blackbox::raw::{Choice, Raw};

both_engines![
    the_upstream_filter_runs_once_per_attempt_and_knows_the_address,
    header_changes_of_an_attempt_stay_for_the_next,
    each_attempt_gets_the_body_as_it_was,
    a_grown_body_behind_the_old_length_smuggles_a_request,
    the_shipped_filter_sends_a_grown_body_as_one_request,
];

/// `w1` fails, `w2` answers.
fn world(engine: Engine, words: &'static [&'static str]) -> World {
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .start_yaml(move |places| {
            let list = format!(
                "set x-gateway-destination-endpoint {},{}",
                places.worker("w1"),
                places.worker("w2")
            );
            Raw::new(places)
                .filter(&probe(
                    "retries",
                    &[
                        "set x-envoy-retry-on 5xx",
                        "set x-envoy-max-retries 1",
                        &list,
                        "buffer",
                    ],
                ))
                .cluster(
                    "workers",
                    Choice::InOrder,
                    &["w1", "w2"],
                    &[probe("attempt", words)],
                )
                .yaml()
        });
    world.fail("w1", Faults::status(503));
    world
}

fn only_request(world: &World, worker: &str) -> Request {
    let mut requests = world.worker(worker).requests();
    assert_eq!(requests.len(), 1, "{worker}");
    requests.remove(0)
}

fn values(request: &Request, name: &str) -> Vec<String> {
    request
        .headers
        .iter()
        .filter(|(key, _)| key.eq_ignore_ascii_case(name.as_bytes()))
        .map(|(_, value)| String::from_utf8_lossy(value).into_owned())
        .collect()
}

fn the_upstream_filter_runs_once_per_attempt_and_knows_the_address(engine: Engine) {
    let world = world(
        engine,
        &[
            "show x-attempt upstream/request_attempt_count",
            "show x-address upstream/address",
            "show x-cluster xds/cluster_name",
        ],
    );

    assert_eq!(world.chat(CHAT).status, 200);

    for (worker, attempt) in [("w1", "1"), ("w2", "2")] {
        let request = only_request(&world, worker);
        let address = world.worker(worker).address().to_string();
        assert_eq!(values(&request, "x-attempt"), [attempt], "{worker}");
        assert_eq!(values(&request, "x-address"), [address], "{worker}");
        assert_eq!(values(&request, "x-cluster"), ["workers"], "{worker}");
    }
}

fn header_changes_of_an_attempt_stay_for_the_next(engine: Engine) {
    let world = world(engine, &["add x-added once", "set x-set once"]);

    assert_eq!(world.chat(CHAT).status, 200);

    let count = |worker, name| values(&only_request(&world, worker), name).len();
    assert_eq!([count("w1", "x-added"), count("w1", "x-set")], [1, 1]);
    assert_eq!([count("w2", "x-added"), count("w2", "x-set")], [2, 1]);
}

fn each_attempt_gets_the_body_as_it_was(engine: Engine) {
    let world = world(engine, &["grow once,"]);
    let chunked = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{CHAT}\r\n0\r\n\r\n",
        CHAT.len()
    );

    let _ = world.connect().send(chunked).response();

    let grown = format!("once,{CHAT}");
    assert_eq!(bodies(&world, "w1"), [grown.as_str()]);
    assert_eq!(bodies(&world, "w2"), [grown.as_str()]);
}

const SMUGGLED: &str = "GET /smuggled HTTP/1.1\r\nhost: worker\r\n\r\n";

fn a_grown_body_behind_the_old_length_smuggles_a_request(engine: Engine) {
    // As long as what the body ends with, which is so pushed behind the promised length.
    const GROW: &str = "grow ........................................";
    assert_eq!(GROW.len() - "grow ".len(), SMUGGLED.len());
    let world = world(engine, &[GROW]);
    world.fail("w1", Faults::default());
    let body = format!("{CHAT}{SMUGGLED}");

    let _ = world.connect().send(chat_request(&body)).response();

    let two = |recorded: &[_]| recorded.len() >= 2;
    assert!(
        world
            .worker("w1")
            .wait_until(std::time::Duration::from_secs(10), two)
    );
    let requests = world.worker("w1").requests();
    assert_eq!(requests[1].target, "/smuggled");
    assert_eq!(requests[0].body.len(), body.len());
}

fn the_shipped_filter_sends_a_grown_body_as_one_request(engine: Engine) {
    let long = "m".repeat(256);
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .endpoint("chat", &[("w1", long.as_str()), ("w2", "s")])
        .start();
    let body = format!(r#"{{"model":"chat","pad":"{}"}}"#, "x".repeat(5000));

    let grown = world.chat(&body);
    world.fail("w1", Faults::status(503));
    let shrunk_after_grown = world.chat(&body);

    assert_eq!([grown.status, shrunk_after_grown.status], [200, 200]);
    let long = body.replace(r#""chat""#, &format!(r#""{long}""#));
    assert_eq!(bodies(&world, "w1"), [long.as_str(), long.as_str()]);
    assert_eq!(bodies(&world, "w2"), [body.replace(r#""chat""#, r#""s""#)]);
    for worker in ["w1", "w2"] {
        let recorded = world.worker(worker).recorded();
        let whole = |seen: &Seen| matches!(seen, Seen::Request(_));
        assert!(recorded.iter().all(|one| whole(&one.seen)), "{recorded:?}");
    }
}
