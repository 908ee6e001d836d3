//! A wasm filter's callbacks: what the guest is told, what it may touch meanwhile, what its answer means.

mod deferred;
mod lifetime;

use crate::abi::{Call, ContextId};
use crate::chain::{BodyAt, ChainKey, DataStatus, Direction, HeadStatus, Piece};
use crate::config::FailurePolicy;
use crate::engine::Engine;
use crate::local_reply::Reply;

pub(crate) use deferred::Deferred;
use deferred::Returned;

/// A guest that gave no answer: it is dead, or died just now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed;

/// What became of a callback.
enum Outcome {
    /// The guest's number.
    Answer(u32),
    /// The filter is not there, or its VM is dead and requests pass.
    Pass,
    /// The stream has been answered or broken; this callback counts as a stop.
    Stop,
}

impl Engine {
    pub(crate) fn filter_headers(
        &mut self,
        key: ChainKey,
        direction: Direction,
        index: usize,
        end: bool,
    ) -> HeadStatus {
        if direction == Direction::Decode && self.make_context(key, index).is_err() {
            self.fail_filter(key, index);
            return HeadStatus::StopAll;
        }
        let count = self.header_count(key, direction);
        if let Some(filter) = self.filter(key, index) {
            filter.side(direction).headers_at_hand = true;
        }
        let outcome = self.callback(key, direction, index, |context| match direction {
            Direction::Decode => Call::RequestHeaders {
                context,
                count,
                end_of_stream: end,
            },
            Direction::Encode => Call::ResponseHeaders {
                context,
                count,
                end_of_stream: end,
            },
        });
        let status = match outcome {
            Outcome::Answer(0 | 2) | Outcome::Pass => HeadStatus::Continue,
            Outcome::Answer(1) if self.stops_headers_only(key, index) => HeadStatus::StopIteration,
            Outcome::Answer(_) | Outcome::Stop => HeadStatus::StopAll,
        };
        if status == HeadStatus::Continue
            && let Some(filter) = self.filter(key, index)
        {
            filter.side(direction).headers_at_hand = false;
        }
        status
    }

    pub(crate) fn filter_data(
        &mut self,
        key: ChainKey,
        direction: Direction,
        index: usize,
        piece: &mut Piece,
        end: bool,
    ) -> DataStatus {
        let Some(filter) = self.filter(key, index) else {
            return DataStatus::StopNoBuffer;
        };
        if filter.context.is_none() {
            return DataStatus::Continue;
        }
        if filter.side(direction).buffering {
            let bytes = std::mem::replace(piece, Piece::Buffered);
            self.hold(key, direction, bytes, false);
        }
        let Some(chain) = self
            .chain(key)
            .filter(|chain| !chain.decode.aborted || direction == Direction::Encode)
        else {
            return DataStatus::StopAndWatermark;
        };
        if chain.lane(direction).aborted {
            return DataStatus::StopAndWatermark;
        }
        let (body, size) = match piece {
            Piece::Buffered => (
                BodyAt::Buffer,
                chain.lane(direction).buffer.as_ref().map_or(0, Vec::len),
            ),
            Piece::Fresh(bytes) => {
                let size = bytes.len();
                chain.lane(direction).piece = std::mem::take(bytes);
                (BodyAt::Piece, size)
            }
        };
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        chain.filters[index].side(direction).body = body;
        let outcome = self.callback(key, direction, index, |context| match direction {
            Direction::Decode => Call::RequestBody {
                context,
                size,
                end_of_stream: end,
            },
            Direction::Encode => Call::ResponseBody {
                context,
                size,
                end_of_stream: end,
            },
        });
        self.after_data(key, direction, index, piece, &outcome)
    }

