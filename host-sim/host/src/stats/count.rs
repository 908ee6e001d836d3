//! Where the engine counts.

use super::{CALLOUTS, Scope, listener_name};
use crate::config::Plugin;
use crate::engine::Engine;
use crate::headers;
use crate::stream::{Stream, StreamKey};

impl Engine {
    /// Counts for the connection manager of a request, or for the router of callouts.
    pub(crate) fn count_http(&self, key: StreamKey, name: &'static str) {
        let Some(stream) = self.streams.get(&key) else {
            return;
        };
        let prefix = stream
            .listener()
            .map_or(CALLOUTS, |listener| &listener.http.stat_prefix);
        self.process.stats().add(Scope::Http(prefix), name, 1);
    }

    /// Counts for the cluster that a request goes to.
    pub(crate) fn count_cluster(&self, key: StreamKey, name: &'static str) {
        if let Some(stream) = self.streams.get(&key) {
            let cluster = &stream.router.cluster;
            self.process.stats().add(Scope::Cluster(cluster), name, 1);
        }
    }

    /// Counts for a plugin.
    pub(crate) fn count_plugin(&self, plugin: &Plugin, name: &'static str) {
        let scope = Scope::Plugin(&plugin.name);
        self.process.stats().add(scope, name, 1);
    }

    /// A client's request begins.
    pub(crate) fn count_begin(&self, stream: &Stream) {
        let Some(listener) = stream.listener() else {
            return;
        };
        let scope = Scope::Http(&listener.http.stat_prefix);
        let mut stats = self.process.stats();
        for name in [
            "downstream_rq_total",
            "downstream_rq_http1_total",
            "downstream_rq_active",
        ] {
            stats.add(scope, name, 1);
        }
    }

    /// A client's request has ended.
    pub(crate) fn count_end(&self, stream: &Stream) {
        let Some(listener) = stream.listener() else {
            return;
        };
        let scope = Scope::Http(&listener.http.stat_prefix);
        let took = self
            .now
            .monotonic
            .saturating_sub(stream.info.started.monotonic);
        let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let mut stats = self.process.stats();
        stats.take(scope, "downstream_rq_active", 1);
        stats.took(scope, "downstream_rq_time", took);
    }

    /// The head of a response leaves for a client.
    pub(crate) fn count_response(&self, stream: &Stream, status: u16) {
        let Some(listener) = stream.listener() else {
            return;
        };
        let address = listener_name(listener.address);
        let prefix = &listener.http.stat_prefix;
        let class = match status {
            0..200 => "downstream_rq_1xx",
            200..300 => "downstream_rq_2xx",
            300..400 => "downstream_rq_3xx",
            400..500 => "downstream_rq_4xx",
            _ => "downstream_rq_5xx",
        };
        let mut stats = self.process.stats();
        for scope in [Scope::Http(prefix), Scope::ListenerHttp(&address, prefix)] {
            stats.add(scope, "downstream_rq_completed", 1);
            stats.add(scope, class, 1);
        }
        if !stream.request_complete {
            let name = "downstream_rq_response_before_rq_complete";
            stats.add(Scope::Http(prefix), name, 1);
        }
    }

    /// What a cluster answered, or the router in its place.
    pub(crate) fn count_answer(&self, key: StreamKey, status: u16) {
        let Some(stream) = self.streams.get(&key) else {
            return;
        };
        let internal = headers::get(&stream.request_headers, b"x-envoy-internal") == Some(b"true");
        let group = if internal { "internal." } else { "external." };
        let cluster = &stream.router.cluster;
        let mut stats = self.process.stats();
        stats.answered(cluster, "", status);
        stats.answered(cluster, group, status);
    }

    /// An answer that is tried again elsewhere.
    pub(crate) fn count_retried(&self, key: StreamKey, status: u16) {
        if let Some(stream) = self.streams.get(&key) {
            let cluster = &stream.router.cluster;
            self.process.stats().answered(cluster, "retry.", status);
        }
    }
}
