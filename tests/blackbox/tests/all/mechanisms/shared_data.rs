//! Shared data: one map per `vm_id`, and a creation that only one of many can win.

use std::sync::Barrier;

use blackbox::world::request;
use blackbox::{Connection, Engine, World, both_engines};

use super::raw::{Choice, Plugin, Raw, probe};

both_engines![
    of_simultaneous_claims_exactly_one_wins,
    modules_with_one_vm_id_share_a_map_and_others_do_not,
];

const CLIENTS: usize = 8;
const KEYS: usize = 200;

fn world(engine: Engine, claims: Plugin) -> World {
    World::on(engine)
        .worker("w1")
        .concurrency(2)
        .start_yaml(move |places| {
            Raw::new(places)
                .filter(&claims)
                .cluster("workers", Choice::RoundRobin, &["w1"], &[])
                .yaml()
        })
}

/// Claims keys one after the other on one connection; the keys that were won.
fn claim(client: &mut Connection, start: &Barrier) -> Vec<usize> {
    (0..KEYS)
        .filter(|key| {
            start.wait();
            let line = format!("x-key: {key}");
            let answer = client.send(request("GET", "/", &[&line], b"")).response();
            assert_eq!(answer.status, 200);
            answer.text() == "won"
        })
        .collect()
}

fn of_simultaneous_claims_exactly_one_wins(engine: Engine) {
    let world = world(engine, probe("claims", &["claim /"]));
    let start = Barrier::new(CLIENTS);

    let mut won: Vec<usize> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| scope.spawn(|| claim(&mut world.connect(), &start)))
            .collect();
        clients
            .into_iter()
            .flat_map(|client| client.join().expect("a client that ends"))
            .collect()
    });

    won.sort_unstable();
    assert_eq!(won, (0..KEYS).collect::<Vec<_>>());
}

fn modules_with_one_vm_id_share_a_map_and_others_do_not(engine: Engine) {
    let world = World::on(engine).worker("w1").start_yaml(|places| {
        Raw::new(places)
            .filter(&probe("first", &["claim /first"]))
            .filter(&probe("second", &["claim /second"]))
            .filter(&probe("other", &["claim /other"]).with_vm_id("other"))
            .cluster("workers", Choice::RoundRobin, &["w1"], &[])
            .yaml()
    });
    let claim = |path, key: &str| {
        let line = format!("x-key: {key}");
        world.request("GET", path, &[&line], b"").text()
    };

    assert_eq!(claim("/first", "k"), "won");
    assert_eq!(claim("/second", "k"), "lost");
    assert_eq!(claim("/other", "k"), "won");
    assert_eq!(claim("/second", "l"), "won");
    assert_eq!(claim("/first", "l"), "lost");
}
