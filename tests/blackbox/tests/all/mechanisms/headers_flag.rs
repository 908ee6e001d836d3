//! The field `allow_on_headers_stop_iteration`, which the body reader cannot do without.

use blackbox::{Engine, World, WorldBuilder, both_engines};

use crate::support::{CHAT, chat_request, refused};

both_engines![
    with_the_flag_a_body_that_comes_later_is_read,
    without_the_flag_no_request_passes_unread,
];

const FLAG: &str = "allow_on_headers_stop_iteration: true";

/// The shipped chain with a short limit on silence.
fn chain(engine: Engine) -> WorldBuilder {
    World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .edit_yaml(|yaml| yaml.replace("stream_idle_timeout: 60s", "stream_idle_timeout: 0.5s"))
}

/// C04
fn with_the_flag_a_body_that_comes_later_is_read(engine: Engine) {
    let world = chain(engine).start();
    let bytes = chat_request(CHAT);
    let mut client = world.connect();

    client.send_cut_at(&bytes, &[bytes.len() - CHAT.len(), bytes.len() - 10]);

    assert_eq!(client.response().status, 200);
    assert_eq!(world.hits(), [1]);
}

/// C04: the body callback never comes. The request waits, unread, and ends with the limit on
/// silence.
fn without_the_flag_no_request_passes_unread(engine: Engine) {
    for instead in ["allow_on_headers_stop_iteration: false", ""] {
        let world = chain(engine)
            .edit_yaml(move |yaml| yaml.replacen(FLAG, instead, 1))
            .start();

        let response = world.chat(CHAT);

        assert_eq!(
            response.outcome(),
            refused(504, "upstream_timeout"),
            "{instead}: {response:?}"
        );
        assert_eq!(world.hits(), [0], "{instead}");
    }
}
