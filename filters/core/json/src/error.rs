//! Why a body is refused.

use std::fmt;

use crate::request::Field;

/// Why a body is refused: the first fault in the order of the body. Says what and where, never
/// what the body holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanError {
    /// The body is no JSON text.
    Malformed {
        /// Where, in bytes from the start; the body's length if it ends too early.
        offset: usize,
        /// What is wrong there.
        reason: &'static str,
    },
    /// The body is a list, a string, a number or a literal.
    NotAnObject,
    /// A field that the gateway reads stands there twice, counting escaped spellings.
    DuplicateField(Field),
    /// A field that the gateway reads has a value of another type, or out of bounds.
    WrongType {
        /// The field.
        field: Field,
        /// What its value must be.
        expected: &'static str,
    },
}

impl fmt::Display for ScanError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { offset, reason } => {
                write!(out, "the body is not JSON: {reason} at byte {offset}")
            }
            Self::NotAnObject => out.write_str("the body is not a JSON object"),
            Self::DuplicateField(field) => write!(out, "{} is given twice", field.as_str()),
            Self::WrongType { field, expected } => {
                write!(out, "{} must be {expected}", field.as_str())
            }
        }
    }
}

impl std::error::Error for ScanError {}
