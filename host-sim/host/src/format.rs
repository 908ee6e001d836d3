//! Format strings of access logs and of local replies: literal text with `%OPERATOR(argument):length%` in it.
//!
//! Only operators that the simulator can evaluate are known; any other is an error, as an unknown
//! operator is in Envoy. Nothing is evaluated here.

use std::fmt;

mod operators;

use operators::operator;

/// A part of a format string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Written as it stands; never empty, and `%%` has become `%`.
    Text(String),
    /// Replaced by a value.
    Operator {
        /// Which value.
        operator: Operator,
        /// Longest value in bytes, if it is cut. Only some operators take it.
        limit_bytes: Option<usize>,
    },
}

/// What a command operator stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `STREAM_ID`: Envoy's request id; nothing for a request that the codec refused.
    StreamId,
    /// `START_TIME(...)`: wall clock at the first byte of the request.
    StartTime(Vec<TimePiece>),
    /// `DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT`
    DownstreamRemoteAddressWithoutPort,
    /// `REQ(name)`: a request header, lower case.
    RequestHeader(String),
    /// `RESP(name)`: a response header, lower case.
    ResponseHeader(String),
    /// `PATH(WQ)` or `PATH(NQ)`: path with or without the query; `PATH` is with.
    Path {
        /// Whether the query is part of it.
        query: bool,
    },
    /// `RESPONSE_CODE`: 0 if no headers were sent.
    ResponseCode,
    /// `RESPONSE_CODE_DETAILS`: spaces are written as `_`.
    ResponseCodeDetails,
    /// `RESPONSE_FLAGS`: short names joined by commas, `-` if none.
    ResponseFlags,
    /// `UPSTREAM_REQUEST_ATTEMPT_COUNT`
    UpstreamRequestAttemptCount,
    /// `UPSTREAM_CLUSTER`
    UpstreamCluster,
    /// `UPSTREAM_HOST`: address of the last attempt.
    UpstreamHost,
    /// `UPSTREAM_TRANSPORT_FAILURE_REASON`: spaces are written as `_`.
    UpstreamTransportFailureReason,
    /// `DURATION`: whole milliseconds of the stream.
    Duration,
    /// `COMMON_DURATION(from:to:unit)`
    CommonDuration {
        /// Start.
        from: TimePoint,
        /// End.
        to: TimePoint,
        /// Unit of the whole number.
        unit: TimeUnit,
    },
    /// `BYTES_RECEIVED`: of the request's body.
    BytesReceived,
    /// `BYTES_SENT`: of the response's body.
    BytesSent,
    /// `FILTER_STATE(wasm.<property>:PLAIN)`: a property that a wasm filter set, without the `wasm.`.
    Property(String),
    /// `LOCAL_REPLY_BODY`: what Envoy would have answered.
    LocalReplyBody,
    /// `PROTOCOL`: `HTTP/1.1` or `HTTP/2`.
    Protocol,
}

/// A part of the format of `START_TIME`; times are in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimePiece {
    /// As it stands.
    Text(String),
    /// `%Y`
    Year,
    /// `%m`, two digits.
    Month,
    /// `%d`, two digits.
    Day,
    /// `%H`, two digits.
    Hour,
    /// `%M`, two digits.
    Minute,
    /// `%S`, two digits.
    Second,
    /// `%1f` to `%9f`: that many digits of the fraction of a second.
    Fraction(u8),
}

/// A moment in the life of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimePoint {
    /// `DS_RX_BEG`: first byte of the request came.
    DownstreamReceiveBegin,
    /// `DS_RX_END`: last byte of the request came.
    DownstreamReceiveEnd,
    /// `US_TX_BEG`: first byte went to the upstream.
    UpstreamSendBegin,
    /// `US_TX_END`: last byte went to the upstream.
    UpstreamSendEnd,
    /// `US_RX_BEG`: first byte came from the upstream.
    UpstreamReceiveBegin,
    /// `US_RX_END`: last byte came from the upstream.
    UpstreamReceiveEnd,
    /// `DS_TX_BEG`: first byte went to the client.
    DownstreamSendBegin,
    /// `DS_TX_END`: last byte went to the client.
    DownstreamSendEnd,
}

/// Unit of a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// `ms`
    Milliseconds,
    /// `us`
    Microseconds,
    /// `ns`
    Nanoseconds,
}

/// Why a format string is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// A `%` begins no operator that ends.
    Unclosed,
    /// No such operator here.
    Unknown(String),
    /// The operator does not take this argument, or needs one.
    Argument {
        /// Name of the operator.
        operator: String,
        /// As written; empty if there is none.
        argument: String,
    },
    /// The operator takes no length.
    Length(String),
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unclosed => f.write_str("a % that is not %% and ends no operator"),
            Self::Unknown(name) => write!(f, "operator {name}: not modelled by host-sim"),
            Self::Argument { operator, argument } => {
                write!(
                    f,
                    "operator {operator}: argument {argument:?}: not modelled by host-sim"
                )
            }
            Self::Length(operator) => write!(f, "operator {operator}: takes no length"),
        }
    }
}

impl std::error::Error for FormatError {}

/// Takes a format string apart.
///
/// # Errors
///
/// The first operator that is not known, or not with this argument or length.
pub fn parse(text: &str) -> Result<Vec<Piece>, FormatError> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        literal.push_str(before);
        if let Some(after) = after.strip_prefix('%') {
            literal.push('%');
            rest = after;
            continue;
        }
        let (piece, tail) = command(after)?;
        if !literal.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut literal)));
        }
        pieces.push(piece);
        rest = tail;
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    Ok(pieces)
}

/// `NAME`, `(argument)` if any, `:length` if any and `%`; what follows them is handed back.
fn command(text: &str) -> Result<(Piece, &str), FormatError> {
    let named = |c: char| !(c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    let end = text.find(named).filter(|end| *end > 0);
    let (name, rest) = text.split_at(end.ok_or(FormatError::Unclosed)?);
    let (argument, rest) = match rest.strip_prefix('(') {
        Some(rest) => rest
            .split_once(')')
            .map(|(inner, rest)| (Some(inner), rest)),
        None => Some((None, rest)),
    }
    .ok_or(FormatError::Unclosed)?;
    let (length, rest) = rest.split_once('%').ok_or(FormatError::Unclosed)?;
    let operator = operator(name, argument)?;
    let limit_bytes = match length.strip_prefix(':') {
        None if length.is_empty() => None,
        Some(digits) => Some(digits.parse().map_err(|_| FormatError::Unclosed)?),
        None => return Err(FormatError::Unclosed),
    };
    if limit_bytes.is_some() && !operator.may_be_cut() {
        return Err(FormatError::Length(name.to_owned()));
    }
    Ok((
        Piece::Operator {
            operator,
            limit_bytes,
        },
        rest,
    ))
}

impl Operator {
    /// Whether Envoy takes `:length` behind it.
    fn may_be_cut(&self) -> bool {
        matches!(
            self,
            Self::RequestHeader(_)
                | Self::ResponseHeader(_)
                | Self::Path { .. }
                | Self::Property(_)
        )
    }
}

#[cfg(test)]
mod tests;
