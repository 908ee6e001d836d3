//! What an attempt can see of its own end.

use std::time::{Duration, Instant};

use blackbox::{At, Engine, Faults, How, World, both_engines};

use crate::support::{CHAT, STREAMED_CHAT, chat_request};
use blackbox::plugin::probe;
use blackbox::raw::{Choice, Raw};

both_engines![
    a_refused_connection_gives_its_reason_and_only_to_its_own_attempt,
    a_time_out_looks_like_a_reset,
    after_an_answered_attempt_the_details_are_stale,
    a_broken_off_body_ends_without_end_of_stream,
    a_client_that_leaves_is_named_in_the_details,
];

const PATIENCE: Duration = Duration::from_secs(10);
const NOTHING: &str = "details=- failure=- flags=0";
const ANSWERED: &str = "details=via_upstream failure=- flags=0";

/// `w1`, then `w2`, with 1.5 s for each; attempts leave notes.
fn world(engine: Engine) -> World {
    World::on(engine)
        .worker("w1")
        .worker("w2")
        .start_yaml(|places| {
            let list = format!(
                "set x-gateway-destination-endpoint {},{}",
                places.worker("w1"),
                places.worker("w2")
            );
            let retries = [
                "notes",
                "set x-envoy-retry-on reset,connect-failure,retriable-status-codes",
                "set x-envoy-retriable-status-codes 429",
                "set x-envoy-max-retries 1",
                "set x-envoy-upstream-rq-per-try-timeout-ms 1500",
                &list,
            ];
            Raw::new(places)
                .filter(&probe("retries", &retries))
                .cluster(
                    "workers",
                    Choice::InOrder,
                    &["w1", "w2"],
                    &[probe("attempt", &["note"])],
                )
                .yaml()
        })
}

/// The notes, once there are as many.
fn notes(world: &World, count: usize) -> Vec<String> {
    let until = Instant::now() + PATIENCE;
    loop {
        let lines: Vec<_> = world
            .get("/notes")
            .text()
            .lines()
            .map(str::to_owned)
            .collect();
        if lines.len() >= count {
            return lines;
        }
        assert!(Instant::now() < until, "only {lines:?}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn answered(attempt: u32) -> String {
    format!("attempt={attempt} status=200 complete=true {ANSWERED}")
}

fn a_refused_connection_gives_its_reason_and_only_to_its_own_attempt(engine: Engine) {
    let world = world(engine);
    world.worker("w1").refuse();

    assert_eq!(world.chat(CHAT).status, 200);

    let failure = "delayed_connect_error:_Connection_refused";
    let refused = format!("attempt=1 status=- complete=false details=- failure={failure} flags=0");
    assert_eq!(notes(&world, 2), [refused, answered(2)]);
}

fn a_time_out_looks_like_a_reset(engine: Engine) {
    let world = world(engine);
    let failed = format!("attempt=1 status=- complete=false {NOTHING}");
    for (round, how) in [How::Stall, How::Reset, How::Close].into_iter().enumerate() {
        world.fail("w1", Faults::interrupt(At::BeforeHeaders, how));

        assert_eq!(world.chat(CHAT).status, 200, "{how:?}");

        let notes = notes(&world, 2 * round + 2);
        assert_eq!(notes[2 * round..], [failed.clone(), answered(2)], "{how:?}");
    }
}

fn after_an_answered_attempt_the_details_are_stale(engine: Engine) {
    let world = world(engine);
    world.fail("w1", Faults::status(429));
    world.fail("w2", Faults::interrupt(At::BeforeHeaders, How::Reset));

    assert_eq!(world.chat(CHAT).status, 503);

    let notes = notes(&world, 2);
    assert!(
        notes[0].starts_with("attempt=1 status=429 ")
            && notes[0].contains(" details=via_upstream "),
        "{notes:?}"
    );
    assert!(
        notes[1].starts_with("attempt=2 status=- complete=false details=via_upstream failure=- "),
        "of attempt 1: {notes:?}"
    );
}

fn a_broken_off_body_ends_without_end_of_stream(engine: Engine) {
    let world = world(engine);
    world.fail("w1", Faults::interrupt(At::Events(1), How::Reset));

    let _ = world.chat(STREAMED_CHAT);

    assert_eq!(
        notes(&world, 1),
        [format!("attempt=1 status=200 complete=false {ANSWERED}")]
    );
}

fn a_client_that_leaves_is_named_in_the_details(engine: Engine) {
    let gone = "complete=false details=downstream_remote_disconnect failure=- flags=16384";
    let world = world(engine);

    world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Hold));
    let mut early = world.connect();
    early.send(chat_request(CHAT));
    let asked = |recorded: &[_]| recorded.len() == 1;
    assert!(world.worker("w1").wait_until(PATIENCE, asked));
    early.abort();
    assert_eq!(notes(&world, 1), [format!("attempt=1 status=- {gone}")]);

    world.fail("w1", Faults::interrupt(At::Events(1), How::Hold));
    let mut late = world.connect();
    late.send(chat_request(STREAMED_CHAT));
    assert_eq!(late.head().status, 200);
    late.abort();
    assert_eq!(notes(&world, 2)[1], format!("attempt=1 status=200 {gone}"));
}
