//! The model list, in OpenAI's shape.

use dragoman_contract::errors::quoted;

/// `GET /v1/models` of these, each as [`model`] has it.
pub(crate) fn list<'a>(models: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut out = String::from(r#"{"object":"list","data":["#);
    for (index, model) in models.enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(model);
    }
    out.push_str("]}");
    out.into_bytes()
}

/// `GET /v1/models/{id}`. `created` is required by SDKs; an endpoint has no such date.
pub(crate) fn model(slug: &str) -> String {
    format!(
        r#"{{"id":{},"object":"model","created":0,"owned_by":"gateway"}}"#,
        quoted(slug)
    )
}

/// The name in a path. `None` where the percent-encoding is broken or not UTF-8.
pub(crate) fn decode(encoded: &[u8]) -> Option<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded.iter();
    while let Some(byte) = rest.next() {
        if *byte == b'%' {
            let mut digit = || char::from(*rest.next()?).to_digit(16);
            let value = digit()? * 16 + digit()?;
            bytes.push(u8::try_from(value).ok()?);
        } else {
            bytes.push(*byte);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_path_is_decoded_once() {
        let table: [(&[u8], Option<&str>); 6] = [
            (b"chat-standard", Some("chat-standard")),
            (b"meta%2Fllama%203", Some("meta/llama 3")),
            (b"a%252F", Some("a%2F")),
            (b"a%2", None),
            (b"a%zz", None),
            (b"%ff", None),
        ];
        for (encoded, expected) in table {
            assert_eq!(decode(encoded).as_deref(), expected, "{encoded:?}");
        }
    }
}
