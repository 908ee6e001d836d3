//! What the client gets when nobody is left to try, or another try would not be right.

use blackbox::{At, Engine, Faults, How, World, both_engines};
use serde_json::json;

use crate::support::{CHAT, refused, two_workers};

both_engines![
    a_workers_own_refusal_passes_once_and_unchanged,
    no_more_workers_are_tried_than_the_endpoint_allows,
    the_last_answer_is_the_clients,
    when_nobody_can_be_reached_the_client_is_told_when_to_try_again,
    when_nobody_answers_in_time_the_client_is_told_so,
    an_endpoint_without_workers_has_no_capacity,
];

fn a_workers_own_refusal_passes_once_and_unchanged(engine: Engine) {
    let world = two_workers(engine);
    let statuses = [400, 401, 404, 408, 409, 413, 422, 500, 501];
    for status in statuses {
        world.fail(
            "w1",
            Faults {
                body: Some(format!("no: {status}")),
                ..Faults::status(status)
            },
        );
        let response = world.chat(CHAT);
        assert_eq!(
            (response.status, response.text()),
            (status, format!("no: {status}"))
        );
    }
    assert_eq!(world.hits(), [statuses.len(), 0]);
}

fn no_more_workers_are_tried_than_the_endpoint_allows(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .worker("w3")
        .endpoint_with(
            "chat",
            &[("w1", "a"), ("w2", "b"), ("w3", "c")],
            json!({"max_attempts": 2}),
        )
        .endpoint_with(
            "once",
            &[("w1", "a"), ("w2", "b")],
            json!({"max_attempts": 1}),
        )
        .start();
    world.fail("w1", Faults::status(503));
    world.fail("w2", Faults::status(503));

    assert_eq!(world.chat(CHAT).status, 503);
    assert_eq!(world.hits(), [1, 1, 0]);
    assert_eq!(world.chat(r#"{"model":"once"}"#).status, 503);
    assert_eq!(world.hits(), [2, 1, 0]);
}

fn the_last_answer_is_the_clients(engine: Engine) {
    let world = two_workers(engine);
    world.fail("w1", Faults::status(503));
    let headers = [("retry-after".to_owned(), "17".to_owned())].into();
    world.fail(
        "w2",
        Faults {
            headers,
            body: Some("slow down".to_owned()),
            ..Faults::status(429)
        },
    );

    let response = world.chat(CHAT);

    assert_eq!(
        (response.status, response.text().as_str()),
        (429, "slow down")
    );
    assert_eq!(response.header("retry-after").as_deref(), Some("17"));
}

fn when_nobody_can_be_reached_the_client_is_told_when_to_try_again(engine: Engine) {
    let world = two_workers(engine);
    let refuse = || {
        for worker in ["w1", "w2"] {
            world.worker(worker).refuse();
        }
    };
    let reset = || {
        for worker in ["w1", "w2"] {
            world.worker(worker).accept_again();
            world.fail(worker, Faults::interrupt(At::BeforeHeaders, How::Reset));
        }
    };
    for (what, fail) in [("refused", &refuse as &dyn Fn()), ("reset", &reset)] {
        fail();
        let response = world.chat(CHAT);
        assert_eq!(
            response.outcome(),
            refused(503, "no_backend_available"),
            "{what}"
        );
        assert_eq!(
            response.header("retry-after").as_deref(),
            Some("5"),
            "{what}"
        );
        assert_eq!(
            response.header("content-type").as_deref(),
            Some("application/json"),
            "{what}"
        );
        let request_id = response
            .header("x-request-id")
            .expect("every answer has an id");
        assert_eq!(response.json()["error"]["request_id"], request_id, "{what}");
    }
}

fn when_nobody_answers_in_time_the_client_is_told_so(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .worker("w2")
        .endpoint_with(
            "chat",
            &[("w1", "a"), ("w2", "b")],
            json!({"timeout_ms": 200}),
        )
        .start();
    for worker in ["w1", "w2"] {
        world.fail(worker, Faults::interrupt(At::BeforeHeaders, How::Stall));
    }

    let response = world.chat(CHAT);

    assert_eq!(response.outcome(), refused(504, "upstream_timeout"));
    assert_eq!(world.hits(), [1, 1]);
}

fn an_endpoint_without_workers_has_no_capacity(engine: Engine) {
    let world = World::on(engine)
        .worker("w1")
        .endpoint("chat", &[])
        .endpoint_with(
            "off",
            &[],
            json!({"targets": [{"worker": "w1", "enabled": false}]}),
        )
        .start();

    for model in ["chat", "off"] {
        let response = world.chat(&format!(r#"{{"model":"{model}"}}"#));
        assert_eq!(response.outcome(), refused(503, "no_capacity"), "{model}");
        assert!(
            response.header("retry-after").is_some(),
            "{model}: {response:?}"
        );
    }
    assert_eq!(world.hits(), [0]);
}
