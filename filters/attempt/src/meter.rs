//! The tokens that an answer tells.

use dragoman_contract::names::property;
use dragoman_sdk::host::{Pairs, first_value, status};
use dragoman_sdk::{HostResult, ResponseBody};
use dragoman_usage::{Kind, Scanner, Usage};

/// Reads an answer as it passes.
#[derive(Debug)]
pub(crate) struct Meter {
    scanner: Scanner,
    /// What is published.
    told: Usage,
}

impl Meter {
    /// A meter for an answer with this head; `None` if it cannot tell: a worker that refuses counts
    /// no tokens, and what is compressed cannot be read.
    pub(crate) fn of(head: &Pairs) -> Option<Self> {
        let plain = first_value(head, "content-encoding")
            .is_none_or(|coding| coding.eq_ignore_ascii_case(b"identity"));
        if status(head) != Some(200) || !plain {
            return None;
        }
        Some(Self {
            scanner: Scanner::new(Kind::of(first_value(head, "content-type")?)?),
            told: Usage::default(),
        })
    }

    /// Reads a chunk of this size, and publishes what is new. Not left for the end: the access log
    /// may be written before this filter hears that the stream broke off.
    ///
    /// # Errors
    /// When the chunk cannot be read or a property not written.
    pub(crate) fn read(&mut self, cx: &mut ResponseBody<'_>, size: usize) -> HostResult<()> {
        if size == 0 {
            return Ok(());
        }
        self.scanner.push(&cx.chunk(size)?);
        let Some(now) = self.scanner.usage() else {
            return Ok(());
        };
        let told = std::mem::replace(&mut self.told, now);
        for (name, told, now) in [
            (property::INPUT_TOKENS, told.input, now.input),
            (property::OUTPUT_TOKENS, told.output, now.output),
        ] {
            if let Some(tokens) = now.filter(|_| now != told) {
                cx.publish(name, tokens.to_string().as_bytes())?;
            }
        }
        Ok(())
    }
}
