//! A cap is a cap, however many threads look at the last place.

use std::time::{Duration, Instant};

use blackbox::{At, Engine, Faults, How, World, both_engines};
use serde_json::json;

use super::{PATIENCE, apps, chat_of, serving};
use crate::support::{CHAT, refused};

both_engines![four_threads_give_a_worker_its_cap_and_not_one_more];

const CAP: u32 = 5;
const CLIENTS: usize = 40;

fn four_threads_give_a_worker_its_cap_and_not_one_more(engine: Engine) {
    let world = World::on(engine).worker("w1").capped(CAP);
    let world = serving(world, &["w1"], &apps(1), json!({}))
        .concurrency(4)
        .start();
    for _ in 0..3 {
        let before = world.hits()[0];
        world.fail("w1", Faults::interrupt(At::BeforeHeaders, How::Hold));
        let (refusals, mut held) = storm(&world);
        // Whoever was not refused is at the worker, which has answered nobody yet.
        assert_eq!(refusals, CLIENTS - CAP as usize);
        assert_eq!(world.hits()[0] - before, CAP as usize);
        world.worker("w1").clear_faults();
        world.worker("w1").release();
        for connection in &mut held {
            assert_eq!(connection.response().status, 200);
        }
    }
}

/// Sends all at once. How many were refused, and the connections of those that wait.
fn storm(world: &World) -> (usize, Vec<blackbox::Connection>) {
    let before = world.hits()[0];
    let mut waiting: Vec<blackbox::Connection> = std::thread::scope(|scope| {
        let ask = || {
            scope.spawn(|| {
                let mut connection = world.connect();
                connection.send(chat_of("app-0", &[], CHAT));
                connection
            })
        };
        let clients: Vec<_> = (0..CLIENTS).map(|_| ask()).collect();
        let joined = clients.into_iter().map(|client| client.join());
        joined.map(|client| client.expect("a client")).collect()
    });
    let mut refusals = 0;
    let started = Instant::now();
    while refusals + world.hits()[0] - before < CLIENTS {
        assert!(started.elapsed() < PATIENCE, "{refusals} refused");
        waiting.retain_mut(|connection| {
            let answered = connection.answers_within(Duration::from_millis(5));
            if answered {
                assert_eq!(connection.response().outcome(), refused(503, "overloaded"));
                refusals += 1;
            }
            !answered
        });
    }
    (refusals, waiting)
}
