use std::time::Duration;

use host_sim_scenario::{At, Change, End, Faults, How, Setup};

use crate::deployment::{gateway, served, streamed_chat, world};

/// The time without output after which a stream ends.
const IDLE: Duration = Duration::from_secs(600);

#[test]
fn each_event_of_a_stream_arrives_when_it_was_sent() {
    let mut world = world(&gateway("failover", 2), &Setup::default());
    world.worker("w1").set_faults(Faults {
        event_interval_ms: 200,
        ..Faults::default()
    });
    let response = world.answer(streamed_chat());
    assert!(response.pieces.len() >= 3, "{:?}", response.pieces);
    for (index, (at, _)) in response.pieces.iter().enumerate() {
        assert_eq!(
            *at,
            Duration::from_millis(200) * u32::try_from(index).expect("small")
        );
    }
    assert!(
        response.text().ends_with("data: [DONE]\n\n"),
        "{}",
        response.text()
    );
}

#[test]
fn a_stream_that_falls_silent_ends_after_the_idle_time() {
    let mut world = world(&gateway("failover", 2), &Setup::default());
    world
        .worker("w1")
        .set_faults(Faults::interrupt(At::Events(1), How::Stall));
    let id = world.request(streamed_chat());
    world.run();
    assert_eq!(world.response(id).end, End::Broken(IDLE));
    assert_eq!(
        served(&world, "w2"),
        0,
        "no second try after the first byte"
    );
}

#[test]
fn output_begins_the_idle_time_anew() {
    let mut world = world(&gateway("failover", 1), &Setup::default());
    let interval = IDLE - Duration::from_secs(1);
    let event_interval_ms = u64::try_from(interval.as_millis()).expect("small");
    world.worker("w1").set_faults(Faults {
        event_interval_ms,
        ..Faults::default()
    });
    let response = world.answer(streamed_chat());
    assert!(response.is_complete(), "{:?}", response.end);
    let last = u32::try_from(response.pieces.len() - 1).expect("small");
    assert_eq!(
        response.pieces.last().map(|(at, _)| *at),
        Some(interval * last)
    );
}

#[test]
fn a_stream_that_breaks_is_not_continued_by_another_worker() {
    for how in [How::Reset, How::Close] {
        let mut world = world(&gateway("failover", 2), &Setup::default());
        world
            .worker("w1")
            .set_faults(Faults::interrupt(At::Events(1), how));
        let id = world.request(streamed_chat());
        world.run();
        let response = world.response(id);
        assert_eq!(response.status, 200);
        assert!(
            matches!(response.end, End::Broken(_)),
            "{how:?}: {:?}",
            response.end
        );
        assert_eq!(served(&world, "w2"), 0);
    }
}

#[test]
fn a_held_stream_goes_on_when_it_is_released() {
    let mut world = world(&gateway("failover", 1), &Setup::default());
    world
        .worker("w1")
        .set_faults(Faults::interrupt(At::Events(1), How::Hold));
    let id = world.request(streamed_chat());
    world.run_until(Duration::from_secs(5));
    assert_eq!(world.response(id).pieces.len(), 1);
    world.change(Duration::from_secs(7), "w1", Change::Release);
    world.run();
    assert_eq!(
        world.response(id).end,
        End::Complete(Duration::from_secs(7))
    );
}

#[test]
fn a_worker_that_dies_breaks_its_streams_and_only_those() {
    let mut document = gateway("round-robin", 2);
    document["endpoints"][0]["max_attempts"] = 1.into();
    let mut world = world(
        &document,
        &Setup {
            threads: 2,
            ..Setup::default()
        },
    );
    let slow = Faults {
        event_interval_ms: 1000,
        ..Faults::default()
    };
    for worker in ["w1", "w2"] {
        world.worker(worker).set_faults(slow.clone());
    }
    let ids: Vec<_> = (0..10).map(|_| world.request(streamed_chat())).collect();
    world.change(Duration::from_millis(500), "w1", Change::Refuse(true));
    world.run();
    let broken = ids
        .iter()
        .filter(|id| world.response(**id).end == End::Broken(Duration::from_millis(500)))
        .count();
    let complete = ids
        .iter()
        .filter(|id| world.response(**id).is_complete())
        .count();
    assert_eq!((broken, complete), (5, 5));
}
