//! The limits on bodies, which follow from the document's `max_body_bytes`.

use host_sim_envoy::Place;
use host_sim_envoy::limits::{
    DEFAULT_WINDOW_BYTES, READ_LIMIT_BYTES, body_limit_bytes, window_bytes,
};

use super::Rule;
use crate::facts::Facts;
use crate::finding::Notes;

pub const RULES: &[Rule] = &[buffer_limit, window, body_limit_of_direct_responses];

const LIMIT: &str = "request_body_buffer_limit";

/// What Envoy must be allowed to buffer, and by which of its limits on reads.
fn needed(facts: &Facts<'_>, listener: &Place<'_>) -> Option<(u32, u64)> {
    let most = facts.gateway.as_ref()?.max_body_bytes;
    let read = listener
        .number_at("per_connection_buffer_limit_bytes")
        .unwrap_or(READ_LIMIT_BYTES);
    Some((most, body_limit_bytes(most, read)))
}

/// Envoy buffers what the gateway accepts, and the largest piece more.
fn buffer_limit(facts: &Facts<'_>, notes: &mut Notes) {
    for (listener, manager) in facts.gates() {
        let Some((most, needed)) = needed(facts, &listener.at) else {
            return;
        };
        for host in manager.list("route_config.virtual_hosts") {
            let of_host = host.number_at(LIMIT);
            for route in host.list("routes") {
                let own = route.number_at(LIMIT);
                let place = if own.is_some() { &route } else { &host };
                let found = own.or(of_host);
                if found.is_none_or(|found| found < needed) {
                    let is = found.map_or_else(
                        || {
                            "is missing, so Envoy buffers as much as a connection reads at once"
                                .to_owned()
                        },
                        |found| found.to_string(),
                    );
                    notes.error_in("body-limit", place, LIMIT, format!("{is}: the document accepts bodies of {most} bytes (max_body_bytes), and Envoy checks its own limit before alias sees the last piece, so it answers 413 itself or gives up retries of large bodies"), format!("{LIMIT}: {needed}, which is max_body_bytes and the largest piece that a connection reads (per_connection_buffer_limit_bytes and 256 KiB)"));
                }
            }
        }
    }
}

/// Over HTTP/2 Envoy buffers up to the larger of the window and the limit.
fn window(facts: &Facts<'_>, notes: &mut Notes) {
    const FIELD: &str = "http2_protocol_options.initial_stream_window_size";
    for (listener, manager) in facts.gates() {
        let Some((most, needed)) = needed(facts, &listener.at) else {
            return;
        };
        let window = window_bytes(needed);
        let found = manager.number_at(FIELD);
        if found.unwrap_or(DEFAULT_WINDOW_BYTES) > window {
            let is = found.map_or_else(
                || format!("is missing, and Envoy's default is {DEFAULT_WINDOW_BYTES}"),
                |found| found.to_string(),
            );
            notes.warning_in("window", manager, FIELD, format!("{is}: over HTTP/2 Envoy takes the larger of this window and request_body_buffer_limit, so every stream may fill that much memory although the document accepts {most} bytes"), format!("initial_stream_window_size: {window}"));
        }
    }
}

/// Envoy takes no body limit from a route that answers by itself.
fn body_limit_of_direct_responses(facts: &Facts<'_>, notes: &mut Notes) {
    for (_, manager) in facts.gates() {
        for host in manager.list("route_config.virtual_hosts") {
            let routes = host.list("routes");
            if let Some(last) = routes.last()
                && let Some(direct) = last.get("direct_response")
            {
                notes.error("last-route", &direct, "is the route of every request until select has run, and Envoy takes no body limit from a direct_response: bodies above 1 MiB get 413", "route it to a cluster without hosts, as `host-sim render` does");
            }
        }
    }
}
