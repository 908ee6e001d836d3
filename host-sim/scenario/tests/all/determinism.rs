use std::time::Duration;

use host_sim_scenario::{At, Change, Faults, How, Setup, World};

use crate::deployment::{chat, gateway, streamed_chat, world};

/// Traffic with faults on two threads.
fn eventful(seed: u64) -> World {
    let mut world = world(
        &gateway("round-robin", 3),
        &Setup {
            threads: 2,
            seed,
            ..Setup::default()
        },
    );
    world
        .worker("w1")
        .set_faults(Faults::interrupt(At::Events(2), How::Reset).times(5));
    world.worker("w2").set_faults(Faults {
        event_interval_ms: 3,
        ..Faults::default()
    });
    world.change(Duration::from_millis(20), "w3", Change::Refuse(true));
    world.change(Duration::from_millis(40), "w3", Change::Refuse(false));
    for index in 0..60 {
        let request = if index % 2 == 0 {
            chat()
        } else {
            streamed_chat().cut(&[10, 20])
        };
        let request = request.at(Duration::from_millis(index % 10 * 5));
        world.request(if index % 7 == 0 {
            request.leaves_after(Duration::from_millis(2))
        } else {
            request
        });
    }
    world.run();
    world
}

#[test]
fn the_same_seed_gives_the_same_run() {
    assert_eq!(eventful(3).trace_hash(), eventful(3).trace_hash());
}

#[test]
fn another_seed_gives_another_run() {
    assert_ne!(eventful(3).trace_hash(), eventful(4).trace_hash());
}

#[test]
fn every_request_has_one_line_in_the_log_whatever_happened() {
    for seed in 0..5 {
        let world = eventful(seed);
        let lines = world
            .access_log()
            .iter()
            .filter(|line| line.text.contains("\"log\":\"request\""))
            .count();
        assert_eq!(lines, 60, "seed {seed}");
    }
}
