//! Answers that are one JSON object.

use dragoman_usage::{Kind, Scanner, Usage};

use crate::{both, everywhere, usage};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

fn document(body: &str) -> Option<Usage> {
    everywhere(Kind::Document, body.as_bytes())
}

#[test]
fn each_api_tells_its_tokens_in_its_own_words() {
    for (body, expected) in [
        (
            r#"{"id":"chatcmpl-1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","tool_calls":[]},"finish_reason":"stop"}],"usage":{"prompt_tokens":19,"completion_tokens":10,"total_tokens":29,"prompt_tokens_details":{"cached_tokens":16},"completion_tokens_details":{"reasoning_tokens":3}},"system_fingerprint":null}"#,
            usage([Some(19), Some(10), Some(29)]),
        ),
        (
            r#"{"object":"list","data":[{"object":"embedding","embedding":[0.1,-2e-3],"index":0}],"model":"m","usage":{"prompt_tokens":8,"total_tokens":8}}"#,
            usage([Some(8), None, Some(8)]),
        ),
        (
            r#"{"id":"resp_1","object":"response","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}],"usage":{"input_tokens":36,"input_tokens_details":{"cached_tokens":30},"output_tokens":87,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":123}}"#,
            usage([Some(36), Some(87), Some(123)]),
        ),
        (
            r#"{"id":"msg_1","type":"message","content":[{"type":"text","text":"Hi"}],"usage":{"input_tokens":5,"cache_creation_input_tokens":100,"cache_read_input_tokens":2000,"cache_creation":{"ephemeral_5m_input_tokens":100},"output_tokens":7,"service_tier":"standard"}}"#,
            both(2105, 7),
        ),
        (
            r#"{"results":[],"usage":{"total_tokens":12}}"#,
            usage([None, None, Some(12)]),
        ),
    ] {
        assert_eq!(document(body), expected, "{body}");
    }
}

#[test]
fn white_space_and_order_do_not_matter() {
    let body = "\u{feff} \r\n{\n\t\"usage\" :\r{ \"completion_tokens\" : 7 ,\n \"prompt_tokens\":5 } , \"x\" : [ 1 , 2 ] }\n ";
    assert_eq!(document(body), both(5, 7));
}

#[test]
fn what_looks_like_usage_but_is_none_does_not_count() {
    for body in [
        r#"{"text":"\"usage\":{\"prompt_tokens\":5,\"completion_tokens\":7}"}"#,
        r#"{"text":"\\\\\",\\\"usage\":{"}"#,
        r#"{"text":"\\","x":"usage","y":{"prompt_tokens":5}}"#,
        r#"{"choices":[{"usage":{"prompt_tokens":5}}],"x":{"usage":{"prompt_tokens":5}}}"#,
        r#"{"message":{"usage":{"input_tokens":5}},"response":{"usage":{"input_tokens":5}}}"#,
        r#"{"x":["]",{"}":"{"},"\"]",[[]]],"y":{"z":["}","\\"],"a":"}"}}"#,
        r#"{"Usage":{"prompt_tokens":5},"usage ":{"prompt_tokens":5},"usages":{"prompt_tokens":5}}"#,
        r#"{"usage":[{"prompt_tokens":5}]}"#,
        r#"{"usage":null}"#,
        r#"{"usage":"prompt_tokens"}"#,
        r#"{"usage":{}}"#,
        r#"{"usage":{"cache_creation_input_tokens_1h":5,"prompt_tokens_":5,"input_tokens\"":5}}"#,
        r#"{"usage":{"details":{"prompt_tokens":5},"usage":{"prompt_tokens":5}}}"#,
        r#"{"usage":{"prompt_tokens":null,"completion_tokens":"7","total_tokens":[12]}}"#,
        r#"{"error":{"message":"bad param","type":"invalid_request_error"}}"#,
        "[]",
        r#"[{"usage":{"prompt_tokens":5}}]"#,
        r#""usage":{"prompt_tokens":5}"#,
        "null",
        "",
        "<html>{\"usage\":{\"prompt_tokens\":5}}",
    ] {
        assert_eq!(document(body), None, "{body}");
    }
}

