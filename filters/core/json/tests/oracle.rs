//! The scanner against `serde_json`, on generated bodies and on damaged ones.

use std::fmt;

use dragoman_json::{Field, Model, Request, ScanError, scan_request};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// The members of an object in their order, repeated ones included.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct MembersVisitor;
        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Members;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut input: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = input.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        input.deserialize_map(MembersVisitor)
    }
}

/// What a request says by `serde_json`; the model's place is not known to it.
#[derive(Debug, Default, PartialEq)]
struct Facts {
    model: Option<String>,
    stream: bool,
    limits: [Option<u32>; 3],
    tools: bool,
}

#[derive(Debug, PartialEq)]
enum Fault {
    Malformed,
    Twice(Field),
    Type(Field),
}

fn by_the_scanner(body: &[u8]) -> Result<Facts, Fault> {
    let request: Request<'_> = scan_request(body).map_err(|fault| match fault {
        ScanError::Malformed { .. } | ScanError::NotAnObject => Fault::Malformed,
        ScanError::DuplicateField(field) => Fault::Twice(field),
        ScanError::WrongType { field, .. } => Fault::Type(field),
    })?;
    Ok(Facts {
        model: request.model.map(|model| model.name.into_owned()),
        stream: request.stream,
        limits: [
            request.max_tokens,
            request.max_completion_tokens,
            request.max_output_tokens,
        ],
        tools: request.tools,
    })
}

fn by_the_oracle(members: Vec<(String, Value)>) -> Result<Facts, Fault> {
    let mut facts = Facts::default();
    let mut seen = Vec::new();
    for (key, value) in members {
        let Some(field) = Field::ALL.into_iter().find(|field| field.as_str() == key) else {
            continue;
        };
        if seen.contains(&field) {
            return Err(Fault::Twice(field));
        }
        seen.push(field);
        let number = || match &value {
            Value::Null => Ok(None),
            _ => value
                .as_u64()
                .and_then(|number| u32::try_from(number).ok())
                .map(Some)
                .ok_or(Fault::Type(field)),
        };
        match field {
            Field::Model => {
                facts.model = Some(value.as_str().ok_or(Fault::Type(field))?.to_owned());
            }
            Field::Stream if value.is_null() => {}
            Field::Stream => facts.stream = value.as_bool().ok_or(Fault::Type(field))?,
            Field::MaxTokens => facts.limits[0] = number()?,
            Field::MaxCompletionTokens => facts.limits[1] = number()?,
            Field::MaxOutputTokens => facts.limits[2] = number()?,
            Field::Tools => facts.tools = value.is_array(),
        }
    }
    Ok(facts)
}

/// Checks that both read the same from a body, or both refuse it.
fn agree(body: &[u8]) -> Result<(), TestCaseError> {
    let ours = by_the_scanner(body);
    match serde_json::from_slice::<Members>(body) {
        Ok(Members(members)) => prop_assert_eq!(ours, by_the_oracle(members)),
        // The oracle holds numbers as f64; the scanner takes any size.
        Err(fault) if fault.to_string().contains("number out of range") => {}
        // What precedes the malformed place may be at fault already.
        Err(_) => prop_assert!(ours.is_err(), "taken: {:?}", ours),
    }
    Ok(())
}

fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just(""), 1 => select(&[" ", "\n", "\t\r ", "  \n"][..])]
}

/// A JSON string; some of its characters are written as escapes.
fn string() -> impl Strategy<Value = String> {
    vec((any::<char>(), 0..6u8), 0..12).prop_map(|characters| {
        let mut out = String::from("\"");
        for (character, form) in characters {
            match form {
                0 => {
                    let mut units = [0; 2];
                    for unit in character.encode_utf16(&mut units) {
                        out.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                1 => out.push_str("\\n\\\\\\\"\\/\\t"),
                _ if character < ' ' || matches!(character, '"' | '\\') => out.push('x'),
                _ => out.push(character),
            }
        }
        out + "\""
    })
}

fn value() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        select(
            &[
                "null",
                "true",
                "false",
                "0",
                "-0",
                "17",
                "-1",
                "1.5",
                "1e3",
                "4294967295",
                "4294967296",
                "18446744073709551616",
                "[]",
                "{}",
            ][..]
        )
        .prop_map(str::to_owned),
        string(),
    ];
    scalar.prop_recursive(4, 24, 4, |inner| {
        let member = (string(), space(), inner.clone());
        let member = member.prop_map(|(key, space, value)| format!("{key}{space}:{space}{value}"));
        prop_oneof![
            (vec(inner, 1..4), space())
                .prop_map(|(items, space)| format!("[{space}{}{space}]", items.join(","))),
            (vec(member, 1..4), space())
                .prop_map(|(members, space)| format!("{{{}{space}}}", members.join(","))),
        ]
    })
}

