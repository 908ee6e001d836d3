//! The headers that SDKs of OpenAI's API read.

use blackbox::{Engine, Faults, both_engines};

use super::{KEY_A, KEY_BATCH, NEVER, ask, bearer, builder, limit, told};
use crate::support::{STREAMED_CHAT, refused};

both_engines![
    every_answer_tells_what_is_left,
    the_tightest_limit_is_told,
    what_a_worker_says_of_its_limits_is_replaced,
    a_refusal_is_in_the_log_and_in_the_shape_of_the_api,
];

fn two(limit: &str, remaining: &str) -> [Option<String>; 2] {
    [Some(limit.to_owned()), Some(remaining.to_owned())]
}

fn limit_and_remaining(response: &blackbox::Response) -> [Option<String>; 2] {
    let [limit, remaining, _] = told(response);
    [limit, remaining]
}

/// Seconds of a time like `16m39.5s`.
fn seconds(text: &str) -> f64 {
    let text = text.strip_suffix('s').expect("seconds at the end");
    let (minutes, rest) = text.split_once('m').unwrap_or(("0", text));
    let minutes: f64 = minutes.parse().expect("minutes");
    minutes * 60.0 + rest.parse::<f64>().expect("seconds")
}

fn every_answer_tells_what_is_left(engine: Engine) {
    let world = builder(engine, &[limit("per-key", &["key"], NEVER, 3)]).start();

    let json = ask(&world, KEY_A);
    let stream = world.request(
        "POST",
        "/v1/chat/completions",
        &[&bearer(KEY_A)],
        STREAMED_CHAT.as_bytes(),
    );
    world.fail("w1", Faults::status(503));
    let failed = ask(&world, KEY_A);
    let refusal = ask(&world, KEY_A);

    for (response, status, remaining) in [
        (&json, 200, "2"),
        (&stream, 200, "1"),
        (&failed, 503, "0"),
        (&refusal, 429, "0"),
    ] {
        assert_eq!(response.status, status);
        assert_eq!(limit_and_remaining(response), two("3", remaining));
    }
    // One token comes in 1,000 s.
    let [_, _, reset] = told(&json);
    assert_eq!(reset.as_deref(), Some("16m40s"));
    let [_, _, reset] = told(&refusal);
    let reset = seconds(&reset.expect("a time"));
    assert!((2_900.0..=3_000.0).contains(&reset), "{reset}");
    let wait = refusal.header("retry-after").expect("a time");
    let wait: f64 = wait.parse().expect("whole seconds");
    assert!((900.0..=1_000.0).contains(&wait), "{wait}");
    assert!(
        wait >= reset - 2_000.0 && wait < reset - 1_999.0,
        "{wait} {reset}"
    );
}

fn the_tightest_limit_is_told(engine: Engine) {
    let limits = [
        limit("per-key", &["key"], NEVER, 2),
        limit("per-tenant", &["tenant"], NEVER, 3),
    ];
    let world = builder(engine, &limits).start();

    assert_eq!(limit_and_remaining(&ask(&world, KEY_A)), two("2", "1"));
    let batch = ask(&world, KEY_BATCH);
    let [limit, remaining, reset] = told(&batch);
    assert_eq!(
        [limit, remaining],
        two("3", "1"),
        "of two with one left it is fuller later"
    );
    assert!(reset.is_some_and(|reset| reset.starts_with("33m")));
    assert_eq!(limit_and_remaining(&ask(&world, KEY_BATCH)), two("3", "0"));
}

fn what_a_worker_says_of_its_limits_is_replaced(engine: Engine) {
    let world = builder(engine, &[limit("per-key", &["key"], NEVER, 5)]).start();
    let headers = [
        ("x-ratelimit-limit-requests", "9000"),
        ("x-ratelimit-remaining-requests", "8999"),
        ("x-ratelimit-reset-requests", "7ms"),
        ("x-ratelimit-remaining-tokens", "6000"),
    ];
    world.fail(
        "w1",
        Faults {
            headers: headers
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            ..Faults::default()
        },
    );

    let response = ask(&world, KEY_A);

    let lines = response.headers.iter();
    let names = lines.filter(|(name, _)| name.starts_with("x-ratelimit-"));
    assert_eq!(names.count(), 4, "{response:?}");
    let [limit, remaining, reset] = told(&response).map(Option::unwrap_or_default);
    assert_eq!([&*limit, &*remaining, &*reset], ["5", "4", "16m40s"]);
    assert_eq!(
        response.header("x-ratelimit-remaining-tokens").as_deref(),
        Some("6000"),
        "of tokens the gateway says nothing"
    );
}

fn a_refusal_is_in_the_log_and_in_the_shape_of_the_api(engine: Engine) {
    let world = builder(engine, &[limit("per-key", &["key"], NEVER, 1)]).start();
    assert_eq!(ask(&world, KEY_A).status, 200);

    let refusal = ask(&world, KEY_A);

    assert_eq!(refusal.outcome(), refused(429, "rate_limited"));
    let error = &refusal.json()["error"];
    assert_eq!(error["type"], "rate_limit_error");
    let text = error["message"].as_str().unwrap_or_default();
    assert!(
        text.starts_with("the rate limit per-key is used up, try again in "),
        "{text}"
    );
    let id = refusal.header("x-request-id").expect("an id");
    assert_eq!(error["request_id"], *id);
    let line = world.log().request(&id);
    for (field, value) in [
        ("error", "rate_limited"),
        ("tenant", "team-a"),
        ("key", "k-a"),
    ] {
        assert_eq!(line[field], value, "{line}");
    }
    assert_eq!(line["code"], 429, "{line}");
}
