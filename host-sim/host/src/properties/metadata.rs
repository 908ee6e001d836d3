//! `envoy.config.core.v3.Metadata` and the node as attributes.

use std::collections::BTreeMap;

use super::value::Value;
use crate::config::{Locality, Node, Plain};
use crate::foreign::{put, put_bytes};

/// Tags of values without a length.
const NULL: u8 = 1 << 3;
const NUMBER: u8 = 2 << 3 | 1;
const BOOL: u8 = 4 << 3;
/// Fields with a length: of a value, and of messages.
const TEXT: u8 = 3;
const STRUCT: u8 = 5;
const LIST: u8 = 6;
const FIRST: u8 = 1;
const SECOND: u8 = 2;
const THIRD: u8 = 3;
const FOURTH: u8 = 4;
const SIXTH: u8 = 6;

/// Namespaces of values.
type Namespaces = BTreeMap<String, BTreeMap<String, Plain>>;

/// The message with these namespaces in `filter_metadata`; typed metadata are not modelled.
pub(super) fn message(namespaces: &Namespaces) -> Value {
    let fields = namespaces.iter().map(|(name, fields)| {
        let fields = fields
            .iter()
            .map(|(key, value)| (key.clone(), value.into()));
        (name.clone(), Value::Map(fields.collect()))
    });
    let mut bytes = Vec::new();
    for (name, fields) in namespaces {
        put_entry(&mut bytes, name, &struct_bytes(fields));
    }
    Value::Message(
        vec![
            ("filter_metadata", Value::Map(fields.collect())),
            ("typed_filter_metadata", Value::empty_map()),
        ],
        bytes,
    )
}

/// A locality; nothing is set in one that is not configured.
pub(super) fn locality(place: &Locality) -> Value {
    let Locality {
        region,
        zone,
        sub_zone,
    } = place;
    let mut bytes = Vec::new();
    put_bytes(&mut bytes, FIRST, region.as_bytes());
    put_bytes(&mut bytes, SECOND, zone.as_bytes());
    put_bytes(&mut bytes, THIRD, sub_zone.as_bytes());
    let fields = vec![
        ("region", region.as_str().into()),
        ("zone", zone.as_str().into()),
        ("sub_zone", sub_zone.as_str().into()),
    ];
    Value::Message(fields, bytes)
}

/// The node. What Envoy says of its own build is left out.
pub(super) fn node(node: &Node) -> Value {
    let name = "envoy";
    let place = node.locality.clone().unwrap_or_default();
    let mut bytes = Vec::new();
    put_bytes(&mut bytes, FIRST, node.id.as_bytes());
    put_bytes(&mut bytes, SECOND, node.cluster.as_bytes());
    if !node.metadata.is_empty() {
        put(&mut bytes, THIRD, &struct_bytes(&node.metadata));
    }
    if node.locality.is_some() {
        put(
            &mut bytes,
            FOURTH,
            &locality(&place).serialised().unwrap_or_default(),
        );
    }
    put(&mut bytes, SIXTH, name.as_bytes());
    let metadata = node.metadata.iter();
    let metadata = metadata.map(|(key, value)| (key.clone(), value.into()));
    let fields = vec![
        ("id", node.id.as_str().into()),
        ("cluster", node.cluster.as_str().into()),
        ("metadata", Value::Map(metadata.collect())),
        ("dynamic_parameters", Value::empty_map()),
        ("locality", locality(&place)),
        ("user_agent_name", name.into()),
        ("user_agent_version", "".into()),
        ("client_features", Value::List(Vec::new())),
        ("listening_addresses", Value::List(Vec::new())),
    ];
    Value::Message(fields, bytes)
}

/// `google.protobuf.Struct`.
fn struct_bytes(fields: &BTreeMap<String, Plain>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in fields {
        put_entry(&mut bytes, key, &value_bytes(value));
    }
    bytes
}

/// `google.protobuf.Value`.
fn value_bytes(value: &Plain) -> Vec<u8> {
    let mut bytes = Vec::new();
    match value {
        Plain::Null => bytes.extend([NULL, 0]),
        Plain::Bool(value) => bytes.extend([BOOL, u8::from(*value)]),
        Plain::Number(number) => {
            bytes.push(NUMBER);
            bytes.extend(number.to_le_bytes());
        }
        Plain::Text(text) => put(&mut bytes, TEXT, text.as_bytes()),
        Plain::Map(fields) => put(&mut bytes, STRUCT, &struct_bytes(fields)),
        Plain::List(items) => {
            let mut list = Vec::new();
            for item in items {
                put(&mut list, FIRST, &value_bytes(item));
            }
            put(&mut bytes, LIST, &list);
        }
    }
    bytes
}

/// An entry of a map, which is the first field of its message.
fn put_entry(out: &mut Vec<u8>, key: &str, value: &[u8]) {
    let mut entry = Vec::new();
    put(&mut entry, FIRST, key.as_bytes());
    put(&mut entry, SECOND, value);
    put(out, FIRST, &entry);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Envoy's own came out.
    #[test]
    fn metadata_are_serialised_as_envoy_does() {
        let fields = BTreeMap::from([("role".to_owned(), Plain::Text("public".to_owned()))]);
        let namespaces = BTreeMap::from([("dragoman".to_owned(), fields)]);

        let bytes = message(&namespaces).serialised().unwrap();

        assert_eq!(
            bytes,
            b"\n\x1e\n\x08dragoman\x12\x12\n\x10\n\x04role\x12\x08\x1a\x06public"
        );
        assert_eq!(message(&BTreeMap::new()).serialised(), Ok(Vec::new()));
    }

    #[test]
    fn of_a_node_what_is_configured_is_there() {
        let here = Node {
            id: "n".to_owned(),
            cluster: String::new(),
            metadata: BTreeMap::from([("k".to_owned(), Plain::Bool(true))]),
            locality: Some(Locality {
                zone: "z".to_owned(),
                ..Locality::default()
            }),
        };
        assert_eq!(
            node(&here).serialised().unwrap(),
            b"\n\x01n\x1a\x09\n\x07\n\x01k\x12\x02\x20\x01\x22\x03\x12\x01z2\x05envoy"
        );
        assert_eq!(node(&Node::default()).serialised().unwrap(), b"2\x05envoy");
        let zone = node(&here).below("locality").unwrap().below("zone");
        assert_eq!(zone, Some("z".into()));
    }

    #[test]
    fn every_kind_of_value_has_its_field() {
        let text = |text: &str| Plain::Text(text.to_owned());
        for (value, bytes) in [
            (Plain::Null, &b"\x08\0"[..]),
            (Plain::Number(1.0), b"\x11\0\0\0\0\0\0\xf0\x3f"),
            (text(""), b"\x1a\0"),
            (Plain::Bool(true), b"\x20\x01"),
            (
                Plain::Map([("a".to_owned(), text("b"))].into()),
                b"\x2a\x0a\n\x08\n\x01a\x12\x03\x1a\x01b",
            ),
            (
                Plain::List(vec![text("b"), Plain::Null]),
                b"\x32\x09\n\x03\x1a\x01b\n\x02\x08\0",
            ),
        ] {
            assert_eq!(value_bytes(&value), bytes, "{value:?}");
        }
        let long = value_bytes(&text(&"a".repeat(200)));
        assert_eq!(&long[..3], b"\x1a\xc8\x01");
    }
}
