//! Who is left out: by health, by circuits, by caps; and who comes first.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;

use std::rc::Rc;
use std::time::Duration;

use dragoman_circuit::{Circuit, Rule, Verdict, record as after};
use dragoman_contract::load::{CLAIM, Claims, STALE, Seat, worker_hash};
use dragoman_contract::{Class, Health, Plan, RequestRecord};
use dragoman_latency::Latencies;
use dragoman_sdk::fake::{Exchange, FakeHost, SharedMap};
use dragoman_sdk::host::{Cas, Shared};
use dragoman_sdk::{Action, Plugin};
use dragoman_select::Select;

use support::{host, record, select};

const CONFIG: &str = r#"{
  "version": 1, "auth": {"mode": "off"},
  "endpoints": [
    {"name": "w1-w2-w3", "max_attempts": 16, "timeout_ms": 1000, "targets": [
      {"worker": "w1", "served_model_name": "m"}, {"worker": "w2", "served_model_name": "m"}, {"worker": "w3", "served_model_name": "m"}]},
    {"name": "fastest", "mode": "least-latency", "max_attempts": 3, "targets": [{"worker": "w1"}, {"worker": "w2"}, {"worker": "w3"}]},
    {"name": "w1-w2", "targets": [{"worker": "w1"}, {"worker": "w2"}]},
    {"name": "w1", "targets": [{"worker": "w1"}]}, {"name": "w2", "targets": [{"worker": "w2"}]},
    {"name": "none", "targets": []}],
  "health": {"health_check_seconds": 10, "timeout_ms": 1000},
  "circuit": {"threshold": 2, "cooldown_seconds": 30},
  "workers": [{"id": "w1", "address": "127.0.0.1:9101", "max_in_flight": 2},
              {"id": "w2", "address": "127.0.0.1:9102", "max_in_flight": 1},
              {"id": "w3", "address": "127.0.0.1:9103"}]
}"#;
const RULE: Rule = Rule {
    threshold: 2,
    cooldown_ms: 30_000,
};

/// A process with one thread of `select` and whatever the others wrote into shared data.
struct World {
    select: Rc<Select>,
    shared: SharedMap,
    now: Duration,
    class: Class,
}

impl World {
    fn new() -> Self {
        Self {
            select: select(CONFIG),
            shared: SharedMap::default(),
            now: Duration::from_secs(1000),
            class: Class::Interactive,
        }
    }

    fn put(&self, key: &str, value: &[u8]) {
        let mut host = FakeHost {
            shared: Rc::clone(&self.shared),
            ..FakeHost::default()
        };
        assert!(host.swap_shared(key, value, Cas::ANY).unwrap());
    }

    fn health(&self, worker: &str, ready: bool, models: Option<Vec<&str>>) {
        self.put(
            &Health::key(worker),
            &Health {
                ready,
                models,
                checked: self.now,
            }
            .encode(),
        );
    }

    fn fail(&self, worker: &str, times: u32) {
        let now_ms = u64::try_from(self.now.as_millis()).unwrap();
        let mut circuit = Circuit::decode(b"");
        for _ in 0..times {
            circuit = after(&RULE, &circuit, now_ms, Verdict::Failure, None).unwrap();
        }
        self.put(&Circuit::key(worker), &circuit.encode());
    }

    fn in_flight(&self, seat: u16, beat: Duration, requests: &[(&str, u32)]) {
        let in_flight = requests
            .iter()
            .map(|(worker, count)| (worker_hash(worker), *count))
            .collect();
        self.put(
            &Seat::key(seat),
            &Seat {
                owner: 1,
                beat,
                in_flight,
            }
            .encode(),
        );
    }

