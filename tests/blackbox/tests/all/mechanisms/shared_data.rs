//! Shared data: one map per `vm_id`, and a creation that only one of many can win.

use std::collections::BTreeSet;
use std::sync::Barrier;

use blackbox::world::request;
use blackbox::{Connection, Engine, World, both_engines};

use blackbox::plugin::{Plugin, probe};
use blackbox::raw::{Choice, Raw};

both_engines![
    of_simultaneous_claims_on_two_threads_exactly_one_wins,
    modules_with_one_vm_id_share_a_map_and_others_do_not,
];

/// So many that the kernel hardly gives all their connections to one of two threads.
const CLIENTS: usize = 16;
const KEYS: usize = 100;

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

/// Claims keys one after the other on one connection: the keys that were won, and the VM that
/// answered.
fn claim(client: &mut Connection, start: &Barrier) -> (Vec<usize>, String) {
    let mut vm = String::new();
    let won = (0..KEYS).filter(|key| {
        start.wait();
        let line = format!("x-key: {key}");
        let answer = client.send(request("GET", "/", &[&line], b"")).response();
        assert_eq!(answer.status, 200);
        vm = answer.header("x-vm").expect("a number");
        answer.text() == "won"
    });
    (won.collect(), vm)
}

fn of_simultaneous_claims_on_two_threads_exactly_one_wins(engine: Engine) {
    let world = world(engine, probe("claims", &["claim /"]));
    let start = Barrier::new(CLIENTS);

    let clients: Vec<_> = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| scope.spawn(|| claim(&mut world.connect(), &start)))
            .collect();
        let joined = clients.into_iter().map(std::thread::ScopedJoinHandle::join);
        joined
            .map(|client| client.expect("a client that ends"))
            .collect()
    });

    let vms: BTreeSet<_> = clients.iter().map(|(_, vm)| vm).collect();
    assert_eq!(vms.len(), 2, "{vms:?}");
    let mut won: Vec<_> = clients.iter().flat_map(|(won, _)| won).copied().collect();
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
