//! `envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`

use std::sync::Arc;
use std::time::Duration;

use host_sim_host::config::{
    EscapedSlashes, Http1, HttpConnectionManager, Plugin, Router, UnderscoreHeaders,
};

use super::{http1, logs, replies, route, wasm};
use crate::at::{At, Fields, Read};
use crate::problem::NOT_MODELLED;

const TYPE: &str =
    "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
const ROUTER: &str = "envoy.extensions.filters.http.router.v3.Router";
/// Windows of HTTP/2 that Envoy accepts, in bytes.
const WINDOW_BYTES: std::ops::RangeInclusive<u32> = 65_535..=0x7fff_ffff;

/// The connection manager with its routes and filters.
pub fn connection_manager(at: &At<'_>) -> Read<HttpConnectionManager> {
    at.typed(TYPE, |fields| {
        fields.maybe("codec_type", |at| codec(&at))?;
        let (filters, router) = filters(&fields.required("http_filters")?)?;
        let common = common(fields)?;
        let delayed = fields.maybe("delayed_close_timeout", |at| at.duration())?;
        Ok(HttpConnectionManager {
            stat_prefix: fields.required("stat_prefix")?.name()?,
            use_remote_address: fields.flag("use_remote_address")?,
            stream_idle_timeout: fields.maybe("stream_idle_timeout", |at| at.limit())?,
            delayed_close_timeout: delayed.unwrap_or(Duration::from_secs(1)),
            normalize_path: fields.flag("normalize_path")?,
            merge_slashes: fields.flag("merge_slashes")?,
            path_with_escaped_slashes_action: escaped_slashes(fields)?,
            headers_with_underscores_action: common.underscores,
            always_set_request_id_in_response: fields.flag("always_set_request_id_in_response")?,
            http1: Http1 {
                head_limit_bytes: fields
                    .maybe("max_request_headers_kb", http1::head_limit_bytes)?
                    .unwrap_or(Http1::CLIENTS.head_limit_bytes),
                header_limit: common.header_limit,
                trailers: fields
                    .maybe("http_protocol_options", |at| http1::trailers(&at))?
                    .unwrap_or_default(),
            },
            http2_initial_stream_window_size: window(fields)?,
            access_log: fields.list("access_log", |at| logs::access_log(&at))?,
            local_reply_mappers: fields
                .maybe("local_reply_config", replies::mappers)?
                .unwrap_or_default(),
            virtual_hosts: route::virtual_hosts(&fields.required("route_config")?)?,
            filters,
            router,
        })
    })
}

/// Clients are served over HTTP/1.1; `AUTO` is Envoy's default, which serves it too.
fn codec(at: &At<'_>) -> Read<()> {
    match at.text()? {
        "AUTO" | "HTTP1" => Ok(()),
        other => Err(at.without_model(format!(
            "{other:?}: {NOT_MODELLED}: clients are served over HTTP/1.1 only; write AUTO, which Envoy serves with HTTP/2 as well"
        ))),
    }
}

fn escaped_slashes(fields: &mut Fields<'_>) -> Read<EscapedSlashes> {
    let choices = [
        ("KEEP_UNCHANGED", EscapedSlashes::Keep),
        ("REJECT_REQUEST", EscapedSlashes::Reject),
    ];
    let action = fields.maybe("path_with_escaped_slashes_action", |at| at.choice(&choices))?;
    Ok(action.unwrap_or(EscapedSlashes::Keep))
}

/// `common_http_protocol_options`.
struct Common {
    underscores: UnderscoreHeaders,
    header_limit: usize,
}

fn common(fields: &mut Fields<'_>) -> Read<Common> {
    let choices = [
        ("ALLOW", UnderscoreHeaders::Allow),
        ("REJECT_REQUEST", UnderscoreHeaders::Reject),
        ("DROP_HEADER", UnderscoreHeaders::Drop),
    ];
    let mut common = Common {
        underscores: UnderscoreHeaders::Allow,
        header_limit: Http1::CLIENTS.header_limit,
    };
    fields.maybe("common_http_protocol_options", |at| {
        at.map(|options| {
            let action =
                options.maybe("headers_with_underscores_action", |at| at.choice(&choices))?;
            common.underscores = action.unwrap_or(common.underscores);
            let limit = options.maybe("max_headers_count", http1::header_limit)?;
            common.header_limit = limit.unwrap_or(common.header_limit);
            Ok(())
        })
    })?;
    Ok(common)
}

fn window(fields: &mut Fields<'_>) -> Read<Option<u32>> {
    let read = |at: At<'_>| {
        let size = at.number32()?;
        if !WINDOW_BYTES.contains(&size) {
            let (least, most) = WINDOW_BYTES.into_inner();
            return Err(at.problem(format!("{size}: must be {least} to {most}")));
        }
        Ok(size)
    };
    let window = fields.maybe("http2_protocol_options", |at| {
        at.map(|options| options.maybe("initial_stream_window_size", read))
    })?;
    Ok(window.flatten())
}

/// Wasm filters, then the router.
fn filters(at: &At<'_>) -> Read<(Vec<Arc<Plugin>>, Router)> {
    let mut items = at.items()?;
    let last = items.pop().ok_or_else(|| at.problem("must not be empty"))?;
    let plugins = items.iter().map(wasm::filter).collect::<Read<_>>()?;
    let router = last.map(|filter| {
        filter.required("name")?.name()?;
        filter.required("typed_config")?.typed(ROUTER, |router| {
            Ok(Router {
                suppress_envoy_headers: router.flag("suppress_envoy_headers")?,
                upstream_log: router.list("upstream_log", |at| logs::access_log(&at))?,
            })
        })
    })?;
    Ok((plugins, router))
}
