//! What a worker counted stands in the request's log line, and its answer is not touched for it.

use std::time::Duration;

use blackbox::client::Piece;
use blackbox::world::request;
use blackbox::{At, Drip, End, Engine, Faults, How, Response, World, both_engines};
use serde_json::{Value, json};

use crate::support::{CHAT, STREAMED_CHAT, one_worker};

both_engines![
    a_json_answer_leaves_its_tokens_in_the_log,
    a_stream_leaves_its_tokens_in_the_log_however_it_is_cut,
    an_answer_in_anthropics_words_leaves_its_tokens_in_the_log,
    a_stream_that_breaks_off_leaves_what_was_known,
    a_client_that_leaves_leaves_what_was_known,
    an_answer_that_tells_nothing_passes_untouched,
    an_answer_of_12_mb_passes_and_leaves_its_tokens,
];

const STREAM_WITH_USAGE: &str =
    r#"{"model":"chat","messages":[],"stream":true,"stream_options":{"include_usage":true}}"#;
const MESSAGES: &str = r#"{"model":"chat","max_tokens":9,"messages":[]}"#;
const STREAMED_MESSAGES: &str = r#"{"model":"chat","max_tokens":9,"messages":[],"stream":true}"#;
/// Longest wait for what happens at once.
const PATIENCE: Duration = Duration::from_secs(10);

/// What the log says about the tokens of a request: input and output.
fn logged(world: &World, request_id: Option<String>) -> [Value; 2] {
    let line = world
        .log()
        .request(&request_id.expect("every answer has an id"));
    ["input_tokens", "output_tokens"].map(|field| line[field].clone())
}

fn logged_for(world: &World, response: &Response) -> [Value; 2] {
    logged(world, response.header("x-request-id"))
}

/// The objects of a stream's events.
fn events(response: &Response) -> Vec<Value> {
    let text = response.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok())
        .collect()
}

/// As the log writes numbers of the filters.
fn tokens(input: &Value, output: &Value) -> [Value; 2] {
    assert!(input.is_u64() && output.is_u64(), "{input} {output}");
    [input.to_string().into(), output.to_string().into()]
}

