use std::time::Duration;

use host_sim_scenario::{At, Change, Faults, How, LogLine, Request, Seen, Setup};
use serde_json::json;

use crate::deployment::{TIMEOUT, body, chat, gateway, served, world};

#[test]
fn five_workers_are_tried_down_the_list() {
    let mut world = world(&gateway("failover", 5), &Setup::default());
    world.change(Duration::ZERO, "w1", Change::Refuse(true));
    world.worker("w2").set_faults(Faults::status(503));
    world
        .worker("w3")
        .set_faults(Faults::interrupt(At::BeforeHeaders, How::Reset));
    world.worker("w4").set_faults(Faults::status(429));
    let response = world.answer(chat());
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(response.header("x-aisuite-backend"), Some("w5"));
    for (worker, arrived) in [("w1", 0), ("w2", 1), ("w3", 1), ("w4", 1), ("w5", 1)] {
        assert_eq!(served(&world, worker), arrived, "{worker}");
    }
    let request = world.received("w5")[0].clone();
    assert!(String::from_utf8_lossy(body(&request)).contains("served-5"));
}

#[test]
fn candidates_of_other_clusters_are_tried_in_the_order_of_the_list() {
    let mut document = gateway("failover", 4);
    for (index, cluster) in ["a", "b", "a", "c"].into_iter().enumerate() {
        document["workers"][index]["cluster"] = json!(cluster);
    }
    let mut world = world(&document, &Setup::default());
    world.worker("w1").set_faults(Faults::status(503));
    world.change(Duration::ZERO, "w2", Change::Refuse(true));
    world.worker("w3").set_faults(Faults::status(503));
    assert_eq!(world.answer(chat()).header("x-aisuite-backend"), Some("w4"));
    assert_eq!(
        [
            served(&world, "w1"),
            served(&world, "w3"),
            served(&world, "w4")
        ],
        [1, 1, 1]
    );
}

#[test]
fn a_silent_worker_is_left_after_the_time_of_one_attempt() {
    let mut world = world(&gateway("failover", 2), &Setup::default());
    world
        .worker("w1")
        .set_faults(Faults::interrupt(At::BeforeHeaders, How::Stall));
    let response = world.answer(chat());
    assert_eq!(response.header("x-aisuite-backend"), Some("w2"));
    let started = response.started.expect("a head");
    assert!(
        started >= TIMEOUT && started < TIMEOUT + Duration::from_millis(100),
        "{started:?}"
    );
}

#[test]
fn a_worker_that_is_slow_but_in_time_is_kept() {
    let mut world = world(&gateway("failover", 2), &Setup::default());
    world.worker("w1").set_faults(Faults::delay_ms(29_999));
    assert_eq!(world.answer(chat()).header("x-aisuite-backend"), Some("w1"));
}

#[test]
fn a_worker_that_vanished_is_left_after_the_connect_time() {
    let mut world = world(&gateway("failover", 2), &Setup::default());
    world.change(Duration::ZERO, "w1", Change::Vanish(true));
    let response = world.answer(chat());
    assert_eq!(response.header("x-aisuite-backend"), Some("w2"));
    assert!(response.started.expect("a head") < TIMEOUT);
}

#[test]
fn nothing_is_tried_again_after_the_last_candidate() {
    let mut world = world(&gateway("failover", 3), &Setup::default());
    for worker in ["w1", "w2", "w3"] {
        world.worker(worker).set_faults(Faults::status(503));
    }
    assert_eq!(world.answer(chat()).status, 503);
    assert_eq!(
        [
            served(&world, "w1"),
            served(&world, "w2"),
            served(&world, "w3")
        ],
        [1, 1, 1]
    );
}

