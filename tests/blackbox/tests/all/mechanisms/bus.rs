//! Properties carry facts from filter to filter and into the access log.

use blackbox::{Engine, World, both_engines};
use serde_json::Value;

use crate::support::CHAT;
use blackbox::plugin::probe;
use blackbox::raw::{Choice, Raw};

both_engines![
    a_property_is_seen_by_later_filters_of_other_vms_and_by_attempts,
    a_property_is_plain_text_in_the_access_log,
    a_client_cannot_forge_a_property,
];

fn world(engine: Engine) -> World {
    World::on(engine).worker("w1").start_yaml(|places| {
        let show = |header: &str| {
            [
                format!("show {header}-set dragoman.test"),
                format!("show {header}-unset dragoman.unset"),
            ]
        };
        let (early, late, attempt) = (show("x-early"), show("x-late"), show("x-attempt"));
        let words = |words: &'_ [String; 2]| [words[0].clone(), words[1].clone()];
        let (early, late, attempt) = (words(&early), words(&late), words(&attempt));
        Raw::new(places)
            .filter(&probe("early", &[&early[0], &early[1]]))
            .filter(&probe(
                "writer",
                &["publish dragoman.test gr\u{fc}n {\"n\":1}"],
            ))
            .filter(&probe("late", &[&late[0], &late[1]]))
            .cluster(
                "workers",
                Choice::RoundRobin,
                &["w1"],
                &[probe("attempt", &[&attempt[0], &attempt[1]])],
            )
            .log("set", "%FILTER_STATE(wasm.dragoman.test:PLAIN)%")
            .log("unset", "%FILTER_STATE(wasm.dragoman.unset:PLAIN)%")
            .yaml()
    })
}

const VALUE: &str = "gr\u{fc}n {\"n\":1}";

fn seen(world: &World, header: &str) -> Option<String> {
    let request = world.worker("w1").requests().pop().expect("a request");
    request
        .header(header)
        .map(|value| String::from_utf8_lossy(value).into_owned())
}

fn a_property_is_seen_by_later_filters_of_other_vms_and_by_attempts(engine: Engine) {
    let world = world(engine);

    assert_eq!(world.chat(CHAT).status, 200);

    assert_eq!(seen(&world, "x-early-set").as_deref(), Some("-"));
    assert_eq!(seen(&world, "x-late-set").as_deref(), Some(VALUE));
    assert_eq!(seen(&world, "x-attempt-set").as_deref(), Some(VALUE));
}

fn a_property_is_plain_text_in_the_access_log(engine: Engine) {
    let world = world(engine);

    let response = world.chat(CHAT);

    let id = response.header("x-request-id").expect("an id");
    let line = world.log().request(&id);
    assert_eq!(line["set"], VALUE);
    assert_eq!(line["unset"], Value::Null);
}

fn a_client_cannot_forge_a_property(engine: Engine) {
    let world = world(engine);
    let lines: Vec<String> = ["dragoman.unset", "wasm.dragoman.unset", "x-dragoman-unset"]
        .iter()
        .map(|name| format!("{name}: forged"))
        .collect();
    let headers: Vec<&str> = lines.iter().map(String::as_str).collect();

    let response = world.request(
        "POST",
        "/v1/chat/completions?dragoman.unset=forged",
        &headers,
        CHAT.as_bytes(),
    );

    assert_eq!(response.status, 200, "{response:?}");
    for header in ["x-early-unset", "x-late-unset", "x-attempt-unset"] {
        assert_eq!(seen(&world, header).as_deref(), Some("-"), "{header}");
    }
    let id = response.header("x-request-id").expect("an id");
    assert_eq!(world.log().request(&id)["unset"], Value::Null);
}
