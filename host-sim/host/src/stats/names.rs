//! The statistics that are kept, by Envoy's own names. Each is there with zero as soon as its listener
//! or cluster is.

/// Of a connection manager, behind `http.<stat_prefix>.`.
pub(super) const HTTP: [&str; 35] = [
    "downstream_cx_active",
    "downstream_cx_destroy",
    "downstream_cx_destroy_active_rq",
    "downstream_cx_destroy_local",
    "downstream_cx_destroy_local_active_rq",
    "downstream_cx_destroy_remote",
    "downstream_cx_destroy_remote_active_rq",
    "downstream_cx_http1_active",
    "downstream_cx_http1_total",
    "downstream_cx_protocol_error",
    "downstream_cx_rx_bytes_total",
    "downstream_cx_total",
    "downstream_cx_tx_bytes_total",
    "downstream_rq_1xx",
    "downstream_rq_2xx",
    "downstream_rq_3xx",
    "downstream_rq_4xx",
    "downstream_rq_5xx",
    "downstream_rq_active",
    "downstream_rq_completed",
    "downstream_rq_failed_path_normalization",
    "downstream_rq_http1_total",
    "downstream_rq_idle_timeout",
    "downstream_rq_non_relative_path",
    "downstream_rq_response_before_rq_complete",
    "downstream_rq_rx_reset",
    "downstream_rq_too_large",
    "downstream_rq_total",
    "downstream_rq_tx_reset",
    "downstream_rq_ws_on_non_ws_route",
    "no_cluster",
    "no_route",
    "rq_direct_response",
    "rq_total",
    "rs_too_large",
];

/// Of the router of callouts, behind `http.async-client.`.
pub(super) const CALLOUTS: [&str; 3] = ["no_cluster", "no_route", "rq_total"];

/// Of a listener, behind `listener.<address>.`; the last ones behind `http.<stat_prefix>.` as well.
pub(super) const LISTENER: [&str; 3] = [
    "downstream_cx_active",
    "downstream_cx_destroy",
    "downstream_cx_total",
];

/// Of a listener's connection manager, behind `listener.<address>.http.<stat_prefix>.`.
pub(super) const LISTENER_HTTP: [&str; 6] = [
    "downstream_rq_1xx",
    "downstream_rq_2xx",
    "downstream_rq_3xx",
    "downstream_rq_4xx",
    "downstream_rq_5xx",
    "downstream_rq_completed",
];

/// Of a cluster, behind `cluster.<name>.`.
pub(super) const CLUSTER: [&str; 35] = [
    "membership_change",
    "membership_healthy",
    "membership_total",
    "retry_or_shadow_abandoned",
    "upstream_cx_active",
    "upstream_cx_connect_fail",
    "upstream_cx_connect_timeout",
    "upstream_cx_destroy",
    "upstream_cx_destroy_local",
    "upstream_cx_destroy_local_with_active_rq",
    "upstream_cx_destroy_remote",
    "upstream_cx_destroy_remote_with_active_rq",
    "upstream_cx_destroy_with_active_rq",
    "upstream_cx_http1_total",
    "upstream_cx_none_healthy",
    "upstream_cx_protocol_error",
    "upstream_cx_rx_bytes_total",
    "upstream_cx_total",
    "upstream_cx_tx_bytes_total",
    "upstream_rq_active",
    "upstream_rq_cancelled",
    "upstream_rq_completed",
    "upstream_rq_pending_active",
    "upstream_rq_pending_failure_eject",
    "upstream_rq_pending_overflow",
    "upstream_rq_pending_total",
    "upstream_rq_per_try_idle_timeout",
    "upstream_rq_per_try_timeout",
    "upstream_rq_retry",
    "upstream_rq_retry_backoff_exponential",
    "upstream_rq_retry_limit_exceeded",
    "upstream_rq_retry_overflow",
    "upstream_rq_retry_success",
    "upstream_rq_timeout",
    "upstream_rq_total",
];

/// Of a plugin, behind `wasm.<name>.`.
pub(super) const PLUGIN: [&str; 3] = [
    "vm_reload_backoff",
    "vm_reload_failure",
    "vm_reload_success",
];

/// Those that go down as well.
const GAUGES: [&str; 10] = [
    "active_clusters",
    "concurrency",
    "downstream_cx_active",
    "downstream_cx_http1_active",
    "downstream_rq_active",
    "membership_healthy",
    "membership_total",
    "upstream_cx_active",
    "upstream_rq_active",
    "upstream_rq_pending_active",
];

/// Whether a cluster's statistic is about its connections and who waits for them.
pub(super) fn is_of_connections(name: &str) -> bool {
    name.starts_with("upstream_cx_")
        || name.starts_with("upstream_rq_pending_")
        || name == "upstream_rq_cancelled"
}

/// Whether a statistic is a gauge; all others are counters.
pub(super) fn is_gauge(name: &str) -> bool {
    GAUGES.contains(&name)
        || matches!(
            name,
            "live" | "state" | "total_listeners_active" | "uptime" | "workers_started"
        )
}
