//! Idempotency keys over hours.

use std::time::Duration;

use host_sim_scenario::{Faults, Request, RequestId, Setup, World};
use serde_json::{Value, json};

use crate::deployment::{chat, gateway, served, streamed_chat, world};

const DAY: Duration = Duration::from_secs(86_400);
const SECOND: Duration = Duration::from_secs(1);

/// One worker; a lease of a minute.
fn document() -> Value {
    let mut document = gateway("failover", 1);
    document["idempotency"] = json!({"lease_s": 60});
    document
}

fn keyed(request: Request) -> Request {
    request.header("idempotency-key", "k")
}

fn two_threads(seed: u64) -> Setup {
    Setup {
        threads: 2,
        seed,
        ..Setup::default()
    }
}

fn status(world: &World, id: RequestId) -> u16 {
    world.response(id).status
}

fn is_replayed(world: &World, id: RequestId) -> bool {
    world.response(id).header("idempotency-replayed") == Some("true")
}

#[test]
fn an_answer_is_kept_for_a_day_and_then_the_request_runs_anew() {
    let mut world = world(&document(), &two_threads(1));
    let first = world.answer(keyed(chat()));
    let after = world.now();
    let at = |time| keyed(chat()).at(time);
    let last = world.request(at(after + DAY - SECOND));
    let anew = world.request(at(after + DAY + SECOND));
    let again = world.request(at(after + DAY * 2));
    world.run();

    assert!(is_replayed(&world, last));
    assert_eq!(world.response(last).body(), first.body());
    assert_eq!(
        (status(&world, anew), is_replayed(&world, anew)),
        (200, false)
    );
    assert!(is_replayed(&world, again));
    assert_eq!(served(&world, "w1"), 2);
}

#[test]
fn a_jump_of_the_clock_neither_frees_a_key_nor_holds_it() {
    let mut world = world(&document(), &Setup::default());
    world.set_wall(Duration::from_secs(2_000_000_000));
    world.answer(keyed(chat()));
    for years in [1, -40] {
        let wall = 2_000_000_000_i64 + years * 31_536_000;
        world.set_wall(Duration::from_secs(wall.unsigned_abs()));
        let answer = world.answer(keyed(chat()));
        assert_eq!(
            answer.header("idempotency-replayed"),
            Some("true"),
            "{years}"
        );
    }
    let late = world.request(keyed(chat()).at(world.now() + DAY));
    world.run();
    assert!(!is_replayed(&world, late));
}

/// C47 (b)
#[test]
fn a_stream_that_outlives_the_lease_keeps_its_key() {
    let mut world = world(&document(), &two_threads(1));
    world.worker("w1").set_faults(Faults {
        event_interval_ms: 100_000,
        ..Faults::default()
    });
    let stream = world.request(keyed(streamed_chat()));
    let early: Vec<_> = [1, 59, 61, 121, 300, 400]
        .map(|second| world.request(keyed(streamed_chat()).at(SECOND * second)))
        .into();
    let late = world.request(keyed(streamed_chat()).at(SECOND * 3600));
    world.run();

    assert!(world.response(stream).is_complete());
    for id in early {
        assert_eq!(status(&world, id), 409, "{:?}", world.response(id));
    }
    assert!(is_replayed(&world, late));
    assert_eq!(world.response(late).body(), world.response(stream).body());
    assert_eq!(served(&world, "w1"), 1);
}

#[test]
fn a_silent_request_that_outlives_the_lease_keeps_its_key() {
    let mut document = document();
    document["endpoints"][0]["timeout_ms"] = 500_000.into();
    let mut world = world(&document, &two_threads(1));
    world.worker("w1").set_faults(Faults::delay_ms(400_000));
    let slow = world.request(keyed(chat()));
    let early = world.request(keyed(chat()).at(SECOND * 390));
    let late = world.request(keyed(chat()).at(SECOND * 410));
    world.run();

    assert_eq!([slow, early].map(|id| status(&world, id)), [200, 409]);
    assert!(is_replayed(&world, late));
    assert_eq!(served(&world, "w1"), 1);
}

/// C47 (a)
#[test]
fn a_request_whose_vm_trapped_locks_its_key_until_the_lease_is_over() {
    let yaml = |yaml: String| yaml.replace("/idempotency.wasm", "/guests/trapping.wasm");
    let mut world = World::edited(&document().to_string(), &two_threads(1), |text| {
        yaml(text.into())
    })
    .unwrap_or_else(|problem| panic!("{problem}"));
    let trap = Faults {
        headers: [("x-trap".to_owned(), "1".to_owned())].into(),
        ..Faults::default()
    };
    world.worker("w1").set_faults(trap.times(1));
    let lost = world.request(keyed(chat()).on_thread(0));
    let at = |second: u32| keyed(chat()).at(SECOND * second);
    let early = [
        world.request(at(1).on_thread(0)),
        world.request(at(59).on_thread(0)),
        world.request(at(59).on_thread(1)),
    ];
    let late = world.request(at(61).on_thread(1));
    let again = world.request(at(62).on_thread(0));
    world.run();

    assert_eq!(status(&world, lost), 503);
    assert_eq!(early.map(|id| status(&world, id)), [409; 3]);
    assert_eq!(
        (status(&world, late), is_replayed(&world, late)),
        (200, false)
    );
    assert!(is_replayed(&world, again));
    assert_eq!(served(&world, "w1"), 2);
}

/// C47 (c)
#[test]
fn a_client_that_leaves_locks_nothing() {
    let mut world = world(&document(), &two_threads(1));
    world
        .worker("w1")
        .set_faults(Faults::delay_ms(10_000).times(1));
    world.request(keyed(chat()).leaves_after(SECOND));
    let next = world.request(keyed(chat()).at(SECOND + Duration::from_millis(1)));
    world.run();
    assert_eq!(
        (status(&world, next), is_replayed(&world, next)),
        (200, false)
    );
}

#[test]
fn of_many_duplicates_one_is_carried_out_whatever_their_order() {
    for seed in 0..10 {
        let mut world = world(&document(), &two_threads(seed));
        world.worker("w1").set_faults(Faults::delay_ms(50));
        let ids: Vec<_> = (0..20).map(|_| world.request(keyed(chat()))).collect();
        let late = world.request(keyed(chat()).at(SECOND));
        world.run();

        let answered = ids.iter().filter(|id| status(&world, **id) == 200).count();
        let refused = ids.iter().filter(|id| status(&world, **id) == 409).count();
        assert_eq!((answered, refused), (1, 19), "seed {seed}");
        assert!(is_replayed(&world, late), "seed {seed}");
        assert_eq!(served(&world, "w1"), 1, "seed {seed}");
    }
}
