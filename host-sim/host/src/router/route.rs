//! Which virtual host and route a request takes, and which cluster.

use std::sync::Arc;

use crate::chain::ChainKey;
use crate::config::{
    ClusterChoice, HeaderMatch, HttpConnectionManager, PathMatch, Route, RouteAction, ValueMatch,
};
use crate::engine::Engine;
use crate::headers;
use crate::io::Headers;
use crate::stream::{RouteRef, StreamKey};

/// Finds the route of a request.
fn find(http: &HttpConnectionManager, request: &Headers) -> Option<RouteRef> {
    // Envoy looks for no route without it; the connection manager always writes it, a filter may take it away.
    headers::get(request, b"x-forwarded-proto").filter(|scheme| !scheme.is_empty())?;
    let authority = headers::text(request, ":authority")
        .unwrap_or_default()
        .to_ascii_lowercase();
    let exact = |domain: &String| domain.eq_ignore_ascii_case(&authority);
    let any = |domain: &String| domain == "*";
    let position = |test: &dyn Fn(&String) -> bool| {
        http.virtual_hosts
            .iter()
            .position(|host| host.domains.iter().any(test))
    };
    let virtual_host = position(&exact).or_else(|| position(&any))?;
    let route = http.virtual_hosts[virtual_host]
        .routes
        .iter()
        .position(|route| matches(route, request))?;
    Some(RouteRef {
        virtual_host,
        route,
    })
}

fn matches(route: &Route, request: &Headers) -> bool {
    // CONNECT has no path, and routes for it are not modelled.
    let Some(path) = headers::text(request, ":path") else {
        return false;
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let path_matches = match &route.path {
        PathMatch::Prefix(prefix) => path.starts_with(prefix.as_str()),
        PathMatch::Exact(exact) => path == exact,
    };
    path_matches
        && route
            .headers
            .iter()
            .all(|condition| header_matches(condition, request))
}

/// Several lines of a name count as one, joined by commas.
pub(crate) fn header_matches(condition: &HeaderMatch, request: &Headers) -> bool {
    let values: Vec<&[u8]> = request
        .iter()
        .filter(|(name, _)| name == condition.name.as_bytes())
        .map(|(_, value)| value.as_slice())
        .collect();
    if values.is_empty() {
        return false;
    }
    let value = values.join(&b","[..]);
    match &condition.value {
        ValueMatch::Exact(exact) => value == exact.as_bytes(),
        ValueMatch::Prefix(prefix) => value.starts_with(prefix.as_bytes()),
        ValueMatch::Present => true,
    }
}

/// Name of the cluster, if the choice gives one.
pub(super) fn cluster_name(choice: &ClusterChoice, request: &Headers) -> Option<String> {
    match choice {
        ClusterChoice::Named(name) => Some(name.clone()),
        ClusterChoice::ByHeader { header, map } => headers::text(request, header)
            .and_then(|value| map.get(value))
            .cloned(),
    }
}

impl Engine {
    /// The route of a client's request, looked up again if the head has changed since.
    pub(crate) fn route(&mut self, key: StreamKey) -> Option<RouteRef> {
        let stream = self.streams.get_mut(&key)?;
        if let Some(known) = stream.route {
            return known;
        }
        let version = Arc::clone(&stream.version);
        let listener = version.config.listeners.get(stream.origin?.listener)?;
        let found = find(&listener.http, &stream.request_headers);
        stream.route = Some(found);
        if let Some(found) = found {
            let host = &listener.http.virtual_hosts[found.virtual_host];
            let route = &host.routes[found.route];
            // What filters may hold is the larger of the two limits, what is kept for a replay the route's.
            let limit = route
                .request_body_buffer_limit
                .or(host.request_body_buffer_limit);
            let limit = limit.unwrap_or(listener.buffer_limit_bytes);
            stream.router.replay_limit_bytes = limit;
            stream.chain.decode.limit_bytes = limit.max(listener.buffer_limit_bytes);
            if let RouteAction::Forward(forward) = &route.action {
                let cluster = cluster_name(&forward.cluster, &stream.request_headers);
                let clusters = &version.config.clusters;
                stream.info.upstream_cluster = cluster.filter(|name| clusters.contains_key(name));
            }
            if let RouteAction::Forward(forward) = &route.action
                && forward.idle_timeout.is_some()
            {
                stream.idle_timeout = forward.idle_timeout;
                self.touch(key);
            }
        }
        found
    }

    /// Another look is taken at the route before it is needed next.
    pub(crate) fn clear_route_cache(&mut self, key: ChainKey) {
        if let ChainKey::Stream(stream) = key
            && let Some(stream) = self.streams.get_mut(&stream)
            && stream.router.forward.is_none()
        {
            stream.route = None;
        }
    }

    pub(super) fn route_action(&mut self, key: StreamKey) -> Option<RouteAction> {
        let found = self.route(key)?;
        let listener = self.streams.get(&key)?.listener()?;
        Some(
            listener.http.virtual_hosts[found.virtual_host].routes[found.route]
                .action
                .clone(),
        )
    }

    /// Name of the route and of its virtual host.
    pub(crate) fn route_names(&mut self, key: StreamKey) -> Option<(Option<String>, String)> {
        let found = self.route(key)?;
        let listener = self.streams.get(&key)?.listener()?;
        let host = &listener.http.virtual_hosts[found.virtual_host];
        Some((host.routes[found.route].name.clone(), host.name.clone()))
    }
}
