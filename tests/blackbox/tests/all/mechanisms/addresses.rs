//! The list of addresses: each attempt takes the next, and nobody else is ever asked.

use blackbox::{Engine, Faults, Response, World, both_engines};

use crate::support::CHAT;
use blackbox::plugin::probe;
use blackbox::raw::{Choice, Raw};

both_engines![
    each_attempt_takes_the_next_address,
    an_address_that_is_no_member_moves_all_later_ones_up,
    behind_the_end_of_the_list_nobody_is_asked,
    without_a_known_address_nobody_is_asked,
];

/// Three workers that fail, in one cluster; two retries.
fn world(engine: Engine) -> World {
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .worker("w3")
        .start_yaml(|places| {
            Raw::new(places)
                .filter(&probe(
                    "retries",
                    &["set x-envoy-retry-on 5xx", "set x-envoy-max-retries 2"],
                ))
                .cluster("workers", Choice::InOrder, &["w1", "w2", "w3"], &[])
                .yaml()
        });
    for worker in ["w1", "w2", "w3"] {
        world.fail(worker, Faults::status(503));
    }
    world
}

/// Sends a chat with this list of workers; another name stands for itself.
fn ask(world: &World, list: &[&str]) -> Response {
    let addresses: Vec<String> = list
        .iter()
        .map(|name| match *name {
            "w1" | "w2" | "w3" => world.worker(name).address().to_string(),
            other => other.to_owned(),
        })
        .collect();
    let line = format!("x-gateway-destination-endpoint: {}", addresses.join(","));
    world.request("POST", "/v1/chat/completions", &[&line], CHAT.as_bytes())
}

/// The workers that were tried, in order.
fn tried(world: &World, response: &Response) -> Vec<String> {
    let id = response.header("x-request-id").expect("an id");
    let name = |host: &str| {
        ["w1", "w2", "w3"]
            .into_iter()
            .find(|name| world.worker(name).address().to_string() == host)
            .unwrap_or(host)
            .to_owned()
    };
    let lines = world.log().attempts(&id);
    lines
        .iter()
        .filter_map(|line| line["host"].as_str())
        .map(name)
        .collect()
}

fn each_attempt_takes_the_next_address(engine: Engine) {
    let world = world(engine);
    for list in [["w3", "w1", "w2"], ["w1", "w2", "w3"], ["w2", "w2", "w1"]] {
        let response = ask(&world, &list);
        assert_eq!(tried(&world, &response), list);
    }
    world.fail("w1", Faults::default());

    let response = ask(&world, &["w2", "w1", "w3"]);

    assert_eq!(response.content(), "hello from w1");
    assert_eq!(tried(&world, &response), ["w2", "w1"]);
}

fn an_address_that_is_no_member_moves_all_later_ones_up(engine: Engine) {
    let world = world(engine);

    let response = ask(&world, &["127.0.0.1:1", "w2", "w3"]);

    assert_eq!(tried(&world, &response), ["w2", "w3"]);
    assert_eq!(response.status, 503);
    assert_eq!(world.hits(), [0, 1, 1]);
}

fn behind_the_end_of_the_list_nobody_is_asked(engine: Engine) {
    let world = world(engine);

    let response = ask(&world, &["w2"]);

    assert_eq!(response.status, 503);
    assert_eq!(world.hits(), [0, 1, 0]);
}

fn without_a_known_address_nobody_is_asked(engine: Engine) {
    let world = world(engine);

    for list in ["127.0.0.1:1", "localhost:80", "not an address", ""] {
        assert_eq!(ask(&world, &[list]).status, 503, "{list}");
    }
    assert_eq!(world.chat(CHAT).status, 503, "no list at all");

    assert_eq!(world.hits(), [0, 0, 0]);
}
