//! The line of a JSON text on which the value of a path begins.

use crate::document::steps;

/// Deepest nesting that is followed; the document's own reader bounds it likewise.
const MAX_DEPTH: usize = 128;

/// The line of a fault, from 1: of the value its path names, or of the innermost part of the path that
/// is there. A fault of the whole document may name its line itself.
pub fn line(text: &str, path: &str, reason: &str) -> usize {
    let named = named_line(reason).filter(|_| path.is_empty());
    // Of a key that is given twice the second one is too much.
    named.unwrap_or_else(|| line_of(text, path, reason.ends_with("is given twice")))
}

/// The line in `... at line 3 column 5`.
fn named_line(reason: &str) -> Option<usize> {
    let (_, rest) = reason.rsplit_once(" at line ")?;
    rest.split(' ').next()?.parse().ok()
}

/// The line of a path.
fn line_of(text: &str, path: &str, last_key: bool) -> usize {
    let mut scan = Scan {
        text: text.as_bytes(),
        at: 0,
    };
    let steps: Vec<&str> = steps(path).collect();
    let at = scan.find(&steps, last_key);
    1 + text
        .as_bytes()
        .iter()
        .take(at)
        .filter(|byte| **byte == b'\n')
        .count()
}

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
}

impl Scan<'_> {
    fn find(&mut self, steps: &[&str], last_key: bool) -> usize {
        self.space();
        let here = self.at;
        let Some((step, below)) = steps.split_first() else {
            return here;
        };
        match self.peek() {
            Some(b'{') => {
                let mut found = None;
                self.each(b'}', |scan| {
                    let key_at = scan.at;
                    let key = scan.string();
                    scan.space();
                    scan.at += 1;
                    if key == step.as_bytes() {
                        found = Some((key_at, scan.at));
                        if !last_key || !below.is_empty() {
                            return false;
                        }
                    }
                    scan.skip(0);
                    true
                });
                match found {
                    Some((key_at, _)) if below.is_empty() => key_at,
                    Some((_, value_at)) => {
                        self.at = value_at;
                        self.find(below, last_key)
                    }
                    None => here,
                }
            }
            Some(b'[') => {
                let wanted: usize = step.parse().unwrap_or(usize::MAX);
                let (mut index, mut found) = (0, None);
                self.each(b']', |scan| {
                    if index == wanted {
                        found = Some(scan.at);
                        return false;
                    }
                    index += 1;
                    scan.skip(0);
                    true
                });
                match found {
                    Some(at) => {
                        self.at = at;
                        self.find(below, last_key)
                    }
                    None => here,
                }
            }
            _ => here,
        }
    }

    /// Calls `visit` at the beginning of each member or item, until it says no.
    fn each(&mut self, end: u8, mut visit: impl FnMut(&mut Self) -> bool) {
        self.at += 1;
        loop {
            self.space();
            match self.peek() {
                None => return,
                Some(byte) if byte == end => return,
                Some(b',') => self.at += 1,
                Some(_) if !visit(self) => return,
                Some(_) => {}
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_whitespace()) {
            self.at += 1;
        }
    }

    /// A string with its escapes left as they are; keys of the document have none.
    fn string(&mut self) -> Vec<u8> {
        self.at += 1;
        let start = self.at;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => break,
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        let end = self.at.min(self.text.len());
        self.at += 1;
        self.text.get(start..end).unwrap_or_default().to_vec()
    }

    /// Past one value.
    fn skip(&mut self, depth: usize) {
        self.space();
        match self.peek() {
            Some(b'"') => {
                self.string();
            }
            Some(open @ (b'{' | b'[')) if depth < MAX_DEPTH => {
                let end = if open == b'{' { b'}' } else { b']' };
                self.each(end, |scan| {
                    if open == b'{' {
                        scan.string();
                        scan.space();
                        scan.at += 1;
                    }
                    scan.skip(depth + 1);
                    true
                });
                self.at += 1;
            }
            _ => {
                // At least one byte, so that text which is no JSON comes to an end, too.
                self.at += 1;
                while self
                    .peek()
                    .is_some_and(|byte| !b",]} \t\r\n".contains(&byte))
                {
                    self.at += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::line_of;

    const TEXT: &str =
        "{\n \"a\": {\"x\": \"}\\\"]\"},\n \"b\": [\n  1,\n  {\"c\":\n   2}\n ],\n \"a\": 1\n}\n";

    #[test]
    fn a_path_leads_to_its_line() {
        for (path, line) in [
            ("", 1),
            ("a", 2),
            ("a.x", 2),
            ("b", 3),
            ("b[0]", 4),
            ("b[1]", 5),
            ("b[1].c", 5),
            ("b[1].missing", 5),
            ("b[7]", 3),
            ("missing.deeper", 1),
        ] {
            assert_eq!(line_of(TEXT, path, false), line, "{path}");
        }
        assert_eq!(line_of(TEXT, "a", true), 8);
    }

    #[test]
    fn text_that_is_no_json_comes_to_an_end() {
        for cut in 0..TEXT.len() {
            line_of(&TEXT[..cut], "b[1].c", true);
            line_of(&TEXT[cut..], "b[1].c", false);
        }
        assert_eq!(line_of(&"[".repeat(10_000), "a[0]", false), 1);
    }
}
