//! JSON as Envoy writes it.

use super::operators::evaluate;
use super::{Facts, Value};
use crate::config::JsonFormat;
use crate::format::{self, Piece};

/// Objects have their fields sorted by name; a format of one operator keeps its type.
pub(super) fn write_json(
    out: &mut String,
    format: &JsonFormat,
    facts: &Facts<'_>,
    omit_empty: bool,
) {
    match format {
        JsonFormat::Literal(json) => out.push_str(json),
        JsonFormat::Text(text) => write_text(out, text, facts, omit_empty),
        JsonFormat::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by(|a, b| a.0.cmp(&b.0));
            out.push('{');
            let mut first = true;
            for (name, value) in sorted {
                let mut text = String::new();
                write_json(&mut text, value, facts, omit_empty);
                if omit_empty && text == "null" {
                    continue;
                }
                if !std::mem::take(&mut first) {
                    out.push(',');
                }
                write_string(out, name.as_bytes());
                out.push(':');
                out.push_str(&text);
            }
            out.push('}');
        }
    }
}

fn write_text(out: &mut String, text: &str, facts: &Facts<'_>, omit_empty: bool) {
    // The reader of the configuration has checked the text; what it let through is shown as it stands.
    let pieces = format::parse(text).unwrap_or_else(|_| vec![Piece::Text(text.to_owned())]);
    if let [
        Piece::Operator {
            operator,
            limit_bytes,
        },
    ] = pieces.as_slice()
    {
        match cut(evaluate(operator, facts), *limit_bytes) {
            Value::Absent => out.push_str("null"),
            Value::Number(number) => out.push_str(&number.to_string()),
            Value::Bytes(bytes) => write_string(out, &bytes),
        }
        return;
    }
    let mut joined = Vec::new();
    for piece in &pieces {
        match piece {
            Piece::Text(text) => joined.extend_from_slice(text.as_bytes()),
            Piece::Operator {
                operator,
                limit_bytes,
            } => match cut(evaluate(operator, facts), *limit_bytes) {
                Value::Absent if omit_empty => {}
                Value::Absent => joined.push(b'-'),
                Value::Number(number) => joined.extend_from_slice(number.to_string().as_bytes()),
                Value::Bytes(bytes) => joined.extend_from_slice(&bytes),
            },
        }
    }
    write_string(out, &joined);
}

fn cut(value: Value, limit_bytes: Option<usize>) -> Value {
    match (value, limit_bytes) {
        (Value::Bytes(mut bytes), Some(limit)) => {
            bytes.truncate(limit);
            Value::Bytes(bytes)
        }
        (value, _) => value,
    }
}

/// A JSON string; bytes that are not UTF-8 are written as Latin-1, as Envoy does.
fn write_string(out: &mut String, bytes: &[u8]) {
    use std::fmt::Write as _;
    let utf8 = std::str::from_utf8(bytes);
    out.push('"');
    let mut push = |c: char| match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        c if u32::from(c) < 0x20 || (utf8.is_err() && !c.is_ascii()) => {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        }
        c => out.push(c),
    };
    match utf8 {
        Ok(text) => text.chars().for_each(&mut push),
        Err(_) => bytes
            .iter()
            .map(|byte| char::from(*byte))
            .for_each(&mut push),
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(bytes: &[u8]) -> String {
        let mut out = String::new();
        write_string(&mut out, bytes);
        out
    }

    /// envoy-lab.md, section 2.
    #[test]
    fn bytes_that_are_not_utf8_are_written_as_latin_1() {
        assert_eq!(
            string(&[0xff, 0x00, 0xfe, 0x41]),
            r#""\u00ff\u0000\u00feA""#
        );
        assert_eq!(string("é\n\"".as_bytes()), r#""é\n\"""#);
    }
}
