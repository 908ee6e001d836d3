//! Answers that no worker gave: Envoy's own and those of guests.

use crate::abi::LocalResponse;
use crate::chain::{ChainKey, Direction, Piece};
use crate::config::{Comparison, LocalReplyMapper, ReplyFilter};
use crate::engine::Engine;
use crate::flags::Flag;
use crate::grpc::status as grpc;
use crate::headers;
use crate::inline::{self, Side};
use crate::io::Headers;
use crate::router::route::header_matches;
use crate::stream::{Info, Response, StreamKey};

/// An answer that is to be sent.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: Headers,
    /// Empty for a guest's answer, unless it names some.
    pub(crate) details: String,
    pub(crate) flag: Option<Flag>,
    /// For those who speak gRPC; `None`: what the status means there.
    pub(crate) grpc_status: Option<u32>,
}

impl Reply {
    /// An answer of Envoy's own.
    pub(crate) fn of_envoy(status: u16, body: &str, details: &str) -> Self {
        Reply {
            status,
            body: body.as_bytes().to_vec(),
            headers: Vec::new(),
            details: details.to_owned(),
            flag: None,
            grpc_status: None,
        }
    }

    /// An answer of a guest.
    pub(crate) fn of_guest(response: LocalResponse) -> Self {
        Reply {
            status: u16::try_from(response.status).unwrap_or(500),
            body: response.body,
            headers: response.headers,
            details: String::from_utf8_lossy(&response.details).replace(' ', "_"),
            flag: None,
            grpc_status: response.grpc_status,
        }
    }
}

impl Engine {
    /// Answers a request. Before any response has begun the answer goes through all response
    /// filters; while a head is still with them it goes past them; later it can only break off.
    pub(crate) fn local_reply(&mut self, key: StreamKey, reply: Reply) {
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        // Over HTTP/1 Envoy takes any 400 for a broken client, whoever gives it; later mappers change nothing of that.
        stream.closes_connection |= reply.status == 400;
        if stream.response == Response::Sent {
            return self.break_off(key, &reply.details);
        }
        let direct = stream.response == Response::InChain;
        stream.info.details = Some(reply.details.clone());
        if let Some(flag) = reply.flag {
            stream.info.flag(flag);
        }
        stream.chain.decode.aborted = true;
        self.stop_router(key);
        // An attempt under way ends now: its filters know the details, but not yet the status.
        if let Some(id) = self
            .streams
            .get(&key)
            .and_then(|stream| stream.router.attempt)
        {
            self.finish_attempt(id);
        }
        let (head, body) = self.compose(key, reply);
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        let end =
            body.is_empty() || headers::get(&stream.request_headers, b":method") == Some(b"HEAD");
        stream.response = Response::InChain;
        let lane = &mut stream.chain.encode;
        lane.end_seen = true;
        lane.buffer = None;
        lane.trailers = None;
        if direct {
            lane.aborted = true;
            self.send_headers(key, head, end);
            if !end {
                self.send_data(key, body, true);
            }
            return;
        }
        stream.chain.response_headers = Some(head);
        self.pass_headers(ChainKey::Stream(key), Direction::Encode, 0, end);
        if !end {
            let body = Piece::Fresh(body);
            self.pass_data(ChainKey::Stream(key), Direction::Encode, 0, body, true);
        }
    }

    /// Head and body of a reply, after `local_reply_config`.
    fn compose(&mut self, key: StreamKey, reply: Reply) -> (Headers, Vec<u8>) {
        let mut head: Headers = vec![(b":status".to_vec(), Vec::new())];
        let mut status = reply.status;
        let mut body = reply.body;
        for (name, value) in &reply.headers {
            inline::add(&mut head, Side::Response, name, value);
        }
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.info.response_code = Some(status);
            stream.info.local_reply_body = String::from_utf8_lossy(&body).into_owned();
        }
        if let Some(mapper) = self.mapper(key) {
            status = mapper.status_code.unwrap_or(status);
            for (name, value) in &mapper.headers_to_add {
                headers::set(&mut head, name.as_bytes(), value.as_bytes());
            }
            if let Some(stream) = self.streams.get_mut(&key) {
                stream.info.response_code = Some(status);
            }
            if let Some(format) = &mapper.body {
                body = self.format_reply(key, format).into_bytes();
                headers::set(&mut head, b"content-type", b"application/json");
            }
        }
        headers::remove(&mut head, b"content-length");
        if let Some(stream) = self.streams.get_mut(&key).filter(|stream| stream.is_grpc) {
            stream.info.response_code = Some(200);
            return (as_grpc(head, status, reply.grpc_status, &body), Vec::new());
        }
        headers::set(&mut head, b":status", status.to_string().as_bytes());
        if body.is_empty() {
            headers::remove(&mut head, b"content-type");
        } else {
            headers::set(
                &mut head,
                b"content-length",
                body.len().to_string().as_bytes(),
            );
            if headers::get(&head, b"content-type").is_none() {
                headers::set(&mut head, b"content-type", b"text/plain");
            }
        }
        (head, body)
    }

    fn mapper(&self, key: StreamKey) -> Option<LocalReplyMapper> {
        let stream = self.streams.get(&key)?;
        let listener = stream.listener()?;
        let mappers = &listener.http.local_reply_mappers;
        let applies = |mapper: &&LocalReplyMapper| {
            filter_matches(&mapper.filter, &stream.info, Some(&stream.request_headers))
        };
        mappers.iter().find(applies).cloned()
    }
}

/// A reply for those who speak gRPC: a head with the status, which is all of the response.
fn as_grpc(mut head: Headers, status: u16, grpc_status: Option<u32>, body: &[u8]) -> Headers {
    headers::set(&mut head, b":status", b"200");
    headers::set(&mut head, b"content-type", b"application/grpc");
    if headers::get(&head, b"grpc-status").is_none_or(<[u8]>::is_empty) {
        let number = grpc_status.unwrap_or_else(|| grpc::of_http(status));
        headers::set(&mut head, b"grpc-status", number.to_string().as_bytes());
    }
    if !body.is_empty() {
        headers::set(&mut head, b"grpc-message", &grpc::percent_encoded(body));
    }
    head
}

/// Whether an access-log filter takes a request.
pub(crate) fn filter_matches(filter: &ReplyFilter, info: &Info, request: Option<&Headers>) -> bool {
    match filter {
        ReplyFilter::And(all) => all
            .iter()
            .all(|filter| filter_matches(filter, info, request)),
        ReplyFilter::Or(any) => any
            .iter()
            .any(|filter| filter_matches(filter, info, request)),
        ReplyFilter::Status(comparison, value) => {
            let status = u32::from(info.response_code.unwrap_or(0));
            match comparison {
                Comparison::Eq => status == *value,
                Comparison::Ge => status >= *value,
                Comparison::Le => status <= *value,
            }
        }
        ReplyFilter::Flags(names) if names.is_empty() => !info.flags.is_empty(),
        ReplyFilter::Flags(names) => info
            .flags
            .iter()
            .any(|flag| names.iter().any(|name| name == flag.short())),
        ReplyFilter::Header(condition) => {
            request.is_some_and(|request| header_matches(condition, request))
        }
        ReplyFilter::HasDetails => info
            .details
            .as_ref()
            .is_some_and(|details| !details.is_empty()),
    }
}
