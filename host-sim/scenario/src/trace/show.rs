//! Events and commands as a person reads them: names and text instead of lists of bytes.

use std::fmt::Write;

use host_sim_host::io::{Command, Event, Headers};

/// An event in a line.
pub fn event(event: &Event) -> String {
    match event {
        Event::RequestHeaders {
            stream,
            listener,
            headers,
            end_stream,
            ..
        } => {
            let end = end(*end_stream);
            format!(
                "request of {stream:?} at listener {listener}: {}{end}",
                lines(headers)
            )
        }
        Event::RequestData {
            stream,
            data,
            end_stream,
        } => format!("body of {stream:?}: {}{}", text(data), end(*end_stream)),
        Event::ResponseHeaders {
            upstream,
            headers,
            end_stream,
        } => format!(
            "answer for {upstream:?}: {}{}",
            lines(headers),
            end(*end_stream)
        ),
        Event::ResponseData {
            upstream,
            data,
            end_stream,
        } => format!(
            "answer for {upstream:?}: {}{}",
            text(data),
            end(*end_stream)
        ),
        Event::RequestTrailers { stream, trailers } => {
            format!("trailers of {stream:?}: {}", lines(trailers))
        }
        Event::ResponseTrailers { upstream, trailers } => {
            format!("trailers for {upstream:?}: {}", lines(trailers))
        }
        other => format!("{other:?}"),
    }
}

/// A command in a line.
pub fn command(command: &Command) -> String {
    match command {
        Command::SendHeaders {
            stream,
            headers,
            end_stream,
        } => format!("-> {stream:?}: {}{}", lines(headers), end(*end_stream)),
        Command::SendData {
            stream,
            data,
            end_stream,
        } => format!("-> {stream:?}: {}{}", text(data), end(*end_stream)),
        Command::SendTrailers { stream, trailers } => {
            format!("-> {stream:?}: trailers {}", lines(trailers))
        }
        Command::OpenUpstream {
            upstream,
            stream,
            cluster,
            address,
            connect_timeout,
            http2,
            // A connection on a virtual clock has no heads that could be too long.
            http1: _,
        } => format!(
            "OpenUpstream {{ upstream: {upstream:?}, stream: {stream:?}, cluster: {cluster:?}, address: {address:?}, connect_timeout: {connect_timeout:?}, http2: {http2:?} }}"
        ),
        Command::SendUpstreamTrailers { upstream, trailers } => {
            format!("-> {upstream:?}: trailers {}", lines(trailers))
        }
        Command::SendUpstreamHeaders {
            upstream,
            headers,
            end_stream,
        } => format!("-> {upstream:?}: {}{}", lines(headers), end(*end_stream)),
        Command::SendUpstreamData {
            upstream,
            data,
            end_stream,
        } => format!("-> {upstream:?}: {}{}", text(data), end(*end_stream)),
        Command::AccessLog { path, line, .. } => format!("{path}: {line}"),
        Command::Log { level, text } => format!("log {level}: {text}"),
        other => format!("{other:?}"),
    }
}

fn end(end_stream: bool) -> &'static str {
    if end_stream { " (end)" } else { "" }
}

fn lines(headers: &Headers) -> String {
    let mut shown = String::from("{");
    for (place, (name, value)) in headers.iter().enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        // Writing to a string cannot fail.
        let _ = write!(shown, "{comma}{}: {}", text(name), text(value));
    }
    shown.push('}');
    shown
}

/// The bytes as text; what is none is escaped, so that different bytes look different.
fn text(bytes: &[u8]) -> String {
    let is_plain = |byte: &u8| (b' '..=b'~').contains(byte) && *byte != b'\\';
    match std::str::from_utf8(bytes) {
        Ok(text) if bytes.iter().all(is_plain) => text.to_owned(),
        _ => bytes.escape_ascii().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host_sim_host::io::StreamId;

    #[test]
    fn a_line_shows_text_and_tells_different_bytes_apart() {
        let body = |data: &[u8]| {
            event(&Event::RequestData {
                stream: StreamId(1),
                data: data.to_vec(),
                end_stream: true,
            })
        };
        assert_eq!(body(b"{\"a\": 1}"), "body of StreamId(1): {\"a\": 1} (end)");
        assert_eq!(body(b"\xff\n"), "body of StreamId(1): \\xff\\n (end)");
        assert_ne!(body(b"\\n"), body(b"\n"));
    }
}
