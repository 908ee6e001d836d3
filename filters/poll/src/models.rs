//! The model list of a worker.

use dragoman_contract::health::MAX_MODELS;
use serde_json::Value;

/// Longest answer that is read, in bytes: some 4,000 models. Longer ones leave the list as it was.
pub(crate) const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// The ids in an answer in OpenAI's form, at most [`MAX_MODELS`]; `None` if it is not one.
pub(crate) fn ids(body: &[u8]) -> Option<Vec<String>> {
    if body.len() > MAX_ANSWER_BYTES {
        return None;
    }
    let answer: Value = serde_json::from_slice(body).ok()?;
    let models = answer.get("data")?.as_array()?;
    let ids = models.iter().filter_map(|model| model.get("id")?.as_str());
    Some(ids.take(MAX_MODELS).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_and_anything_else_is_no_list() {
        let table: [(&[u8], Option<&[&str]>); 7] = [
            (
                br#"{"object":"list","data":[{"id":"a"},{"id":"b/c"}]}"#,
                Some(&["a", "b/c"]),
            ),
            (
                br#"{"data":[{"id":7},{"name":"x"},{"id":"a"}]}"#,
                Some(&["a"]),
            ),
            (br#"{"data":[]}"#, Some(&[])),
            (br#"{"data":[{"id":"a"}"#, None),
            (br#"[]"#, None),
            (b"", None),
            (b"\xff", None),
        ];
        for (body, expected) in table {
            let expected = expected.map(|ids| ids.iter().map(|id| (*id).to_owned()).collect());
            assert_eq!(ids(body), expected, "{}", String::from_utf8_lossy(body));
        }
    }
}
