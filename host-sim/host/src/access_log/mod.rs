//! Log lines and bodies in Envoy's JSON formats.

mod json;
mod operators;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use json::write_json;

use crate::config::{AccessLog, JsonFormat};
use crate::engine::Engine;
use crate::flags;
use crate::io::{Command, Headers, Now, UpstreamId};
use crate::local_reply::filter_matches;
use crate::stream::{Info, Stream, StreamKey};

/// What a format can say about a request or an attempt.
#[derive(Debug)]
struct Facts<'a> {
    info: &'a Info,
    request: &'a Headers,
    response: Option<&'a Headers>,
    client: Option<IpAddr>,
    code: u16,
    /// `None` in the line of an attempt: it knows no request id, property or attempt count.
    request_id: Option<&'a str>,
    properties: bool,
    attempts: u32,
    cluster: Option<&'a str>,
    host: Option<SocketAddr>,
    flags: String,
    details: Option<&'a str>,
    transport_failure: Option<&'a str>,
    started: Now,
    ended: Duration,
    received: u64,
    sent: u64,
    times: [Option<Duration>; 8],
}

/// Value of an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Absent,
    Number(u64),
    Bytes(Vec<u8>),
}

impl Value {
    fn text(value: Option<impl AsRef<[u8]>>) -> Value {
        value.map_or(Value::Absent, |value| Value::Bytes(value.as_ref().to_vec()))
    }
}

impl Engine {
    /// The line of a client's request.
    pub(crate) fn log_request(&mut self, key: StreamKey) {
        let Some(listener) = self.streams.get(&key).and_then(Stream::listener) else {
            return;
        };
        let Some(facts) = self.facts(key) else { return };
        let lines: Vec<Command> = listener
            .http
            .access_log
            .iter()
            .filter(|log| is_wanted(log, &facts))
            .map(|log| line(log, key, &facts))
            .collect();
        self.commands.extend(lines);
    }

    /// The line of an attempt.
    pub(crate) fn log_attempt(&mut self, id: UpstreamId) {
        let Some(attempt) = self.attempts.get(&id) else {
            return;
        };
        let stream = self.streams.get(&attempt.stream);
        let listener = stream.and_then(Stream::listener);
        let (Some(listener), Some(mut facts)) = (listener, self.facts(attempt.stream)) else {
            return;
        };
        let times = attempt.times;
        facts.request_id = None;
        facts.properties = false;
        facts.attempts = 0;
        facts.response = attempt.chain.response_headers.as_ref();
        facts.code = attempt.status;
        facts.cluster = Some(&attempt.cluster);
        facts.host = Some(attempt.address);
        facts.flags = flags::short_names(&attempt.flags);
        facts.details = None;
        facts.transport_failure = attempt.transport_failure.as_deref();
        facts.started = attempt.started;
        facts.ended = self.now.monotonic;
        facts.received = attempt.bytes_received;
        facts.sent = attempt.bytes_sent;
        facts.times = [
            Some(attempt.started.monotonic),
            None,
            times.request_begin,
            times.request_end,
            times.response_begin,
            times.response_end,
            None,
            None,
        ];
        let logs = listener
            .http
            .router
            .upstream_log
            .iter()
            .filter(|log| is_wanted(log, &facts));
        let lines: Vec<Command> = logs.map(|log| line(log, attempt.stream, &facts)).collect();
        self.commands.extend(lines);
    }

    /// A body by `local_reply_config`.
    pub(crate) fn format_reply(&self, key: StreamKey, format: &JsonFormat) -> String {
        let mut body = String::new();
        if let Some(facts) = self.facts(key) {
            write_json(&mut body, format, &facts, false);
            body.push('\n');
        }
        body
    }

    fn facts(&self, key: StreamKey) -> Option<Facts<'_>> {
        let stream = self.streams.get(&key)?;
        let info = &stream.info;
        Some(Facts {
            info,
            request: &stream.request_headers,
            response: stream.sent_head.as_ref(),
            client: stream.origin.map(|origin| origin.peer.ip()),
            code: info.response_code.unwrap_or(0),
            request_id: stream.request_id(),
            properties: true,
            attempts: info.attempts,
            cluster: info.upstream_cluster.as_deref(),
            host: info.upstream_address,
            flags: flags::short_names(&info.flags),
            details: info.details.as_deref(),
            transport_failure: info.transport_failure.as_deref(),
            started: info.started,
            ended: info.response_end.unwrap_or(self.now.monotonic),
            received: info.bytes_received,
            sent: info.bytes_sent,
            times: [
                Some(info.started.monotonic),
                info.request_end,
                info.upstream_request_begin,
                info.upstream_request_end,
                info.upstream_response_begin,
                info.upstream_response_end,
                info.response_begin,
                info.response_end,
            ],
        })
    }
}

fn is_wanted(log: &AccessLog, facts: &Facts<'_>) -> bool {
    log.filter
        .as_ref()
        .is_none_or(|filter| filter_matches(filter, facts.info, Some(facts.request)))
}

fn line(log: &AccessLog, key: StreamKey, facts: &Facts<'_>) -> Command {
    let mut line = String::new();
    write_json(&mut line, &log.format, facts, log.omit_empty_values);
    let stream = match key {
        StreamKey::Client(stream) => Some(stream),
        StreamKey::Callout(_) => None,
    };
    Command::AccessLog {
        stream,
        path: log.path.clone(),
        line,
    }
}
