//! Values of command operators.

use std::time::Duration;

use super::{Facts, Value};
use crate::calendar;
use crate::format::{Operator, TimePiece, TimePoint, TimeUnit};
use crate::headers;

/// The value of an operator.
pub(super) fn evaluate(operator: &Operator, facts: &Facts<'_>) -> Value {
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
                .plain(format!("wasm.{name}").as_bytes());
            Value::text(value.as_deref().filter(|_| facts.properties))
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
