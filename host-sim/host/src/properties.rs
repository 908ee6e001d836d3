//! Attributes that guests can read, and the properties they set for one another.

use crate::abi::{Answer, MapKind, Refusal, Status};
use crate::headers;
use crate::host_calls::Guest;
use crate::io::Headers;
use crate::stream::StreamKey;

/// A property's value before it is written in bytes.
enum Value {
    Bytes(Vec<u8>),
    Number(i64),
    Bool(bool),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Value::Bytes(text.as_bytes().to_vec())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Value::Bytes(text.into_bytes())
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Value::Number(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl Value {
    fn into_bytes(self) -> Vec<u8> {
        match self {
            Value::Bytes(bytes) => bytes,
            Value::Number(number) => number.to_le_bytes().to_vec(),
            Value::Bool(value) => vec![u8::from(value)],
        }
    }
}

/// Top-level names of attributes: a guest's own property of such a name cannot be read back.
const ATTRIBUTES: [&str; 11] = [
    "request",
    "response",
    "source",
    "destination",
    "connection",
    "upstream",
    "xds",
    "metadata",
    "filter_state",
    "upstream_filter_state",
    "node",
];

/// Names that have nothing below them.
const ALONE: [&str; 4] = [
    "plugin_name",
    "plugin_root_id",
    "plugin_vm_id",
    "connection_id",
];

/// Attributes that are maps with values of their own kinds, for which there is no form for guests.
const MAPS: [&str; 7] = [
    "request",
    "response",
    "source",
    "destination",
    "connection",
    "upstream",
    "filter_state",
];

/// A path that goes on behind a value that is no map.
fn beyond_a_value(first: &str, rest: &[&str]) -> bool {
    let is_list = matches!(rest.first(), Some(&("headers" | "trailers")));
    let plain = MAPS.contains(&first) && first != "filter_state";
    plain && rest.len() > if is_list { 2 } else { 1 }
}

impl Guest<'_> {
    fn is_map(&self, name: &str) -> bool {
        MAPS.contains(&name) && self.stream().is_some()
    }

    /// Reads an attribute or a property; segments of the path are parted by NUL.
    pub(crate) fn property(&mut self, path: &[u8]) -> Answer<Vec<u8>> {
        let absent = || Refusal::Tell(Status::NotFound);
        let text = String::from_utf8(path.to_vec()).map_err(|_| absent())?;
        let text = text.strip_suffix('\0').unwrap_or(&text);
        let segments: Vec<&str> = text.split('\0').collect();
        let (first, rest) = segments.split_first().ok_or_else(absent)?;
        if path.is_empty() || (rest.is_empty() && self.is_map(first)) {
            return Err(Status::SerializationFailure.into());
        }
        if !rest.is_empty() && ALONE.contains(first) || beyond_a_value(first, rest) {
            return Err(absent());
        }
        let value = match *first {
            "plugin_name" | "plugin_root_id" | "plugin_vm_id" => self.plugin_attribute(first),
            "connection_id" => self.connection(&["id"]),
            name if ATTRIBUTES.contains(&name) => self.attribute(name, rest)?,
            // A guest's own value has nothing below it.
            name if rest.is_empty() => self.filter_state(&format!("wasm.{name}")).map(Value::Bytes),
            _ => None,
        };
        value.map(Value::into_bytes).ok_or_else(absent)
    }

    fn attribute(&mut self, name: &str, rest: &[&str]) -> Answer<Option<Value>> {
        Ok(match name {
            "request" => self.request(rest),
            "response" => self.response(rest),
            "source" | "destination" => self.address(name, rest)?,
            "connection" => self.connection(rest),
            "upstream" => self.upstream(rest),
            "xds" => self.xds(rest),
            // Nothing here writes dynamic metadata: the message is there and empty.
            "metadata" if rest.is_empty() && self.stream().is_some() => {
                Some(Value::Bytes(Vec::new()))
            }
            "filter_state" => rest
                .first()
                .and_then(|key| self.filter_state(key))
                .map(Value::Bytes),
            _ => {
                self.engine.log_once(
                    "warning",
                    format!("attribute {name}: not modelled by host-sim"),
                );
                None
            }
        })
    }

    fn stream_key(&self) -> Option<StreamKey> {
        self.place().and_then(|(key, _)| self.engine.stream_of(key))
    }

    fn stream(&self) -> Option<&crate::stream::Stream> {
        self.engine.streams.get(&self.stream_key()?)
    }

    fn filter_state(&self, key: &str) -> Option<Vec<u8>> {
        self.stream()?.info.filter_state.attribute(key.as_bytes())
    }

    fn plugin_attribute(&mut self, name: &str) -> Option<Value> {
        let plugin = self.plugin()?;
        let config = &self.engine.plugins[plugin].config;
        let text = match name {
            "plugin_name" => &config.name,
            "plugin_root_id" => &config.root_id,
            _ => &config.vm.vm_id,
        };
        Some(text.as_str().into())
    }

    fn request(&mut self, rest: &[&str]) -> Option<Value> {
        let field = *rest.first()?;
        if field == "headers" {
            return header_of(self.readable(MapKind::RequestHeaders), rest);
        }
        let now = self.engine.now;
        // What comes from the head is there as long as the guest has it at hand.
        let head = self.readable(MapKind::RequestHeaders).cloned();
        let head = head.unwrap_or_default();
        let line = |name: &str| headers::text(&head, name).map(Value::from);
        let path = headers::text(&head, ":path");
        let stream = self.stream()?;
        match field {
            "path" => line(":path"),
            "url_path" => path
                .and_then(|path| path.split('?').next())
                .map(Value::from),
            "query" => path
                .and_then(|path| path.split_once('?'))
                .map(|(_, query)| query.into()),
            "host" => line(":authority"),
            "scheme" => line(":scheme"),
            "method" => line(":method"),
            "id" => line("x-request-id"),
            "referer" => line("referer"),
            "useragent" => line("user-agent"),
            "protocol" => stream.origin.map(|_| "HTTP/1.1".into()),
            "size" => {
                let told = headers::text(&head, "content-length");
                let told = told.and_then(|length| length.parse::<u64>().ok());
                Some(told.unwrap_or(stream.info.bytes_received).into())
            }
            "time" => i64::try_from(stream.info.started.wall.as_nanos())
                .ok()
                .map(Value::Number),
            "duration" => {
                let took = stream.info.response_end.unwrap_or(now.monotonic);
                let took = took.saturating_sub(stream.info.started.monotonic);
                stream
                    .info
                    .response_end
                    .and_then(|_| i64::try_from(took.as_nanos()).ok())
                    .map(Value::Number)
            }
            "total_size" => {
                Some((stream.info.bytes_received + headers::byte_size(&head) as u64).into())
            }
            _ => None,
        }
    }

    fn response(&mut self, rest: &[&str]) -> Option<Value> {
        let field = *rest.first()?;
        if field == "headers" {
            return header_of(self.readable(MapKind::ResponseHeaders), rest);
        }
        let head_size = self
            .readable(MapKind::ResponseHeaders)
            .map_or(0, headers::byte_size);
        let info = &self.stream()?.info;
        match field {
            "total_size" => Some((info.bytes_sent + head_size as u64).into()),
            "code" => info.response_code.map(|code| u64::from(code).into()),
            "code_details" => info.details.clone().map(Value::from),
            "flags" => Some(info.flag_bits().into()),
            "size" => Some(info.bytes_sent.into()),
            _ => None,
        }
    }

    /// In a callout's stream there is no client, and Envoy does not check.
    fn address(&mut self, name: &str, rest: &[&str]) -> Answer<Option<Value>> {
        let Some(stream) = self.stream() else {
            return Ok(None);
        };
        let Some(origin) = stream.origin else {
            return Err(Refusal::Stop(format!(
                "{name} read in a callout stream: Envoy itself crashes here"
            )));
        };
        let address = if name == "source" {
            Some(origin.peer)
        } else {
            stream.listener().map(|listener| listener.address)
        };
        Ok(address.and_then(|address| match rest.first() {
            Some(&"address") => Some(address.to_string().into()),
            Some(&"port") => Some(u64::from(address.port()).into()),
            _ => None,
        }))
    }

    fn connection(&self, rest: &[&str]) -> Option<Value> {
        let origin = self.stream()?.origin?;
        match rest.first() {
            Some(&"id") => Some(origin.connection_id.into()),
            Some(&"mtls") => Some(Value::Bool(false)),
            Some(&"requested_server_name") => Some("".into()),
            _ => None,
        }
    }

    fn upstream(&self, rest: &[&str]) -> Option<Value> {
        let info = &self.stream()?.info;
        match rest.first() {
            Some(&"address") => info
                .upstream_address
                .map(|address| address.to_string().into()),
            Some(&"port") => info
                .upstream_address
                .map(|address| u64::from(address.port()).into()),
            Some(&"request_attempt_count") => Some(u64::from(info.attempts).into()),
            // Empty as long as nothing failed, absent before the first attempt.
            Some(&"transport_failure_reason") => {
                let reason = info.transport_failure.clone().unwrap_or_default();
                info.upstream_address.map(|_| reason.into())
            }
            _ => None,
        }
    }

    fn xds(&mut self, rest: &[&str]) -> Option<Value> {
        let field = *rest.first()?;
        let key = self.stream_key()?;
        match field {
            "cluster_name" => self
                .stream()?
                .info
                .upstream_cluster
                .clone()
                .map(Value::from),
            "route_name" => Some(self.engine.route_names(key)?.0.unwrap_or_default().into()),
            "virtual_host_name" => Some(self.engine.route_names(key)?.1.into()),
            "listener_direction" => self.stream()?.origin.map(|_| Value::Number(0)),
            "listener_metadata" => {
                let [_, "filter_metadata", namespace, name] = rest else {
                    return None;
                };
                self.stream()?
                    .listener()?
                    .metadata
                    .get(*namespace)?
                    .get(*name)
                    .map(|value| value.as_str().into())
            }
            _ => {
                self.engine.log_once(
                    "warning",
                    format!("attribute xds.{field}: not modelled by host-sim"),
                );
                None
            }
        }
    }
}

/// `request.headers` followed by a name, or all of them.
fn header_of(headers: Option<&Headers>, rest: &[&str]) -> Option<Value> {
    if rest.len() == 1 {
        return Some(Value::Bytes(all_of(headers.map_or(&[], Vec::as_slice))));
    }
    let name = rest.get(1)?.to_ascii_lowercase();
    headers::get(headers?, name.as_bytes()).map(|value| Value::Bytes(value.to_vec()))
}

/// Header lines as the ABI's list of pairs: a count, all lengths, then all texts, each with a NUL.
fn all_of(headers: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
    let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    let mut bytes = number(headers.len()).to_vec();
    for (name, value) in headers {
        bytes.extend(number(name.len()));
        bytes.extend(number(value.len()));
    }
    for text in headers.iter().flat_map(|(name, value)| [name, value]) {
        bytes.extend_from_slice(text);
        bytes.push(0);
    }
    bytes
}
