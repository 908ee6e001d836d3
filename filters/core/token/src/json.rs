//! JSON as tokens and key sets have it. A name that stands twice in an object is a fault at every
//! depth: whoever else reads the same token might take the other one.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The members of an object.
pub(crate) type Object = BTreeMap<String, Json>;

/// Any JSON value. Its depth is bounded by `serde_json` (128).
#[derive(Clone, Debug)]
pub(crate) enum Json {
    /// `null`, `true` or `false`: nothing that is read here means anything by them.
    Literal,
    Whole(u64),
    /// A number with a sign, a fraction or an exponent, or too large for 64 bits.
    Real(f64),
    Text(String),
    List(Vec<Json>),
    Object(Object),
}

/// The one object that is this text; `None` for anything else.
pub(crate) fn object(text: &[u8]) -> Option<Object> {
    match serde_json::from_slice(text) {
        Ok(Json::Object(members)) => Some(members),
        _ => None,
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        input.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Literal)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Json, E> {
        Ok(Json::Literal)
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Whole(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        // Only negative ones come here; where precision is lost, so is the meaning as a date.
        Ok(u64::try_from(number).map_or(Json::Real(-1.0), Json::Whole))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Json::Real(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut members = Object::new();
        while let Some((name, value)) = entries.next_entry()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a name is given twice"));
            }
        }
        Ok(Json::Object(members))
    }
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::object;

    #[test]
    fn one_object_without_repeated_names_is_read() {
        for text in [
            "{}",
            r#"{"a":1,"b":{"a":[{"a":null}]}}"#,
            " {\"a\":-0.5e3}\n",
        ] {
            assert!(object(text.as_bytes()).is_some(), "{text}");
        }
        for text in [
            "",
            "[]",
            "1",
            "{} {}",
            "{}x",
            r#"{"a":1,"a":1}"#,
            r#"{"a":1,"\u0061":1}"#,
            r#"{"b":[{"a":1,"a":1}]}"#,
            r#"{"a":NaN}"#,
            r#"{"a":01}"#,
            r#"{"a":"\ud800"}"#,
            "\u{feff}{}",
        ] {
            assert!(object(text.as_bytes()).is_none(), "{text}");
        }
        assert!(object(b"{\"a\":\"\xff\"}").is_none());
        assert!(object("{\"a\":".repeat(200).as_bytes()).is_none());
    }
}
