//! The facts of a request body.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::ScanError;
use crate::scanner::{Kind, Scanner, StringToken};
use crate::string;

/// What the gateway reads of a request body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request<'a> {
    /// The model; `None` if the body names none.
    pub model: Option<Model<'a>>,
    /// Whether the answer is to be a stream of events; `false` where it is absent or null.
    pub stream: bool,
    /// `max_tokens`; `None` where it is absent or null, like the two below.
    pub max_tokens: Option<u32>,
    /// `max_completion_tokens`
    pub max_completion_tokens: Option<u32>,
    /// `max_output_tokens`
    pub max_output_tokens: Option<u32>,
    /// Whether `tools` is a list; what else it may be is for the worker to refuse.
    pub tools: bool,
}

/// A model name in a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model<'a> {
    /// Bytes of the JSON string, both quotes included: another JSON string may be put there.
    pub span: Range<usize>,
    /// What the string says; borrowed unless it has escapes.
    pub name: Cow<'a, str>,
}

/// A field of the outermost object that the gateway reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Field {
    /// `model`
    Model = 0,
    /// `stream`
    Stream = 1,
    /// `max_tokens`
    MaxTokens = 2,
    /// `max_completion_tokens`
    MaxCompletionTokens = 3,
    /// `max_output_tokens`
    MaxOutputTokens = 4,
    /// `tools`
    Tools = 5,
}

impl Field {
    /// Every field.
    pub const ALL: [Self; 6] = [
        Self::Model,
        Self::Stream,
        Self::MaxTokens,
        Self::MaxCompletionTokens,
        Self::MaxOutputTokens,
        Self::Tools,
    ];

    /// The key, unescaped.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Stream => "stream",
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
            Self::MaxOutputTokens => "max_output_tokens",
            Self::Tools => "tools",
        }
    }
}

impl Request<'_> {
    /// The largest limit on generated tokens that the body gives. Which of several limits counts
    /// is up to the worker, so what is set aside for the answer must cover each of them.
    #[must_use]
    pub fn token_limit(&self) -> Option<u32> {
        self.max_tokens
            .max(self.max_completion_tokens)
            .max(self.max_output_tokens)
    }
}

/// Checks that the body is one JSON object and reads the facts of it.
///
/// # Errors
///
/// The first fault in the order of the body; see [`ScanError`].
pub fn scan_request(body: &[u8]) -> Result<Request<'_>, ScanError> {
    if body.starts_with(b"\xEF\xBB\xBF") {
        return malformed(0, "a byte order mark");
    }
    let text = match std::str::from_utf8(body) {
        Ok(text) => text,
        Err(fault) => return malformed(fault.valid_up_to(), "a byte that is not UTF-8"),
    };
    let mut scanner = Scanner::new(text);
    if scanner.kind()? != Kind::Object {
        return Err(ScanError::NotAnObject);
    }
    let mut request = Request::default();
    let mut seen = [false; Field::ALL.len()];
    let mut more = scanner.open_object()?;
    while more {
        let key = scanner.key()?;
        match field(text, &key) {
            None => scanner.skip_value()?,
            Some(field) => {
                note(&mut seen, field)?;
                request.read(field, text, &mut scanner)?;
            }
        }
        more = scanner.next_in_container()?;
    }
    scanner.end()?;
    Ok(request)
}

fn malformed<T>(offset: usize, reason: &'static str) -> Result<T, ScanError> {
    Err(ScanError::Malformed { offset, reason })
}

/// Which field a key names, whatever its spelling.
fn field(text: &str, key: &StringToken) -> Option<Field> {
    let name = says(text, key);
    Field::ALL.into_iter().find(|field| field.as_str() == name)
}

/// What a string token says.
fn says<'a>(text: &'a str, token: &StringToken) -> Cow<'a, str> {
    let content = text.get(token.span.start + 1..token.span.end - 1);
    string::decode(content.unwrap_or_default(), token.escaped)
}

fn note(seen: &mut [bool], field: Field) -> Result<(), ScanError> {
    match seen.get_mut(field as usize) {
        Some(seen) if !*seen => {
            *seen = true;
            Ok(())
        }
        _ => Err(ScanError::DuplicateField(field)),
    }
}

impl<'a> Request<'a> {
    fn read(
        &mut self,
        field: Field,
        text: &'a str,
        scanner: &mut Scanner<'a>,
    ) -> Result<(), ScanError> {
        match field {
            Field::Model => self.model = Some(model(text, scanner)?),
            Field::Stream => self.stream = flag(field, scanner)?,
            Field::MaxTokens => self.max_tokens = limit(field, scanner)?,
            Field::MaxCompletionTokens => self.max_completion_tokens = limit(field, scanner)?,
            Field::MaxOutputTokens => self.max_output_tokens = limit(field, scanner)?,
            Field::Tools => {
                self.tools = scanner.kind()? == Kind::List;
                scanner.skip_value()?;
            }
        }
        Ok(())
    }
}

fn model<'a>(text: &'a str, scanner: &mut Scanner<'a>) -> Result<Model<'a>, ScanError> {
    if scanner.kind()? != Kind::String {
        return Err(ScanError::WrongType {
            field: Field::Model,
            expected: "a string",
        });
    }
    let token = scanner.string()?;
    Ok(Model {
        name: says(text, &token),
        span: token.span,
    })
}

fn flag(field: Field, scanner: &mut Scanner<'_>) -> Result<bool, ScanError> {
    let kind = scanner.kind()?;
    match kind {
        Kind::True => scanner.literal("true")?,
        Kind::False => scanner.literal("false")?,
        Kind::Null => scanner.literal("null")?,
        _ => {
            return Err(ScanError::WrongType {
                field,
                expected: "true or false",
            });
        }
    }
    Ok(kind == Kind::True)
}

fn limit(field: Field, scanner: &mut Scanner<'_>) -> Result<Option<u32>, ScanError> {
    let wrong = ScanError::WrongType {
        field,
        expected: "a whole number from 0 to 4294967295",
    };
    match scanner.kind()? {
        Kind::Null => scanner.literal("null").map(|()| None),
        Kind::Number => whole(scanner.number()?).map(Some).ok_or(wrong),
        _ => Err(wrong),
    }
}

/// Digits as a number; a sign, a fraction or an exponent is none.
fn whole(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0u32, |value, byte| {
        let digit = char::from(*byte).to_digit(10)?;
        value.checked_mul(10)?.checked_add(digit)
    })
}
