//! A document of another server that is asked for time and again: with its entity tag, so that one
//! that has not changed costs nothing.

use std::time::Duration;

use dragoman_sdk::host::first_value;
use dragoman_sdk::{Callout, CalloutResponse};

/// Longest entity tag that is kept, in bytes; usual ones have a few dozen.
const MAX_ETAG_BYTES: usize = 256;

/// Where documents come from.
#[derive(Debug)]
pub(crate) struct Source {
    /// Envoy cluster.
    pub cluster: String,
    /// What stands in `:authority`.
    pub authority: String,
    /// Header name and value that are presented.
    pub credential: Option<(String, String)>,
    /// How long an answer may take.
    pub timeout: Duration,
}

/// What came of a question.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The document is what it was.
    Unchanged,
    /// The document, with its tag if it has one.
    Document { etag: Option<String>, body: Vec<u8> },
    /// There is no document; the text says why, and holds nothing of the answer.
    Failed(String),
}

impl Source {
    /// The question for the document at `path`; with `etag` only if it has another one now.
    pub(crate) fn ask(&self, path: &str, etag: Option<&str>) -> Callout {
        let mut headers = vec![
            (":method".to_owned(), "GET".to_owned()),
            (":path".to_owned(), path.to_owned()),
            (":authority".to_owned(), self.authority.clone()),
            ("accept".to_owned(), "application/json".to_owned()),
        ];
        headers.extend(etag.map(|etag| ("if-none-match".to_owned(), etag.to_owned())));
        headers.extend(self.credential.clone());
        Callout {
            cluster: self.cluster.clone(),
            headers,
            body: Vec::new(),
            timeout: self.timeout,
        }
    }
}

impl Answer {
    /// What a response says; a body of more than `most_bytes` is none.
    pub(crate) fn of(response: CalloutResponse, most_bytes: usize) -> Self {
        let etag = first_value(&response.headers, "etag")
            .and_then(|tag| std::str::from_utf8(tag).ok())
            .filter(|tag| (1..=MAX_ETAG_BYTES).contains(&tag.len()))
            .map(str::to_owned);
        match response.status() {
            None => Self::Failed("no answer".to_owned()),
            Some(304) => Self::Unchanged,
            Some(200) if response.body.len() > most_bytes => {
                let length = response.body.len();
                Self::Failed(format!("{length} bytes: must have at most {most_bytes}"))
            }
            Some(200) => Self::Document {
                etag,
                body: response.body,
            },
            Some(status) => Self::Failed(format!("status {status}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use dragoman_sdk::fake::lines;

    use super::*;

    fn source(credential: Option<(String, String)>) -> Source {
        Source {
            cluster: "c".to_owned(),
            authority: "127.0.0.1:9201".to_owned(),
            credential,
            timeout: Duration::from_secs(1),
        }
    }

    fn header<'a>(callout: &'a Callout, name: &str) -> Option<&'a str> {
        let (_, value) = callout.headers.iter().find(|(key, _)| key == name)?;
        Some(value)
    }

    #[test]
    fn a_question_has_the_tag_and_the_credential_that_there_are() {
        let plain = source(None).ask("/a?b", None);
        assert_eq!(header(&plain, ":path"), Some("/a?b"));
        assert_eq!(header(&plain, "if-none-match"), None);
        assert_eq!(header(&plain, "authorization"), None);

        let credential = Some(("authorization".to_owned(), "Bearer s".to_owned()));
        let full = source(credential).ask("/", Some("\"7\""));
        assert_eq!(header(&full, "if-none-match"), Some("\"7\""));
        assert_eq!(header(&full, "authorization"), Some("Bearer s"));
    }

    #[test]
    fn an_answer_is_a_document_the_old_one_or_a_reason() {
        let of = |headers: &[(&str, &str)], body: &str| {
            let response = CalloutResponse {
                headers: lines(headers),
                body: body.into(),
            };
            Answer::of(response, 4)
        };
        let document = |etag: Option<&str>| Answer::Document {
            etag: etag.map(str::to_owned),
            body: b"body".to_vec(),
        };
        let failed = |reason: &str| Answer::Failed(reason.to_owned());
        let long = "x".repeat(MAX_ETAG_BYTES + 1);
        for (headers, body, expected) in [
            (
                vec![(":status", "200"), ("etag", "W/\"7\"")],
                "body",
                document(Some("W/\"7\"")),
            ),
            (vec![(":status", "200")], "body", document(None)),
            (
                vec![(":status", "200"), ("etag", "")],
                "body",
                document(None),
            ),
            (
                vec![(":status", "200"), ("etag", &long)],
                "body",
                document(None),
            ),
            (vec![(":status", "304")], "", Answer::Unchanged),
            (
                vec![(":status", "200")],
                "bodyx",
                failed("5 bytes: must have at most 4"),
            ),
            (vec![(":status", "204")], "", failed("status 204")),
            (vec![(":status", "401")], "body", failed("status 401")),
            (vec![(":status", "504")], "", failed("status 504")),
            (vec![], "", failed("no answer")),
        ] {
            assert_eq!(of(&headers, body), expected, "{headers:?}");
        }
    }
}
