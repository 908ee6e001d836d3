//! Bodies that are taken, with what is read from them, and bodies that are refused.

#![allow(clippy::panic, reason = "a helper of tests may fail the test")]

use dragoman_json::{Field, MAX_DEPTH, Request, ScanError, scan_request};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// What is read, or the words of the refusal.
fn scanned(body: &[u8]) -> Result<Request<'_>, String> {
    scan_request(body).map_err(|fault| fault.to_string())
}

fn model(body: &str) -> Option<String> {
    let request = scanned(body.as_bytes()).unwrap_or_else(|fault| panic!("{fault}: {body}"));
    let model = request.model?;
    assert_eq!(
        serde_json::from_str::<String>(&body[model.span])
            .ok()
            .as_deref(),
        Some(model.name.as_ref()),
        "the span is the string itself"
    );
    Some(model.name.into_owned())
}

fn refuse(cases: &[(&str, &str)]) {
    for (body, words) in cases {
        assert_eq!(scanned(body.as_bytes()), Err((*words).to_owned()), "{body}");
    }
}

/// Whether the value is taken where the gateway does not look at it.
fn takes(value: &[u8]) -> bool {
    let body = [br#"{"x":"#, value, b"}"].concat();
    scan_request(&body).is_ok()
}

#[test]
fn the_facts_are_read_wherever_they_stand() {
    let body = br#" { "messages" : [{"role":"user","content":"model"}] , "stream" : true,
        "max_tokens":0,"max_completion_tokens" : 4294967295 ,"max_output_tokens":17,"model" : "m" } "#;
    let request = scanned(body).unwrap();
    assert_eq!(request.model.as_ref().unwrap().name, "m");
    assert!(request.stream);
    assert_eq!(request.max_tokens, Some(0));
    assert_eq!(request.max_completion_tokens, Some(u32::MAX));
    assert_eq!(request.max_output_tokens, Some(17));
    assert_eq!(request.token_limit(), Some(u32::MAX));
}

#[test]
fn what_is_absent_or_null_is_not_there() {
    for body in [
        "{}",
        " \t\r\n{ \n} ",
        r#"{"stream":null,"max_tokens":null}"#,
        r#"{"stream":false}"#,
    ] {
        assert_eq!(scanned(body.as_bytes()), Ok(Request::default()), "{body}");
    }
    assert_eq!(Request::default().token_limit(), None);
}

#[test]
fn values_that_others_round_or_sort_are_no_obstacle() {
    let body = r#"{"zeta":1,"model":"fast","seed":9007199254740995,"logit_bias":{"50256":-100},"temperature":0.10,"x":1E400,"messages":[]}"#;
    assert_eq!(model(body).as_deref(), Some("fast"));
}

