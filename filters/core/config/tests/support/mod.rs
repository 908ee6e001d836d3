//! A document, taken or refused.
#![allow(dead_code, reason = "each test file needs a part of it")]
#![allow(clippy::panic, reason = "a helper of tests may fail the test")]

use dragoman_config::{Gateway, parse};

/// What is read from a document that has to be taken.
pub fn good(text: &str) -> Gateway {
    parse(text.as_bytes()).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

/// Why a document is refused that has to be.
pub fn refusal(text: &str) -> String {
    match parse(text.as_bytes()) {
        Ok(_) => panic!("was taken: {text}"),
        Err(fault) => fault.to_string(),
    }
}
