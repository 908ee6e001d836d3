//! Rate limits over hours and over many orders of events.

use std::time::Duration;

use host_sim_scenario::{Ended, Request, RequestId, Setup, World};
use serde_json::{Value, json};

use crate::deployment::{chat, gateway, served, world};

const SECOND: Duration = Duration::from_secs(1);
const KEY: &str = "sk-a-5f0c2b";
/// SHA-256 of [`KEY`].
const KEY_SHA256: &str = "cadf79630b08ac6e43d740992397893b9790526528d6260e6a76051fba06784f";

/// One worker, one caller, this limit for its key.
fn document(per_second: f64, burst: u32) -> Value {
    let mut document = gateway("failover", 1);
    let key = json!({"id": "k-a", "sha256": KEY_SHA256, "tenant": "team-a", "app": "chatbot"});
    document["tenants"] = json!([{"id": "team-a"}]);
    document["auth"] = json!({"mode": "on", "keys": [key]});
    let rate = json!({"per_second": per_second, "burst": burst});
    document["limits"] = json!([{"name": "per-key", "by": ["key"], "rate": rate}]);
    document
}

fn asked() -> Request {
    chat().header("authorization", &format!("Bearer {KEY}"))
}

fn status(world: &World, id: RequestId) -> u16 {
    world.response(id).status
}

#[test]
fn who_is_refused_is_served_exactly_when_told() {
    // A token every 100 s.
    let mut world = world(&document(0.01, 1), &Setup::default());
    assert_eq!(world.answer(asked()).status, 200);
    let begin = world.now();

    let refusal = world.answer(asked());
    assert_eq!(refusal.status, 429, "{}", refusal.text());
    assert_eq!(refusal.header("retry-after"), Some("100"));

    let early = world.request(asked().at(begin + 99 * SECOND));
    let told = world.request(asked().at(begin + 100 * SECOND));
    let again = world.request(asked().at(begin + 199 * SECOND));
    world.run();
    assert_eq!(status(&world, early), 429);
    assert_eq!(world.response(early).header("retry-after"), Some("1"));
    assert_eq!(status(&world, told), 200);
    assert_eq!(status(&world, again), 429);
    assert_eq!(served(&world, "w1"), 2);
}

#[test]
fn a_day_of_asking_once_a_second_gets_what_the_rate_gives() {
    // A token every 1,000 s, and ten to begin with.
    let mut world = world(&document(0.001, 10), &Setup::default());
    for minute in 0..24 * 60 {
        world.request(asked().at(SECOND * (minute * 60)));
    }
    world.run();
    // The last request comes after 86,340 s.
    assert_eq!(served(&world, "w1"), 10 + 86);
}

#[test]
fn the_wall_clock_gives_and_takes_no_tokens() {
    let mut world = world(&document(0.01, 1), &Setup::default());
    assert_eq!(world.answer(asked()).status, 200);
    for days in [20_000, 30_000, 10] {
        world.set_wall(Duration::from_secs(days * 86_400));
        assert_eq!(world.answer(asked()).status, 429);
    }
}

#[test]
fn four_threads_admit_a_burst_and_not_one_more_in_any_order() {
    for seed in 0..10 {
        let setup = Setup {
            threads: 4,
            seed,
            ..Setup::default()
        };
        let mut world = world(&document(0.001, 50), &setup);
        let all: Vec<_> = (0..200).map(|_| world.request(asked())).collect();
        assert_eq!(world.run(), Ended::Idle);
        let admitted = all.iter().filter(|id| status(&world, **id) == 200).count();
        assert_eq!(admitted, 50, "seed {seed}");
        assert_eq!(served(&world, "w1"), 50, "seed {seed}");
    }
}

#[test]
fn the_bound_of_shared_data_is_in_the_log_at_start() {
    let world = world(&document(1.0, 1), &Setup::default());
    let said = world.log().iter().any(|line| {
        line.text
            .contains("rate_limit: at most 16478208 bytes of shared data")
    });
    assert!(said, "{:?}", world.log());
}
