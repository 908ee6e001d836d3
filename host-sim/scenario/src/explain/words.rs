//! Host calls, callbacks and their answers as words.

use host_sim_host::abi::watch::{Answered, Asked};
use host_sim_host::abi::{BufferKind, Call, GrpcTarget, MapKind, Refusal, Trap};

/// Characters of one value.
const VALUE_LENGTH: usize = 60;
/// Bytes of a value that is no text.
const HEX_BYTES: usize = 16;

/// Text in quotes, or the first bytes in hexadecimal.
pub(super) fn value(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.chars().any(|c| c.is_control() && c != '\n') => {
            let text = text.replace('\n', "\\n");
            if text.chars().count() <= VALUE_LENGTH {
                format!("\"{text}\"")
            } else {
                let start: String = text.chars().take(VALUE_LENGTH).collect();
                format!("\"{start}…\" ({} bytes)", bytes.len())
            }
        }
        _ => hexadecimal(bytes),
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digits: String = bytes
        .iter()
        .take(HEX_BYTES)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let more = if bytes.len() > HEX_BYTES { "…" } else { "" };
    format!("0x{digits}{more} ({} bytes)", bytes.len())
}

/// A path of properties with dots between its parts.
fn path(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\0', ".")
}

fn name(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn map(map: MapKind) -> &'static str {
    match map {
        MapKind::RequestHeaders => "request",
        MapKind::RequestTrailers => "request trailers",
        MapKind::ResponseHeaders => "response",
        MapKind::ResponseTrailers => "response trailers",
        MapKind::HttpCallResponseHeaders => "callout's answer",
        MapKind::HttpCallResponseTrailers => "callout's trailers",
        MapKind::GrpcInitialMetadata | MapKind::GrpcTrailingMetadata => "gRPC metadata",
    }
}

fn buffer(buffer: BufferKind) -> &'static str {
    match buffer {
        BufferKind::RequestBody => "request body",
        BufferKind::ResponseBody => "response body",
        BufferKind::HttpCallResponseBody => "callout's body",
        BufferKind::VmConfiguration => "VM configuration",
        BufferKind::PluginConfiguration => "plugin configuration",
        _ => "other buffer",
    }
}

/// Service and method of a call over gRPC.
fn method(target: &GrpcTarget) -> String {
    let (service, method) = (name(&target.service_name), name(&target.method_name));
    format!("{}, {service}/{method}", value(&target.service))
}

/// The rest of a body is asked for with the largest length.
fn range(start: u32, length: u32) -> String {
    match (start, length) {
        (0, u32::MAX) => "all".to_owned(),
        (start, u32::MAX) => format!("from {start}"),
        (start, length) => format!("{length} from {start}"),
    }
}

/// What a host call was given.
pub(super) fn arguments(asked: &Asked<'_>) -> String {
    match *asked {
        Asked::Log { level, text } => format!("level {level}, {}", value(text)),
        Asked::GetProperty { path: of } => path(of),
        Asked::SetProperty {
            path: of,
            value: to,
        } => format!("{}, {}", path(of), value(to)),
        Asked::GetHeaderMapPairs { map: of } | Asked::GetHeaderMapSize { map: of } => {
            map(of).to_owned()
        }
        Asked::SetHeaderMapPairs { map: of, pairs } => {
            format!("{}, {} lines", map(of), pairs.len())
        }
        Asked::GetHeaderMapValue { map: of, name: key }
        | Asked::RemoveHeaderMapValue { map: of, name: key } => {
            format!("{}, {}", map(of), name(key))
        }
        Asked::AddHeaderMapValue {
            map: of,
            name: key,
            value: to,
        }
        | Asked::ReplaceHeaderMapValue {
            map: of,
            name: key,
            value: to,
        } => {
            format!("{}, {}, {}", map(of), name(key), value(to))
        }
        Asked::GetBufferBytes {
            buffer: of,
            start,
            length,
        } => format!("{}, {}", buffer(of), range(start, length)),
        Asked::GetBufferStatus { buffer: of } => buffer(of).to_owned(),
        Asked::SetBufferBytes {
            buffer: of,
            start,
            length,
            data,
        } => {
            format!(
                "{}, {}, {} bytes",
                buffer(of),
                range(start, length),
                data.len()
            )
        }
        Asked::GetSharedData { key } => name(key),
        Asked::SetSharedData {
            key,
            value: to,
            cas,
        } => {
            let version = if cas == 0 {
                String::new()
            } else {
                format!(", if at version {cas}")
            };
            format!("{}, {}{version}", name(key), value(to))
        }
        Asked::HttpCall { call } => {
            let body = call.body.len();
            format!(
                "{}, {} lines, {body} bytes, {:?}",
                name(&call.cluster),
                call.headers.len(),
                call.timeout
            )
        }
        Asked::GrpcCall {
            message,
            timeout,
            target,
        } => format!("{}, {} bytes, {timeout:?}", method(target), message.len()),
        Asked::GrpcStream { target } => method(target),
        Asked::GrpcSend {
            token,
            message,
            end_of_stream,
        } => {
            let end = if end_of_stream { ", the end" } else { "" };
            format!("{token}, {} bytes{end}", message.len())
        }
        Asked::RegisterSharedQueue { name: of } | Asked::ResolveDns { name: of } => name(of),
        Asked::ResolveSharedQueue { vm_id, name: of } => format!("{}, {}", name(vm_id), name(of)),
        Asked::EnqueueSharedQueue { token, value: of } => format!("{token}, {}", value(of)),
        Asked::DequeueSharedQueue { token }
        | Asked::GrpcClose { token }
        | Asked::GrpcCancel { token } => token.to_string(),
        Asked::SendLocalResponse { response } => {
            let details = match response.details.as_slice() {
                [] => String::new(),
                details => format!(", {}", name(details)),
            };
            let (status, lines, body) =
                (response.status, response.headers.len(), response.body.len());
            format!("{status}{details}, {lines} lines, {body} bytes")
        }
        Asked::CallForeignFunction { name: of, argument } => match argument {
            [] => name(of),
            argument => format!("{}, {}", name(of), value(argument)),
        },
        Asked::IncrementMetric { id, offset } => format!("{id}, {offset}"),
        Asked::RecordMetric { id, value } => format!("{id}, {value}"),
        Asked::GetMetric { id } => id.to_string(),
        Asked::DefineMetric { kind, name: of } => format!("{kind:?}, {}", name(of)),
        Asked::SetTickPeriodMilliseconds { period_ms } => format!("{period_ms} ms"),
        Asked::Write { text, .. } => value(text),
        Asked::Random { length } => format!("{length} bytes"),
        Asked::GetLogLevel {}
        | Asked::GetConfiguration {}
        | Asked::ClearRouteCache {}
        | Asked::GetStatus {}
        | Asked::GetCurrentTimeNanoseconds {}
        | Asked::Done {}
        | Asked::Monotonic {}
        | Asked::Environment {} => String::new(),
        _ => debugged(asked),
    }
}

