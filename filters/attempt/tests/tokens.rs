//! The tokens of an answer, on the fake host.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod support;

use dragoman_sdk::fake::Exchange;
use dragoman_sdk::{Action, Filter};

use support::{BODY, at};

const ANSWER: &[u8] =
    br#"{"choices":[],"usage":{"prompt_tokens":19,"completion_tokens":7,"total_tokens":26}}"#;
const JSON: (&str, &str) = ("content-type", "application/json; charset=utf-8");
const EVENTS: (&str, &str) = ("content-type", "text/event-stream");

/// An attempt whose answer has begun with this head.
fn answered(status: &str, headers: &[(&str, &str)]) -> Exchange<impl Filter> {
    let mut it = at("a", "127.0.0.1:9101");
    assert_eq!(it.request(BODY), Action::Continue);
    let head = [&[(":status", status)], headers].concat();
    it.response(&head, false);
    it
}

/// What is published as input and output.
fn tokens(it: &Exchange<impl Filter>) -> [Option<&str>; 2] {
    ["dragoman.input_tokens", "dragoman.output_tokens"].map(|name| {
        let value = it.host.properties.get(name)?;
        Some(std::str::from_utf8(value).unwrap())
    })
}

#[test]
fn a_json_answer_tells_its_tokens_wherever_it_is_cut() {
    for cut in 0..=ANSWER.len() {
        let mut it = answered("200", &[JSON]);
        let (first, second) = ANSWER.split_at(cut);
        it.response_data(first, false);
        it.response_data(second, false);
        it.response_data(b"", true);
        it.done();
        assert_eq!(tokens(&it), [Some("19"), Some("7")], "cut at {cut}");
    }
}

#[test]
fn a_stream_tells_its_tokens_as_they_become_known() {
    let mut it = answered("200", &[EVENTS]);
    it.response_data(b"data: {\"choices\":[{}],\"usage\":null}\n\n", false);
    assert_eq!(tokens(&it), [None, None]);
    it.response_data(
        b"data: {\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n",
        false,
    );
    assert_eq!(tokens(&it), [Some("25"), Some("1")]);
    it.response_data(b"data: {\"usage\":{\"output_tokens\":15}}\n\n", false);
    assert_eq!(tokens(&it), [Some("25"), Some("15")]);
}

#[test]
fn what_is_known_is_published_once() {
    let mut it = answered("200", &[EVENTS]);
    it.response_data(b"data: {\"usage\":{\"prompt_tokens\":5}}\n\n", false);
    assert_eq!(tokens(&it), [Some("5"), None]);
    it.host.properties.clear();
    it.response_data(
        b"data: {\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":7}}\n\n",
        false,
    );
    assert_eq!(tokens(&it), [None, Some("7")]);
}

#[test]
fn a_broken_stream_leaves_what_was_known() {
    let mut it = answered("200", &[EVENTS]);
    it.response_data(
        b"data: {\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\ndata: {\"usa",
        false,
    );
    it.done();
    assert_eq!(tokens(&it), [Some("25"), Some("1")]);
    assert_eq!(it.host.properties["dragoman.attempts"], b"w1=200:cut");
}

#[test]
fn an_answer_that_cannot_tell_is_not_read() {
    for (status, headers) in [
        ("400", vec![JSON]),
        ("201", vec![JSON]),
        ("200", vec![]),
        ("200", vec![("content-type", "text/plain")]),
        ("200", vec![JSON, ("content-encoding", "gzip")]),
        ("200", vec![EVENTS]),
    ] {
        let mut it = answered(status, &headers);
        it.response_data(ANSWER, true);
        it.done();
        assert_eq!(tokens(&it), [None, None], "{status} {headers:?}");
    }
    let mut it = answered("200", &[JSON, ("content-encoding", "identity")]);
    it.response_data(ANSWER, true);
    assert_eq!(tokens(&it), [Some("19"), Some("7")]);
}
