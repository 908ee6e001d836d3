//! Log lines and bodies in Envoy's JSON formats.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use crate::calendar;
use crate::config::{AccessLog, JsonFormat};
use crate::engine::Engine;
use crate::flags;
use crate::format::{self, Operator, Piece, TimePiece, TimePoint, TimeUnit};
use crate::headers;
use crate::io::{Command, Headers, Now, UpstreamId};
use crate::local_reply::filter_matches;
use crate::stream::{Info, StreamKey};

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
        let process = Arc::clone(&self.process);
        let Some(stream) = self.streams.get(&key) else {
            return;
        };
        let listener = stream
            .origin
            .and_then(|origin| process.config().listeners.get(origin.listener));
        let Some(listener) = listener else { return };
        let Some(facts) = self.facts(key) else { return };
        let lines: Vec<Command> = listener
            .http
            .access_log
            .iter()
            .filter(|log| is_wanted(log, &facts))
            .map(|log| line(log, &facts))
            .collect();
        self.commands.extend(lines);
    }

    /// The line of an attempt.
    pub(crate) fn log_attempt(&mut self, id: UpstreamId) {
        let process = Arc::clone(&self.process);
        let Some(attempt) = self.attempts.get(&id) else {
            return;
        };
        let origin = self
            .streams
            .get(&attempt.stream)
            .and_then(|stream| stream.origin);
        let listener = origin.and_then(|origin| process.config().listeners.get(origin.listener));
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
        let lines: Vec<Command> = logs.map(|log| line(log, &facts)).collect();
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
            request_id: info.request_id.as_deref(),
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

fn line(log: &AccessLog, facts: &Facts<'_>) -> Command {
    let mut line = String::new();
    write_json(&mut line, &log.format, facts, log.omit_empty_values);
    Command::AccessLog {
        path: log.path.clone(),
        line,
    }
}

/// Objects have their fields sorted by name; a format of one operator keeps its type.
fn write_json(out: &mut String, format: &JsonFormat, facts: &Facts<'_>, omit_empty: bool) {
    match format {
        JsonFormat::Literal(json) => out.push_str(json),
        JsonFormat::Text(text) => write_text(out, text, facts, omit_empty),
        JsonFormat::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_by(|a, b| a.0.cmp(&b.0));
            out.push('{');
            let mut first = true;
            for (name, value) in sorted {
                let mut text = String::new();
                write_json(&mut text, value, facts, omit_empty);
                if omit_empty && text == "null" {
                    continue;
                }
                if !std::mem::take(&mut first) {
                    out.push(',');
                }
                write_string(out, name.as_bytes());
                out.push(':');
                out.push_str(&text);
            }
            out.push('}');
        }
    }
}

fn write_text(out: &mut String, text: &str, facts: &Facts<'_>, omit_empty: bool) {
    // The reader of the configuration has checked the text; what it let through is shown as it stands.
    let pieces = format::parse(text).unwrap_or_else(|_| vec![Piece::Text(text.to_owned())]);
    if let [
        Piece::Operator {
            operator,
            limit_bytes,
        },
    ] = pieces.as_slice()
    {
        match cut(evaluate(operator, facts), *limit_bytes) {
            Value::Absent => out.push_str("null"),
            Value::Number(number) => out.push_str(&number.to_string()),
            Value::Bytes(bytes) => write_string(out, &bytes),
        }
        return;
    }
    let mut joined = Vec::new();
    for piece in &pieces {
        match piece {
            Piece::Text(text) => joined.extend_from_slice(text.as_bytes()),
            Piece::Operator {
                operator,
                limit_bytes,
            } => match cut(evaluate(operator, facts), *limit_bytes) {
                Value::Absent if omit_empty => {}
                Value::Absent => joined.push(b'-'),
                Value::Number(number) => joined.extend_from_slice(number.to_string().as_bytes()),
                Value::Bytes(bytes) => joined.extend_from_slice(&bytes),
            },
        }
    }
    write_string(out, &joined);
}

fn cut(value: Value, limit_bytes: Option<usize>) -> Value {
    match (value, limit_bytes) {
        (Value::Bytes(mut bytes), Some(limit)) => {
            bytes.truncate(limit);
            Value::Bytes(bytes)
        }
        (value, _) => value,
    }
}

/// A JSON string; bytes that are not UTF-8 are written as Latin-1, as Envoy does.
fn write_string(out: &mut String, bytes: &[u8]) {
    use std::fmt::Write as _;
    let utf8 = std::str::from_utf8(bytes);
    out.push('"');
    let mut push = |c: char| match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\u{8}' => out.push_str("\\b"),
        '\u{c}' => out.push_str("\\f"),
        c if u32::from(c) < 0x20 || (utf8.is_err() && !c.is_ascii()) => {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        }
        c => out.push(c),
    };
    match utf8 {
        Ok(text) => text.chars().for_each(&mut push),
        Err(_) => bytes
            .iter()
            .map(|byte| char::from(*byte))
            .for_each(&mut push),
    }
    out.push('"');
}

