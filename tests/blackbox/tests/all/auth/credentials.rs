//! Which credentials are accepted, and what the others are told.

use blackbox::{End, Engine, Faults, World, both_engines};

use super::{
    KEY_A, KEY_B, KEY_OLD, KEY_SUSPENDED, KEYS, bearer, builder, callers, chat_with, get_as, id,
};
use crate::support::{CHAT, refused};

both_engines![
    a_known_caller_is_served_and_named_in_the_log,
    the_scheme_counts_in_any_case_and_the_key_only_as_it_is,
    whoever_is_not_known_reaches_no_worker,
    a_caller_refused_by_name_is_in_the_log,
    one_request_cannot_show_two_credentials,
    a_refusal_does_not_wait_for_the_body,
    anthropic_clients_are_refused_in_their_own_shape,
    a_clients_key_is_nowhere_to_be_seen,
];

fn a_known_caller_is_served_and_named_in_the_log(engine: Engine) {
    let world = callers(engine);

    let response = chat_with(&world, &[&bearer(KEY_A)]);

    assert_eq!(response.content(), "hello from w1");
    let line = world.log().request(&id(&response));
    for (field, value) in [("tenant", "team-a"), ("app", "chatbot"), ("key", "k-a")] {
        assert_eq!(line[field], value, "{field} of {line}");
    }
}

/// C24
fn the_scheme_counts_in_any_case_and_the_key_only_as_it_is(engine: Engine) {
    let world = callers(engine);
    let wrong_case = KEY_B.replace('Q', "q");
    for (line, status) in [
        (format!("authorization: bearer {KEY_B}"), 200),
        (format!("authorization: BEARER {KEY_B}"), 200),
        (format!("Authorization: Bearer  {KEY_B}"), 200),
        (format!("x-api-key: {KEY_B}"), 200),
        (format!("X-API-Key: {KEY_B}"), 200),
        (format!("api-key: {KEY_B}"), 200),
        (format!("authorization: Bearer\t{KEY_B}"), 401),
        (format!("authorization: Basic {KEY_B}"), 401),
        (format!("authorization: Bearer{KEY_B}"), 401),
        (format!("authorization: {KEY_B}"), 401),
        (format!("authorization: Bearer {wrong_case}"), 401),
        (format!("x-api-key: {wrong_case}"), 401),
        (format!("x-api-key: Bearer {KEY_B}"), 401),
    ] {
        let before = world.hits();
        let response = chat_with(&world, &[&line]);
        assert_eq!(response.status, status, "{line}: {response:?}");
        assert_eq!(world.hits() == before, status == 401, "{line}");
    }
}

fn whoever_is_not_known_reaches_no_worker(engine: Engine) {
    let world = callers(engine);
    let long = format!("x-api-key: {}", "k".repeat(5000));
    let table = [
        ("accept: */*", 401, "missing_credential"),
        ("authorization: ", 401, "missing_credential"),
        ("authorization: Bearer", 401, "missing_credential"),
        ("x-api-key: ", 401, "missing_credential"),
        (
            &format!("proxy-{}", bearer(KEY_A)),
            401,
            "missing_credential",
        ),
        (&format!("cookie: {KEY_A}"), 401, "missing_credential"),
        ("authorization: Bearer sk-nobody", 401, "invalid_credential"),
        (
            "authorization: Bearer \u{e9}\u{ff}",
            401,
            "invalid_credential",
        ),
        (&long, 401, "invalid_credential"),
        (&bearer(KEY_OLD), 401, "invalid_credential"),
        (&bearer(KEY_SUSPENDED), 403, "tenant_inactive"),
    ];
    for (line, status, code) in table {
        let response = chat_with(&world, &[line]);
        assert_eq!(response.outcome(), refused(status, code), "{line:.80}");
        let scheme = response.header("www-authenticate");
        assert_eq!(
            scheme.as_deref(),
            (status == 401).then_some("Bearer"),
            "{line:.80}"
        );
    }
    let odd = b"POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\nx-api-key: \xff\xfe\xf0\r\ncontent-length: 2\r\n\r\n{}".to_vec();
    let response = world.connect().send(&odd).response();
    assert_eq!(response.outcome(), refused(401, "invalid_credential"));

    assert_eq!(world.hits(), [0]);
    assert_eq!(chat_with(&world, &[&bearer(KEY_A)]).status, 200);
}

fn a_caller_refused_by_name_is_in_the_log(engine: Engine) {
    let world = callers(engine);
    for (key, name, code) in [
        (KEY_OLD, "k-old", "invalid_credential"),
        (KEY_SUSPENDED, "k-suspended", "tenant_inactive"),
    ] {
        let response = get_as(&world, key, "/v1/models");
        let line = world.log().request(&id(&response));
        assert_eq!(
            (&line["key"], &line["error"]),
            (&name.into(), &code.into()),
            "{line}"
        );
    }
}

