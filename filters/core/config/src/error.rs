//! The one form of a refusal: where, what stands there, why not.

use std::fmt;

use crate::raw::Raw;

/// Why a document is refused; the first fault that was found.
///
/// Reads as `workers[2].weight: -1: must be at least 0`. The value is left out where there is
/// none, where it may be a secret, and where it says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Where in the document, as `endpoints[0].targets[1].worker`; empty for the document itself.
    pub path: String,
    /// What stands there, as JSON and at most about 64 characters of it.
    pub value: Option<String>,
    /// What it should be.
    pub reason: String,
}

impl ConfigError {
    /// A fault without a value to show.
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self {
            path: String::new(),
            value: None,
            reason: reason.into(),
        }
    }

    /// A fault of this value.
    pub(crate) fn of(raw: &Raw, reason: impl Into<String>) -> Self {
        Self {
            value: Some(raw.shown()),
            ..Self::new(reason)
        }
    }

    /// The same fault seen from the object that has it in this field.
    pub(crate) fn in_field(mut self, name: &str) -> Self {
        let joint = if self.path.is_empty() || self.path.starts_with('[') {
            ""
        } else {
            "."
        };
        self.path = format!("{name}{joint}{}", self.path);
        self
    }

    /// The same fault seen from the list that has it at this place.
    pub(crate) fn in_item(self, index: usize) -> Self {
        self.in_field(&format!("[{index}]"))
    }

    /// The same fault without the value, which may be a secret put into the wrong place.
    pub(crate) fn without_value(self) -> Self {
        Self {
            value: None,
            ..self
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() {
            "document"
        } else {
            &self.path
        };
        match &self.value {
            Some(value) => write!(out, "{path}: {value}: {}", self.reason),
            None => write!(out, "{path}: {}", self.reason),
        }
    }
}

impl std::error::Error for ConfigError {}
