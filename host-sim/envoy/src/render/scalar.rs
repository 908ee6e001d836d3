//! YAML scalars that read back as exactly the given text.

use std::fmt::Write;

/// `text` in double quotes on one line.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for character in text.chars() {
        let written = match character {
            '"' => out.write_str("\\\""),
            '\\' => out.write_str("\\\\"),
            '\n' => out.write_str("\\n"),
            ' '..='~' => out.write_char(character),
            other if u32::from(other) <= 0xffff => write!(out, "\\u{:04x}", u32::from(other)),
            other => write!(out, "\\U{:08x}", u32::from(other)),
        };
        debug_assert!(written.is_ok(), "writing to a string does not fail");
    }
    out.push('"');
    out
}

/// The document as a `StringValue`, indented by two: as it stands where YAML keeps it so, else quoted.
pub fn document(text: &str) -> String {
    let header = "\"@type\": type.googleapis.com/google.protobuf.StringValue\n  value:";
    let Some((mark, body)) = literal(text) else {
        return format!("{header} {}", quoted(text));
    };
    let mut out = format!("{header} {mark}");
    for line in body.split('\n') {
        out.push_str(if line.is_empty() { "\n" } else { "\n    " });
        out.push_str(line);
    }
    out
}

/// How `text` can be written as a literal block: the mark and the lines without the last line end.
///
/// Readers of YAML 1.1 and 1.2 agree on plain ASCII lines that begin with something visible and
/// end with at most one line end.
fn literal(text: &str) -> Option<(&'static str, &str)> {
    let plain = |byte: u8| byte == b'\n' || byte == b'\t' || (b' '..=b'~').contains(&byte);
    let (mark, body) = match text.strip_suffix('\n') {
        Some(body) => ("|", body),
        None => ("|-", text),
    };
    let visible = body.starts_with('{') && !body.ends_with('\n');
    (visible && text.bytes().all(plain)).then_some((mark, body))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{document, quoted};
    use crate::tree::{Value, parse};

    /// What a reader of YAML finds as the value of the document, two levels down as in the file.
    fn read_back(text: &str) -> String {
        let yaml = format!(
            "a:\n  b:\n    {}\n  c: 1\n",
            document(text).replace('\n', "\n  ")
        );
        let root = parse(&yaml).unwrap();
        let Value::Map(a) = &root.value else {
            panic!("{yaml}")
        };
        let Value::Map(b) = &a[0].node.value else {
            panic!("{yaml}")
        };
        let Value::Map(fields) = &b[0].node.value else {
            panic!("{yaml}")
        };
        match &fields[1].node.value {
            Value::Quoted(text) => text.clone(),
            other => panic!("{other:?}"),
        }
    }

    proptest! {
        #[test]
        fn a_document_reads_back_as_exactly_its_own_bytes(text in "\\{?[ \t\r\n\"#:{}a\\\\é\u{85}\u{2028}😀]{0,40}\n?") {
            prop_assert_eq!(read_back(&text), text);
        }
    }

    #[test]
    fn what_yaml_might_read_otherwise_is_escaped() {
        assert_eq!(
            quoted("a\"\\\n\té\u{85}\u{1f600}"),
            r#""a\"\\\n\u0009\u00e9\u0085\U0001f600""#
        );
    }

    #[test]
    fn a_readable_document_stays_readable() {
        let value = document("{\n  \"a\": 1\n\n}\n");
        assert!(
            value.ends_with("value: |\n    {\n      \"a\": 1\n\n    }"),
            "{value}"
        );
        assert!(document("{}").ends_with("value: |-\n    {}"));
    }

    #[test]
    fn a_document_that_a_block_would_change_is_quoted() {
        for text in [" {}", "{\r\n}", "{}\n\n", "{\"é\":1}", "\n{}", ""] {
            assert!(document(text).ends_with('"'), "{text:?}");
        }
    }
}
