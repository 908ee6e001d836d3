//! Every world looks for key material in what its gateway wrote, and here it is seen to find it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use blackbox::{Engine, Faults, World, both_engines};

use super::{KEY_A, bearer, builder, chat_with};
use crate::support::CHAT;

both_engines![
    a_key_in_the_access_log_and_at_a_worker_fails_the_test,
    a_key_in_a_name_fails_the_test,
    a_part_of_a_workers_key_fails_the_test,
    a_key_in_an_answer_fails_the_test,
    without_a_leak_the_test_passes,
];

/// What a test says at its end.
fn complaint(world: World) -> String {
    let ended = catch_unwind(AssertUnwindSafe(|| drop(world)));
    let panic = ended.err().map(|panic| panic.downcast::<String>());
    panic.map_or_else(String::new, |text| *text.expect("a text"))
}

fn a_key_in_the_access_log_and_at_a_worker_fails_the_test(engine: Engine) {
    let world = builder(engine)
        .replace_in_yaml("%PATH(NQ):80%", "%REQ(X-NOTE)%")
        .start();
    let note = format!("x-note: of {KEY_A}");
    assert_eq!(chat_with(&world, &[&bearer(KEY_A), &note]).status, 200);

    let complaint = complaint(world);

    let lines = [
        format!("/access.log has a secret as it is: {KEY_A}"),
        format!("worker w1 got a secret as it is: {KEY_A}"),
    ];
    for line in lines {
        assert!(complaint.contains(&line), "{complaint}");
    }
}

fn a_key_in_a_name_fails_the_test(engine: Engine) {
    let world = builder(engine)
        .edit_yaml(|yaml| yaml.replace("stat_prefix: public", "stat_prefix: sk-planted-in-a-name"))
        .start();

    let complaint = complaint(world);

    for page in ["/stats", "/stats/prometheus", "/config_dump?include_eds"] {
        let line = format!("{page} has what looks like a key: sk-planted-in-a-name");
        assert!(complaint.contains(&line), "{page}: {complaint}");
    }
}

/// The variables of the gateway are secrets.
fn a_part_of_a_workers_key_fails_the_test(engine: Engine) {
    let world = World::on(engine)
        .worker_with_key("w1", "W1_KEY", "worker-key-of-w1-55d0")
        .endpoint("chat", &[("w1", "large")])
        .edit_yaml(|yaml| yaml.replace("stat_prefix: public", "stat_prefix: key-of-w1-55d0"))
        .start();
    assert_eq!(world.chat(CHAT).status, 200);

    let complaint = complaint(world);

    assert!(
        complaint.contains("/stats has a part of a secret: key-of-w1-55"),
        "{complaint}"
    );
}

fn a_key_in_an_answer_fails_the_test(engine: Engine) {
    let world = World::on(engine)
        .worker_with_key("w1", "W1_KEY", "worker-key-of-w1-55d0")
        .endpoint("chat", &[("w1", "large")])
        .start();
    let body = r#"{"hint":"your key d29ya2VyLWtleS1vZi13MS01NWQw"}"#;
    world.fail(
        "w1",
        Faults {
            body: Some(body.to_owned()),
            ..Faults::default()
        },
    );

    let asked = catch_unwind(AssertUnwindSafe(|| world.chat(CHAT)));

    let panic = asked
        .expect_err("the answer has the key")
        .downcast::<String>();
    assert!(panic.is_ok_and(|text| text.starts_with("a client was told a secret in base64")));
}

fn without_a_leak_the_test_passes(engine: Engine) {
    let world = builder(engine).start();
    assert_eq!(chat_with(&world, &[&bearer(KEY_A)]).status, 200);

    assert_eq!(complaint(world), "");
}
