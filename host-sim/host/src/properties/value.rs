//! What an attribute can be, and the bytes that a guest gets of it: numbers have eight bytes, maps and lists are pairs
//! as in header maps, a message is its serialised form.

use crate::abi::{Answer, Status, pairs};
use crate::config::Plain;

/// An attribute, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Bytes(Vec<u8>),
    Number(i64),
    Double(f64),
    Bool(bool),
    /// A message or value that is null: there is no form for guests.
    Null,
    /// A map of values of their own kinds; a key that is there twice is found once.
    Map(Vec<(String, Value)>),
    /// Header lines by their names in lower case.
    Lines(Vec<(String, Vec<u8>)>),
    List(Vec<Value>),
    /// Its fields, and its serialised form.
    Message(Vec<(&'static str, Value)>, Vec<u8>),
    /// A map that cannot be listed.
    Opaque,
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Bytes(text.as_bytes().to_vec())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Bytes(text.into_bytes())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<&Plain> for Value {
    fn from(plain: &Plain) -> Self {
        match plain {
            Plain::Null => Value::Null,
            Plain::Bool(value) => Value::Bool(*value),
            Plain::Number(number) => Value::Double(*number),
            Plain::Text(text) => text.as_str().into(),
            Plain::List(items) => Value::List(items.iter().map(Value::from).collect()),
            Plain::Map(fields) => {
                let fields = fields.iter();
                Value::Map(
                    fields
                        .map(|(key, value)| (key.clone(), value.into()))
                        .collect(),
                )
            }
        }
    }
}

impl Value {
    /// A map without entries.
    pub(super) fn empty_map() -> Self {
        Value::Map(Vec::new())
    }

    /// The part of that name.
    pub(super) fn below(self, segment: &str) -> Option<Self> {
        match self {
            Value::Map(fields) => {
                let found = fields.into_iter().find(|(key, _)| key == segment);
                found.map(|(_, value)| value)
            }
            Value::Lines(lines) => {
                let name = segment.to_ascii_lowercase();
                let found = lines.into_iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| Value::Bytes(value))
            }
            Value::Message(fields, _) => {
                let found = fields.into_iter().find(|(name, _)| *name == segment);
                found.map(|(_, value)| value)
            }
            Value::List(items) => {
                let index: usize = segment.parse().ok()?;
                items.into_iter().nth(index)
            }
            _ => None,
        }
    }

    /// The bytes for a guest.
    pub(super) fn serialised(self) -> Answer<Vec<u8>> {
        Ok(match self {
            Value::Bytes(bytes) | Value::Message(_, bytes) => bytes,
            Value::Number(number) => number.to_le_bytes().to_vec(),
            Value::Double(number) => number.to_le_bytes().to_vec(),
            Value::Bool(value) => vec![u8::from(value)],
            Value::Map(fields) => {
                let lines = fields
                    .into_iter()
                    .map(|(key, value)| Ok((key.into_bytes(), value.serialised()?)))
                    .collect::<Answer<Vec<_>>>()?;
                written(&lines)
            }
            Value::Lines(lines) => {
                let lines = lines
                    .into_iter()
                    .map(|(name, value)| (name.into_bytes(), value));
                written(&lines.collect::<Vec<_>>())
            }
            Value::List(items) => {
                let lines = items
                    .into_iter()
                    .map(|item| Ok((item.serialised()?, Vec::new())))
                    .collect::<Answer<Vec<_>>>()?;
                written(&lines)
            }
            Value::Null | Value::Opaque => return Err(Status::SerializationFailure.into()),
        })
    }
}

/// Pairs on the wire; here a list without any has its count.
fn written(lines: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    match lines {
        [] => 0_u32.to_le_bytes().to_vec(),
        lines => pairs::write(lines),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> Value {
        let inner = Plain::Map([("b".to_owned(), Plain::Text("c".to_owned()))].into());
        Value::from(&Plain::Map([("a".to_owned(), inner)].into()))
    }

    #[test]
    fn a_map_in_a_map_is_pairs_in_a_value() {
        let inner = b"\x01\0\0\0\x01\0\0\0\x01\0\0\0b\0c\0";
        let outer = [&b"\x01\0\0\0\x01\0\0\0\x10\0\0\0a\0"[..], inner, b"\0"].concat();
        assert_eq!(map().serialised().unwrap(), outer);
        assert_eq!(
            map().below("a").unwrap().below("b").unwrap().serialised(),
            Ok(b"c".to_vec())
        );
        assert_eq!(map().below("b"), None);
    }

    #[test]
    fn items_of_a_list_have_numbers_from_0() {
        let list = || Value::List(vec![Value::Bool(true), Value::Double(1.0)]);
        assert_eq!(list().below("0"), Some(Value::Bool(true)));
        assert_eq!(
            list().below("1").unwrap().serialised(),
            Ok(1.0_f64.to_le_bytes().to_vec())
        );
        for segment in ["2", "-1", "x", ""] {
            assert_eq!(list().below(segment), None, "{segment:?}");
        }
        assert_eq!(
            Value::empty_map().serialised(),
            Ok(0_u32.to_le_bytes().to_vec())
        );
    }

    #[test]
    fn what_has_no_form_spoils_what_holds_it() {
        for value in [Value::Null, Value::Opaque, Value::List(vec![Value::Null])] {
            assert_eq!(value.serialised(), Err(Status::SerializationFailure.into()));
        }
    }
}