/// The fields of a call that has no words of its own.
fn debugged(asked: &Asked<'_>) -> String {
    let text = format!("{asked:?}");
    let fields = text.split_once('{').map_or("", |(_, fields)| fields);
    fields.trim_end_matches('}').trim().to_owned()
}

/// What a host call gave back; nothing for a plain success.
pub(super) fn answer(answered: &Answered<'_>) -> String {
    match *answered {
        Answered::Refused(Refusal::Tell(status)) => format!("{status:?}"),
        Answered::Refused(Refusal::Stop(reason)) => format!("stopped: {reason}"),
        Answered::Nothing | Answered::Bytes([]) => String::new(),
        Answered::Number(number) => number.to_string(),
        Answered::Numbers(length, _) => format!("{length} bytes"),
        Answered::Bytes(bytes) => value(bytes),
        Answered::BytesAndNumber(bytes, number) => format!("{}, version {number}", value(bytes)),
        Answered::Pairs(pairs) => format!("{} lines", pairs.len()),
        Answered::Time(time) => format!("{} µs", time.as_micros()),
        Answered::Lines(lines) => format!("{} lines", lines.len()),
    }
}

/// What a callback was told.
pub(super) fn told(call: &Call) -> String {
    let end = |end: bool| if end { ", the end" } else { "" };
    match *call {
        Call::RequestHeaders {
            count,
            end_of_stream,
            ..
        }
        | Call::ResponseHeaders {
            count,
            end_of_stream,
            ..
        } => {
            format!("{count} lines{}", end(end_of_stream))
        }
        Call::RequestBody {
            size,
            end_of_stream,
            ..
        }
        | Call::ResponseBody {
            size,
            end_of_stream,
            ..
        } => {
            format!("{size} bytes{}", end(end_of_stream))
        }
        Call::RequestTrailers { count, .. } | Call::ResponseTrailers { count, .. } => {
            format!("{count} lines")
        }
        Call::HttpCallResponse {
            headers, body_size, ..
        } => format!("{headers} lines, {body_size} bytes"),
        Call::GrpcReceiveInitialMetadata { count, .. }
        | Call::GrpcReceiveTrailingMetadata { count, .. } => format!("{count} lines"),
        Call::GrpcReceive { size, .. } | Call::ResolveDns { size, .. } => format!("{size} bytes"),
        Call::GrpcClose { status, .. } => format!("status {}", status.cast_signed()),
        _ => String::new(),
    }
}

/// What follows from a callback's answer.
pub(super) fn decision(call: &Call, answer: Result<u32, &Trap>) -> String {
    let number = match answer {
        Err(trap) => return format!("trap: {}", trap.0.lines().next().unwrap_or_default()),
        Ok(number) => number,
    };
    let (of_a_stream, of_a_body) = match call {
        Call::RequestHeaders { .. }
        | Call::ResponseHeaders { .. }
        | Call::RequestTrailers { .. }
        | Call::ResponseTrailers { .. } => (true, false),
        Call::RequestBody { .. } | Call::ResponseBody { .. } => (true, true),
        _ => (false, false),
    };
    match number {
        _ if !of_a_stream => String::new(),
        0 => "Continue".to_owned(),
        1 if of_a_body => "Pause, holds the body".to_owned(),
        1 => "Pause".to_owned(),
        number => format!("Pause ({number})"),
    }
}
