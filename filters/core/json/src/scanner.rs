//! The grammar of RFC 8259 over bytes: checks every token, builds nothing.

use std::ops::Range;

use crate::error::ScanError;
use crate::string;

/// Deepest nesting of lists and objects, the outermost object included. Parsers behind the gateway
/// recurse, and the usual one stops at about this depth; here it is one bit a level.
pub const MAX_DEPTH: u32 = u128::BITS;

/// A string token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StringToken {
    /// Both quotes included.
    pub(crate) span: Range<usize>,
    /// Whether it has escapes.
    pub(crate) escaped: bool,
}

/// What the next value is, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Object,
    List,
    String,
    Number,
    True,
    False,
    Null,
}

/// A place in a body.
pub(crate) struct Scanner<'a> {
    body: &'a [u8],
    at: usize,
    open: Nesting,
}

/// The open lists and objects, innermost in the lowest bit.
#[derive(Default)]
struct Nesting {
    objects: u128,
    depth: u32,
}

impl<'a> Scanner<'a> {
    /// At the start of a body that is known to be UTF-8.
    pub(crate) fn new(body: &'a str) -> Self {
        Self {
            body: body.as_bytes(),
            at: 0,
            open: Nesting::default(),
        }
    }

    pub(crate) fn fault<T>(&self, reason: &'static str) -> Result<T, ScanError> {
        let (offset, reason) = match self.peek() {
            Some(_) => (self.at, reason),
            None => (self.body.len(), "it ends too early"),
        };
        Err(ScanError::Malformed { offset, reason })
    }

    fn peek(&self) -> Option<u8> {
        self.body.get(self.at).copied()
    }

    /// The next byte that is not white space.
    fn peek_token(&mut self) -> Option<u8> {
        loop {
            match self.peek() {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                other => return other,
            }
        }
    }

    /// Steps over this byte if it is the next token.
    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek_token() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Looks at the next value without stepping over it.
    pub(crate) fn kind(&mut self) -> Result<Kind, ScanError> {
        Ok(match self.peek_token() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::List,
            Some(b'"') => Kind::String,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            Some(b't') => Kind::True,
            Some(b'f') => Kind::False,
            Some(b'n') => Kind::Null,
            _ => return self.fault("no value"),
        })
    }

    /// Steps over `{` and tells whether a member follows; without one, over `}` too.
    pub(crate) fn open_object(&mut self) -> Result<bool, ScanError> {
        self.open(true, b'{', b'}')
    }

    fn open(&mut self, object: bool, opening: u8, closing: u8) -> Result<bool, ScanError> {
        if self.open.depth == MAX_DEPTH {
            return self.fault("it is nested too deeply");
        }
        if !self.eat(opening) {
            return self.fault("no object or list");
        }
        self.open.push(object);
        if self.eat(closing) {
            self.open.pop();
            return Ok(false);
        }
        Ok(true)
    }

    /// Steps over what stands behind a value, and tells whether another one follows in the same
    /// list or object.
    pub(crate) fn next_in_container(&mut self) -> Result<bool, ScanError> {
        if self.eat(b',') {
            return Ok(true);
        }
        let (closing, reason) = if self.open.in_object() {
            (b'}', "no comma or closing brace")
        } else {
            (b']', "no comma or closing bracket")
        };
        if !self.eat(closing) {
            return self.fault(reason);
        }
        self.open.pop();
        Ok(false)
    }

    /// Steps over a key and its colon.
    pub(crate) fn key(&mut self) -> Result<StringToken, ScanError> {
        if self.peek_token() != Some(b'"') {
            return self.fault("no key");
        }
        let key = self.string()?;
        if !self.eat(b':') {
            return self.fault("no colon");
        }
        Ok(key)
    }

    /// Steps over a string; the next byte is its opening quote.
    pub(crate) fn string(&mut self) -> Result<StringToken, ScanError> {
        let start = self.at;
        let (end, escaped) = string::end(self.body, start)?;
        self.at = end;
        Ok(StringToken {
            span: start..end,
            escaped,
        })
    }

    /// Steps over one of the three literals.
    pub(crate) fn literal(&mut self, literal: &'static str) -> Result<(), ScanError> {
        for expected in literal.bytes() {
            if self.peek() != Some(expected) {
                return self.fault("no true, false or null");
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Steps over a number and gives its text.
    pub(crate) fn number(&mut self) -> Result<&'a [u8], ScanError> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(self.body.get(start..self.at).unwrap_or_default())
    }

    fn digits(&mut self) -> Result<(), ScanError> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start {
            return self.fault("no digit");
        }
        Ok(())
    }

    /// Steps over any value. A loop, not a recursion: the stack of a module is small.
    pub(crate) fn skip_value(&mut self) -> Result<(), ScanError> {
        let outside = self.open.depth;
        loop {
            let entered = match self.kind()? {
                Kind::Object => self.open_object()?,
                Kind::List => self.open(false, b'[', b']')?,
                scalar => {
                    self.skip_scalar(scalar)?;
                    false
                }
            };
            if !entered && !self.skip_to_next(outside)? {
                return Ok(());
            }
            if self.open.in_object() {
                self.key()?;
            }
        }
    }

    fn skip_scalar(&mut self, kind: Kind) -> Result<(), ScanError> {
        match kind {
            Kind::String => self.string().map(drop),
            Kind::True => self.literal("true"),
            Kind::False => self.literal("false"),
            Kind::Null => self.literal("null"),
            _ => self.number().map(drop),
        }
    }

    /// Behind a value: on to the next one, out of as many lists and objects as end here.
    /// `false` when that leads out of the value that began at depth `outside`.
    fn skip_to_next(&mut self, outside: u32) -> Result<bool, ScanError> {
        while self.open.depth > outside {
            if self.next_in_container()? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Refuses anything but white space behind the object.
    pub(crate) fn end(&mut self) -> Result<(), ScanError> {
        match self.peek_token() {
            None => Ok(()),
            Some(_) => self.fault("something follows the object"),
        }
    }
}

impl Nesting {
    fn push(&mut self, object: bool) {
        self.objects = (self.objects << 1) | u128::from(object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.objects >>= 1;
        self.depth = self.depth.saturating_sub(1);
    }

    fn in_object(&self) -> bool {
        self.objects & 1 == 1
    }
}
