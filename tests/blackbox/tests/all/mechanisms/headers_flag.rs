//! The field `allow_on_headers_stop_iteration`, which a body reader cannot do without.

use blackbox::world::request;
use blackbox::{Engine, Faults, World, both_engines};

use crate::support::{CHAT, refused};
use blackbox::plugin::guest;
use blackbox::raw::{Choice, Raw};

both_engines![
    without_the_flag_a_paused_header_callback_holds_the_body_too,
    without_the_flag_the_body_reader_lets_nothing_pass_unread,
];

fn without_the_flag_a_paused_header_callback_holds_the_body_too(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .worker("checker")
        .start_yaml(|places| {
            Raw::new(places)
                .filter(&guest("careless").without_headers_stop())
                .cluster("workers", Choice::RoundRobin, &["w1"], &[])
                .cluster("checker", Choice::RoundRobin, &["checker"], &[])
                .yaml()
        });
    let path = Some("/readyz".to_owned());
    world.fail(
        "checker",
        Faults {
            path,
            ..Faults::status(401)
        },
    );

    assert_eq!(world.chat(CHAT).status, 401);
    assert_eq!(world.hits(), [0, 1]);
}

/// C04: the body callback never comes. What needs no body is served; what needs one ends with the
/// limit on silence.
fn without_the_flag_the_body_reader_lets_nothing_pass_unread(engine: Engine) {
    const FLAG: &str = "allow_on_headers_stop_iteration: true";
    for instead in ["allow_on_headers_stop_iteration: false", ""] {
        let world = World::on(engine)
            .worker("w1")
            .endpoint("chat", &[("w1", "large")])
            .edit_yaml(move |yaml| {
                yaml.replacen(FLAG, instead, 1)
                    .replace("stream_idle_timeout: 60s", "stream_idle_timeout: 1s")
            })
            .start();

        let models = world.request("GET", "/v1/models", &[], b"");
        let chunked = request(
            "POST",
            "/v1/chat/completions",
            &["transfer-encoding: chunked"],
            b"",
        );
        let chunked = String::from_utf8_lossy(&chunked).replace("content-length: 0\r\n", "");
        let chunked = format!("{chunked}{:x}\r\n{CHAT}\r\n0\r\n\r\n", CHAT.len());

        assert_eq!(models.status, 200, "{instead}: {models:?}");
        for response in [world.chat(CHAT), world.connect().send(chunked).response()] {
            let outcome = response.outcome();
            assert_eq!(outcome, refused(504, "upstream_timeout"), "{instead}");
        }
        assert_eq!(world.hits(), [0], "{instead}");
    }
}
