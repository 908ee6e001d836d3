//! The scanner against `serde_json`, on generated bodies in random chunks.

use dragoman_usage::{Kind, Usage};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

use crate::told;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

const NAMES: [&str; 12] = [
    "usage",
    "message",
    "response",
    "prompt_tokens",
    "completion_tokens",
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "total_tokens",
    "a \"quoted\" \\ name",
    "",
];

/// What a text may hold that looks like structure.
const MISLEADING: [char; 10] = ['"', '\\', '{', '}', '[', ']', ',', ':', '\n', '\u{e9}'];

/// Any JSON whose names and texts are as misleading as can be.
fn value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        any::<Option<bool>>().prop_map(|value| json!(value)),
        any::<u64>().prop_map(|value| json!(value)),
        (0_u64..100).prop_map(|value| json!(value)),
        any::<i32>().prop_map(|value| json!(value)),
        (-1e3..1e3).prop_map(|value: f64| json!(value)),
        vec(select(MISLEADING.as_slice()), 0..12)
            .prop_map(|characters| Value::String(characters.into_iter().collect())),
        select(NAMES.as_slice()).prop_map(|name| json!(format!("\"{name}\":{{\"usage\":{{"))),
    ];
    scalar.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::Array),
            members(inner).prop_map(Value::Object),
        ]
    })
}

fn members(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    vec((select(NAMES.as_slice()), inner), 0..8).prop_map(|members| {
        members
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    })
}

/// An object with usage in it more often than not.
fn object() -> impl Strategy<Value = Value> {
    let place = select([None, Some("message"), Some("response")].as_slice());
    (members(value()), members(value()), place, any::<bool>()).prop_map(
        |(mut object, usage, place, present)| {
            if present {
                let usage = json!({"usage": usage});
                match place {
                    None => object.extend(usage.as_object().cloned().unwrap_or_default()),
                    Some(place) => drop(object.insert(place.to_owned(), usage)),
                }
            }
            Value::Object(object)
        },
    )
}

/// The numbers of the objects, later ones over earlier ones.
#[derive(Default)]
struct Told(Map<String, Value>);

impl Told {
    /// Takes over the usage objects of one object in the order of its text.
    fn read(&mut self, object: &Value, wraps: bool) {
        for (name, value) in object.as_object().into_iter().flatten() {
            match name.as_str() {
                "usage" => self.count(value),
                "message" | "response" if wraps => {
                    if let Some(usage) = value.get("usage") {
                        self.count(usage);
                    }
                }
                _ => {}
            }
        }
    }

    fn count(&mut self, usage: &Value) {
        for (name, number) in usage.as_object().into_iter().flatten() {
            if number.is_u64() {
                self.0.insert(name.clone(), number.clone());
            }
        }
    }

    fn usage(&self) -> Option<Usage> {
        let number = |name: &str| self.0.get(name).and_then(Value::as_u64);
        let part = |name: &str| number(name).unwrap_or(0);
        let input = number("input_tokens").map(|input| {
            input
                .saturating_add(part("cache_read_input_tokens"))
                .saturating_add(part("cache_creation_input_tokens"))
        });
        let usage = Usage {
            input: number("prompt_tokens").max(input),
            output: number("completion_tokens").max(number("output_tokens")),
            total: number("total_tokens"),
        };
        (usage != Usage::default()).then_some(usage)
    }
}

/// Chunks that end at these places.
fn chunks<'a>(body: &'a [u8], cuts: &[Index]) -> Vec<&'a [u8]> {
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(body.len() + 1)).collect();
    ends.push(body.len());
    ends.sort_unstable();
    let mut start = 0;
    let pieces = ends.into_iter().map(|end| {
        let piece = &body[start..end];
        start = end;
        piece
    });
    pieces.collect()
}

fn text(object: &Value, pretty: bool) -> String {
    if pretty {
        serde_json::to_string_pretty(object).unwrap()
    } else {
        object.to_string()
    }
}

/// An event with this data, in one of the ways the standard allows.
fn event(data: &str, way: usize) -> String {
    let [field, end] = [["data: ", "\n"], ["data:", "\r\n"], ["data: ", "\r"]][way % 3];
    let lines: String = data
        .split('\n')
        .map(|line| format!("{field}{line}{end}"))
        .collect();
    [": ping", "event: x", "id"][way % 3].to_owned() + end + &lines + end
}

/// Of which almost a body is made.
const PIECES: [&[u8]; 7] = [
    b"\"usage\":{",
    b"\"input_tokens\":1",
    b"data: {",
    b"\n",
    b"\r",
    b"}}\n\n",
    b"\xef\xbb\xbf",
];

proptest! {
    #[test]
    fn a_document_tells_what_it_tells_serde(object in object(), pretty: bool, cuts in vec(any::<Index>(), 0..8)) {
        let body = text(&object, pretty);
        let mut expected = Told::default();
        expected.read(&object, false);
        prop_assert_eq!(told(Kind::Document, chunks(body.as_bytes(), &cuts)), expected.usage(), "{}", body);
    }

    #[test]
    fn a_stream_tells_what_its_objects_tell_serde(
        objects in vec((object(), any::<bool>(), 0..6_usize), 0..5), cuts in vec(any::<Index>(), 0..8),
    ) {
        let mut expected = Told::default();
        let mut body = String::new();
        for (object, pretty, way) in &objects {
            expected.read(object, true);
            body += &event(&text(object, *pretty), *way);
        }
        prop_assert_eq!(told(Kind::Events, chunks(body.as_bytes(), &cuts)), expected.usage(), "{}", body);
    }

    #[test]
    fn damage_never_panics_nor_depends_on_chunks(
        object in object(), damage in vec((any::<Index>(), any::<u8>()), 0..4), cuts in vec(any::<Index>(), 0..8), way in 0..3_usize,
    ) {
        let mut body = event(&object.to_string(), way).into_bytes();
        for (place, byte) in damage {
            let at = place.index(body.len());
            body[at] = byte;
        }
        for kind in [Kind::Document, Kind::Events] {
            let body = if kind == Kind::Document { body.get(6..).unwrap_or_default() } else { &body };
            prop_assert_eq!(told(kind, chunks(body, &cuts)), told(kind, [body]));
        }
    }

    #[test]
    fn garbage_never_panics_nor_depends_on_chunks(
        body in vec(prop_oneof![
            select(br#"{}[]":,\5-e "#.as_slice()).prop_map(|byte| vec![byte]),
            select(PIECES.as_slice()).prop_map(<[u8]>::to_vec),
            any::<u8>().prop_map(|byte| vec![byte]),
        ], 0..60),
        cuts in vec(any::<Index>(), 0..8),
    ) {
        let body = body.concat();
        for kind in [Kind::Document, Kind::Events] {
            prop_assert_eq!(told(kind, chunks(&body, &cuts)), told(kind, [&body[..]]));
        }
    }
}
