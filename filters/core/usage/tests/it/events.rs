//! Answers that are streams of events.

use dragoman_usage::{Kind, Scanner, Usage};

use crate::{both, everywhere, told, usage};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn events(body: &str) -> Option<Usage> {
    everywhere(Kind::Events, body.as_bytes())
}

const CHAT: &str = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}],\"usage\":null}\n\n\
data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\\"usage\\\":{\\\"prompt_tokens\\\":1}\"}}],\"usage\":null}\n\n\
data: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":7,\"total_tokens\":12}}\n\n\
data: [DONE]\n\n";

const MESSAGES: &str = "event: message_start\n\
data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"content\":[],\"usage\":{\"input_tokens\":25,\"cache_read_input_tokens\":10,\"output_tokens\":1}}}\n\n\
event: ping\ndata: {\"type\": \"ping\"}\n\n\
event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"{}\"}}\n\n\
event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":15}}\n\n\
event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

const RESPONSES: &str = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"output\":[],\"usage\":null}}\n\n\
event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"Hi\"}\n\n\
event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"output\":[{\"usage\":{\"input_tokens\":1}}],\"usage\":{\"input_tokens\":37,\"output_tokens\":11,\"output_tokens_details\":{\"reasoning_tokens\":0},\"total_tokens\":48},\"user\":null}}\n\n";

#[test]
fn each_api_tells_its_tokens_in_its_own_events() {
    assert_eq!(events(CHAT), usage([Some(5), Some(7), Some(12)]));
    assert_eq!(events(MESSAGES), both(35, 15));
    assert_eq!(events(RESPONSES), usage([Some(37), Some(11), Some(48)]));
}

/// C85: also at every pair of places.
#[test]
fn two_cuts_anywhere_change_nothing() {
    let body = "\u{feff}event: a\r\ndata: {\"x\":\"\\\\\",\"usage\":{\"prompt_tokens\":5,\"output_tokens\":70}}\r\n\r\ndata: [DONE]\r\n\r\n";
    let body = body.as_bytes();
    for second in 0..=body.len() {
        for first in 0..=second {
            let chunks = [&body[..first], &body[first..second], &body[second..]];
            assert_eq!(
                told(Kind::Events, chunks),
                both(5, 70),
                "{first} and {second}"
            );
        }
    }
}

#[test]
fn lines_may_look_as_the_standard_allows() {
    const USAGE: &str = "{\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":7}}";
    for body in [
        format!("data:{USAGE}\n\n"),
        format!("data: {USAGE}\r\n\r\n"),
        format!("data: {USAGE}\r\r"),
        format!("\u{feff}data: {USAGE}\n\n"),
        format!("data: {USAGE}"),
        format!("data: {USAGE}\n"),
        format!(": comment\n\n:\ndata: {USAGE}\n\n"),
        format!("id: 1\nretry: 5\nevent: x\ndata: {USAGE}\nid: 2\n\n"),
        format!("data\ndata: {USAGE}\ndata\n\n"),
        "data: {\"usage\":\ndata: {\"prompt_tokens\":5,\r\ndata:\rdata:\"completion_tokens\":7}\n: in between\ndata: }\n\n".to_owned(),
        format!("data: {{\"broken\n\ndata: {USAGE}\n\n"),
        format!("data: {{\"usage\":{{\"prompt_tokens\":9\n\ndata: {USAGE}\n\n"),
        format!("data: {{\"message\":{{\"x\":\"\n\r\ndata: {USAGE}\n\n"),
        format!("data: [DONE]\n\ndata: {USAGE}\n\n"),
        format!("data: 12\n\ndata: \"\n\ndata: {USAGE}\n\n"),
        "data: {\"usage\":\ndata\ndata: {\"prompt_tokens\":5,\nda\ndata: \"completion_tokens\":7}}\n\n".to_owned(),
    ] {
        assert_eq!(events(&body), both(5, 7), "{body:?}");
    }
}

#[test]
fn what_is_no_data_does_not_count() {
    const USAGE: &str = "{\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":7}}";
    for body in [
        format!("{USAGE}\n\n"),
        format!(" data: {USAGE}\n\n"),
        format!("Data: {USAGE}\n\n"),
        format!("data : {USAGE}\n\n"),
        format!("datas: {USAGE}\n\n"),
        format!(": data: {USAGE}\n\n"),
        format!("event: data: {USAGE}\n\n"),
        format!("data: \"{USAGE}\n\n"),
        format!("data: [{USAGE}]\n\n"),
        "data: {\"usage\":{\"prompt_tokens\":\ndata: 5\n\ndata: }}\n\n".to_owned(),
        // A line feed between two lines of data parts the number.
        "data: {\"usage\":{\"prompt_tokens\":5\ndata:1}}\n\n".to_owned(),
    ] {
        assert_eq!(events(&body), None, "{body:?}");
    }
}

#[test]
fn an_event_that_breaks_off_leaves_nothing_to_the_next() {
    let body =
        "data: {\"usage\":{\"prompt_tokens\":5,\n\ndata: {\"usage\":{\"completion_tokens\":7}}\n\n";
    assert_eq!(events(body), usage([None, Some(7), None]));
}

/// C92.
#[test]
fn events_without_choices_are_events() {
    for first in [
        r#"{"choices":[],"prompt_filter_results":[]}"#,
        r#"{"choices":null}"#,
        "{}",
        r#"{"choices":[{}]}"#,
        r#"{"choices":[{"delta":null}]}"#,
        r#"{"choices":[],"usage":{}}"#,
        r#"{"choices":[],"usage":{"total_tokens":"11"}}"#,
    ] {
        let body = format!(
            "data: {first}\n\ndata: {{\"choices\":[],\"usage\":{{\"total_tokens\":12}}}}\n\n"
        );
        assert_eq!(events(&body), usage([None, None, Some(12)]), "{first}");
    }
}

/// C42: it is the same however often one asks.
#[test]
fn a_repeated_usage_is_not_added_up() {
    let body = "data: {\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":1}}\n\n\
        data: {\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":7}}\n\ndata: {\"usage\":null}\n\n";
    assert_eq!(events(body), both(5, 7));
    let mut scanner = Scanner::new(Kind::Events);
    scanner.push(body.as_bytes());
    assert_eq!(scanner.usage(), scanner.usage());
}

#[test]
fn a_stream_that_breaks_off_tells_what_was_known() {
    let first = MESSAGES.find("}}}").unwrap() + 1;
    let last = MESSAGES.find("15}").unwrap() + 3;
    for end in 0..MESSAGES.len() {
        let expected = match end {
            _ if end < first => None,
            _ if end < last => both(35, 1),
            _ => both(35, 15),
        };
        assert_eq!(
            told(Kind::Events, [&MESSAGES.as_bytes()[..end]]),
            expected,
            "{}",
            &MESSAGES[..end]
        );
    }
}

#[test]
fn an_endless_line_is_passed_over_and_the_next_event_read() {
    for start in ["data: {\"x\":\"", "data: {\"x\":[", "data: ", ": ", "id: "] {
        let mut scanner = Scanner::new(Kind::Events);
        scanner.push(start.as_bytes());
        for _ in 0..100_000 {
            scanner.push(b"data: {\\\"usage\\\":{\\\"prompt_tokens\\\":1}}");
        }
        assert_eq!(scanner.usage(), None, "{start}");
        scanner.push(CHAT.as_bytes());
        scanner.push(b"\n\n");
        scanner.push(CHAT.as_bytes());
        assert_eq!(
            scanner.usage(),
            usage([Some(5), Some(7), Some(12)]),
            "{start}"
        );
    }
}