#[test]
fn the_model_is_what_the_string_says() {
    for (string, name) in [
        (r#""""#, ""),
        (r#""a/b:c""#, "a/b:c"),
        (r#""a\/b\u003ac""#, "a/b:c"),
        (r#""\"\\\b\f\n\r\t""#, "\"\\\u{8}\u{c}\n\r\t"),
        (r#""cheap\u0000""#, "cheap\0"),
        (r#""ü模🙂""#, "ü模🙂"),
        (r#""\u00FC\u6a21\ud83d\uDE42""#, "ü模🙂"),
        (
            r#""\udBff\udFfF\uFFFF\ue000""#,
            "\u{10FFFF}\u{FFFF}\u{E000}",
        ),
        ("\"\u{7f}\"", "\u{7f}"),
    ] {
        assert_eq!(
            model(&format!(r#"{{"model":{string}}}"#)).as_deref(),
            Some(name),
            "{string}"
        );
    }
}

#[test]
fn only_the_outermost_exact_key_is_the_model() {
    for (body, name) in [
        (
            r#"{"meta":{"model":"premium"},"model":"cheap"}"#,
            Some("cheap"),
        ),
        (
            r#"{"model":"cheap","messages":[{"model":"premium"}]}"#,
            Some("cheap"),
        ),
        (
            r#"{"model":"cheap","messages":[],"Model":"premium"}"#,
            Some("cheap"),
        ),
        (r#"{"mod\u0065l":"premium"}"#, Some("premium")),
        (
            r#"{"\u006d\u006f\u0064\u0065\u006c":"premium"}"#,
            Some("premium"),
        ),
        (
            r#"{"MODEL":1,"model ":2," model":3,"model\u0000":4,"mode":5,"models":6}"#,
            None,
        ),
        (r#"{"meta":{"model":"premium"}}"#, None),
    ] {
        assert_eq!(model(body).as_deref(), name, "{body}");
    }
}

#[test]
fn a_field_that_is_read_must_not_repeat_in_any_spelling() {
    refuse(&[
        (
            r#"{"model":"cheap","model":"premium"}"#,
            "model is given twice",
        ),
        (
            r#"{"model":"cheap","model":"cheap"}"#,
            "model is given twice",
        ),
        (
            r#"{"mod\u0065l":"premium","model":"cheap"}"#,
            "model is given twice",
        ),
        (
            r#"{"model":"cheap","mod\u0065l":"premium"}"#,
            "model is given twice",
        ),
        (r#"{"stream":true,"stream":true}"#, "stream is given twice"),
        (r#"{"stream":null,"stream":true}"#, "stream is given twice"),
        (
            r#"{"max_tokens":1,"max_tokens":2}"#,
            "max_tokens is given twice",
        ),
        (
            r#"{"max\u005ftokens":null,"max_tokens":2}"#,
            "max_tokens is given twice",
        ),
        (
            r#"{"max_completion_tokens":1,"max_completion_tokens":2}"#,
            "max_completion_tokens is given twice",
        ),
        (
            r#"{"max_output_tokens":1,"x":{},"max_output_tokens":[]}"#,
            "max_output_tokens is given twice",
        ),
    ]);
}

#[test]
fn a_field_that_is_not_read_may_repeat() {
    assert_eq!(
        model(r#"{"a":1,"model":"m","a":2,"x":{"model":1,"model":2}}"#).as_deref(),
        Some("m")
    );
}

#[test]
fn a_field_of_another_type_is_refused() {
    for value in ["null", "1", "true", "[\"m\"]", "{\"id\":\"m\"}"] {
        let body = format!(r#"{{"model":{value}}}"#);
        assert_eq!(
            scanned(body.as_bytes()),
            Err("model must be a string".to_owned()),
            "{value}"
        );
    }
    for value in ["\"true\"", "1", "0", "[]", "{}"] {
        let body = format!(r#"{{"stream":{value}}}"#);
        assert_eq!(
            scanned(body.as_bytes()),
            Err("stream must be true or false".to_owned()),
            "{value}"
        );
    }
    let fields = [
        Field::MaxTokens,
        Field::MaxCompletionTokens,
        Field::MaxOutputTokens,
    ];
    for field in fields {
        for value in [
            "-1",
            "-0",
            "1.0",
            "1e2",
            "0.5",
            "4294967296",
            "99999999999999999999",
            "\"5\"",
            "true",
            "[]",
            "{}",
        ] {
            let body = format!(r#"{{"{}":{value}}}"#, field.as_str());
            let fault = scan_request(body.as_bytes()).unwrap_err();
            assert!(
                matches!(fault, ScanError::WrongType { field: at, .. } if at == field),
                "{body}: {fault}"
            );
        }
    }
}

#[test]
fn a_body_that_is_no_object_is_refused() {
    for body in ["[]", "[{}]", "\"{}\"", "1", "true", " null", "nul"] {
        assert_eq!(
            scan_request(body.as_bytes()),
            Err(ScanError::NotAnObject),
            "{body}"
        );
    }
    refuse(&[
        ("", "the body is not JSON: it ends too early at byte 0"),
        ("  ", "the body is not JSON: it ends too early at byte 2"),
        (
            "\u{feff}{}",
            "the body is not JSON: a byte order mark at byte 0",
        ),
        (
            "{} {}",
            "the body is not JSON: something follows the object at byte 3",
        ),
        (
            "{},",
            "the body is not JSON: something follows the object at byte 2",
        ),
        (
            "{}\0",
            "the body is not JSON: something follows the object at byte 2",
        ),
        ("model=m", "the body is not JSON: no value at byte 0"),
    ]);
}

#[test]
fn a_fault_says_what_and_where() {
    refuse(&[
        ("{1:2}", "the body is not JSON: no key at byte 1"),
        ("{'a':2}", "the body is not JSON: no key at byte 1"),
        (r#"{"a"}"#, "the body is not JSON: no colon at byte 4"),
        (r#"{"a":}"#, "the body is not JSON: no value at byte 5"),
        (r#"{"a":1,}"#, "the body is not JSON: no key at byte 7"),
        (r#"{"a":[1,]}"#, "the body is not JSON: no value at byte 8"),
        (
            r#"{"a":[1}"#,
            "the body is not JSON: no comma or closing bracket at byte 7",
        ),
        (
            r#"{"a":1]"#,
            "the body is not JSON: no comma or closing brace at byte 6",
        ),
        (
            r#"{"a":{"b":1]}"#,
            "the body is not JSON: no comma or closing brace at byte 11",
        ),
        (
            r#"{"a":1 "b":2}"#,
            "the body is not JSON: no comma or closing brace at byte 7",
        ),
        (
            r#"{"a":nil}"#,
            "the body is not JSON: no true, false or null at byte 6",
        ),
        (r#"{"a":+1}"#, "the body is not JSON: no value at byte 5"),
        (r#"{"a":-}"#, "the body is not JSON: no digit at byte 6"),
        (r#"{"a":1.}"#, "the body is not JSON: no digit at byte 7"),
        (
            "{\"a\":\"b\nc\"}",
            "the body is not JSON: a control character in a string at byte 7",
        ),
        (
            r#"{"a":"\x"}"#,
            "the body is not JSON: an unknown escape at byte 6",
        ),
        (
            r#"{"a":"bc\ud800"}"#,
            "the body is not JSON: half a surrogate pair at byte 8",
        ),
        (
            r#"{"a":"bc"#,
            "the body is not JSON: it ends too early at byte 8",
        ),
        (
            r#"{"a":"bc\u00"#,
            "the body is not JSON: it ends too early at byte 12",
        ),
        (
            r#"{"a":1/*b*/}"#,
            "the body is not JSON: no comma or closing brace at byte 6",
        ),
    ]);
}

#[test]
fn the_grammar_is_that_of_rfc_8259() {
    for value in [
        "0",
        "-0",
        "-1",
        "10",
        "0.0",
        "1.50",
        "1e5",
        "1E+5",
        "1e-05",
        "-0.1e9",
        "1E400",
        "123456789012345678901234567890",
        "true",
        "false",
        "null",
        "[]",
        "{}",
        "[ ]",
        "{ }",
        "[[],{}]",
        "[1,\"a\",null]",
        r#"{"":{"":[]}}"#,
        r#""\/""#,
        "\t1\r\n",
        "\"\u{7f}\u{85}\u{2028}\"",
        r#""\uFFFF\u0000""#,
    ] {
        assert!(takes(value.as_bytes()), "{value}");
    }
    for value in [
        "",
        "00",
        "01",
        "-01",
        "+1",
        ".5",
        "1.",
        "1e",
        "1e+",
        "- 1",
        "1_0",
        "0x1",
        "NaN",
        "Infinity",
        "-Infinity",
        "True",
        "nul",
        "nulll",
        "truefalse",
        "'a'",
        "a",
        "[",
        "]",
        "[1 2]",
        "[,1]",
        "[1,,2]",
        "{,}",
        "{\"a\"}",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "{\"a\"::1}",
        "[}",
        "{]",
        "\"",
        "\"\\\"",
        "\"\t\"",
        "\"\0\"",
        "\"\u{1f}\"",
        r#""\u12""#,
        r#""\u12G4""#,
        r#""\u+123""#,
        r#""\U0041""#,
        r#""\a""#,
        r#""\'""#,
        r#""\udc00""#,
        r#""\udc00\ud800""#,
        r#""\ud800""#,
        r#""\ud800x""#,
        r#""\ud800\n""#,
        r#""\ud800\ud800""#,
        r#""\ud800\u0041""#,
        "\u{a0}1",
        "\u{b}1",
        "\u{feff}1",
        "1;",
        "//x\n1",
    ] {
        assert!(!takes(value.as_bytes()), "{value}");
    }
}

#[test]
fn bytes_that_are_not_utf_8_are_refused() {
    for bytes in [
        &b"\"\xff\""[..],
        b"\"\xc0\xaf\"",
        b"\"\xed\xa0\x80\"",
        b"\"\xf4\x90\x80\x80\"",
        b"\"\xe4\xbd\"",
        b"\"\x80\"",
        b"\xff",
    ] {
        assert!(!takes(bytes), "{bytes:?}");
    }
    let fault = scan_request(b"{\"model\":\"\xe4\xbd\"}").unwrap_err();
    assert_eq!(
        fault,
        ScanError::Malformed {
            offset: 10,
            reason: "a byte that is not UTF-8"
        }
    );
}

#[test]
fn nesting_ends_at_its_bound() {
    let nested = |levels: usize, open: &str, close: &str| {
        format!(
            r#"{{"x":{}1{}}}"#,
            open.repeat(levels),
            close.repeat(levels)
        )
    };
    let inside = MAX_DEPTH as usize - 1;
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}"), (r#"[[{"a":["#, "]}]]")] {
        let levels = inside / open.matches(['[', '{']).count();
        assert!(
            scan_request(nested(levels, open, close).as_bytes()).is_ok(),
            "{open}"
        );
        let fault = scanned(nested(levels + 1, open, close).as_bytes()).unwrap_err();
        assert!(fault.contains("nested too deeply"), "{fault}");
    }
    assert!(scan_request("{\"x\":[".repeat(1_000_000).as_bytes()).is_err());
}

#[test]
fn an_error_never_repeats_the_body() {
    for body in [
        r#"{"hush":hush}"#,
        r#"{"model":"hush","model":"hush"}"#,
        r#"{"stream":"hush"}"#,
        "hush",
    ] {
        let fault = scan_request(body.as_bytes()).unwrap_err();
        assert!(!format!("{fault} {fault:?}").contains("hush"), "{fault:?}");
    }
}
