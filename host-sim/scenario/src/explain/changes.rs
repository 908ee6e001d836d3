//! What a callback left changed: heads line by line, bodies around the place where they differ.

use host_sim_host::abi::watch::View;
use host_sim_host::abi::{BufferKind, MapKind};
use host_sim_host::io::Headers;

/// Bytes of a body that are shown before a change, so that the place can be known again.
const CONTEXT_BYTES: usize = 24;
/// Bytes of a change that are shown.
const CHANGE_BYTES: usize = 48;

/// Heads and bodies that a guest has at hand.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    heads: Vec<Headers>,
    bodies: Vec<Vec<u8>>,
}

impl Snapshot {
    pub(super) fn take(view: &mut View<'_>) -> Snapshot {
        let heads = [
            MapKind::RequestHeaders,
            MapKind::RequestTrailers,
            MapKind::ResponseHeaders,
            MapKind::ResponseTrailers,
        ];
        let bodies = [BufferKind::RequestBody, BufferKind::ResponseBody];
        Snapshot {
            heads: heads.into_iter().map(|head| view.pairs(head)).collect(),
            bodies: bodies.into_iter().map(|body| view.bytes(body)).collect(),
        }
    }

    /// Lines with `-` for what is gone and `+` for what is new. What was not at hand before, or is not any
    /// more, has not changed.
    pub(super) fn changes(&self, after: &Snapshot) -> Vec<String> {
        let heads = self.heads.iter().zip(&after.heads);
        let heads = heads.filter(|(before, after)| !before.is_empty() && !after.is_empty());
        let bodies = self.bodies.iter().zip(&after.bodies);
        let bodies = bodies.filter(|(before, after)| !before.is_empty() && !after.is_empty());
        let lines = heads.flat_map(|(before, after)| of_heads(before, after));
        lines
            .chain(bodies.flat_map(|(before, after)| of_bodies(before, after)))
            .collect()
    }
}

/// A header line as text.
pub(super) fn line((name, value): &(Vec<u8>, Vec<u8>)) -> String {
    format!(
        "{}: {}",
        String::from_utf8_lossy(name),
        String::from_utf8_lossy(value)
    )
}

fn of_heads(before: &Headers, after: &Headers) -> Vec<String> {
    let missing = |from: &Headers, other: &Headers, sign: &str| {
        let mut rest = other.clone();
        let mut lines = Vec::new();
        for pair in from {
            match rest.iter().position(|other| other == pair) {
                Some(place) => {
                    rest.swap_remove(place);
                }
                None => lines.push(format!("{sign} {}", line(pair))),
            }
        }
        lines
    };
    let mut lines = missing(before, after, "-");
    lines.extend(missing(after, before, "+"));
    lines
}

fn of_bodies(before: &[u8], after: &[u8]) -> Vec<String> {
    if before == after {
        return Vec::new();
    }
    let same =
        |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| pairs.take_while(|(a, b)| a == b).count();
    let start = same(&mut before.iter().zip(after));
    let shorter = before.len().min(after.len()) - start;
    let end = same(&mut before.iter().rev().zip(after.iter().rev())).min(shorter);
    vec![
        piece('-', before, start, end),
        piece('+', after, start, end),
    ]
}

/// The part of a body between what is the same at both ends.
fn piece(sign: char, body: &[u8], start: usize, end: usize) -> String {
    let from = start.saturating_sub(CONTEXT_BYTES);
    let changed = body.len() - end;
    let to = changed.min(start + CHANGE_BYTES);
    let text = String::from_utf8_lossy(body.get(from..to).unwrap_or_default()).replace('\n', "\\n");
    let before = if from > 0 { "…" } else { "" };
    let after = if to < body.len() { "…" } else { "" };
    format!("{sign} body of {} bytes: {before}{text}{after}", body.len())
}

#[cfg(test)]
mod tests {
    use super::{of_bodies, of_heads};
    use host_sim_host::io::Headers;

    fn head(lines: &[(&str, &str)]) -> Headers {
        let lines = lines.iter();
        lines
            .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
            .collect()
    }

    #[test]
    fn a_line_that_came_twice_and_is_there_once_is_gone_once() {
        let before = head(&[("a", "1"), ("b", "1"), ("b", "1")]);
        let after = head(&[("b", "1"), ("a", "2")]);
        assert_eq!(of_heads(&before, &after), ["- a: 1", "- b: 1", "+ a: 2"]);
    }

    #[test]
    fn of_a_body_the_place_is_shown_where_it_differs() {
        let before = br#"{"model": "chat", "messages": []}"#;
        let after = br#"{"model": "large", "messages": []}"#;
        assert_eq!(
            of_bodies(before, after),
            [
                r#"- body of 33 bytes: {"model": "chat…"#,
                r#"+ body of 34 bytes: {"model": "large…"#,
            ]
        );
        assert_eq!(of_bodies(before, before), [""; 0]);
    }

    #[test]
    fn a_body_that_repeats_itself_is_not_cut_beyond_its_length() {
        assert_eq!(
            of_bodies(b"aa", b"aaaa"),
            ["- body of 2 bytes: aa", "+ body of 4 bytes: aaaa"]
        );
        assert_eq!(of_bodies(b"aaaa", b"aa").len(), 2);
    }
}
