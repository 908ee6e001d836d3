//! What Envoy's codec writes for a worker, and what it does not.

use std::fmt::Write;

use crate::headers;
use crate::io::Headers;

/// Headers without which there is no request.
const REQUIRED: [&str; 2] = [":method", ":path"];

/// Looks at a head as the filters have left it: what is missing, or cannot stand in a head. The
/// sentence is Envoy's.
pub(crate) fn refused_request(request: &Headers) -> Option<String> {
    let method = headers::get(request, b":method");
    for name in REQUIRED {
        let needed = name == ":method" || method != Some(b"CONNECT");
        if needed && headers::get(request, name.as_bytes()).is_none() {
            return Some(format!("missing required header: {name}"));
        }
    }
    request.iter().find_map(|(name, value)| {
        // Envoy writes a header without a name as it is.
        if !name.is_empty() && !is_name(name) {
            Some(format!("invalid header name: {}", escaped(name)))
        } else if !value.iter().copied().all(is_of_value) {
            Some(format!("invalid header value for: {}", escaped(name)))
        } else {
            None
        }
    })
}

/// Lower-case token characters, perhaps behind a colon.
fn is_name(name: &[u8]) -> bool {
    let name = name.strip_prefix(b":").unwrap_or(name);
    let token = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&byte)
    };
    !name.is_empty() && name.iter().copied().all(token)
}

fn is_of_value(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~' | 0x80..)
}

/// As in a string of JSON; bytes that are no text stay.
fn escaped(name: &[u8]) -> String {
    let mut out = String::new();
    for byte in name.iter().copied() {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0..0x20 | 0x7f => {
                let _ = write!(out, "\\u{byte:04x}");
            }
            byte => out.push(char::from(byte)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &[u8], value: &[u8]) -> Option<String> {
        let mut head: Headers = vec![
            (b":method".to_vec(), b"GET".to_vec()),
            (b":path".to_vec(), b"/".to_vec()),
        ];
        head.push((name.to_vec(), value.to_vec()));
        refused_request(&head)
    }

    #[test]
    fn what_can_stand_in_a_head_is_written() {
        for (name, value) in [
            (&b"x-a"[..], &b"1"[..]),
            (b":other", b""),
            (b"", b"without a name"),
            (b"x", b"\ttabs, blanks \xff\xe4"),
        ] {
            assert_eq!(with(name, value), None, "{}", name.escape_ascii());
        }
    }

    #[test]
    fn what_cannot_is_named() {
        for (name, value, sentence) in [
            (&b"b ad"[..], &b"1"[..], "invalid header name: b ad"),
            (b"b:ad", b"1", "invalid header name: b:ad"),
            (b":", b"1", "invalid header name: :"),
            (b"Bad", b"1", "invalid header name: Bad"),
            (b"a\n\x01\"", b"1", "invalid header name: a\\n\\u0001\\\""),
            (b"bad", b"a\r\nb", "invalid header value for: bad"),
            (b"bad", b"\x7f", "invalid header value for: bad"),
        ] {
            assert_eq!(with(name, value).as_deref(), Some(sentence));
        }
        assert_eq!(
            refused_request(&Headers::new()).as_deref(),
            Some("missing required header: :method")
        );
    }
}
