//! One command operator, from its name and argument.

use super::{FormatError, Operator, TimePiece, TimePoint, TimeUnit};

/// Reads an operator.
pub(super) fn operator(name: &str, argument: Option<&str>) -> Result<Operator, FormatError> {
    let refused = || FormatError::Argument {
        operator: name.to_owned(),
        argument: argument.unwrap_or_default().to_owned(),
    };
    let with = |known: Option<Operator>| known.ok_or_else(refused);
    let alone = |known: Operator| {
        if argument.is_none() {
            Ok(known)
        } else {
            Err(refused())
        }
    };
    match name {
        "START_TIME" => with(argument.and_then(time_format).map(Operator::StartTime)),
        "REQ" => with(argument.and_then(header_name).map(Operator::RequestHeader)),
        "RESP" => with(argument.and_then(header_name).map(Operator::ResponseHeader)),
        "PATH" => match argument {
            None | Some("WQ") => Ok(Operator::Path { query: true }),
            Some("NQ") => Ok(Operator::Path { query: false }),
            Some(_) => Err(refused()),
        },
        "COMMON_DURATION" => with(argument.and_then(common_duration)),
        "FILTER_STATE" => with(argument.and_then(property)),
        "STREAM_ID" => alone(Operator::StreamId),
        "DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT" => {
            alone(Operator::DownstreamRemoteAddressWithoutPort)
        }
        "RESPONSE_CODE" => alone(Operator::ResponseCode),
        "RESPONSE_CODE_DETAILS" => alone(Operator::ResponseCodeDetails),
        "RESPONSE_FLAGS" => alone(Operator::ResponseFlags),
        "UPSTREAM_REQUEST_ATTEMPT_COUNT" => alone(Operator::UpstreamRequestAttemptCount),
        "UPSTREAM_CLUSTER" => alone(Operator::UpstreamCluster),
        "UPSTREAM_HOST" => alone(Operator::UpstreamHost),
        "UPSTREAM_TRANSPORT_FAILURE_REASON" => alone(Operator::UpstreamTransportFailureReason),
        "DURATION" => alone(Operator::Duration),
        "BYTES_RECEIVED" => alone(Operator::BytesReceived),
        "BYTES_SENT" => alone(Operator::BytesSent),
        "LOCAL_REPLY_BODY" => alone(Operator::LocalReplyBody),
        "PROTOCOL" => alone(Operator::Protocol),
        _ => Err(FormatError::Unknown(name.to_owned())),
    }
}

/// One header; an alternative behind `?` is not modelled.
fn header_name(text: &str) -> Option<String> {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = text.strip_prefix(':').unwrap_or(text);
    (!name.is_empty() && name.chars().all(inner)).then(|| text.to_ascii_lowercase())
}

fn property(text: &str) -> Option<Operator> {
    let name = text.strip_prefix("wasm.")?.strip_suffix(":PLAIN")?;
    (!name.is_empty() && !name.contains(':')).then(|| Operator::Property(name.to_owned()))
}

fn common_duration(text: &str) -> Option<Operator> {
    let mut parts = text.split(':');
    let (from, to, unit) = (parts.next()?, parts.next()?, parts.next()?);
    let unit = match unit {
        "ms" => TimeUnit::Milliseconds,
        "us" => TimeUnit::Microseconds,
        "ns" => TimeUnit::Nanoseconds,
        _ => return None,
    };
    let duration = Operator::CommonDuration {
        from: time_point(from)?,
        to: time_point(to)?,
        unit,
    };
    parts.next().is_none().then_some(duration)
}

fn time_point(text: &str) -> Option<TimePoint> {
    Some(match text {
        "DS_RX_BEG" => TimePoint::DownstreamReceiveBegin,
        "DS_RX_END" => TimePoint::DownstreamReceiveEnd,
        "US_TX_BEG" => TimePoint::UpstreamSendBegin,
        "US_TX_END" => TimePoint::UpstreamSendEnd,
        "US_RX_BEG" => TimePoint::UpstreamReceiveBegin,
        "US_RX_END" => TimePoint::UpstreamReceiveEnd,
        "DS_TX_BEG" => TimePoint::DownstreamSendBegin,
        "DS_TX_END" => TimePoint::DownstreamSendEnd,
        _ => return None,
    })
}

fn time_format(text: &str) -> Option<Vec<TimePiece>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        if !before.is_empty() {
            pieces.push(TimePiece::Text(before.to_owned()));
        }
        let (piece, letters) = match after.as_bytes() {
            [b'Y', ..] => (TimePiece::Year, 1),
            [b'm', ..] => (TimePiece::Month, 1),
            [b'd', ..] => (TimePiece::Day, 1),
            [b'H', ..] => (TimePiece::Hour, 1),
            [b'M', ..] => (TimePiece::Minute, 1),
            [b'S', ..] => (TimePiece::Second, 1),
            [digit @ b'1'..=b'9', b'f', ..] => (TimePiece::Fraction(digit - b'0'), 2),
            _ => return None,
        };
        pieces.push(piece);
        rest = &after[letters..];
    }
    if !rest.is_empty() {
        pieces.push(TimePiece::Text(rest.to_owned()));
    }
    (!pieces.is_empty()).then_some(pieces)
}
