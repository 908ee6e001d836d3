//! How a head, pieces and trailers go from filter to filter, stop there and go on.

use super::{ChainKey, DataStatus, Direction, HeadStatus, Iteration, Piece};
use crate::engine::Engine;

impl Engine {
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

    /// A piece goes through the filters from `position` on. Trailers that a filter made at its end
    /// follow, from the filter behind it on.
    pub(crate) fn pass_data(
        &mut self,
        key: ChainKey,
        direction: Direction,
        position: usize,
        piece: Piece,
        end: bool,
    ) {
        let mut made_at = None;
        self.pass_piece(key, direction, position, piece, end, &mut made_at);
        if let Some(position) = made_at {
            self.pass_trailers(key, direction, position + 1);
        }
    }

    fn pass_piece(
        &mut self,
        key: ChainKey,
        direction: Direction,
        mut position: usize,
        mut piece: Piece,
        end: bool,
        made_at: &mut Option<usize>,
    ) {
        while self.going(key, direction) {
            let Some(chain) = self.chain(key) else { return };
            let Some(index) = chain.at(direction, position) else {
                return self.data_passed(key, direction, piece, end && made_at.is_none());
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
            let has_now = self
                .chain(key)
                .is_some_and(|chain| chain.lane(direction).trailers.is_some());
            if has_now && !has_trailers {
                *made_at = Some(position);
            }
            let Some(filter) = self.filter(key, index) else {
                return;
            };
            let side = filter.side(direction);
            match status {
                DataStatus::Continue if side.iteration == Iteration::StopSingle => {
                    self.hold(key, direction, piece, true);
                    // Envoy hands on trailers that were made here a second time after this.
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