#[test]
fn a_worker_that_comes_back_is_used_again() {
    let mut world = world(&gateway("failover", 2), &Setup::default());
    world.change(Duration::ZERO, "w1", Change::Refuse(true));
    world.change(Duration::from_secs(60), "w1", Change::Refuse(false));
    let early = world.request(chat().at(Duration::from_secs(59)));
    let late = world.request(chat().at(Duration::from_secs(61)));
    world.run();
    assert_eq!(
        world.response(early).header("x-aisuite-backend"),
        Some("w2")
    );
    assert_eq!(world.response(late).header("x-aisuite-backend"), Some("w1"));
}

#[test]
fn an_unknown_model_reaches_nobody() {
    let mut world = world(&gateway("failover", 2), &Setup::default());
    let response = world.answer(Request::post(
        "/v1/chat/completions",
        r#"{"model": "other", "messages": []}"#,
    ));
    assert_eq!(response.status, 404, "{}", response.text());
    assert_eq!([served(&world, "w1"), served(&world, "w2")], [0, 0]);
}

#[test]
fn a_client_that_leaves_ends_the_attempt_and_is_in_the_log() {
    let mut world = world(&gateway("failover", 2), &Setup::default());
    world
        .worker("w1")
        .set_faults(Faults::interrupt(At::BeforeHeaders, How::Stall));
    world.request(chat().leaves_after(Duration::from_secs(2)));
    world.run();
    assert_eq!(served(&world, "w2"), 0);
    let is_of_request = |line: &&LogLine| line.text.contains("\"log\":\"request\"");
    let line = world.access_log().iter().find(is_of_request);
    let line = line.expect("a line of the request");
    assert!(line.text.contains("\"flags\":\"DC\""), "{}", line.text);
    assert_eq!(line.at, Duration::from_secs(2));
}

#[test]
fn an_upload_that_breaks_off_reaches_nobody() {
    let mut world = world(&gateway("failover", 1), &Setup::default());
    world.request(chat().unfinished().leaves_after(Duration::from_secs(1)));
    world.run();
    assert!(
        world
            .received("w1")
            .iter()
            .all(|recorded| matches!(recorded.seen, Seen::Cut(_)))
    );
}

#[test]
fn a_world_tells_where_a_request_was_tried_and_what_its_log_line_is() {
    let mut world = world(&gateway("failover", 3), &Setup::default());
    world.change(Duration::ZERO, "w1", Change::Refuse(true));
    world.worker("w2").set_faults(Faults::status(503));
    let other = world.request(Request::get("/healthz").at(Duration::from_secs(1)));
    let id = world.request(chat().at(Duration::from_secs(2)));
    world.run();

    assert_eq!(world.attempts(id), ["w1", "w2", "w3"]);
    assert!(world.attempts(other).is_empty());
    assert_eq!(world.sent(id), Some(Duration::from_secs(2)));
    let visits = world.visits().iter();
    let visits: Vec<_> = visits
        .map(|visit| (visit.client, visit.worker.as_str()))
        .collect();
    assert_eq!(visits, [(Some(id), "w2"), (Some(id), "w3")]);
    let lines = world.access_log().iter();
    let lines: Vec<_> = lines
        .filter(|line| line.text.contains("\"log\":\"request\""))
        .map(|line| line.request)
        .collect();
    assert_eq!(lines, [Some(other), Some(id)]);
}

#[test]
fn the_wall_clock_can_be_set_in_the_middle_of_a_run() {
    let mut world = world(&gateway("failover", 1), &Setup::default());
    world.set_wall_at(Duration::from_secs(10), Duration::from_secs(1_900_000_000));
    world.request(chat().at(Duration::from_secs(9)));
    world.request(chat().at(Duration::from_secs(11)));
    world.run();
    let log = world.access_log().iter();
    let requests: Vec<_> = log
        .filter(|line| line.text.contains("\"log\":\"request\""))
        .collect();
    assert!(
        requests[0].text.contains("2026-01-01T00:00:09"),
        "{}",
        requests[0].text
    );
    assert!(
        requests[1].text.contains("2030-03-17T17:46:41"),
        "{}",
        requests[1].text
    );
}
