//! One JSON object, byte by byte, of which only the `usage` objects are read.
//!
//! The grammar is followed as far as it tells where a value ends: strings with their escapes, and
//! the nesting of what is skipped as one number. So a text that looks like usage is a text.

use memchr::memchr3;

use crate::counts::{Counts, Field};
use crate::key::Key;
use crate::text;

/// The machine. It forgets the object at [`Object::restart`], but not what was told.
#[derive(Debug)]
pub(crate) struct Object {
    /// Whether `usage` may stand one level deeper, in `message` or `response`.
    wraps: bool,
    place: Place,
    state: State,
    key: Key,
    /// Told by the objects that came whole.
    pub(crate) known: Counts,
    /// Of the `usage` object at hand.
    pending: Counts,
}

/// The object that we are directly in.
#[derive(Clone, Copy, Debug)]
enum Place {
    Top,
    Wrapper,
    Usage { wrapped: bool },
}

/// What comes next.
#[derive(Clone, Copy, Debug)]
enum State {
    /// The outermost brace.
    Start,
    /// A key, a comma or the closing brace.
    Member,
    Key {
        escaped: bool,
    },
    Colon(Name),
    Value(Name),
    Number {
        field: Field,
        /// `None` once it is no whole number of 64 bits.
        value: Option<u64>,
    },
    /// A number or literal that does not matter.
    Scalar,
    /// A string that does not matter.
    Text {
        escaped: bool,
    },
    /// A list or object that does not matter.
    Skip(Nesting),
    /// A string in it.
    SkipText {
        nesting: Nesting,
        escaped: bool,
    },
    /// The object is over, or it is none.
    Over,
}

/// What is skipped: only the brackets of the outermost kind are counted, since the others are as
/// balanced as they are.
#[derive(Clone, Copy, Debug)]
struct Nesting {
    list: bool,
    depth: u64,
}

/// What a key says in its place.
#[derive(Clone, Copy, Debug)]
enum Name {
    Usage,
    Wrapper,
    Count(Field),
    Other,
}

impl Object {
    pub(crate) fn new(wraps: bool) -> Self {
        Self {
            wraps,
            place: Place::Top,
            state: State::Start,
            key: Key::default(),
            known: Counts::default(),
            pending: Counts::default(),
        }
    }

    /// A new object begins, whatever became of the one before.
    pub(crate) fn restart(&mut self) {
        self.state = State::Start;
        self.place = Place::Top;
    }

    /// Takes the next bytes, cut anywhere.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(first) = rest.first() {
            let used = self.step(*first, rest);
            rest = rest.get(used..).unwrap_or_default();
        }
    }

    /// Takes at least one byte, or leaves a scalar. `first` is the first one.
    fn step(&mut self, first: u8, rest: &[u8]) -> usize {
        match self.state {
            State::Over => rest.len(),
            State::Key { .. } | State::Text { .. } | State::SkipText { .. } => self.string(rest),
            State::Skip(nesting) => self.skip(nesting, rest),
            State::Number { field, value } => self.number(first, field, value),
            State::Scalar if !is_scalar(first) => {
                self.state = State::Member;
                0
            }
            State::Scalar => 1,
            _ => {
                self.token(first);
                1
            }
        }
    }

    /// Goes on to the end of a string.
    fn string(&mut self, rest: &[u8]) -> usize {
        let (State::Key { escaped } | State::Text { escaped } | State::SkipText { escaped, .. }) =
            &mut self.state
        else {
            return 1;
        };
        let (used, ended) = text::skip(rest, escaped);
        if matches!(self.state, State::Key { .. }) {
            let said = rest.get(..used - usize::from(ended));
            self.key.push(said.unwrap_or_default());
        }
        if ended {
            self.state = match self.state {
                State::Key { .. } => State::Colon(self.name()),
                State::SkipText { nesting, .. } => State::Skip(nesting),
                _ => State::Member,
            };
        }
        used
    }

    fn number(&mut self, first: u8, field: Field, value: Option<u64>) -> usize {
        if is_scalar(first) {
            let value = value.zip(digit(first));
            self.state = State::Number {
                field,
                value: value.and_then(|(value, digit)| append(value, digit)),
            };
            return 1;
        }
        if let Some(value) = value {
            self.pending.set(field, value);
        }
        self.state = State::Member;
        0
    }

    /// One byte between strings, scalars and what is skipped.
    fn token(&mut self, first: u8) {
        match (self.state, first) {
            (_, b' ' | b'\t' | b'\n' | b'\r') => {}
            (State::Start, b'{') => self.state = State::Member,
            (State::Colon(name), b':') => self.state = State::Value(name),
            (State::Member, _) => self.member(first),
            (State::Value(name), _) => self.value(name, first),
            _ => self.state = State::Over,
        }
    }

    fn member(&mut self, first: u8) {
        match first {
            b',' => {}
            b'"' => {
                self.key = Key::default();
                self.state = State::Key { escaped: false };
            }
            b'}' => self.close(),
            _ => self.state = State::Over,
        }
    }

    fn close(&mut self) {
        self.place = match self.place {
            Place::Usage { wrapped } => {
                self.known.update(&self.pending);
                if wrapped { Place::Wrapper } else { Place::Top }
            }
            Place::Wrapper => Place::Top,
            Place::Top => {
                self.state = State::Over;
                return;
            }
        };
    }

    fn name(&self) -> Name {
        match (self.place, self.key.name()) {
            (Place::Top | Place::Wrapper, b"usage") => Name::Usage,
            (Place::Top, b"message" | b"response") if self.wraps => Name::Wrapper,
            (Place::Usage { .. }, name) => Field::named(name).map_or(Name::Other, Name::Count),
            _ => Name::Other,
        }
    }

    fn value(&mut self, name: Name, first: u8) {
        self.state = match (first, name) {
            (b'{', Name::Usage) => {
                self.pending = Counts::default();
                let wrapped = matches!(self.place, Place::Wrapper);
                self.place = Place::Usage { wrapped };
                State::Member
            }
            (b'{', Name::Wrapper) => {
                self.place = Place::Wrapper;
                State::Member
            }
            (b'{' | b'[', _) => State::Skip(Nesting {
                list: first == b'[',
                depth: 1,
            }),
            (b'"', _) => State::Text { escaped: false },
            (b'0'..=b'9', Name::Count(field)) => State::Number {
                field,
                value: digit(first),
            },
            _ if is_scalar(first) => State::Scalar,
            _ => State::Over,
        };
    }

    /// Goes on to the next bracket or string of what is skipped.
    fn skip(&mut self, mut nesting: Nesting, rest: &[u8]) -> usize {
        let (open, close) = if nesting.list {
            (b'[', b']')
        } else {
            (b'{', b'}')
        };
        let Some(run) = memchr3(open, close, b'"', rest) else {
            return rest.len();
        };
        let found = rest.get(run).copied();
        if found == Some(b'"') {
            self.state = State::SkipText {
                nesting,
                escaped: false,
            };
            return run + 1;
        }
        nesting.depth = if found == Some(open) {
            nesting.depth.saturating_add(1)
        } else {
            nesting.depth.saturating_sub(1)
        };
        self.state = match nesting.depth {
            0 => State::Member,
            _ => State::Skip(nesting),
        };
        run + 1
    }
}

fn is_scalar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

fn digit(byte: u8) -> Option<u64> {
    byte.is_ascii_digit().then(|| u64::from(byte - b'0'))
}

fn append(value: u64, digit: u64) -> Option<u64> {
    value.checked_mul(10)?.checked_add(digit)
}
