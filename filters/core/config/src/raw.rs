//! The document before it is checked: like `serde_json::Value`, but it keeps repeated keys, so
//! that they can be refused with their path instead of one of them silently winning.

use std::fmt;

use dragoman_contract::errors::quoted;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// Most characters of a string that an error shows; enough to find it in the document.
const SHOWN_CHARS: usize = 64;

/// Any JSON value. Its depth is bounded by `serde_json` (128).
#[derive(Clone, Debug)]
pub(crate) enum Raw {
    Null,
    Flag(bool),
    Whole(i128),
    Fraction(f64),
    Text(String),
    List(Vec<Raw>),
    Object(Vec<(String, Raw)>),
}

impl Raw {
    /// The value for an error: scalars as JSON, the rest by its type.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Null => "null".to_owned(),
            Self::Flag(flag) => flag.to_string(),
            Self::Whole(number) => number.to_string(),
            Self::Fraction(number) => number.to_string(),
            Self::Text(text) => shown_text(text),
            Self::List(_) => "a list".to_owned(),
            Self::Object(_) => "an object".to_owned(),
        }
    }

    /// The value as JSON again, repeated keys included.
    pub(crate) fn json(&self) -> String {
        match self {
            Self::Text(text) => quoted(text),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(Self::json).collect();
                format!("[{}]", items.join(","))
            }
            Self::Object(entries) => {
                let entry =
                    |(key, value): &(String, Self)| format!("{}:{}", quoted(key), value.json());
                let entries: Vec<String> = entries.iter().map(entry).collect();
                format!("{{{}}}", entries.join(","))
            }
            scalar => scalar.shown(),
        }
    }
}

/// A string as JSON, cut to what an error shows.
pub(crate) fn shown_text(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => quoted(&format!("{}...", text.get(..end).unwrap_or_default())),
        None => quoted(text),
    }
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Raw, E> {
        Ok(Raw::Flag(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Raw, E> {
        Ok(Raw::Whole(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Raw, E> {
        Ok(Raw::Whole(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Raw, E> {
        Ok(Raw::Fraction(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Raw::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Raw, A::Error> {
        let mut object = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            object.push(entry);
        }
        Ok(Raw::Object(object))
    }
}
