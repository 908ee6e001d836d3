//! YAML as JSON.

use host_sim_envoy::yaml::{At, Node, Read, Value as Yaml};
use serde_json::{Map, Number, Value};

use super::fault;

/// The value at a place. Plain text is what it is in JSON, else text: `off` and `yes` are words here.
pub fn json(at: &At<'_>) -> Read<Value> {
    check(at)?;
    Ok(value(at.value()))
}

/// Refuses what looks like a number and is none, wherever it stands.
fn check(at: &At<'_>) -> Read<()> {
    match at.value() {
        Yaml::Plain(text) => not_a_number(text).map_or(Ok(()), |bad| Err(fault(at, bad))),
        Yaml::Quoted(_) => Ok(()),
        Yaml::List(_) => at.items()?.iter().try_for_each(check),
        Yaml::Map(_) => at.entries()?.iter().try_for_each(|(_, at)| check(at)),
    }
}

fn value(yaml: &Yaml) -> Value {
    match yaml {
        Yaml::Quoted(text) => Value::String(text.clone()),
        Yaml::Plain(text) => plain(text),
        Yaml::List(items) => items.iter().map(|item| of(item)).collect(),
        Yaml::Map(fields) => {
            let fields = fields
                .iter()
                .map(|field| (field.key.clone(), of(&field.node)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
    }
}

/// The value at a place as the text of a document, fields in the order of the file.
pub fn document(at: &At<'_>) -> Read<String> {
    json(at)?;
    let mut text = String::new();
    write(at.value(), &mut text);
    Ok(text)
}

fn write(yaml: &Yaml, text: &mut String) {
    match yaml {
        Yaml::Quoted(_) | Yaml::Plain(_) => text.push_str(&value(yaml).to_string()),
        Yaml::List(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                write(&item.value, text);
            }
            text.push(']');
        }
        Yaml::Map(fields) => {
            text.push('{');
            for (index, field) in fields.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { "," });
                text.push_str(&Value::from(field.key.as_str()).to_string());
                text.push(':');
                write(&field.node.value, text);
            }
            text.push('}');
        }
    }
}

fn of(node: &Node) -> Value {
    value(&node.value)
}

/// Text without quotes.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        _ => number(text).map_or_else(|| Value::String(text.to_owned()), Value::Number),
    }
}

/// A number as JSON writes it.
fn number(text: &str) -> Option<Number> {
    let first = text.trim_start_matches('-').bytes().next()?;
    first
        .is_ascii_digit()
        .then(|| serde_json::from_str(text).ok())
        .flatten()
}

/// What looks like a number and is none: somebody meant one.
fn not_a_number(text: &str) -> Option<String> {
    let looks = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'_')
        && text.bytes().any(|byte| byte.is_ascii_digit());
    (looks && number(text).is_none())
        .then(|| format!("{text}: is no number in JSON; put it in quotes if it is text"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn plain_text_means_what_it_means_in_json() {
        for (text, expected) in [
            ("7", json!(7)),
            ("-7", json!(-7)),
            ("1.5", json!(1.5)),
            ("18446744073709551615", json!(u64::MAX)),
            ("true", json!(true)),
            ("null", json!(null)),
            ("off", json!("off")),
            ("yes", json!("yes")),
            ("1s", json!("1s")),
            ("nan", json!("nan")),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
        assert!(not_a_number("010").is_some());
        assert!(not_a_number("1_000").is_some());
        assert!(not_a_number("10").is_none());
    }
}
