use host_sim_scenario::{Ended, Setup};

use crate::deployment::{chat, gateway, served, world};

#[test]
fn weights_of_80_and_20_are_kept_over_a_thousand_requests() {
    let mut document = gateway("weighted", 2);
    document["endpoints"][0]["targets"][0]["weight"] = 80.into();
    document["endpoints"][0]["targets"][1]["weight"] = 20.into();
    for seed in 1..=3 {
        let mut world = world(
            &document,
            &Setup {
                seed,
                threads: 2,
                ..Setup::default()
            },
        );
        for _ in 0..1000 {
            world.request(chat());
        }
        assert_eq!(world.run(), Ended::Idle);
        let (first, second) = (served(&world, "w1"), served(&world, "w2"));
        assert_eq!(first + second, 1000);
        // Three standard deviations of a fair draw are 38.
        assert!((762..=838).contains(&first), "seed {seed}: {first} of 1000");
    }
}

#[test]
fn round_robin_is_exactly_even_over_two_threads() {
    let mut world = world(
        &gateway("round-robin", 4),
        &Setup {
            threads: 2,
            ..Setup::default()
        },
    );
    for _ in 0..1000 {
        world.request(chat());
    }
    assert_eq!(world.run(), Ended::Idle);
    for worker in ["w1", "w2", "w3", "w4"] {
        assert_eq!(served(&world, worker), 250, "{worker}");
    }
}

#[test]
fn failover_uses_the_first_as_long_as_it_is_well() {
    let mut world = world(&gateway("failover", 3), &Setup::default());
    for _ in 0..20 {
        assert_eq!(world.answer(chat()).status, 200);
    }
    assert_eq!(
        [
            served(&world, "w1"),
            served(&world, "w2"),
            served(&world, "w3")
        ],
        [20, 0, 0]
    );
}