    fn after_data(
        &mut self,
        key: ChainKey,
        direction: Direction,
        index: usize,
        piece: &mut Piece,
        outcome: &Outcome,
    ) -> DataStatus {
        let Some(chain) = self.chain(key) else {
            return DataStatus::StopNoBuffer;
        };
        if let Piece::Fresh(bytes) = piece {
            *bytes = std::mem::take(&mut chain.lane(direction).piece);
        }
        let Some(filter) = chain.filters.get_mut(index) else {
            return DataStatus::StopNoBuffer;
        };
        let side = filter.side(direction);
        side.buffering = false;
        side.body = BodyAt::Nowhere;
        match outcome {
            Outcome::Answer(0) | Outcome::Pass => DataStatus::Continue,
            Outcome::Answer(1) | Outcome::Stop => {
                side.buffering = true;
                side.body = BodyAt::Buffer;
                DataStatus::StopAndBuffer
            }
            Outcome::Answer(2) => DataStatus::StopAndWatermark,
            Outcome::Answer(_) => DataStatus::StopNoBuffer,
        }
    }

    pub(crate) fn filter_trailers(
        &mut self,
        key: ChainKey,
        direction: Direction,
        index: usize,
    ) -> HeadStatus {
        let Some(chain) = self.chain(key) else {
            return HeadStatus::StopAll;
        };
        let count = chain.lane(direction).trailers.as_ref().map_or(0, Vec::len);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        if let Some(filter) = self.filter(key, index) {
            filter.side(direction).trailers_at_hand = true;
        }
        let outcome = self.callback(key, direction, index, |context| match direction {
            Direction::Decode => Call::RequestTrailers { context, count },
            Direction::Encode => Call::ResponseTrailers { context, count },
        });
        match outcome {
            Outcome::Answer(0) | Outcome::Pass => {
                if let Some(filter) = self.filter(key, index) {
                    filter.side(direction).trailers_at_hand = false;
                }
                HeadStatus::Continue
            }
            Outcome::Answer(_) | Outcome::Stop => HeadStatus::StopIteration,
        }
    }

    /// One callback with all that follows from it, deferred actions included.
    fn callback(
        &mut self,
        key: ChainKey,
        direction: Direction,
        index: usize,
        call: impl FnOnce(ContextId) -> Call,
    ) -> Outcome {
        let Some(filter) = self.filter(key, index) else {
            return Outcome::Stop;
        };
        let Some(context) = filter.context else {
            return Outcome::Pass;
        };
        if direction == Direction::Encode && filter.failure_reply_sent {
            return Outcome::Pass;
        }
        if self.is_dead(key, index) {
            if self.policy_of(key, index) == Some(FailurePolicy::Open) {
                return Outcome::Pass;
            }
            self.fail_filter(key, index);
            return Outcome::Stop;
        }
        let Some(vm) = self.vm_of(key, index) else {
            return Outcome::Stop;
        };
        match self.call_guest(vm, context, &call(context)) {
            Ok(answer) => {
                let own = Returned {
                    chain: key,
                    filter: index,
                    direction,
                };
                self.run_deferred(vm, Some(own), answer)
            }
            Err(Failed) => {
                self.fail_filter(key, index);
                Outcome::Stop
            }
        }
    }

    /// The answer for a dead VM: 503 once, or the end of a response under way.
    fn fail_filter(&mut self, key: ChainKey, index: usize) {
        let Some(filter) = self.filter(key, index) else {
            return;
        };
        if std::mem::replace(&mut filter.failure_reply_sent, true) {
            return;
        }
        self.reply_of(key, Reply::of_envoy(503, "", "wasm_fail_stream"));
    }

    fn header_count(&mut self, key: ChainKey, direction: Direction) -> u32 {
        let count = match direction {
            Direction::Decode => self.request_headers(key).map_or(0, |headers| headers.len()),
            Direction::Encode => self
                .chain(key)
                .and_then(|chain| chain.response_headers.as_ref())
                .map_or(0, Vec::len),
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn stops_headers_only(&mut self, key: ChainKey, index: usize) -> bool {
        let Some(plugin) = self.filter(key, index).map(|filter| filter.plugin) else {
            return false;
        };
        self.plugins[plugin].config.allow_on_headers_stop_iteration
    }
}