#[test]
fn usage_behind_misleading_content_counts() {
    for before in [
        r#""text":"a \\\" \\\\","#,
        r#""text":"\"usage\":{\"prompt_tokens\":1}","#,
        r#""x":{"usage":{"prompt_tokens":1,"a":[{"b":"]}"}]}},"#,
        r#""a_key_that_is_longer_than_any_that_matters":1,"#,
        r#""e\"":true,"f\\":-1.5e+7,"":"","#,
        r#""usage":null,"#,
        r#""usage":[[{}]],"#,
    ] {
        let body =
            format!(r#"{{{before}"usage":{{"prompt_tokens":5,"completion_tokens":7}},"z":1}}"#);
        assert_eq!(document(&body), both(5, 7), "{body}");
    }
}

#[test]
fn only_whole_numbers_of_64_bits_count() {
    for (number, expected) in [
        ("0", Some(0)),
        ("18446744073709551615", Some(u64::MAX)),
        ("18446744073709551616", None),
        ("99999999999999999999999999", None),
        ("-5", None),
        ("5.0", None),
        ("5e2", None),
        ("\"5\"", None),
        ("true", None),
        ("null", None),
        ("[5]", None),
        ("{\"a\":5}", None),
    ] {
        for end in ["", ",\"a\":1", " "] {
            let body =
                format!(r#"{{"usage":{{"completion_tokens":3,"prompt_tokens":{number}{end}}}}}"#);
            assert_eq!(
                document(&body),
                usage([expected, Some(3), None]),
                "{number} then {end:?}"
            );
        }
    }
}

#[test]
fn the_last_number_counts() {
    for body in [
        r#"{"usage":{"prompt_tokens":1,"completion_tokens":1},"usage":{"prompt_tokens":5,"completion_tokens":7}}"#,
        r#"{"usage":{"prompt_tokens":1,"prompt_tokens":5,"completion_tokens":7,"completion_tokens":"8"}}"#,
        r#"{"usage":{"prompt_tokens":5,"completion_tokens":7},"usage":null}"#,
        r#"{"usage":{"input_tokens":5,"cache_creation_input_tokens_1h":5,"output_tokens":7}}"#,
    ] {
        assert_eq!(document(body), both(5, 7), "{body}");
    }
}

#[test]
fn of_two_spellings_the_larger_counts() {
    for body in [
        r#"{"usage":{"prompt_tokens":5,"completion_tokens":7,"input_tokens":0,"output_tokens":0}}"#,
        r#"{"usage":{"prompt_tokens":5,"cache_read_input_tokens":3,"input_tokens":2,"completion_tokens":7}}"#,
        r#"{"usage":{"prompt_tokens":5,"cache_read_input_tokens":3,"output_tokens":7}}"#,
        r#"{"usage":{"prompt_tokens":0,"completion_tokens":0,"input_tokens":5,"output_tokens":7}}"#,
    ] {
        assert_eq!(document(body), both(5, 7), "{body}");
    }
}

#[test]
fn a_sum_beyond_64_bits_stays_the_largest_number() {
    let body = r#"{"usage":{"input_tokens":18446744073709551615,"cache_read_input_tokens":5}}"#;
    assert_eq!(document(body), usage([Some(u64::MAX), None, None]));
}

#[test]
fn a_body_that_breaks_off_tells_what_came_whole() {
    let body = r#"{"usage":{"prompt_tokens":5,"completion_tokens":7},"usage":{"prompt_tokens":9},"x":"y"}"#;
    let first = body.find("},").unwrap() + 1;
    let second = body.rfind("},").unwrap() + 1;
    for end in 0..body.len() {
        let expected = match end {
            _ if end < first => None,
            _ if end < second => both(5, 7),
            _ => both(9, 7),
        };
        assert_eq!(document(&body[..end]), expected, "{}", &body[..end]);
    }
}

/// C23: metering gives up on nothing, however large.
#[test]
fn an_answer_of_12_mb_in_one_line_tells_its_usage() {
    const CHUNK: &[u8] = br#"text \" with escapes \\ and {\"usage\":{\"prompt_tokens\":1}} "#;
    let mut scanner = Scanner::new(Kind::Document);
    scanner.push(br#"{"choices":[{"message":{"content":""#);
    for _ in 0..12_000_000 / CHUNK.len() {
        scanner.push(CHUNK);
    }
    scanner.push(br#""}}],"deep":"#);
    for _ in 0..1_000_000 {
        scanner.push(b"[");
    }
    for _ in 0..1_000_000 {
        scanner.push(b"]");
    }
    scanner.push(br#","usage":{"prompt_tokens":5,"completion_tokens":7}}"#);
    assert_eq!(scanner.usage(), both(5, 7));
}
