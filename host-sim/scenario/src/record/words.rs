//! Events and commands in words.

use host_sim_host::io::{Command, Event, Headers};

/// Most bytes of a body or text that are shown.
const MAX_SHOWN: usize = 240;

const NONE: &Headers = &Vec::new();

/// What came to a thread, and its header lines.
pub fn came(event: &Event) -> (String, &Headers) {
    match event {
        Event::RequestHeaders {
            stream,
            headers,
            end_stream,
            ..
        } => (
            format!("request {}: head{}", stream.0, end(*end_stream)),
            headers,
        ),
        Event::RequestData {
            stream,
            data,
            end_stream,
        } => (
            format!("request {}: {}{}", stream.0, bytes(data), end(*end_stream)),
            NONE,
        ),
        Event::RequestTrailers { stream, trailers } => {
            (format!("request {}: trailers, end", stream.0), trailers)
        }
        Event::RequestReset { stream } => (format!("request {}: the client left", stream.0), NONE),
        Event::RequestBroken {
            stream,
            status,
            details,
        }
        | Event::RequestRejected {
            stream,
            status,
            details,
            ..
        } => (
            format!("request {}: unreadable, {status} {details}", stream.0),
            NONE,
        ),
        Event::UpstreamConnected { upstream } => {
            (format!("attempt {}: connected", upstream.0), NONE)
        }
        Event::ResponseHeaders {
            upstream,
            headers,
            end_stream,
        } => (
            format!("attempt {}: head{}", upstream.0, end(*end_stream)),
            headers,
        ),
        Event::ResponseData {
            upstream,
            data,
            end_stream,
        } => (
            format!(
                "attempt {}: {}{}",
                upstream.0,
                bytes(data),
                end(*end_stream)
            ),
            NONE,
        ),
        Event::ResponseTrailers { upstream, trailers } => {
            (format!("attempt {}: trailers, end", upstream.0), trailers)
        }
        Event::UpstreamReset { upstream, reason } => {
            (format!("attempt {}: broke, {reason:?}", upstream.0), NONE)
        }
        #[allow(
            unreachable_patterns,
            reason = "an event that is new still has its line"
        )]
        other => (format!("{other:?}"), NONE),
    }
}

/// What a thread wants, and its header lines.
pub fn wanted(command: &Command) -> (String, &Headers) {
    match command {
        Command::SendHeaders {
            stream,
            headers,
            end_stream,
        } => (
            format!("response {}: head{}", stream.0, end(*end_stream)),
            headers,
        ),
        Command::SendData {
            stream,
            data,
            end_stream,
        } => (
            format!("response {}: {}{}", stream.0, bytes(data), end(*end_stream)),
            NONE,
        ),
        Command::SendTrailers { stream, trailers } => {
            (format!("response {}: trailers, end", stream.0), trailers)
        }
        Command::ResetStream { stream } => (format!("response {}: broken off", stream.0), NONE),
        Command::OpenUpstream {
            upstream,
            stream,
            cluster,
            address,
            ..
        } => {
            let whose = match stream {
                Some(stream) => format!("for request {}", stream.0),
                None => "callout".to_owned(),
            };
            (
                format!(
                    "attempt {}: open {address} of {cluster}, {whose}",
                    upstream.0
                ),
                NONE,
            )
        }
        Command::SendUpstreamTrailers { upstream, trailers } => (
            format!("attempt {}: send trailers, end", upstream.0),
            trailers,
        ),
        Command::SendUpstreamHeaders {
            upstream,
            headers,
            end_stream,
        } => (
            format!("attempt {}: send head{}", upstream.0, end(*end_stream)),
            headers,
        ),
        Command::SendUpstreamData {
            upstream,
            data,
            end_stream,
        } => (
            format!(
                "attempt {}: send {}{}",
                upstream.0,
                bytes(data),
                end(*end_stream)
            ),
            NONE,
        ),
        Command::CancelUpstream { upstream } => (format!("attempt {}: given up", upstream.0), NONE),
        Command::AccessLog { line, .. } => (format!("access log: {line}"), NONE),
        Command::Log { level, text } => (format!("log: {level}: {}", shown(text.as_bytes())), NONE),
        #[allow(
            unreachable_patterns,
            reason = "a command that is new still has its line"
        )]
        other => (format!("{other:?}"), NONE),
    }
}

/// `, end` if nothing follows.
pub fn end(end_stream: bool) -> &'static str {
    if end_stream { ", end" } else { "" }
}

fn bytes(data: &[u8]) -> String {
    match data {
        [] => "no bytes".to_owned(),
        data => format!("{} bytes {}", data.len(), shown(data)),
    }
}

/// Text on one line, bytes that are none escaped.
pub fn shown(bytes: &[u8]) -> String {
    let part = bytes.get(..MAX_SHOWN).unwrap_or(bytes);
    let mut text: String = String::from_utf8_lossy(part)
        .chars()
        .flat_map(|c| match c {
            '\n' => vec!['\\', 'n'],
            '\r' => vec!['\\', 'r'],
            c if c.is_control() => c.escape_unicode().collect(),
            c => vec![c],
        })
        .collect();
    if part.len() < bytes.len() {
        text.push_str("...");
    }
    text
}
