//! A chain of filters: the client's one with the router at its end, and one per attempt with the
//! connection at its end. Both directions go by the same rules, in opposite order.
//!
//! The rules are those of Envoy's filter manager: a filter that stops holds head and body back;
//! what is held lies in one buffer per direction.

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

    fn going(&mut self, key: ChainKey, direction: Direction) -> bool {
        self.chain(key)
            .is_some_and(|chain| !chain.lane(direction).aborted)
    }

    /// The head goes through the filters from `position` on.
    pub(crate) fn pass_headers(
        &mut self,
        key: ChainKey,
        direction: Direction,
        mut position: usize,
        end: bool,
    ) {
        while self.going(key, direction) {
            let Some(index) = self
                .chain(key)
                .and_then(|chain| chain.at(direction, position))
            else {
                return self.headers_passed(key, direction, end);
            };
            if let Some(filter) = self.filter(key, index) {
                filter.side(direction).end_seen = end;
            }
            let status = self.filter_headers(key, direction, index, end);
            if !self.going(key, direction) {
                return;
            }
            let Some(filter) = self.filter(key, index) else {
                return;
            };
            let side = filter.side(direction);
            match status {
                HeadStatus::Continue => side.headers_continued = true,
                HeadStatus::StopIteration => side.iteration = Iteration::StopSingle,
                HeadStatus::StopAll => side.iteration = Iteration::StopAll,
            }
            if status != HeadStatus::Continue {
                return;
            }
            position += 1;
        }
    }

    /// A piece goes through the filters from `position` on.
    pub(crate) fn pass_data(
        &mut self,
        key: ChainKey,
        direction: Direction,
        mut position: usize,
        mut piece: Piece,
        end: bool,
    ) {
        while self.going(key, direction) {
            let Some(chain) = self.chain(key) else { return };
            let Some(index) = chain.at(direction, position) else {
                return self.data_passed(key, direction, piece, end);
            };
            let has_trailers = chain.lane(direction).trailers.is_some();
            let side = chain.filters[index].side(direction);
            if side.iteration == Iteration::StopAll {
                self.hold(key, direction, piece, true);
                return;
            }
            if side.end_seen {
                return;
            }
            side.end_seen = end && !has_trailers;
            let status = self.filter_data(key, direction, index, &mut piece, end && !has_trailers);
            if !self.going(key, direction) {
                return;
            }
            let Some(filter) = self.filter(key, index) else {
                return;
            };
            let side = filter.side(direction);
            match status {
                DataStatus::Continue if side.iteration == Iteration::StopSingle => {
                    self.hold(key, direction, piece, true);
                    return self.resume(key, direction, index);
                }
                DataStatus::Continue => position += 1,
                DataStatus::StopNoBuffer => {
                    side.iteration = Iteration::StopSingle;
                    if side.end_seen {
                        self.hold(key, direction, Piece::Fresh(Vec::new()), true);
                    }
                    return;
                }
                DataStatus::StopAndBuffer | DataStatus::StopAndWatermark => {
                    side.iteration = Iteration::StopSingle;
                    self.hold(
                        key,
                        direction,
                        piece,
                        status == DataStatus::StopAndWatermark,
                    );
                    return;
                }
            }
        }
    }

    /// Trailers go through the filters from `position` on.
    pub(crate) fn pass_trailers(
        &mut self,
        key: ChainKey,
        direction: Direction,
        mut position: usize,
    ) {
        while self.going(key, direction) {
            let Some(index) = self
                .chain(key)
                .and_then(|chain| chain.at(direction, position))
            else {
                return self.trailers_passed(key, direction);
            };
            let Some(filter) = self.filter(key, index) else {
                return;
            };
            let side = filter.side(direction);
            if side.iteration == Iteration::StopAll {
                return;
            }
            side.end_seen = true;
            let status = self.filter_trailers(key, direction, index);
            if !self.going(key, direction) {
                return;
            }
            let Some(filter) = self.filter(key, index) else {
                return;
            };
            let side = filter.side(direction);
            match status {
                HeadStatus::Continue if side.iteration == Iteration::StopSingle => {
                    return self.resume(key, direction, index);
                }
                HeadStatus::Continue => position += 1,
                _ => {
                    side.iteration = Iteration::StopSingle;
                    return;
                }
            }
        }
    }

    /// A filter that stopped lets go: what is held goes on behind it.
    pub(crate) fn resume(&mut self, key: ChainKey, direction: Direction, index: usize) {
        if !self.going(key, direction) {
            return;
        }
        let Some(chain) = self.chain(key) else { return };
        let position = chain.position(direction, index);
        let lane = chain.lane(direction);
        let (end_seen, has_body, has_trailers) = (
            lane.end_seen,
            lane.buffer.is_some(),
            lane.trailers.is_some(),
        );
        let Some(side) = chain.side_at(direction, position) else {
            return;
        };
        let from = if side.iteration == Iteration::StopAll {
            position
        } else {
            position + 1
        };
        let headers_held = !side.headers_continued;
        side.iteration = Iteration::Going;
        side.headers_continued = true;
        if headers_held {
            self.pass_headers(
                key,
                direction,
                position + 1,
                end_seen && !has_body && !has_trailers,
            );
        }
        let Some(chain) = self.chain(key) else { return };
        if chain.lane(direction).buffer.is_some() {
            self.pass_data(
                key,
                direction,
                from,
                Piece::Buffered,
                end_seen && !has_trailers,
            );
        }
        if has_trailers {
            self.pass_trailers(key, direction, from);
        }
    }

    /// Puts a piece into the buffer; over the limit the request ends, unless the reader is held back.
    pub(crate) fn hold(
        &mut self,
        key: ChainKey,
        direction: Direction,
        piece: Piece,
        streaming: bool,
    ) {
        let Piece::Fresh(bytes) = piece else { return };
        let Some(chain) = self.chain(key) else { return };
        let lane = chain.lane(direction);
        let buffer = lane.buffer.get_or_insert_default();
        buffer.extend_from_slice(&bytes);
        if !streaming && buffer.len() as u64 > lane.limit_bytes {
            self.too_large(key, direction);
        }
    }
}
