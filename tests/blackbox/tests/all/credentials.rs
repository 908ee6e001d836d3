//! Whose credential goes where.

use blackbox::{Engine, Faults, Settings, World, both_engines};

use crate::support::CHAT;

both_engines![
    a_clients_credential_reaches_no_worker,
    each_worker_gets_its_own_key_and_no_other,
    a_workers_key_is_nowhere_to_be_seen,
    a_worker_without_a_key_in_the_environment_stops_the_start,
];

const CLIENT_SECRET: &str = "client-secret-4711";
const KEYS: [&str; 2] = ["first-worker-key-0815", "second-worker-key-1234"];

/// Two workers with keys, and a third without; the endpoint tries them in this order.
fn three_workers(engine: Engine) -> World {
    World::on(engine)
        .worker_with_key("w1", "FIRST_KEY", KEYS[0])
        .worker_with_key("w2", "SECOND_KEY", KEYS[1])
        .worker("w3")
        .endpoint("chat", &[("w1", "a"), ("w2", "b"), ("w3", "c")])
        .start()
}

/// Whether any header or the body that a worker got holds this text.
fn was_told(world: &World, worker: &str, secret: &str) -> bool {
    let holds = |bytes: &[u8]| {
        bytes
            .windows(secret.len())
            .any(|window| window == secret.as_bytes())
    };
    world.worker(worker).requests().iter().any(|request| {
        holds(&request.body)
            || request
                .headers
                .iter()
                .any(|(name, value)| holds(name) || holds(value))
    })
}

fn a_clients_credential_reaches_no_worker(engine: Engine) {
    let world = three_workers(engine);
    world.fail("w1", Faults::status(503));
    world.fail("w2", Faults::status(503));
    let bearer = format!("Authorization: Bearer {CLIENT_SECRET}");
    let lines = ["x-api-key", "api-key", "X-Api-Key", "proxy-authorization"]
        .map(|name| format!("{name}: {CLIENT_SECRET}"));
    let headers: Vec<&str> = [bearer.as_str()]
        .into_iter()
        .chain(lines.iter().map(String::as_str))
        .collect();

    let response = world.request("POST", "/v1/chat/completions", &headers, CHAT.as_bytes());

    assert_eq!(
        (response.status, world.hits()),
        (200, vec![1, 1, 1]),
        "{response:?}"
    );
    for worker in ["w1", "w2", "w3"] {
        assert!(!was_told(&world, worker, CLIENT_SECRET), "{worker}");
    }
}

fn each_worker_gets_its_own_key_and_no_other(engine: Engine) {
    let world = three_workers(engine);
    world.fail("w1", Faults::status(503));
    world.fail("w2", Faults::status(503));

    assert_eq!(world.chat(CHAT).content(), "hello from w3");

    for (worker, key) in [("w1", Some(KEYS[0])), ("w2", Some(KEYS[1])), ("w3", None)] {
        let seen = world.worker(worker).requests();
        let shown = seen[0].header("authorization").map(<[u8]>::to_vec);
        assert_eq!(
            shown,
            key.map(|key| format!("Bearer {key}").into_bytes()),
            "{worker}"
        );
        for other in KEYS.into_iter().filter(|other| Some(*other) != key) {
            assert!(!was_told(&world, worker, other), "{worker}");
        }
    }
}

fn a_workers_key_is_nowhere_to_be_seen(engine: Engine) {
    let world = three_workers(engine);
    world.fail("w1", Faults::status(503));

    let good = world.chat(CHAT);
    world.fail("w2", Faults::status(400));
    let bad = world.chat(CHAT);
    let ids = [&good, &bad].map(|response| {
        response
            .header("x-request-id")
            .expect("every answer has an id")
    });
    let lines: Vec<_> = ids.iter().map(|id| world.log().request(id)).collect();

    assert_eq!((good.status, bad.status), (200, 400));
    let places = [
        ("the answer", format!("{good:?}")),
        ("the refusal", format!("{bad:?}")),
        (
            "the access log",
            format!("{lines:?}{:?}", world.log().lines()),
        ),
        ("the gateway's own log", world.output()),
    ];
    for (place, text) in places {
        assert!(
            KEYS.into_iter().all(|key| !text.contains(key)),
            "{place}: {text}"
        );
    }
}

fn a_worker_without_a_key_in_the_environment_stops_the_start(engine: Engine) {
    let started = std::panic::catch_unwind(|| {
        World::on(engine)
            .worker_with(
                "workers",
                Settings {
                    id: "w1".to_owned(),
                    ..Settings::default()
                },
                Some("DRAGOMAN_TEST_KEY_THAT_NOBODY_SETS"),
            )
            .endpoint("chat", &[("w1", "a")])
            .start()
    });

    assert!(
        started.is_err(),
        "requests would go to the worker without its key"
    );
}
