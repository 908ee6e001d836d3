//! The paths that a piece of source names, and what of it is for tests only.

use crate::tokens::{Kind, Token};

/// A path such as `std::time::Instant`. Those of `use` lists are written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedPath<'a> {
    /// The names between the `::`; `*` for all of a module.
    pub segments: Vec<&'a str>,
    /// Where the last name stands, counted from 1.
    pub line: usize,
}

/// The tokens that are not under `#[cfg(test)]` or `#[cfg(all(test, ...))]`.
pub fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        if starts_test(&tokens[at..]) {
            while tokens.get(at).is_some_and(|token| token.text == "#") {
                at += group(&tokens[at..], "[", "]");
            }
            at += item(&tokens[at..]);
        } else {
            kept.push(tokens[at]);
            at += 1;
        }
    }
    kept
}

fn starts_test(tokens: &[Token<'_>]) -> bool {
    let starts = |wanted: &[&str]| {
        tokens.len() >= wanted.len()
            && tokens
                .iter()
                .zip(wanted)
                .all(|(token, text)| token.text == *text)
    };
    starts(&["#", "[", "cfg", "(", "test", ")"])
        || starts(&["#", "[", "cfg", "(", "all", "(", "test"])
}

/// The number of tokens up to the end of the first `open ... close`.
fn group(tokens: &[Token<'_>], open: &str, close: &str) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        if token.text == open {
            depth += 1;
        } else if token.text == close {
            depth -= 1;
            if depth == 0 {
                return at + 1;
            }
        }
    }
    tokens.len()
}

/// The number of tokens of one item: up to its `;` or the end of its braces.
fn item(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        match token.text {
            "(" | "[" => depth += 1,
            ")" | "]" => depth -= 1,
            ";" if depth == 0 => return at + 1,
            "{" if depth == 0 => return at + group(&tokens[at..], "{", "}"),
            // A field or match arm at the end of its list.
            "}" if depth == 0 => return at,
            _ => {}
        }
    }
    tokens.len()
}

/// Every path that the tokens name, `use` lists written out.
pub fn named<'a>(tokens: &[Token<'a>]) -> Vec<NamedPath<'a>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let capture = tokens.get(at + 1).is_some_and(|next| next.text == "<");
        if tokens[at].text == "use" && !capture {
            at += 1 + use_list(&tokens[at + 1..], &[], &mut found);
        } else if tokens[at].kind == Kind::Word {
            let mut segments = vec![tokens[at].text];
            while let Some([colons, name]) = tokens.get(at + 1..at + 3) {
                if colons.text != "::" || name.kind != Kind::Word {
                    break;
                }
                segments.push(name.text);
                at += 2;
            }
            found.push(NamedPath {
                segments,
                line: tokens[at].line,
            });
            at += 1;
        } else {
            at += 1;
        }
    }
    found
}

/// Reads one part of a `use`, up to its `,`, `;` or the `}` around it; returns the tokens read.
fn use_list<'a>(tokens: &[Token<'a>], before: &[&'a str], found: &mut Vec<NamedPath<'a>>) -> usize {
    let mut segments = before.to_vec();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token.text {
            "," | ";" | "}" => break,
            "as" => at += 1,
            "{" => {
                loop {
                    at += 1;
                    at += use_list(&tokens[at..], &segments, found);
                    if tokens.get(at).is_none_or(|end| end.text != ",") {
                        break;
                    }
                }
                return at + 1;
            }
            "::" => {}
            _ => segments.push(token.text),
        }
        at += 1;
    }
    if segments.len() > before.len() {
        let line = tokens
            .get(at.saturating_sub(1))
            .map_or(0, |token| token.line);
        found.push(NamedPath { segments, line });
    }
    at
}
