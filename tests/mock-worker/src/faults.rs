//! What a worker is told to do wrong.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Settings that change answers. The default changes nothing.
///
/// They hit `POST` requests (the API), or with `path` every request to that path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Faults {
    /// How many requests are hit before all is well again; without it every one.
    pub times: Option<u32>,
    /// Only this path, whatever the method.
    pub path: Option<String>,
    /// Silence before the head.
    pub delay_before_headers_ms: u64,
    /// Answer with this status instead.
    pub status: Option<u16>,
    /// Headers to add.
    pub headers: BTreeMap<String, String>,
    /// Body instead of the usual one.
    pub body: Option<String>,
    /// Time between the events of a stream.
    pub event_interval_ms: u64,
    /// After this many events of a stream comes one that is not JSON, then the rest.
    pub broken_event_after: Option<usize>,
    /// Send the body in small pieces.
    pub drip: Option<Drip>,
    /// Stop somewhere.
    pub interrupt: Option<Interrupt>,
    /// Send these bytes, which are not HTTP, and close.
    pub garbage: Option<String>,
}

/// Pieces of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drip {
    /// Size of a piece, at least 1.
    pub bytes: usize,
    /// Time between pieces.
    pub interval_ms: u64,
}

/// Where an answer stops, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interrupt {
    /// Where.
    pub at: At,
    /// How.
    pub how: How,
}

/// A place in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum At {
    /// Nothing is sent.
    BeforeHeaders,
    /// After this many bytes of the body; 0 is right behind the head.
    Bytes(usize),
    /// After this many events of a stream (of any other body: after the whole of it).
    Events(usize),
}

/// A way to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// RST.
    Reset,
    /// FIN in the middle.
    Close,
    /// Silence until the peer leaves.
    Stall,
    /// Silence until the test releases it, then the rest.
    Hold,
}

impl Faults {
    /// Answer with this status and vLLM's kind of error body.
    #[must_use]
    pub fn status(status: u16) -> Self {
        Self {
            status: Some(status),
            ..Self::default()
        }
    }

    /// Stop at this place in this way.
    #[must_use]
    pub fn interrupt(at: At, how: How) -> Self {
        Self {
            interrupt: Some(Interrupt { at, how }),
            ..Self::default()
        }
    }

    /// Wait this long before the head.
    #[must_use]
    pub fn delay_ms(delay_before_headers_ms: u64) -> Self {
        Self {
            delay_before_headers_ms,
            ..Self::default()
        }
    }

    /// The same, for the next `times` requests only.
    #[must_use]
    pub fn times(self, times: u32) -> Self {
        Self {
            times: Some(times),
            ..self
        }
    }

    pub(crate) fn hit(&self, method: &str, path: &str) -> bool {
        *self != Self::default()
            && self.times != Some(0)
            && self
                .path
                .as_deref()
                .map_or(method == "POST", |only| only == path)
    }
}
