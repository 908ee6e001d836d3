//! A chain of filters: the client's one with the router at its end, and one per attempt with the
//! connection at its end. Both directions go by the same rules, in opposite order.
//!
//! The rules are those of Envoy's filter manager: a filter that stops holds head and body back;
//! what is held lies in one buffer per direction.

mod pass;

use crate::abi::ContextId;
use crate::engine::Engine;
use crate::io::{Headers, UpstreamId};
use crate::stream::StreamKey;

/// Names a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ChainKey {
    Stream(StreamKey),
    Attempt(UpstreamId),
}

/// Towards the worker, or towards the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Decode,
    Encode,
}

/// Filters and what is on its way through them.
#[derive(Debug)]
pub(crate) struct Chain {
    /// In the order of the request.
    pub(crate) filters: Vec<Filter>,
    pub(crate) decode: Lane,
    pub(crate) encode: Lane,
    pub(crate) response_headers: Option<Headers>,
}

/// One direction of a chain.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    /// The end has come in.
    pub(crate) end_seen: bool,
    /// What filters hold back, and what the router keeps for a replay.
    pub(crate) buffer: Option<Vec<u8>>,
    /// The piece that a guest looks at.
    pub(crate) piece: Vec<u8>,
    pub(crate) trailers: Option<Headers>,
    /// Nothing goes on in this direction.
    pub(crate) aborted: bool,
    pub(crate) limit_bytes: u64,
}

/// One wasm filter in one stream.
#[derive(Debug)]
pub(crate) struct Filter {
    /// Index of the plugin in the worker.
    pub(crate) plugin: usize,
    /// Generation of the VM it began with; after a reload it belongs to a dead one.
    pub(crate) generation: u32,
    /// Made when the request's head arrives, or else for `on_log`.
    pub(crate) context: Option<ContextId>,
    /// The VM was dead at the beginning and the policy lets requests pass.
    pub(crate) absent: bool,
    /// Its answer for a dead VM has been given.
    pub(crate) failure_reply_sent: bool,
    /// `on_log` is running.
    pub(crate) logging: bool,
    pub(crate) decode: Side,
    pub(crate) encode: Side,
}

/// One direction of a filter.
#[derive(Debug, Default)]
pub(crate) struct Side {
    pub(crate) iteration: Iteration,
    pub(crate) headers_continued: bool,
    pub(crate) end_seen: bool,
    /// The guest may read and change the head.
    pub(crate) headers_at_hand: bool,
    /// The guest may read and change the trailers.
    pub(crate) trailers_at_hand: bool,
    /// The last body callback paused: the next one sees all of the buffer.
    pub(crate) buffering: bool,
    pub(crate) body: BodyAt,
}

/// Where an iteration stands at a filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Iteration {
    #[default]
    Going,
    /// This filter still sees the body.
    StopSingle,
    /// This filter sees nothing more until it is resumed.
    StopAll,
}

/// Which bytes a guest's body calls mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum BodyAt {
    #[default]
    Nowhere,
    Piece,
    Buffer,
}

/// A piece on its way, or the buffer itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Fresh(Vec<u8>),
    Buffered,
}

/// A filter's word on a head or trailers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeadStatus {
    Continue,
    StopIteration,
    StopAll,
}

/// A filter's word on a piece of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataStatus {
    Continue,
    /// Held, within the limit.
    StopAndBuffer,
    /// Held with back-pressure instead of a limit.
    StopAndWatermark,
    /// Dropped.
    StopNoBuffer,
}

impl Chain {
    pub(crate) fn new(
        filters: Vec<Filter>,
        decode_limit_bytes: u64,
        encode_limit_bytes: u64,
    ) -> Self {
        Chain {
            filters,
            decode: Lane {
                limit_bytes: decode_limit_bytes,
                ..Lane::default()
            },
            encode: Lane {
                limit_bytes: encode_limit_bytes,
                ..Lane::default()
            },
            response_headers: None,
        }
    }

    pub(crate) fn lane(&mut self, direction: Direction) -> &mut Lane {
        match direction {
            Direction::Decode => &mut self.decode,
            Direction::Encode => &mut self.encode,
        }
    }

    /// Index of the filter at a position of an iteration.
    fn at(&self, direction: Direction, position: usize) -> Option<usize> {
        let count = self.filters.len();
        if position >= count {
            return None;
        }
        Some(if direction == Direction::Decode {
            position
        } else {
            count - 1 - position
        })
    }

    /// Position of a filter in an iteration.
    pub(crate) fn position(&self, direction: Direction, index: usize) -> usize {
        if direction == Direction::Decode {
            index
        } else {
            self.filters.len().saturating_sub(index + 1)
        }
    }

    fn side_at(&mut self, direction: Direction, position: usize) -> Option<&mut Side> {
        let index = self.at(direction, position)?;
        self.filters
            .get_mut(index)
            .map(|filter| filter.side(direction))
    }
}

impl Filter {
    pub(crate) fn side(&mut self, direction: Direction) -> &mut Side {
        match direction {
            Direction::Decode => &mut self.decode,
            Direction::Encode => &mut self.encode,
        }
    }
}

impl Engine {
    pub(crate) fn chain(&mut self, key: ChainKey) -> Option<&mut Chain> {
        match key {
            ChainKey::Stream(stream) => self
                .streams
                .get_mut(&stream)
                .map(|stream| &mut stream.chain),
            ChainKey::Attempt(id) => self.attempts.get_mut(&id).map(|attempt| &mut attempt.chain),
        }
    }

    pub(crate) fn filter(&mut self, key: ChainKey, index: usize) -> Option<&mut Filter> {
        self.chain(key)?.filters.get_mut(index)
    }
}
