//! Attributes of a request and its response.

use super::value::Value;
use crate::abi::MapKind;
use crate::grpc::status;
use crate::headers;
use crate::host_calls::Guest;
use crate::io::Headers;

impl Guest<'_> {
    pub(super) fn request(&mut self, field: &str) -> Option<Value> {
        self.stream()?;
        // What comes from the head is there as long as the guest has it at hand.
        let head = self.readable(MapKind::RequestHeaders).cloned();
        let stream = self.stream()?;
        match field {
            "headers" => return Some(lines(head.as_ref())),
            "headers_bytes" => return Some(size(head.as_ref())),
            "protocol" => return stream.origin.map(|_| "HTTP/1.1".into()),
            "time" => {
                let started = stream.info.started.wall.as_nanos();
                return i64::try_from(started).ok().map(Value::Number);
            }
            "duration" => {
                let took = stream.info.response_end?;
                let took = took.saturating_sub(stream.info.started.monotonic);
                return i64::try_from(took.as_nanos()).ok().map(Value::Number);
            }
            "size" => {
                let received = stream.info.bytes_received;
                let told = head
                    .as_ref()
                    .and_then(|head| headers::get(head, b"content-length"));
                return match told {
                    Some(length) => {
                        let length = std::str::from_utf8(length).ok()?;
                        length.parse().ok().map(Value::Number)
                    }
                    None => Some(received.into()),
                };
            }
            "total_size" => {
                let head = head.as_ref().map_or(0, headers::byte_size);
                return Some((stream.info.bytes_received + head as u64).into());
            }
            _ => {}
        }
        of_head(&head?, field)
    }

    pub(super) fn response(&mut self, field: &str) -> Option<Value> {
        self.stream()?;
        let head = self.readable(MapKind::ResponseHeaders).cloned();
        let trailers = self.readable(MapKind::ResponseTrailers).cloned();
        let info = &self.stream()?.info;
        match field {
            "headers" => Some(lines(head.as_ref())),
            "headers_bytes" => Some(size(head.as_ref())),
            "trailers" => Some(lines(trailers.as_ref())),
            "total_size" => {
                let of = |lines: &Option<Headers>| lines.as_ref().map_or(0, headers::byte_size);
                let bytes = of(&head) + of(&trailers);
                Some((info.bytes_sent + bytes as u64).into())
            }
            "code" => info.response_code.map(|code| u64::from(code).into()),
            "code_details" => info.details.clone().map(Value::from),
            "flags" => Some(info.flag_bits().into()),
            "size" => Some(info.bytes_sent.into()),
            "grpc_status" => {
                let told = [trailers, head];
                let told = told.iter().flatten().find_map(status::of_trailers);
                let status = told.or_else(|| info.response_code.map(status::of_http))?;
                // A status that is none is -1.
                Some(Value::Number(status.cast_signed().into()))
            }
            "backend_latency" => {
                let end = info.upstream_response_end?;
                let took = end.saturating_sub(info.upstream_request_begin?);
                i64::try_from(took.as_nanos()).ok().map(Value::Number)
            }
            _ => None,
        }
    }
}

/// What is a line of the head, or a part of one.
fn of_head(head: &Headers, field: &str) -> Option<Value> {
    let line = |name: &str| headers::text(head, name).map(Value::from);
    let path = headers::text(head, ":path").unwrap_or_default();
    match field {
        "path" => line(":path"),
        "host" => line(":authority"),
        "scheme" => line(":scheme"),
        "method" => line(":method"),
        "id" => line("x-request-id"),
        "referer" => line("referer"),
        "useragent" => line("user-agent"),
        "url_path" => path.split('?').next().map(Value::from),
        "query" => {
            let query = path.split_once('?').map_or("", |(_, query)| query);
            query.split('#').next().map(Value::from)
        }
        _ => None,
    }
}

/// A head or trailers by name, the lines of one name joined; without entries while it is not at hand.
fn lines(headers: Option<&Headers>) -> Value {
    let mut all: Vec<(String, Vec<u8>)> = Vec::new();
    for (name, value) in headers.into_iter().flatten() {
        let name = String::from_utf8_lossy(name).into_owned();
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, joined)) => {
                joined.push(b',');
                joined.extend_from_slice(value);
            }
            None => all.push((name, value.clone())),
        }
    }
    Value::Lines(all)
}

fn size(headers: Option<&Headers>) -> Value {
    (headers.map_or(0, headers::byte_size) as u64).into()
}
