//! What Envoy demands of a request before any filter sees it.

use crate::config::{EscapedSlashes, HttpConnectionManager, UnderscoreHeaders};
use crate::flags::Flag;
use crate::headers;
use crate::io::Headers;
use crate::local_reply::Reply;
use crate::paths;

/// Why a request gets no further than the connection manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// A header name with `_`.
    Underscore,
    /// No `:authority`.
    MissingHost,
    /// Nothing that a codec takes for a path.
    NoPath,
    /// `*`, or a URL whose path is only a query.
    NotAbsolute,
    /// A fragment, an escaped slash or an escaped zero byte.
    BadPath,
}

impl Refused {
    /// What counts it, besides its answer.
    pub(crate) fn statistic(self) -> Option<&'static str> {
        match self {
            Refused::BadPath => Some("downstream_rq_failed_path_normalization"),
            Refused::NotAbsolute => Some("downstream_rq_non_relative_path"),
            Refused::Underscore | Refused::MissingHost | Refused::NoPath => None,
        }
    }

    pub(crate) fn reply(self) -> Reply {
        let (status, body, details) = match self {
            Refused::Underscore => (400, "Bad Request", "http1.unexpected_underscore"),
            Refused::NoPath => (400, "Bad Request", "http1.codec_error"),
            Refused::MissingHost => (400, "", "missing_host_header"),
            Refused::BadPath => (400, "", "path_normalization_failed"),
            Refused::NotAbsolute => (404, "", "absolute_path_rejected"),
        };
        let mut reply = Reply::of_envoy(status, body, details);
        if matches!(self, Refused::Underscore | Refused::NoPath) {
            reply.flag = Some(Flag::DownstreamProtocolError);
        }
        reply
    }
}

/// Checks a request and puts its path in order.
pub(crate) fn check(http: &HttpConnectionManager, request: &mut Headers) -> Result<(), Refused> {
    let underscored = |name: &[u8]| name.contains(&b'_');
    match http.headers_with_underscores_action {
        UnderscoreHeaders::Allow => {}
        UnderscoreHeaders::Drop => request.retain(|(name, _)| !underscored(name)),
        UnderscoreHeaders::Reject => {
            if request.iter().any(|(name, _)| underscored(name)) {
                return Err(Refused::Underscore);
            }
        }
    }
    take_apart_absolute_form(request);
    // CONNECT has none.
    let connects = headers::get(request, b":method") == Some(b"CONNECT");
    let path = headers::text(request, ":path").map(str::to_owned);
    let known = |path: &String| path == "*" || path.starts_with(['/', '?']);
    if !connects && !path.as_ref().is_some_and(known) {
        return Err(Refused::NoPath);
    }
    if headers::get(request, b":authority").is_none() {
        return Err(Refused::MissingHost);
    }
    match path {
        None => Ok(()),
        Some(path) if path.starts_with('/') => check_path(http, request, &path),
        Some(_) => Err(Refused::NotAbsolute),
    }
}

/// `http://host/path` says both.
fn take_apart_absolute_form(request: &mut Headers) {
    let target = headers::text(request, ":path").and_then(|path| path.strip_prefix("http://"));
    let Some(target) = target.map(str::to_owned) else {
        return;
    };
    let (authority, path) = target.split_at(target.find(['/', '?']).unwrap_or(target.len()));
    let path = if path.is_empty() { "/" } else { path };
    headers::set(request, b":authority", authority.as_bytes());
    headers::set(request, b":path", path.as_bytes());
}

fn check_path(
    http: &HttpConnectionManager,
    request: &mut Headers,
    path: &str,
) -> Result<(), Refused> {
    if path.contains('#') {
        return Err(Refused::BadPath);
    }
    let (path, query) = path
        .split_once('?')
        .map_or((path, None), |(path, query)| (path, Some(query)));
    let with_query = |path: String| match query {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    if http.path_with_escaped_slashes_action == EscapedSlashes::Reject
        && paths::has_escaped_slashes(path)
    {
        // This is how it stands in Envoy's log.
        let unescaped = with_query(paths::unescape_slashes(path));
        headers::set(request, b":path", unescaped.as_bytes());
        return Err(Refused::BadPath);
    }
    let mut path = path.to_owned();
    if http.normalize_path {
        path = paths::normalize(&path).ok_or(Refused::BadPath)?;
    }
    if http.merge_slashes {
        path = paths::merge_slashes(&path);
    }
    headers::set(request, b":path", with_query(path).as_bytes());
    Ok(())
}
