//! A bucket is one, however many threads take from it.

use std::time::Instant;

use blackbox::world::request;
use blackbox::{Engine, World, both_engines};

use super::{KEY_A, KEY_A2, NEVER, bearer, builder, limit};
use crate::support::CHAT;

both_engines![
    four_threads_admit_a_bucket_and_not_one_more,
    four_threads_never_admit_more_than_burst_and_what_comes_back,
];

const THREADS: u32 = 4;
/// Many more than threads, so that each thread has some.
const CLIENTS: usize = 32;

/// Statuses of `each` requests on each of many connections, all at once.
fn storm(world: &World, each: usize) -> Vec<u16> {
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                scope.spawn(move || {
                    let key = if client % 2 == 0 { KEY_A } else { KEY_A2 };
                    let lines = [&*bearer(key)];
                    let bytes = request("POST", "/v1/chat/completions", &lines, CHAT.as_bytes());
                    let mut connection = world.connect();
                    let mut ask = || connection.send(&bytes).response().status;
                    (0..each).map(|_| ask()).collect::<Vec<_>>()
                })
            })
            .collect();
        let statuses = clients.into_iter().map(|client| client.join());
        statuses.flat_map(|it| it.expect("a client")).collect()
    })
}

fn count(statuses: &[u16], wanted: u16) -> usize {
    statuses.iter().filter(|status| **status == wanted).count()
}

/// C34
fn four_threads_admit_a_bucket_and_not_one_more(engine: Engine) {
    // Most are admitted, because only those race for a token.
    const BURST: usize = 900;
    let limits = [limit("per-app", &["app"], NEVER, 900)];
    let world = builder(engine, &limits).concurrency(THREADS).start();

    let statuses = storm(&world, 32);

    assert_eq!(count(&statuses, 200), BURST);
    assert_eq!(count(&statuses, 429), statuses.len() - BURST);
    assert_eq!(world.hits(), [BURST]);
}

/// The time is measured around everything, so that a slow machine cannot make it too short.
fn four_threads_never_admit_more_than_burst_and_what_comes_back(engine: Engine) {
    const BURST: u32 = 20;
    const PER_SECOND: f64 = 30.0;
    let world = builder(engine, &[limit("per-app", &["app"], PER_SECOND, BURST)])
        .concurrency(THREADS)
        .start();

    let begin = Instant::now();
    let statuses = storm(&world, 24);
    let seconds = begin.elapsed().as_secs_f64();

    let served = count(&statuses, 200);
    assert_eq!(count(&statuses, 429), statuses.len() - served);
    let most = f64::from(BURST) + PER_SECOND * seconds;
    let served = u32::try_from(served).expect("few");
    assert!(f64::from(served) <= most, "{served} in {seconds} s");
    assert!(served >= BURST);
}
