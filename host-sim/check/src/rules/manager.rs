//! What a connection manager takes from clients and tells them.

use host_sim_envoy::Place;

use super::Rule;
use crate::facts::{Facts, Listener};
use crate::finding::Notes;

pub const RULES: &[Rule] = &[edge, one_spelling, request_id, router, own_errors];

/// The gates that clients reach. One that says it is internal is behind another.
fn public<'f, 'a>(facts: &'f Facts<'a>) -> impl Iterator<Item = (&'f Listener<'a>, &'f Place<'a>)> {
    facts
        .gates()
        .filter(|(listener, _)| role(listener) != Some("internal"))
}

/// What the listener's metadata says it is for.
pub fn role<'a>(listener: &Listener<'a>) -> Option<&'a str> {
    listener
        .at
        .text_at("metadata.filter_metadata.dragoman.role")
}

/// Clients decide neither who they are nor how Envoy treats them.
fn edge(facts: &Facts<'_>, notes: &mut Notes) {
    for (_, manager) in public(facts) {
        if !manager.is_true("use_remote_address") {
            notes.error_in("edge", manager, "use_remote_address", "is not true: the request id and the address that a client claims are taken for its own, and so stand in the audit log", "use_remote_address: true");
        }
        if let Some(internal) = manager.get("internal_address_config") {
            notes.error("edge", &internal, "makes some clients internal: their x-envoy-* headers are obeyed, with which they set retries and time-outs past the gateway", "leave it out");
        }
    }
}

/// Every check sees one spelling of a path and of a header.
fn one_spelling(facts: &Facts<'_>, notes: &mut Notes) {
    for (_, manager) in public(facts) {
        for field in ["normalize_path", "merge_slashes"] {
            if !manager.is_true(field) {
                notes.warning_in("one-spelling", manager, field, "is not true: a path has several spellings, and a filter may judge another one than the worker", format!("{field}: true"));
            }
        }
        let choices = [
            (
                "path_with_escaped_slashes_action",
                "%2F and %5C stay in the path, which some workers read as slashes",
            ),
            (
                "common_http_protocol_options.headers_with_underscores_action",
                "some workers read x_dragoman_routed as x-dragoman-routed, past the filter that takes it away",
            ),
        ];
        for (field, why) in choices {
            if manager.text_at(field) != Some("REJECT_REQUEST") {
                notes.warning_in(
                    "one-spelling",
                    manager,
                    field,
                    format!("is not REJECT_REQUEST: {why}"),
                    format!(
                        "{}: REJECT_REQUEST",
                        field.rsplit('.').next().unwrap_or(field)
                    ),
                );
            }
        }
    }
}

/// A client can name the request it complains about.
fn request_id(facts: &Facts<'_>, notes: &mut Notes) {
    for (_, manager) in public(facts) {
        if !manager.is_true("always_set_request_id_in_response") {
            notes.warning_in("request-id", manager, "always_set_request_id_in_response", "is not true: answers have no x-request-id, so a client cannot say which line of the log is about its request", "always_set_request_id_in_response: true");
        }
    }
}

/// The router is last and says nothing of what is behind it.
fn router(facts: &Facts<'_>, notes: &mut Notes) {
    const ROUTER: &str = "envoy.extensions.filters.http.router.v3.Router";
    for (_, manager) in facts.gates() {
        let filters = manager.list("http_filters");
        let router = filters.last().and_then(|filter| filter.get("typed_config"));
        match router.filter(|config| config.type_name() == Some(ROUTER)) {
            None => notes.error_in(
                "router",
                manager,
                "http_filters",
                "does not end with the router: Envoy refuses to start",
                "put envoy.filters.http.router last",
            ),
            Some(router) if !router.is_true("suppress_envoy_headers") => {
                notes.warning_in("router", &router, "suppress_envoy_headers", "is not true: clients see x-envoy-upstream-service-time and workers x-envoy-expected-rq-timeout-ms", "suppress_envoy_headers: true");
            }
            Some(_) => {}
        }
    }
}

/// Envoy's own answers have the shape of the API.
fn own_errors(facts: &Facts<'_>, notes: &mut Notes) {
    for (_, manager) in public(facts) {
        if manager.list("local_reply_config.mappers").is_empty() {
            notes.warning_in("own-errors", manager, "local_reply_config", "has no mappers: what Envoy answers by itself (400, 413, 503, 504) is plain text, which clients of the API cannot read", "`host-sim render` writes them");
        }
    }
}
