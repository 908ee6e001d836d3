//! The ends of the chains, and the end of a request.

use std::sync::Arc;

use crate::calendar;
use crate::chain::{ChainKey, Direction, Piece};
use crate::engine::Engine;
use crate::flags::Flag;
use crate::headers;
use crate::io::{Command, Headers, StreamId};
use crate::local_reply::Reply;
use crate::stream::{Response, StreamKey};

/// Headers of one connection, which do not go on to the next.
const HOP_HEADERS: [&[u8]; 5] = [
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"transfer-encoding",
    b"upgrade",
];

impl Engine {
    pub(crate) fn headers_passed(&mut self, key: ChainKey, direction: Direction, end: bool) {
        match (key, direction) {
            (ChainKey::Stream(stream), Direction::Decode) => self.route_request(stream, end),
            (ChainKey::Stream(stream), Direction::Encode) => self.response_head_passed(stream, end),
            (ChainKey::Attempt(id), Direction::Decode) => self.attempt_head_ready(id, end),
            (ChainKey::Attempt(id), Direction::Encode) => self.upstream_headers(id, end),
        }
    }

    pub(crate) fn data_passed(
        &mut self,
        key: ChainKey,
        direction: Direction,
        piece: Piece,
        end: bool,
    ) {
        match (key, direction) {
            (ChainKey::Stream(stream), Direction::Decode) => self.route_data(stream, piece, end),
            (ChainKey::Attempt(id), Direction::Decode) => self.attempt_data_ready(id, piece, end),
            (ChainKey::Attempt(id), Direction::Encode) => self.upstream_data(id, piece, end),
            (ChainKey::Stream(stream), Direction::Encode) => {
                let data = match piece {
                    Piece::Fresh(bytes) => bytes,
                    Piece::Buffered => self
                        .chain(key)
                        .and_then(|chain| chain.encode.buffer.take())
                        .unwrap_or_default(),
                };
                self.send_data(stream, data, end);
            }
        }
    }

    pub(crate) fn trailers_passed(&mut self, key: ChainKey, direction: Direction) {
        match (key, direction) {
            (ChainKey::Stream(stream), Direction::Decode) => self.route_trailers(stream),
            (ChainKey::Attempt(id), Direction::Decode) => self.attempt_trailers_ready(id),
            (ChainKey::Attempt(id), Direction::Encode) => self.upstream_trailers(id),
            (ChainKey::Stream(stream), Direction::Encode) => self.send_trailers(stream),
        }
    }

    /// The response's head has passed the filters.
    fn response_head_passed(&mut self, key: StreamKey, end: bool) {
        let stream = self.streams.get(&key);
        if let Some(head) = stream.and_then(|stream| stream.chain.response_headers.clone()) {
            self.send_headers(key, head, end);
        }
    }

    /// A head leaves for the client, with what the connection manager adds to it.
    pub(crate) fn send_headers(&mut self, key: StreamKey, mut head: Headers, end: bool) {
        if headers::status(&head) == 0 {
            let details =
                "filter_removed_required_response_headers{missing_required_header:_:status}";
            let reply = Reply::of_envoy(502, "missing required header: :status", details);
            return self.local_reply(key, reply);
        }
        let now = self.now;
        let process = Arc::clone(&self.process);
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        stream.response = Response::Sent;
        stream.info.response_code = Some(headers::status(&head));
        stream.info.response_begin = Some(now.monotonic);
        let StreamKey::Client(id) = key else {
            return self.callout_headers(key, head, end);
        };
        for name in HOP_HEADERS {
            headers::remove(&mut head, name);
        }
        if headers::get(&head, b"date").is_none() {
            headers::add(&mut head, b"date", calendar::http_date(now.wall).as_bytes());
        }
        headers::set(&mut head, b"server", b"envoy");
        let listener = stream.listener();
        if listener.is_some_and(|listener| listener.http.always_set_request_id_in_response)
            && let Some(request_id) = stream.request_id()
        {
            headers::set(&mut head, b"x-request-id", request_id.as_bytes());
        }
        if !stream.request_complete || stream.closes_connection || process.is_draining() {
            headers::set(&mut head, b"connection", b"close");
        }
        stream.sent_head = Some(head.clone());
        if let Some(stream) = self.streams.get(&key) {
            self.count_response(stream, headers::status(&head));
        }
        self.commands.push(Command::SendHeaders {
            stream: id,
            headers: head,
            end_stream: end,
        });
        self.touch(key);
        if end {
            self.finish_stream(key);
        }
    }

