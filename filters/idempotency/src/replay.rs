//! Which parts of an answer's head are kept, and how they are written.

use dragoman_sdk::host::Pairs;

/// Most bytes of a kept head. Answers of model servers have a few hundred; a head this large
/// belongs to an answer that is given up as too large.
pub(crate) const MAX_HEAD_BYTES: usize = 4 * 1024;

/// Says that an answer was given before.
pub(crate) const REPLAYED: &str = "idempotency-replayed";

/// What belongs to one connection, to the moment or to one exchange, and not to the answer. Envoy
/// writes length, date, server and request id itself. A cookie names a session of the first
/// exchange.
const NOT_KEPT: &[&str] = &[
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "alt-svc",
    "content-length",
    "date",
    "server",
    "x-request-id",
    "set-cookie",
    REPLAYED,
];
/// `x-envoy-*` tells of the exchange with the worker, `x-ratelimit-*` of the limits at that moment.
const NOT_KEPT_PREFIXES: &[&str] = &[":", "x-envoy-", "x-ratelimit-"];

/// The lines that are kept, encoded; `None` if they are more than [`MAX_HEAD_BYTES`].
pub(crate) fn kept(headers: &Pairs) -> Option<Vec<u8>> {
    let lines = headers.iter().filter(|(name, _)| is_kept(name));
    let mut out = Vec::new();
    for (name, value) in lines {
        for part in [name, value] {
            out.extend_from_slice(&u16::try_from(part.len()).ok()?.to_le_bytes());
            out.extend_from_slice(part);
        }
    }
    (out.len() <= MAX_HEAD_BYTES).then_some(out)
}

/// The lines of a kept head.
pub(crate) fn decode(mut bytes: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut lines = Vec::new();
    while !bytes.is_empty() {
        let name = part(&mut bytes)?;
        let value = part(&mut bytes)?;
        lines.push((String::from_utf8(name).ok()?, value));
    }
    Some(lines)
}

fn part(bytes: &mut &[u8]) -> Option<Vec<u8>> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = usize::from(u16::from_le_bytes(*length));
    let (part, rest) = rest.split_at_checked(length)?;
    *bytes = rest;
    Some(part.to_vec())
}

fn is_kept(name: &[u8]) -> bool {
    let is = |entry: &&str| entry.as_bytes() == name;
    let begins = |prefix: &&str| name.starts_with(prefix.as_bytes());
    !NOT_KEPT.iter().any(is) && !NOT_KEPT_PREFIXES.iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(lines: &[(&str, &str)]) -> Pairs {
        let line = |(name, value): &(&str, &str)| (name.as_bytes().into(), value.as_bytes().into());
        lines.iter().map(line).collect()
    }

    #[test]
    fn what_belongs_to_the_answer_is_kept_and_in_order() {
        let head = kept(&pairs(&[
            (":status", "200"),
            ("content-type", "text/event-stream"),
            ("connection", "close"),
            ("date", "today"),
            ("vary", "a"),
            ("x-request-id", "r1"),
            ("x-ratelimit-limit-requests", "5"),
            ("x-envoy-upstream-service-time", "3"),
            ("set-cookie", "a=b"),
            ("vary", "b"),
            ("openai-version", ""),
        ]));
        let expected = [
            ("content-type", "text/event-stream"),
            ("vary", "a"),
            ("vary", "b"),
            ("openai-version", ""),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
        assert_eq!(decode(&head.unwrap()).unwrap(), expected);
    }

    #[test]
    fn a_head_over_the_bound_is_not_kept() {
        let value = "v".repeat(MAX_HEAD_BYTES - 5);
        assert!(kept(&pairs(&[("a", &value)])).is_some());
        assert_eq!(kept(&pairs(&[("ab", &value)])), None);
    }

    #[test]
    fn a_cut_head_is_not_read() {
        let head = kept(&pairs(&[("a", "bc")])).unwrap();
        for end in 1..head.len() {
            assert_eq!(decode(&head[..end]), None, "cut at {end}");
        }
    }
}