fn evaluate(operator: &Operator, facts: &Facts<'_>) -> Value {
    let underscored = |text: Option<&str>| Value::text(text.map(|text| text.replace(' ', "_")));
    match operator {
        Operator::StreamId => Value::text(facts.request_id),
        Operator::StartTime(pieces) => {
            Value::Bytes(start_time(pieces, facts.started.wall).into_bytes())
        }
        Operator::DownstreamRemoteAddressWithoutPort => {
            Value::text(facts.client.map(|ip| ip.to_string()))
        }
        Operator::RequestHeader(name) => Value::text(headers::get(facts.request, name.as_bytes())),
        Operator::ResponseHeader(name) => Value::text(
            facts
                .response
                .and_then(|response| headers::get(response, name.as_bytes())),
        ),
        Operator::Path { query } => {
            let path = headers::text(facts.request, ":path");
            Value::text(path.map(|path| {
                if *query {
                    path
                } else {
                    path.split('?').next().unwrap_or(path)
                }
            }))
        }
        Operator::ResponseCode => Value::Number(facts.code.into()),
        Operator::ResponseCodeDetails => underscored(facts.details),
        Operator::ResponseFlags => Value::text(Some(&facts.flags)),
        Operator::UpstreamRequestAttemptCount => Value::Number(facts.attempts.into()),
        Operator::UpstreamCluster => Value::text(facts.cluster),
        Operator::UpstreamHost => Value::text(facts.host.map(|host| host.to_string())),
        Operator::UpstreamTransportFailureReason => underscored(facts.transport_failure),
        Operator::Duration => {
            let took = facts.ended.saturating_sub(facts.started.monotonic);
            Value::Number(whole(took, TimeUnit::Milliseconds))
        }
        Operator::CommonDuration { from, to, unit } => {
            let (from, to) = (facts.times[point(*from)], facts.times[point(*to)]);
            match (from, to) {
                (Some(from), Some(to)) if to >= from => {
                    Value::Number(whole(to.saturating_sub(from), *unit))
                }
                _ => Value::Absent,
            }
        }
        Operator::BytesReceived => Value::Number(facts.received),
        Operator::BytesSent => Value::Number(facts.sent),
        Operator::Property(name) => {
            let value = facts
                .info
                .filter_state
                .get(format!("wasm.{name}").as_bytes());
            Value::text(value.filter(|_| facts.properties))
        }
        Operator::LocalReplyBody => Value::text(Some(&facts.info.local_reply_body)),
        Operator::Protocol => Value::text(Some("HTTP/1.1")),
    }
}

fn point(point: TimePoint) -> usize {
    match point {
        TimePoint::DownstreamReceiveBegin => 0,
        TimePoint::DownstreamReceiveEnd => 1,
        TimePoint::UpstreamSendBegin => 2,
        TimePoint::UpstreamSendEnd => 3,
        TimePoint::UpstreamReceiveBegin => 4,
        TimePoint::UpstreamReceiveEnd => 5,
        TimePoint::DownstreamSendBegin => 6,
        TimePoint::DownstreamSendEnd => 7,
    }
}

fn whole(duration: Duration, unit: TimeUnit) -> u64 {
    let count = match unit {
        TimeUnit::Milliseconds => duration.as_millis(),
        TimeUnit::Microseconds => duration.as_micros(),
        TimeUnit::Nanoseconds => duration.as_nanos(),
    };
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn start_time(pieces: &[TimePiece], wall: Duration) -> String {
    let date = calendar::date(wall);
    let piece = |piece: &TimePiece| match piece {
        TimePiece::Text(text) => text.clone(),
        TimePiece::Year => date.year.to_string(),
        TimePiece::Month => format!("{:02}", date.month),
        TimePiece::Day => format!("{:02}", date.day),
        TimePiece::Hour => format!("{:02}", date.hour),
        TimePiece::Minute => format!("{:02}", date.minute),
        TimePiece::Second => format!("{:02}", date.second),
        TimePiece::Fraction(digits) => {
            let nanoseconds = format!("{:09}", date.nanosecond);
            nanoseconds
                .get(..usize::from(*digits))
                .unwrap_or(&nanoseconds)
                .to_owned()
        }
    };
    pieces.iter().map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn string(bytes: &[u8]) -> String {
        let mut out = String::new();
        write_string(&mut out, bytes);
        out
    }

    /// envoy-lab.md, section 2.
    #[test]
    fn bytes_that_are_not_utf8_are_written_as_latin_1() {
        assert_eq!(
            string(&[0xff, 0x00, 0xfe, 0x41]),
            r#""\u00ff\u0000\u00feA""#
        );
        assert_eq!(string("é\n\"".as_bytes()), r#""é\n\"""#);
    }
}
