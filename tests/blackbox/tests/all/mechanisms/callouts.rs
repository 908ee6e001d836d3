//! Callouts: which host they reach, what runs on their way, and who may send them.

use std::time::{Duration, Instant};

use blackbox::{Engine, World, both_engines, envoy_only};

use blackbox::plugin::{Plugin, probe};
use blackbox::raw::{Choice, Raw};

both_engines![
    a_callout_goes_to_the_listed_address_through_the_clusters_filters,
    a_callout_has_no_connection_and_every_other_request_has,
    a_caller_in_the_vm_of_those_filters_traps_and_heals,
];

envoy_only!["a defect of Envoy": reading_the_peer_of_a_callout_ends_the_process];

/// A filter that calls the cluster `called`, whose attempts run through `attempt`.
fn world(engine: Engine, attempt: Plugin) -> World {
    World::on(engine)
        .worker("w1")
        .worker("c1")
        .worker("c2")
        .start_yaml(move |places| {
            let attempts = std::slice::from_ref(&attempt);
            Raw::new(places)
                .filter(&probe("caller", &["call called", "hold"]))
                .cluster("workers", Choice::RoundRobin, &["w1"], attempts)
                .cluster("called", Choice::InOrder, &["c1", "c2"], attempts)
                .yaml()
        })
}

fn ask(world: &World, to: &str) -> u16 {
    let line = format!("x-call: {to}");
    world.request("GET", "/readyz", &[&line], b"").status
}

fn a_callout_goes_to_the_listed_address_through_the_clusters_filters(engine: Engine) {
    let world = world(engine, probe("attempt", &["set x-credential secret"]));
    let addresses = ["c1", "c2"].map(|name| world.worker(name).address().to_string());

    for (to, hits) in [
        (addresses[1].as_str(), [1, 0, 1]),
        (&addresses[1], [2, 0, 2]),
        (&addresses[0], [3, 1, 2]),
    ] {
        assert_eq!(ask(&world, to), 200, "{to}");
        assert_eq!(world.hits(), hits, "{to}");
    }
    for nobody in ["127.0.0.1:1", "-"] {
        assert_eq!(ask(&world, nobody), 500, "not even sent: {nobody}");
    }
    assert_eq!(world.hits(), [3, 1, 2]);

    let request = world.worker("c2").requests().pop().expect("a callout");
    assert_eq!(request.header("x-credential"), Some(&b"secret"[..]));
}

fn a_callout_has_no_connection_and_every_other_request_has(engine: Engine) {
    let world = world(
        engine,
        probe("attempt", &["show x-connection connection/id"]),
    );
    let to = world.worker("c1").address().to_string();

    assert_eq!(ask(&world, &to), 200);

    let seen = |worker| {
        let request = world.worker(worker).requests().pop().expect("a request");
        let value = request.header("x-connection").map(<[u8]>::to_vec);
        String::from_utf8(value.expect("a header")).expect("text")
    };
    assert_eq!(seen("c1"), "-");
    assert!(seen("w1").parse::<u64>().is_ok(), "{}", seen("w1"));
}

/// Sends requests until one is served: a trapped VM is loaded again within its back-off.
fn healed(world: &World) {
    let until = Instant::now() + Duration::from_secs(10);
    while world.get("/readyz").status != 200 {
        assert!(Instant::now() < until, "it does not heal");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The caller is told that its call was not sent. Its own answer to that (500) comes through or
/// not (503), as it happens.
fn a_caller_in_the_vm_of_those_filters_traps_and_heals(engine: Engine) {
    let attempt = probe("attempt", &["set x-credential secret"]).in_vm("caller");
    let world = world(engine, attempt);
    let to = world.worker("c1").address().to_string();

    for _ in 0..2 {
        let status = ask(&world, &to);
        assert!(matches!(status, 500 | 503), "{status}");
        healed(&world);
    }
    let output = world.output();
    assert!(output.contains("proxy_on_context_create"), "{output}");

    assert_eq!(world.worker("c1").recorded().len(), 0);
}

fn reading_the_peer_of_a_callout_ends_the_process(engine: Engine) {
    let mut world = world(engine, probe("attempt", &["show x-peer source/address"]));
    let plain = world.get("/readyz");
    assert_eq!(plain.status, 200, "outside of callouts it can be read");

    let mut client = world.connect();
    let line = format!("x-call: {}", world.worker("c1").address());
    client.send(blackbox::world::request("GET", "/readyz", &[&line], b""));

    assert!(client.try_head().is_none());
    while world.is_running() {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(world.worker("c1").recorded().len(), 0);
}