/// A member of the outermost object, often one that is read, often with a fitting value.
fn member() -> impl Strategy<Value = String> {
    const MODEL: &[&str] = &[r#""model""#, r#""mod\u0065l""#];
    const STREAM: &[&str] = &[r#""stream""#, r#""\u0073tream""#];
    const LIMITS: &[&str] = &[
        r#""max_tokens""#,
        r#""max_completion_tokens""#,
        r#""max\u005foutput_tokens""#,
        r#""max_output_tokens""#,
    ];
    const TOOLS: &[&str] = &[r#""tools""#, r#""t\u006fols""#];
    let fitting = prop_oneof![
        (select(MODEL), string()).prop_map(|(key, value)| format!("{key}:{value}")),
        (select(STREAM), any::<bool>()).prop_map(|(key, value)| format!("{key}:{value}")),
        (select(LIMITS), any::<u32>()).prop_map(|(key, value)| format!("{key} : {value}")),
    ];
    prop_oneof![
        4 => fitting,
        1 => (prop_oneof![select(MODEL), select(STREAM), select(LIMITS), select(TOOLS), Just(r#""Model""#)], value()).prop_map(|(key, value)| format!("{key}:{value}")),
        3 => (string(), space(), value()).prop_map(|(key, space, value)| format!("{key}{space}:{value}{space}")),
    ]
}

fn body() -> impl Strategy<Value = String> {
    (vec(member(), 0..6), space())
        .prop_map(|(members, space)| format!("{space}{{{space}{}{space}}}", members.join(",")))
}

/// Pieces that matter to the grammar.
const PIECES: &[&[u8]] = &[
    b"",
    b"\"",
    b"\\",
    b"\\u",
    b"\\ud83d",
    b"\\ude42",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"0",
    b"-",
    b".5",
    b"e9",
    b"1E400",
    b"null",
    b"tru",
    b" ",
    b"\n",
    b"\x01",
    b"\x7f",
    b"\xff",
    b"\xe4\xbd",
    b"\xef\xbb\xbf",
    b"\"model\"",
    b"\"model\":\"x\",",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_well_formed_body_reads_the_same(body in body()) {
        agree(body.as_bytes())?;
    }

    #[test]
    fn a_damaged_body_is_refused_alike(
        body in body(),
        edits in vec((any::<Index>(), 0..4usize, select(PIECES)), 1..4),
    ) {
        let mut body = body.into_bytes();
        for (place, length, piece) in edits {
            let start = place.index(body.len() + 1);
            let end = (start + length).min(body.len());
            body.splice(start..end, piece.iter().copied());
        }
        agree(&body)?;
    }

    #[test]
    fn arbitrary_bytes_are_refused_alike(bytes in vec(any::<u8>(), 0..40)) {
        agree(&bytes)?;
    }

    #[test]
    fn another_model_in_the_span_changes_nothing_else(body in body(), name in vec(any::<char>(), 0..32).prop_map(String::from_iter)) {
        let Ok(Request { model: Some(Model { span, .. }), .. }) = scan_request(body.as_bytes()) else {
            return Ok(());
        };
        let string = serde_json::to_string(&name).unwrap();
        let spliced = format!("{}{string}{}", &body[..span.start], &body[span.end..]);
        let mut expected: Value = serde_json::from_str(&body).unwrap();
        expected["model"] = Value::String(name);
        prop_assert_eq!(serde_json::from_str::<Value>(&spliced).unwrap(), expected);
    }

    #[test]
    fn every_prefix_is_refused(body in body()) {
        let body = body.trim_end().as_bytes();
        if scan_request(body).is_ok() {
            for end in 0..body.len() {
                prop_assert!(scan_request(&body[..end]).is_err(), "{} bytes", end);
            }
        }
    }
}