    /// A piece of the response leaves.
    pub(crate) fn send_data(&mut self, key: StreamKey, data: Vec<u8>, end: bool) {
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        stream.info.bytes_sent += data.len() as u64;
        let StreamKey::Client(id) = key else {
            return self.callout_data(key, &data, end);
        };
        if data.is_empty() && !end {
            return;
        }
        self.commands.push(Command::SendData {
            stream: id,
            data,
            end_stream: end,
        });
        self.touch(key);
        if end {
            self.finish_stream(key);
        }
    }

    fn send_trailers(&mut self, key: StreamKey) {
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        let trailers = stream.chain.encode.trailers.clone().unwrap_or_default();
        let StreamKey::Client(id) = key else {
            return self.callout_trailers(key, trailers);
        };
        self.commands.push(Command::SendTrailers {
            stream: id,
            trailers,
        });
        self.finish_stream(key);
    }

    /// Breaks a response off.
    pub(crate) fn break_off(&mut self, key: StreamKey, details: &str) {
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        stream.info.details = Some(details.to_owned());
        if stream.request_complete {
            self.count_http(key, "downstream_rq_rx_reset");
        }
        self.count_http(key, "downstream_rq_tx_reset");
        match key {
            StreamKey::Client(id) => {
                self.commands.push(Command::ResetStream { stream: id });
                self.finish_stream(key);
            }
            StreamKey::Callout(_) => self.callout_broke(key),
        }
    }

    /// Closes a stream as a guest asked. What is known of a response that came stays; an attempt that
    /// is under way ends after the filters.
    pub(crate) fn close_stream(&mut self, key: StreamKey, details: &str) {
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        let StreamKey::Client(id) = key else {
            return self.break_off(key, details);
        };
        stream
            .info
            .details
            .get_or_insert_with(|| details.to_owned());
        self.commands.push(Command::ResetStream { stream: id });
        self.finish_filters(key);
    }

    pub(crate) fn client_left(&mut self, id: StreamId) {
        let key = StreamKey::Client(id);
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        stream.info.details = Some("downstream_remote_disconnect".to_owned());
        stream.info.flag(Flag::DownstreamConnectionTermination);
        self.count_http(key, "downstream_rq_rx_reset");
        self.finish_filters(key);
    }

    /// The end of a request that the gateway ends; an attempt that is still under way ends first.
    pub(crate) fn finish_stream(&mut self, key: StreamKey) {
        if self
            .streams
            .get(&key)
            .is_some_and(|stream| !stream.request_complete)
        {
            self.count_http(key, "downstream_rq_rx_reset");
        }
        self.stop_router(key);
        if let Some(id) = self
            .streams
            .get(&key)
            .and_then(|stream| stream.router.attempt)
        {
            self.finish_attempt(id);
        }
        self.finish_filters(key);
    }

    /// The end of a request: `on_log` of all filters, the log line, `on_done` of all filters. When the
    /// client has left, an attempt that is still under way ends after them.
    pub(crate) fn finish_filters(&mut self, key: StreamKey) {
        let now = self.now.monotonic;
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        stream.info.response_end = Some(now);
        stream.chain.decode.aborted = true;
        stream.chain.encode.aborted = true;
        let timer = stream.idle_timer.take();
        let filters = stream.chain.filters.len();
        self.timers.cancel(timer);
        self.stop_router(key);
        let chain = ChainKey::Stream(key);
        (0..filters).for_each(|index| self.filter_log(chain, index));
        self.log_request(key);
        (0..filters).for_each(|index| self.filter_done(chain, index));
        if let Some(id) = self
            .streams
            .get(&key)
            .and_then(|stream| stream.router.attempt)
        {
            self.finish_attempt(id);
        }
        if let Some(stream) = self.streams.remove(&key) {
            self.keep_for_connection(&stream);
            self.count_end(&stream);
        }
    }

    /// The filters hold more than they may.
    pub(crate) fn too_large(&mut self, key: ChainKey, direction: Direction) {
        if let Some(stream) = self.stream_of(key) {
            let name = match direction {
                Direction::Decode => "downstream_rq_too_large",
                Direction::Encode => "rs_too_large",
            };
            self.count_http(stream, name);
        }
        let reply = match direction {
            Direction::Decode => {
                Reply::of_envoy(413, "Payload Too Large", "request_payload_too_large")
            }
            Direction::Encode => {
                Reply::of_envoy(500, "Internal Server Error", "response_payload_too_large")
            }
        };
        self.reply_of(key, reply);
    }
}
