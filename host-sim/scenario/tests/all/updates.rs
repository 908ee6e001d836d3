use std::time::Duration;

use host_sim_scenario::{End, Faults, Setup};

use crate::deployment::{chat, gateway, served, streamed_chat, world};

#[test]
fn streams_end_with_the_configuration_they_began_with_and_new_ones_go_by_the_new() {
    let setup = Setup {
        threads: 2,
        ..Setup::default()
    };
    let mut world = world(&gateway("failover", 1), &setup);
    let slow = Faults {
        event_interval_ms: 1000,
        ..Faults::default()
    };
    world.worker("w1").set_faults(slow);
    let early: Vec<_> = (0..40).map(|_| world.request(streamed_chat())).collect();
    world.run_until(Duration::from_millis(1500));

    // The second worker is new, and first in its endpoint.
    let mut next = gateway("failover", 2);
    let targets = next["endpoints"][0]["targets"].as_array_mut().unwrap();
    targets.reverse();
    world.update(&next.to_string()).unwrap();
    let late: Vec<_> = (0..40).map(|_| world.request(chat())).collect();
    world.run();

    for id in early.iter().chain(&late) {
        let response = world.response(*id);
        assert_eq!(response.status, 200);
        assert!(response.is_complete(), "{:?}", response.end);
    }
    assert_eq!((served(&world, "w1"), served(&world, "w2")), (40, 40));
}

#[test]
fn a_document_that_is_refused_changes_nothing() {
    let mut world = world(&gateway("failover", 1), &Setup::default());
    let id = world.request(streamed_chat());

    let mut bad = gateway("failover", 1);
    bad["endpoints"][0]["targets"][0]["worker"] = "nobody".into();
    let refused = world.update(&bad.to_string()).unwrap_err();
    world.run();

    assert!(refused.to_string().contains("nobody"), "{refused}");
    assert!(matches!(world.response(id).end, End::Complete(_)));
    assert_eq!(world.answer(chat()).status, 200);
}