fn a_json_answer_leaves_its_tokens_in_the_log(engine: Engine) {
    let world = one_worker(engine);
    for (path, names) in [
        (
            "/v1/chat/completions",
            ["prompt_tokens", "completion_tokens"],
        ),
        ("/v1/responses", ["input_tokens", "output_tokens"]),
    ] {
        let response = world.post(path, CHAT);
        let usage = &response.json()["usage"];
        assert_eq!(
            logged_for(&world, &response),
            tokens(&usage[names[0]], &usage[names[1]]),
            "{path}"
        );
    }
    let embeddings = world.post("/v1/embeddings", r#"{"model":"chat","input":"text"}"#);
    let [input, output] = logged_for(&world, &embeddings);
    assert_eq!(
        input,
        embeddings.json()["usage"]["prompt_tokens"].to_string()
    );
    assert_eq!(output, Value::Null);
}

fn a_stream_leaves_its_tokens_in_the_log_however_it_is_cut(engine: Engine) {
    let world = one_worker(engine);
    for drip in [
        None,
        Some(Drip {
            bytes: 7,
            interval_ms: 1,
        }),
    ] {
        world.fail(
            "w1",
            Faults {
                drip,
                ..Faults::default()
            },
        );
        let response = world.chat(STREAM_WITH_USAGE);
        let usage = events(&response)
            .pop()
            .map(|event| event["usage"].clone())
            .expect("the stream has events");
        assert_eq!(
            logged_for(&world, &response),
            tokens(&usage["prompt_tokens"], &usage["completion_tokens"]),
            "{drip:?}"
        );
        assert!(response.text().ends_with("data: [DONE]\n\n"));
    }
}

fn an_answer_in_anthropics_words_leaves_its_tokens_in_the_log(engine: Engine) {
    let world = one_worker(engine);
    let response = world.post("/v1/messages", MESSAGES);
    let usage = &response.json()["usage"];
    assert_eq!(
        logged_for(&world, &response),
        tokens(&usage["input_tokens"], &usage["output_tokens"])
    );

    let response = world.post("/v1/messages", STREAMED_MESSAGES);
    let events = events(&response);
    let [start, delta] = ["message_start", "message_delta"].map(|name| {
        let event = events.iter().find(|event| event["type"] == name);
        event.expect("the stream has both").clone()
    });
    assert_eq!(
        logged_for(&world, &response),
        tokens(
            &start["message"]["usage"]["input_tokens"],
            &delta["usage"]["output_tokens"]
        )
    );
}

fn a_stream_that_breaks_off_leaves_what_was_known(engine: Engine) {
    let world = one_worker(engine);
    for (path, body, is_known) in [
        ("/v1/messages", STREAMED_MESSAGES, true),
        ("/v1/chat/completions", STREAM_WITH_USAGE, false),
    ] {
        for how in [How::Reset, How::Close] {
            world.fail("w1", Faults::interrupt(At::Events(2), how));
            let response = world.post(path, body);
            assert_eq!(response.end, End::BrokenOff, "{response:?}");
            let expected = if is_known {
                let usage = &events(&response)[0]["message"]["usage"];
                tokens(&usage["input_tokens"], &usage["output_tokens"])
            } else {
                [Value::Null, Value::Null]
            };
            assert_eq!(
                logged_for(&world, &response),
                expected,
                "{path}: {response:?}"
            );
        }
    }
}

fn a_client_that_leaves_leaves_what_was_known(engine: Engine) {
    let world = one_worker(engine);
    world.fail("w1", Faults::interrupt(At::Events(1), How::Stall));
    let mut client = world.connect();
    client.send(request(
        "POST",
        "/v1/messages",
        &["content-type: application/json"],
        STREAMED_MESSAGES.as_bytes(),
    ));
    let head = client.head();
    assert!(matches!(client.piece(&mut head.rest()), Piece::Data(..)));

    client.abort();

    assert!(world.worker("w1").wait_until_left(PATIENCE));
    let [input, output] = logged(&world, head.header("x-request-id"));
    assert!(input.is_string(), "{input}");
    assert_eq!(output, "0", "as the event told so far");
}

/// C06, C88, C90: no field, a refusal, or a body that cannot be read is no reason to hold anything.
fn an_answer_that_tells_nothing_passes_untouched(engine: Engine) {
    let world = one_worker(engine);
    let usage = r#"{"usage":{"prompt_tokens":5,"completion_tokens":7}}"#;
    let told = |body: &str, status, headers: &[(&str, &str)]| {
        let headers = headers.iter();
        let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        world.fail(
            "w1",
            Faults {
                status,
                body: Some(body.to_owned()),
                headers: headers.collect(),
                ..Faults::default()
            },
        );
        let response = world.chat(CHAT);
        assert_eq!(
            (response.end, response.text()),
            (End::Complete, body.to_owned())
        );
        logged_for(&world, &response)
    };
    let nothing = [Value::Null, Value::Null];
    for body in ["", "[]", "<html>", r#"{"usage":null}"#] {
        assert_eq!(told(body, None, &[]), nothing, "{body}");
    }
    assert_eq!(told(usage, Some(400), &[]), nothing);
    assert_eq!(told(usage, None, &[("content-encoding", "gzip")]), nothing);
    let forged = json!({"choices": [{"message": {"content": usage}}]}).to_string();
    assert_eq!(told(&forged, None, &[]), nothing);
    assert_eq!(told(usage, None, &[]), ["5", "7"].map(Value::from));

    world.fail("w1", Faults::default());
    let response = world.chat(STREAMED_CHAT);
    assert_eq!(
        logged_for(&world, &response),
        nothing,
        "it was not asked for"
    );
}

/// C23.
fn an_answer_of_12_mb_passes_and_leaves_its_tokens(engine: Engine) {
    let world = one_worker(engine);
    let content = r#"\"usage\":{\"prompt_tokens\":1} "#.repeat(400_000);
    let body = format!(
        r#"{{"choices":[{{"message":{{"content":"{content}"}}}}],"usage":{{"prompt_tokens":5,"completion_tokens":7}}}}"#
    );
    world.fail(
        "w1",
        Faults {
            body: Some(body.clone()),
            ..Faults::default()
        },
    );

    let response = world.chat(CHAT);

    assert!(response.body == body.as_bytes(), "{}", response.body.len());
    assert_eq!(logged_for(&world, &response), ["5", "7"].map(Value::from));
}
