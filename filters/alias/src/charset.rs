//! In which encoding a request says that its body is.

/// Whether a `content-type` leaves the body in UTF-8, as JSON is (RFC 8259).
///
/// Some servers decode a body by the charset it claims: what is a harmless string in UTF-8 can be a
/// second `model` in UTF-7, which nobody looked at. Any other way to say it than `charset=` and a
/// name of UTF-8 or ASCII counts as another encoding.
pub(crate) fn is_utf8(content_type: &[u8]) -> bool {
    let lower = content_type.to_ascii_lowercase();
    let mut parameters = lower.split(|byte| matches!(byte, b';' | b','));
    parameters.all(
        |parameter| match parameter.trim_ascii().strip_prefix(b"charset") {
            Some(value) => names_utf8(value),
            None => true,
        },
    )
}

fn names_utf8(value: &[u8]) -> bool {
    let Some(value) = value.trim_ascii().strip_prefix(b"=") else {
        return false;
    };
    let value = value.trim_ascii();
    let bare = value
        .strip_prefix(b"\"")
        .and_then(|rest| rest.strip_suffix(b"\""));
    matches!(bare.unwrap_or(value), b"utf-8" | b"utf8" | b"us-ascii")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf8_is_told_from_every_other_encoding() {
        for content_type in [
            "application/json",
            "application/json; charset=utf-8",
            "Application/JSON;Charset=\"UTF-8\"",
            "application/json; charset = utf8 ",
            "text/plain; charset=US-ASCII",
            "multipart/form-data; boundary=charset",
            "",
        ] {
            assert!(is_utf8(content_type.as_bytes()), "{content_type}");
        }
        for content_type in [
            "application/json; charset=utf-7",
            "application/json; charset=utf-8; charset=utf-7",
            "application/json; charset=utf-8, text/plain;charset=utf-16",
            "application/json;\tcharset=\"utf-7\"",
            "application/json; charset='utf-8'",
            "application/json; charset*=utf-8''utf-7",
            "application/json; charset",
            "charset=iso-8859-1",
        ] {
            assert!(!is_utf8(content_type.as_bytes()), "{content_type}");
        }
        assert!(!is_utf8(b"application/json; charset=\xff"));
    }
}