fn one_request_cannot_show_two_credentials(engine: Engine) {
    let world = callers(engine);
    let a = bearer(KEY_A);
    let table: [(&[&str], bool); 8] = [
        (&[&a, &a], true),
        (
            &[
                &a,
                &format!("x-api-key: {KEY_A}"),
                &format!("api-key: {KEY_A}"),
            ],
            true,
        ),
        (
            &[
                &format!("x-api-key: {KEY_A}"),
                &format!("x-api-key: {KEY_A}"),
            ],
            true,
        ),
        (&[&a, &bearer(KEY_B)], false),
        (&[&a, &format!("x-api-key: {KEY_B}")], false),
        (
            &[
                &format!("x-api-key: {KEY_A}"),
                &format!("x-api-key: {KEY_B}"),
            ],
            false,
        ),
        (
            &[&format!("x-api-key: {KEY_A}"), "api-key: sk-nobody"],
            false,
        ),
        (
            &["authorization: Basic dTpw", &format!("x-api-key: {KEY_A}")],
            false,
        ),
    ];
    for (lines, accepted) in table {
        let before = world.hits();
        let response = chat_with(&world, lines);
        if accepted {
            assert_eq!(response.status, 200, "{lines:?}: {response:?}");
        } else {
            assert_eq!(
                response.outcome(),
                refused(401, "ambiguous_credential"),
                "{lines:?}"
            );
            assert_eq!(world.hits(), before, "{lines:?}");
        }
    }
}

fn a_refusal_does_not_wait_for_the_body(engine: Engine) {
    let world = callers(engine);
    let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: g\r\n";
    for rest in [
        "content-length: 1000000\r\n\r\n",
        "content-length: 1000000\r\n\r\n{",
        "transfer-encoding: chunked\r\n\r\n",
        "transfer-encoding: chunked\r\n\r\n1\r\n{\r\n",
    ] {
        let response = world.connect().send(format!("{head}{rest}")).response();
        assert_eq!(
            response.outcome(),
            refused(401, "missing_credential"),
            "{rest:?}"
        );
        assert_eq!(response.end, End::Complete, "{rest:?}");
    }
    assert_eq!(world.hits(), [0]);
}

fn anthropic_clients_are_refused_in_their_own_shape(engine: Engine) {
    let world = callers(engine);

    let missing = world.request("POST", "/v1/messages", &[], CHAT.as_bytes());
    let suspended = format!("x-api-key: {KEY_SUSPENDED}");
    let inactive = world.request(
        "POST",
        "/v1/messages?beta=true",
        &[&suspended],
        CHAT.as_bytes(),
    );

    for (response, status, kind) in [
        (missing, 401, "authentication_error"),
        (inactive, 403, "permission_error"),
    ] {
        let body = response.json();
        assert_eq!(response.status, status);
        assert_eq!(
            (&body["type"], &body["error"]["type"]),
            (&"error".into(), &kind.into())
        );
        assert_eq!(body["request_id"], id(&response));
    }
}

/// Every way to show a key: well, twice, beside another, in the wrong place.
fn ways_to_show(key: &str) -> [Vec<String>; 4] {
    let x_api_key = format!("x-api-key: {key}");
    let api_key = format!("api-key: {key}");
    let basic = format!("authorization: Basic {key}");
    [
        vec![bearer(key)],
        vec![x_api_key.clone(), api_key, bearer(key)],
        vec![x_api_key, basic],
        vec![format!("proxy-authorization: Basic {key}"), bearer(key)],
    ]
}

/// What the workers got, headers and bodies.
fn seen_by_workers(world: &World) -> String {
    let requests = ["w1", "w2"].map(|worker| world.worker(worker).requests());
    let requests = requests.iter().flatten();
    let bytes = requests.flat_map(|request| {
        let headers = request
            .headers
            .iter()
            .flat_map(|(name, value)| [name, value]);
        headers.chain([&request.body])
    });
    String::from_utf8_lossy(&bytes.flatten().copied().collect::<Vec<u8>>()).into_owned()
}

/// Neither good nor bad keys, neither on a road that ends well nor on one that does not.
fn a_clients_key_is_nowhere_to_be_seen(engine: Engine) {
    const BAD: &str = "sk-unknown-31337";
    let world = builder(engine)
        .worker("w2")
        .endpoint("two", &[("w1", "large"), ("w2", "medium")])
        .start();
    world.fail("w1", Faults::status(503));
    let two = CHAT.replace("\"chat\"", "\"two\"");
    let asked = [
        ("/v1/chat/completions", &*two),
        ("/nowhere", ""),
        ("/v1/messages", "{"),
    ];
    let keys = || KEYS.into_iter().chain([BAD]);

    let mut answers = Vec::new();
    for lines in keys().flat_map(ways_to_show) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        for (path, body) in asked {
            answers.push(world.request("POST", path, &lines, body.as_bytes()));
        }
    }
    for response in &answers {
        let _ = world.log().request(&id(response));
    }

    assert!(world.hits().iter().all(|hits| *hits > 0), "{answers:?}");
    for (place, text) in [
        ("an answer", format!("{answers:?}")),
        ("a worker's request", seen_by_workers(&world)),
        ("the access log", format!("{:?}", world.log().lines())),
        ("the gateway's own log", world.output()),
    ] {
        for key in keys() {
            assert!(!text.contains(key), "{place} has {key}: {text}");
        }
    }
}
