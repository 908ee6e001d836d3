//! What goes to a worker, and what comes from it.

use crate::chain::{ChainKey, Direction, Piece};
use crate::engine::Engine;
use crate::inline::{self, Side};
use crate::io::{Command, Headers, UpstreamId};
use crate::local_reply::Reply;
use crate::router::Attempt;
use crate::stats::Scope;
use crate::stream::StreamKey;
use crate::wire;

impl Engine {
    /// The head has passed the attempt's filters.
    pub(crate) fn attempt_head_ready(&mut self, id: UpstreamId, end: bool) {
        let Some(attempt) = self.attempts.get_mut(&id) else {
            return;
        };
        attempt.head_ready = Some(end);
        self.send_waiting(id);
    }

    /// A piece has passed the attempt's filters.
    pub(crate) fn attempt_data_ready(&mut self, id: UpstreamId, piece: Piece, end: bool) {
        let Some(attempt) = self.attempts.get_mut(&id) else {
            return;
        };
        match piece {
            Piece::Fresh(bytes) => attempt.waiting.extend_from_slice(&bytes),
            Piece::Buffered => {
                let bytes = attempt.chain.decode.buffer.take().unwrap_or_default();
                attempt.waiting.extend_from_slice(&bytes);
            }
        }
        attempt.waiting_end |= end;
        self.send_waiting(id);
    }

    /// Trailers have passed the attempt's filters.
    pub(crate) fn attempt_trailers_ready(&mut self, id: UpstreamId) {
        let Some(attempt) = self.attempts.get_mut(&id) else {
            return;
        };
        attempt
            .waiting_trailers
            .clone_from(&attempt.chain.decode.trailers);
        self.send_waiting(id);
    }

    /// Sends what has passed the filters, once the connection is there.
    fn send_waiting(&mut self, id: UpstreamId) {
        let now = self.now.monotonic;
        let Some(attempt) = self.attempts.get_mut(&id) else {
            return;
        };
        let Some(head_ends) = attempt
            .head_ready
            .filter(|_| attempt.connected && !attempt.cancelled)
        else {
            return;
        };
        let Some(stream) = self.streams.get_mut(&attempt.stream) else {
            return;
        };
        if !attempt.head_sent {
            if let Some(problem) = wire::refused_request(&stream.request_headers) {
                let key = attempt.stream;
                return self.refuse_head(key, &problem);
            }
            attempt.head_sent = true;
            attempt.times.request_begin = Some(now);
            stream.info.upstream_request_begin.get_or_insert(now);
            let headers = stream.request_headers.clone();
            self.commands.push(Command::SendUpstreamHeaders {
                upstream: id,
                headers,
                end_stream: head_ends,
            });
        }
        let (data, end) = (
            std::mem::take(&mut attempt.waiting),
            std::mem::take(&mut attempt.waiting_end),
        );
        let trailers = attempt.waiting_trailers.take();
        attempt.bytes_sent += data.len() as u64;
        if head_ends || end || trailers.is_some() {
            attempt.times.request_end = Some(now);
            stream.info.upstream_request_end = Some(now);
        }
        if !data.is_empty() || end {
            self.commands.push(Command::SendUpstreamData {
                upstream: id,
                data,
                end_stream: end,
            });
        }
        if let Some(trailers) = trailers {
            self.commands.push(Command::SendUpstreamTrailers {
                upstream: id,
                trailers,
            });
        }
        self.touch_attempt(id);
    }

    /// What the filters made of a request cannot be written: the attempt answers it by itself, and nobody tries again.
    fn refuse_head(&mut self, key: StreamKey, problem: &str) {
        let details = problem.replace(' ', "_");
        let details = format!("filter_removed_required_request_headers{{{details}}}");
        self.local_reply(key, Reply::of_envoy(503, problem, &details));
    }

    /// The attempt of this id, unless it was broken off: what still comes of that is for nobody.
    pub(crate) fn running(&mut self, id: UpstreamId) -> Option<&mut Attempt> {
        let attempt = self.attempts.get_mut(&id)?;
        (!attempt.cancelled).then_some(attempt)
    }

    pub(crate) fn upstream_connected(&mut self, id: UpstreamId) {
        let now = self.now.monotonic;
        let Some(attempt) = self.running(id) else {
            return;
        };
        attempt.connected = true;
        let waited = now.saturating_sub(attempt.started.monotonic);
        let stream = attempt.stream;
        let cluster = attempt.cluster.clone();
        let mut stats = self.process.stats();
        stats.add(Scope::Cluster(&cluster), "upstream_rq_total", 1);
        stats.add(Scope::Cluster(&cluster), "upstream_rq_active", 1);
        drop(stats);
        if let Some(stream) = self.streams.get_mut(&stream) {
            stream.info.pool_ready = Some(waited);
        }
        self.start_per_try_timer(id);
        self.touch_attempt(id);
        self.send_waiting(id);
    }

    pub(crate) fn response_headers_came(&mut self, id: UpstreamId, headers: Headers, end: bool) {
        let now = self.now.monotonic;
        let Some(attempt) = self.running(id) else {
            return;
        };
        attempt.times.response_begin = Some(now);
        attempt.upstream_over = end;
        attempt.chain.encode.end_seen = end;
        attempt.chain.response_headers = Some(inline::joined(Side::Response, headers));
        let key = attempt.stream;
        if end {
            attempt.times.response_end = Some(now);
        }
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.info.upstream_response_begin = Some(now);
            stream.info.details = Some("via_upstream".to_owned());
            if end {
                stream.info.upstream_response_end = Some(now);
            }
        }
        self.touch_attempt(id);
        self.pass_headers(ChainKey::Attempt(id), Direction::Encode, 0, end);
    }

    /// A piece that ends the response comes as Envoy's codec hands it on: the bytes, then the end.
    pub(crate) fn response_data_came(&mut self, id: UpstreamId, data: Vec<u8>, end: bool) {
        if !data.is_empty() {
            self.pass_response_data(id, data, false);
        }
        if end {
            self.pass_response_data(id, Vec::new(), true);
        }
    }

    fn pass_response_data(&mut self, id: UpstreamId, data: Vec<u8>, end: bool) {
        let now = self.now.monotonic;
        let Some(attempt) = self.running(id) else {
            return;
        };
        attempt.upstream_over |= end;
        attempt.chain.encode.end_seen |= end;
        let key = attempt.stream;
        if end {
            attempt.times.response_end = Some(now);
            if let Some(stream) = self.streams.get_mut(&key) {
                stream.info.upstream_response_end = Some(now);
            }
        }
        self.touch_attempt(id);
        self.pass_data(
            ChainKey::Attempt(id),
            Direction::Encode,
            0,
            Piece::Fresh(data),
            end,
        );
    }

    pub(crate) fn response_trailers_came(&mut self, id: UpstreamId, trailers: Headers) {
        let now = self.now.monotonic;
        let Some(attempt) = self.running(id) else {
            return;
        };
        attempt.upstream_over = true;
        attempt.times.response_end = Some(now);
        attempt.chain.encode.end_seen = true;
        attempt.chain.encode.trailers = Some(trailers);
        self.pass_trailers(ChainKey::Attempt(id), Direction::Encode, 0);
    }
}
