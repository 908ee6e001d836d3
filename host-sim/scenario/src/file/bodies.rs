//! Bodies of requests and answers.

use host_sim_envoy::yaml::{At, Fields, Read, Value as Yaml};
use serde_json::Value;

use super::{fault, json, units};

/// What grows until a body has its `size`.
const FILL: &str = "${fill}";

/// `body` and `size`: JSON for a map or list, else the text itself.
pub fn body(fields: &mut Fields<'_>) -> Read<Option<String>> {
    let body = match fields.optional("body") {
        None => None,
        Some(at) => Some(match at.value() {
            Yaml::Map(_) | Yaml::List(_) => json::document(&at)?,
            Yaml::Plain(text) | Yaml::Quoted(text) => text.clone(),
        }),
    };
    sized(fields, body)
}

/// `body` and `size`, or `chat` and `stream` for the body of a chat.
pub fn request_body(fields: &mut Fields<'_>) -> Read<Option<String>> {
    let chat = fields.maybe("chat", |at| at.name())?;
    let stream = fields.maybe("stream", |at| at.boolean())?;
    let Some(model) = chat else {
        if stream.is_some() {
            return Err(fault(
                fields.at(),
                "stream: belongs to chat; put it into the body",
            ));
        }
        return body(fields);
    };
    if let Some(at) = fields.optional("body") {
        return Err(fault(&at, "chat makes the body: leave out one of them"));
    }
    let content = fields.maybe("say", |at| at.text().map(str::to_owned))?;
    let content = content.unwrap_or_else(|| "hello".to_owned());
    let stream = stream.map_or(String::new(), |stream| format!("\"stream\":{stream},"));
    let (model, content) = (Value::from(model), Value::from(content));
    let message = format!("{{\"role\":\"user\",\"content\":{content}}}");
    let body = format!("{{\"model\":{model},{stream}\"messages\":[{message}]}}");
    sized(fields, Some(body))
}

fn sized(fields: &mut Fields<'_>, body: Option<String>) -> Read<Option<String>> {
    let Some(at) = fields.optional("size") else {
        return Ok(body);
    };
    let size = units::size(&at)?;
    filled(&at, body.as_deref().unwrap_or(FILL), size).map(Some)
}

/// The one `${fill}` of a body becomes as many `x` as are missing.
fn filled(at: &At<'_>, body: &str, size: usize) -> Read<String> {
    let mut parts = body.split(FILL);
    let (Some(before), Some(after), None) = (parts.next(), parts.next(), parts.next()) else {
        return Err(fault(
            at,
            format!("needs {FILL} once in the body, where it is to grow"),
        ));
    };
    let rest = before.len() + after.len();
    let fill = size.checked_sub(rest).ok_or_else(|| {
        fault(
            at,
            format!("{size}: the body without {FILL} has {rest} bytes already"),
        )
    })?;
    Ok([before, &"x".repeat(fill), after].concat())
}