    /// Workers in the plan and the ticket of a trial, or the code of the refusal.
    fn run(&self, workers: &[&'static str]) -> Result<(Vec<String>, Option<u32>), String> {
        let name = match workers {
            [] => "none".to_owned(),
            _ => workers.join("-"),
        };
        let record = RequestRecord {
            class: self.class,
            ..record(&name)
        };
        let host = FakeHost {
            now: self.now,
            ..host(&record, &self.shared)
        };
        let mut it = Exchange::new(&self.select, host);
        match it.headers(false) {
            Action::Continue => {
                let plan = Plan::decode(&it.host.properties["dragoman.plan"]).unwrap();
                Ok((support::workers(&plan), plan.trial))
            }
            Action::Pause => {
                Err(String::from_utf8(it.host.properties["dragoman.error"].clone()).unwrap())
            }
        }
    }

    fn exchange(&self, endpoint: &str) -> Exchange<<Select as Plugin>::Filter> {
        let host = FakeHost {
            now: self.now,
            ..host(&record(endpoint), &self.shared)
        };
        Exchange::new(&self.select, host)
    }

    /// What the access log says of the choice.
    fn route(&self, workers: &[&'static str]) -> String {
        let mut it = self.exchange(&workers.join("-"));
        it.headers(false);
        String::from_utf8(it.host.properties["dragoman.route"].clone()).unwrap()
    }

    fn tried(&self, workers: &[&'static str]) -> Vec<String> {
        self.run(workers).unwrap().0
    }
}

const ALL: &[&str] = &["w1", "w2", "w3"];

#[test]
fn nothing_known_is_nothing_against_a_worker() {
    assert_eq!(World::new().tried(ALL), ALL);
}

#[test]
fn a_worker_that_is_not_ready_is_left_out_until_its_check_is_too_old() {
    let mut world = World::new();
    world.health("w1", false, None);
    assert_eq!(world.tried(ALL), ["w2", "w3"]);
    world.now += Duration::from_millis(30_900);
    assert_eq!(world.tried(ALL), ["w2", "w3"]);
    world.now += Duration::from_millis(100);
    assert_eq!(world.tried(ALL), ALL);
}

#[test]
fn a_change_is_seen_after_a_tenth_of_a_second_at_the_latest() {
    let mut world = World::new();
    assert_eq!(world.tried(ALL), ALL);
    world.health("w1", false, None);
    world.now += Duration::from_millis(100);
    assert_eq!(world.tried(ALL), ["w2", "w3"]);
}

#[test]
fn what_another_endpoint_found_out_does_not_count_for_longer() {
    let mut world = World::new();
    assert_eq!(world.tried(&["w1", "w2"]), ["w1", "w2"]);
    world.health("w1", false, None);
    world.now += Duration::from_millis(99);
    assert_eq!(world.tried(ALL), ALL);
    world.now += Duration::from_millis(1);
    assert_eq!(world.tried(ALL), ["w2", "w3"]);
}

#[test]
fn workers_that_have_the_model_come_first() {
    let world = World::new();
    world.health("w1", true, Some(vec!["other"]));
    world.health("w2", true, None);
    world.health("w3", true, Some(vec!["other", "m"]));
    assert_eq!(world.tried(ALL), ["w2", "w3", "w1"]);
}

#[test]
fn an_open_circuit_leaves_a_worker_out_for_the_cool_down_and_then_one_request_tries_it() {
    let mut world = World::new();
    world.fail("w2", 2);
    assert_eq!(world.run(ALL), Ok((vec!["w1".into(), "w3".into()], None)));
    world.now += Duration::from_secs(30);
    let (tried, trial) = world.run(ALL).unwrap();
    assert_eq!(tried, ["w2", "w1", "w3"]);
    assert!(trial.is_some());
    assert_eq!(world.run(ALL), Ok((vec!["w1".into(), "w3".into()], None)));
    // The outcome of the trial is lost: after the cool-down and the time of a request the next one.
    world.now += Duration::from_secs(31);
    assert_eq!(world.tried(ALL), ["w2", "w1", "w3"]);
}

#[test]
fn failures_below_the_threshold_change_nothing() {
    let world = World::new();
    world.fail("w2", 1);
    assert_eq!(world.tried(ALL), ALL);
}

#[test]
fn a_worker_at_its_cap_is_left_out_over_all_seats() {
    let world = World::new();
    world.in_flight(0, world.now, &[("w1", 1), ("w2", 1), ("w3", 1000)]);
    world.in_flight(1, world.now, &[("w1", 1)]);
    assert_eq!(world.tried(ALL), ["w3"]);
    assert_eq!(world.run(&["w1", "w2"]), Err("overloaded".into()));
}

#[test]
fn what_a_trapped_vm_had_in_flight_is_forgotten() {
    let world = World::new();
    world.in_flight(0, world.now - STALE, &[("w1", 2)]);
    world.in_flight(1, world.now, &[("w2", 1)]);
    assert_eq!(world.tried(ALL), ["w1", "w3"]);
}

#[test]
fn the_refusal_says_why_nobody_is_left() {
    let world = World::new();
    assert_eq!(world.run(&[]), Err("no_capacity".into()));
    world.health("w1", false, None);
    world.fail("w2", 2);
    assert_eq!(world.run(&["w1", "w2"]), Err("no_backend_available".into()));
    world.in_flight(0, world.now, &[("w1", 2)]);
    assert_eq!(world.run(&["w1"]), Err("no_backend_available".into()));
}

#[test]
fn background_work_is_refused_earlier_and_told_to_wait_longer() {
    let mut world = World::new();
    world.in_flight(0, world.now, &[("w1", 1)]);
    assert!(world.run(&["w1"]).is_ok());
    world.class = Class::Background;
    // Three quarters of a cap of two are one.
    assert_eq!(world.run(&["w1"]), Err("overloaded".into()));
}

#[test]
fn a_place_that_another_thread_claimed_is_taken_until_the_claim_ends() {
    let mut world = World::new();
    let of_another = Claims::default().with(u64::MAX, world.now).unwrap();
    world.put(&Claims::key("w2"), &of_another.encode());
    assert_eq!(world.run(&["w2"]), Err("overloaded".into()));
    assert_eq!(world.tried(&["w1", "w2"])[0], "w1");
    world.now += CLAIM;
    assert_eq!(world.tried(&["w2"]), ["w2"]);
}

#[test]
fn a_choice_claims_the_place_of_its_first_candidate_if_that_has_a_cap() {
    let world = World::new();
    let claims = |worker| {
        let shared = world.shared.borrow();
        let bytes = shared
            .get(&Claims::key(worker))
            .map(|(bytes, _)| bytes.clone());
        Claims::decode(&bytes.unwrap_or_default()).of_others(0, world.now)
    };
    world.tried(ALL);
    assert_eq!((claims("w1"), claims("w2"), claims("w3")), (1, 0, 0));
    world.in_flight(0, world.now, &[("w1", 2), ("w2", 1)]);
    world.tried(ALL);
    assert_eq!((claims("w1"), claims("w2"), claims("w3")), (1, 0, 0));
}

#[test]
fn the_log_says_how_it_was_chosen_and_why_others_were_not() {
    let world = World::new();
    world.health("w1", false, None);
    world.fail("w2", 2);
    let route = world.route(ALL);
    assert_eq!(route, "failover 1/3 w1=not_ready w2=circuit_open");
}

#[test]
fn the_fastest_worker_comes_first_as_all_threads_saw_it() {
    let mut world = World::new();
    let seen = |times: &[(&str, u64)]| {
        let mut latencies = Latencies::default();
        for (worker, ms) in times {
            let time = Duration::from_millis(*ms);
            let now_ms = u64::try_from(world.now.as_millis()).unwrap();
            latencies.observe(worker_hash(worker), time, time, now_ms);
        }
        latencies.encode()
    };
    // The first thread has a seat and saw no answer yet.
    world.in_flight(0, world.now, &[]);
    world.in_flight(1, world.now, &[]);
    world.put(
        &Latencies::key(1),
        &seen(&[("w1", 300), ("w2", 150), ("w3", 200)]),
    );
    assert_eq!(world.tried(&["fastest"]), ["w2", "w3", "w1"]);
    world.put(&Latencies::key(2), &seen(&[("w3", 20)]));
    assert_eq!(world.tried(&["fastest"]), ["w2", "w3", "w1"]);
    // A tenth of a second later the other thread's answer is known too: 110 on the average.
    world.now += Duration::from_millis(100);
    assert_eq!(world.tried(&["fastest"]), ["w3", "w2", "w1"]);
}

#[test]
fn a_full_worker_says_when_there_will_be_room() {
    let world = World::new();
    let mut latencies = Latencies::default();
    let (first_byte, whole) = (Duration::from_millis(100), Duration::from_secs(40));
    latencies.observe(worker_hash("w1"), first_byte, whole, 1_000_000);
    world.put(&Latencies::key(0), &latencies.encode());
    world.in_flight(0, world.now, &[("w1", 2)]);
    let mut it = world.exchange("w1");
    it.headers(false);
    let replied = it.host.replied.unwrap();
    // Two requests of 40 s end one every 20 s.
    assert_eq!(replied.header("retry-after").as_deref(), Some("20"));
}
