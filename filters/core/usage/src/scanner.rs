//! The body of an answer, whatever its kind.

use crate::counts::Usage;
use crate::events::Events;
use crate::object::Object;

/// All that is kept of a body between two chunks, in bytes, however long the body, its lines and its
/// strings are. One name is held back, the longest that matters; everything else is a state.
pub const MAX_STATE_BYTES: usize = 512;

const _: () = assert!(size_of::<Scanner>() <= MAX_STATE_BYTES);

const BYTE_ORDER_MARK: &[u8] = &[0xEF, 0xBB, 0xBF];

/// What kind of body can tell the usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One JSON object.
    Document,
    /// Server-sent events with a JSON object each.
    Events,
}

impl Kind {
    /// By the value of a `content-type` header, parameters and letter case aside.
    #[must_use]
    pub fn of(content_type: &[u8]) -> Option<Self> {
        let essence = content_type.split(|byte| *byte == b';').next()?;
        let essence = essence.trim_ascii();
        if essence.eq_ignore_ascii_case(b"application/json") {
            Some(Self::Document)
        } else if essence.eq_ignore_ascii_case(b"text/event-stream") {
            Some(Self::Events)
        } else {
            None
        }
    }
}

/// Reads the usage off a body that passes in chunks.
#[derive(Debug)]
pub struct Scanner {
    /// Bytes of a byte order mark that came; `None` once one no longer can.
    mark: Option<usize>,
    body: Body,
}

#[derive(Debug)]
enum Body {
    Document(Object),
    Events(Events),
}

impl Scanner {
    /// At the start of a body.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        let body = match kind {
            Kind::Document => Body::Document(Object::new(false)),
            Kind::Events => Body::Events(Events::new()),
        };
        Self {
            mark: Some(0),
            body,
        }
    }

    /// Takes the next chunk, cut anywhere.
    pub fn push(&mut self, chunk: &[u8]) {
        let mut chunk = chunk;
        while let (Some(come), Some((first, rest))) = (self.mark, chunk.split_first()) {
            if BYTE_ORDER_MARK.get(come) == Some(first) {
                self.mark = Some(come + 1);
                chunk = rest;
            } else {
                self.mark = None;
            }
        }
        match &mut self.body {
            Body::Document(object) => object.push(chunk),
            Body::Events(events) => events.push(chunk),
        }
    }

    /// What was told so far by `usage` objects that came whole.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        let object = match &self.body {
            Body::Document(object) => object,
            Body::Events(events) => &events.object,
        };
        object.known.usage()
    }
}
