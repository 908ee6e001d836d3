//! Every statistic that host-sim shows has Envoy's name, kind, labels and value.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use blackbox::client::Piece;
use blackbox::world::request;
use blackbox::{At, Connection, Engine, Faults, How, World};

use serde_json::json;

use crate::support::{CHAT, STREAMED_CHAT, chat_request};

/// Names whose values cannot be the same, and why.
const EXCEPT: [(&str, &str); 3] = [
    ("uptime", "time"),
    ("rx_bytes_total", "dates, ids and ports have other digits"),
    ("tx_bytes_total", "the same"),
];

const ONE: &str = r#"{"model":"one","messages":[]}"#;

type Values = BTreeMap<String, String>;

#[test]
fn the_same_requests_leave_the_same_statistics() {
    if !Engine::Envoy.is_here() {
        return;
    }
    let (envoy, host_sim) = std::thread::scope(|scope| {
        let envoy = scope.spawn(|| shown(Engine::Envoy));
        let host_sim = shown(Engine::HostSim);
        (envoy.join().expect("no panic"), host_sim)
    });
    for (page, (envoy, host_sim)) in envoy.iter().zip(&host_sim).enumerate() {
        let wrong: Vec<String> = host_sim
            .iter()
            .filter(|(name, _)| EXCEPT.iter().all(|(part, _)| !name.contains(part)))
            .filter(|(name, value)| envoy.get(*name) != Some(value))
            .map(|(name, value)| format!("{name}: host-sim {value}, Envoy {:?}", envoy.get(name)))
            .collect();
        assert!(
            host_sim.len() > 100,
            "page {page} has {} lines",
            host_sim.len()
        );
        assert!(wrong.is_empty(), "page {page}:\n{}", wrong.join("\n"));
    }
}

/// Both pages after some requests of all kinds.
fn shown(engine: Engine) -> [Values; 2] {
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .endpoint_with(
            "chat",
            &[("w1", "large"), ("w2", "medium")],
            json!({"timeout_ms": 500}),
        )
        .endpoint_with("one", &[("w1", "large")], json!({"timeout_ms": 500}))
        .trappable()
        .replace_in_yaml("delayed_close_timeout: 0.2s", "delayed_close_timeout: 5s")
        .start();
    traffic(&world);
    let prometheus = settled(&world, "/stats/prometheus");
    let plain = settled(&world, "/stats");
    let port = world.address().port().to_string();
    [lines(&plain, ": ", &port), lines(&prometheus, " ", &port)]
}

fn traffic(world: &World) {
    // Two on one connection, a third that ends it.
    let mut kept = world.connect();
    assert_eq!(kept.send(chat_request(CHAT)).response().status, 200);
    assert_eq!(kept.send(chat_request(CHAT)).response().status, 200);
    // Refused by a filter, by the connection manager, by the codec.
    assert_eq!(world.get("/nowhere").status, 404);
    assert_eq!(world.request("GET", "/a%2Fb", &[], b"").status, 400);
    assert_eq!(bad_request(world), 400);
    assert_eq!(half_a_request(world), 404);
    // Tried again with success, and in vain.
    world.fail("w1", Faults::status(503));
    assert_eq!(world.chat(CHAT).status, 200);
    world.fail("w2", Faults::status(429));
    assert_eq!(world.chat(CHAT).status, 429);
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Reset));
    world.fail("w2", Faults::default());
    assert_eq!(world.chat(CHAT).status, 200);
    // A worker that refuses connections.
    world.worker("w1").refuse();
    assert_eq!(world.chat(CHAT).status, 200);
    world.worker("w1").accept_again();
    // No answer in time.
    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Hold));
    assert_eq!(world.chat(CHAT).status, 200);
    assert_eq!(world.chat(ONE).status, 504);
    world.worker("w1").release();
    // A filter that traps, and is there again.
    world.fail("w1", Faults::default());
    assert_eq!(trapped(world), 503);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(world.chat(CHAT).status, 200);
    // A stream that breaks, and one whose client leaves.
    world.fail("w1", Faults::interrupt(At::Events(1), How::Reset));
    let mut broken = world.connect();
    broken.send(chat_request(STREAMED_CHAT));
    let mut rest = broken.head().rest();
    let _ = broken.to_end(&mut rest);
    world.fail("w1", Faults::interrupt(At::Events(1), How::Hold));
    let mut leaving = world.connect();
    leaving.send(chat_request(STREAMED_CHAT));
    let mut rest = leaving.head().rest();
    assert!(matches!(leaving.piece(&mut rest), Piece::Data(_)));
    leaving.abort();
    world.worker("w1").release();
}

fn trapped(world: &World) -> u16 {
    let lines = ["content-type: application/json", "x-test-trap: attempt"];
    world
        .request("POST", "/v1/chat/completions", &lines, CHAT.as_bytes())
        .status
}

/// An answer before the end of the request.
fn half_a_request(world: &World) -> u16 {
    let head = "POST /nowhere HTTP/1.1\r\nhost: h\r\ncontent-length: 100\r\n\r\n1234";
    world.connect().send(head).response().status
}

fn bad_request(world: &World) -> u16 {
    world
        .connect()
        .send("GET / HTTP/1.1\r\nhost h\r\n\r\n")
        .response()
        .status
}

/// The page once it says that nothing is under way.
fn settled(world: &World, path: &str) -> String {
    let patience = Instant::now() + Duration::from_secs(20);
    let ask = || {
        let bytes = request("GET", path, &[], b"");
        Connection::open(world.admin())
            .send(bytes)
            .response()
            .text()
    };
    let mut last = ask();
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let now = ask();
        let still = |text: &str| {
            let own = |line: &&str| line.contains("public") || line.contains("cluster.workers");
            text.lines().filter(own).collect::<Vec<_>>().join("\n")
        };
        if still(&now) == still(&last) {
            return now;
        }
        assert!(Instant::now() < patience, "{path} does not come to rest");
        last = now;
    }
}

/// Name (and labels in order) to value, and family to kind. Ports differ.
fn lines(text: &str, between: &str, port: &str) -> Values {
    let value = |line: &str| {
        let line = line.replace(port, "PORT");
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (family, kind) = kind.split_once(' ')?;
            return Some((format!("type of {family}"), kind.to_owned()));
        }
        let (name, value) = line.rsplit_once(between)?;
        let times = ["_bucket", "_sum", "_count"]
            .iter()
            .any(|part| name.contains(part));
        (!times).then(|| (name.to_owned(), value.to_owned()))
    };
    text.lines().filter_map(value).collect()
}
