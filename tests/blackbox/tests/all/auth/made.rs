//! Keys that `host-sim keys new` makes.

use std::process::Command;

use blackbox::{Engine, World, both_engines};
use serde_json::{Value, json};

use super::{bearer, chat_with, get_as};
use crate::support::refused;

both_engines![a_key_that_was_made_is_accepted_with_the_record_that_was_made_of_it];

/// A key for chats of `team-a` and its record.
fn make() -> (String, Value) {
    let made = Command::new(Engine::HostSim.program())
        .args(["keys", "new", "--id", "k-made", "--tenant", "team-a"])
        .args(["--app", "chatbot", "--generation", "3", "--scope", "chat"])
        .args(["--format", "json"])
        .output()
        .expect("the program runs");
    let mut made: Value = serde_json::from_slice(&made.stdout).expect("one object");
    let key = made["key"].as_str().expect("a key").to_owned();
    (key, made["record"].take())
}

fn a_key_that_was_made_is_accepted_with_the_record_that_was_made_of_it(engine: Engine) {
    let (key, record) = make();
    // The record is all that the document has of it: its digest too is the program's.
    let world = World::on(engine)
        .worker("w1")
        .document(|document| {
            let document = document.tenant("team-a", json!({}));
            document.key("k-made", &key, "team-a", record)
        })
        .endpoint("chat", &[("w1", "large")])
        .start();

    let served = chat_with(&world, &[&bearer(&key)]);

    assert_eq!(served.status, 200, "{served:?}");
    let line = world.log().request(&super::id(&served));
    for (field, value) in [("key", "k-made"), ("app", "chatbot")] {
        assert_eq!(line[field], value, "{field} of {line}");
    }
    let other = chat_with(&world, &[&format!("x-api-key: {}", &key[..key.len() - 1])]);
    assert_eq!(other.outcome(), refused(401, "invalid_credential"));
    assert_eq!(get_as(&world, &key, "/v1/models").status, 403);
    assert_eq!(world.hits(), [1]);
}
