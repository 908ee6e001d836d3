//! Access logs and their formats.

use host_sim_host::config::{AccessLog, JsonFormat};
use host_sim_host::format;

use super::replies;
use crate::at::{At, Read};
use crate::tree::Value;

const FILE: &str = "envoy.extensions.access_loggers.file.v3.FileAccessLog";

/// `envoy.config.accesslog.v3.AccessLog` that writes JSON lines to a file.
pub fn access_log(at: &At<'_>) -> Read<AccessLog> {
    at.map(|fields| {
        fields.required("name")?.name()?;
        let filter = fields.maybe("filter", |at| replies::filter(&at))?;
        fields.required("typed_config")?.typed(FILE, |file| {
            let path = file.required("path")?.name()?;
            let (omit_empty_values, format) = file.required("log_format")?.map(|log_format| {
                let omit = log_format.flag("omit_empty_values")?;
                Ok((omit, json_format(&log_format.required("json_format")?)?))
            })?;
            Ok(AccessLog {
                path,
                filter,
                omit_empty_values,
                format,
            })
        })
    })
}

/// `json_format`: an object.
pub fn json_format(at: &At<'_>) -> Read<JsonFormat> {
    match at.value() {
        Value::Map(_) => value(at),
        _ => Err(at.problem("must be a map")),
    }
}

fn value(at: &At<'_>) -> Read<JsonFormat> {
    match at.value() {
        Value::List(_) => Err(at.without_model("a list: not modelled by host-sim")),
        Value::Map(_) => {
            let member = |(key, at): (&str, At<'_>)| Ok((key.to_owned(), value(&at)?));
            Ok(JsonFormat::Object(
                at.entries()?.into_iter().map(member).collect::<Read<_>>()?,
            ))
        }
        Value::Plain(text) if matches!(&**text, "~" | "null" | "Null" | "NULL" | "") => {
            Ok(JsonFormat::Literal("null".to_owned()))
        }
        Value::Plain(_) | Value::Quoted(_) => {
            if let Ok(boolean) = at.boolean() {
                return Ok(JsonFormat::Literal(boolean.to_string()));
            }
            // Numbers stay whole and positive: of others Envoy makes strings or rounds them.
            if let Ok(number) = at.number(1 << 53) {
                return Ok(JsonFormat::Literal(number.to_string()));
            }
            let text = at.string()?;
            format::parse(&text).map_err(|error| at.problem(error.to_string()))?;
            Ok(JsonFormat::Text(text))
        }
    }
}
