//! Requests that the codec cannot read: from the beginning, or from some point of the body.

use std::net::SocketAddr;

use crate::engine::Engine;
use crate::flags::Flag;
use crate::io::{Command, StreamId};
use crate::local_reply::Reply;
use crate::stream::{Response, StreamKey};

impl Engine {
    /// Nothing of the request is known: no filter sees more than its end.
    pub(crate) fn request_rejected(
        &mut self,
        id: StreamId,
        listener: usize,
        peer: SocketAddr,
        status: u16,
        details: &str,
    ) {
        let key = StreamKey::Client(id);
        let Some(entrance) = self.versions.entrance(listener) else {
            return;
        };
        self.open_stream(key, &entrance, (peer, None), Vec::new(), false);
        let mut reply = Reply::of_envoy(status, reason_phrase(status), details);
        reply.flag = Some(Flag::DownstreamProtocolError);
        self.local_reply(key, reply);
    }

    /// The rest of a request cannot be read: an answer if none has begun, and no more in any case.
    pub(crate) fn request_broke(&mut self, id: StreamId, status: u16, details: &str) {
        let key = StreamKey::Client(id);
        let Some(stream) = self.streams.get_mut(&key) else {
            return;
        };
        if stream.response == Response::Sent {
            stream.info.flag(Flag::DownstreamProtocolError);
        } else {
            let mut reply = Reply::of_envoy(status, reason_phrase(status), details);
            reply.flag = Some(Flag::DownstreamProtocolError);
            self.local_reply(key, reply);
        }
        // Still there when a filter holds the answer.
        if let Some(stream) = self.streams.get_mut(&key) {
            stream.info.details = Some(details.to_owned());
            self.commands.push(Command::ResetStream { stream: id });
            self.finish_filters(key);
        }
    }
}

/// Envoy's text for a status that a codec answers with.
fn reason_phrase(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        403 => "Forbidden",
        408 => "Request Timeout",
        413 => "Payload Too Large",
        426 => "Upgrade Required",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        _ => "",
    }
}
