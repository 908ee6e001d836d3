//! Rust source as words and signs: enough to see what a file names, without being misled by
//! comments and string literals.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// An identifier, keyword or number.
    Word,
    /// `'a`, without being a character literal.
    Lifetime,
    /// `::` or one other character.
    Sign,
}

/// A piece of source. Comments and literals of text are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// What it is.
    pub kind: Kind,
    /// As it stands in the source.
    pub text: &'a str,
    /// Counted from 1.
    pub line: usize,
}

/// Splits `text` into tokens.
pub fn read(text: &str) -> Vec<Token<'_>> {
    let mut reader = Reader {
        rest: text,
        line: 1,
    };
    let mut tokens = Vec::new();
    while let Some(first) = reader.rest.chars().next() {
        let line = reader.line;
        if let Some(length) = skipped(reader.rest, first) {
            reader.take(length);
        } else {
            let (kind, length) = token(reader.rest, first);
            tokens.push(Token {
                kind,
                text: reader.take(length),
                line,
            });
        }
    }
    tokens
}

struct Reader<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }
}

/// The length of white space, a comment or a literal of text at the start of `rest`.
fn skipped(rest: &str, first: char) -> Option<usize> {
    if first.is_whitespace() {
        return Some(first.len_utf8());
    }
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(block_comment(rest));
    }
    let prefix = ["br", "cr", "b", "c", "r"]
        .into_iter()
        .find(|prefix| rest.starts_with(prefix));
    let prefix = prefix.unwrap_or("");
    let body = &rest[prefix.len()..];
    if prefix.ends_with('r') {
        let hashes = body.len() - body.trim_start_matches('#').len();
        if body[hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let inner = &body[hashes + 1..];
            let end = inner
                .find(&close)
                .map_or(inner.len(), |at| at + close.len());
            return Some(prefix.len() + hashes + 1 + end);
        }
    } else if body.starts_with('"') {
        return Some(prefix.len() + quoted(body, '"'));
    } else if body.starts_with('\'') && !prefix.starts_with('c') && is_character(body) {
        return Some(prefix.len() + quoted(body, '\''));
    }
    None
}

/// Block comments nest.
fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// The length of a literal with both its quotes.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// Tells `'a'` from the lifetime `'a`.
fn is_character(rest: &str) -> bool {
    let mut following = rest.chars().skip(1);
    following.next() == Some('\\') || following.next() == Some('\'')
}

fn token(rest: &str, first: char) -> (Kind, usize) {
    if is_word(first) {
        return (Kind::Word, word_length(rest));
    }
    if first == '\'' {
        return (Kind::Lifetime, 1 + word_length(&rest[1..]));
    }
    let length = if rest.starts_with("::") {
        2
    } else {
        first.len_utf8()
    };
    (Kind::Sign, length)
}

fn is_word(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

fn word_length(rest: &str) -> usize {
    rest.find(|character| !is_word(character))
        .unwrap_or(rest.len())
}
