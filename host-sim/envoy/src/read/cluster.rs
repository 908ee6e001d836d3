//! `envoy.config.cluster.v3.Cluster`

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use host_sim_host::config::{Cluster, Http1, Http2, LoadBalancing, Plugin};

use super::{http1, wasm};
use crate::at::{At, Fields, Read};

const PROTOCOL_OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const UPSTREAM_CODEC: &str = "envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec";
const OVERRIDE_HOST: &str =
    "envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost";
const SUBSET: &str = "envoy.extensions.load_balancing_policies.subset.v3.Subset";
const ROUND_ROBIN: &str = "envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin";
/// Largest number of streams, and largest window, in HTTP/2.
const HTTP2_LARGEST: u64 = (1 << 31) - 1;
/// Smallest window in HTTP/2.
const HTTP2_LEAST_WINDOW: u64 = 65535;
/// Envoy's default of `connect_timeout`.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Most of a thing at a time.
struct Breakers {
    retries: u32,
    requests: u32,
    pending_requests: u32,
    connections: u32,
}

/// Envoy's defaults.
const BREAKERS: Breakers = Breakers {
    retries: 3,
    requests: 1024,
    pending_requests: 1024,
    connections: 1024,
};

/// A static cluster that speaks HTTP/1.1, or HTTP/2 with prior knowledge.
pub fn cluster(at: &At<'_>) -> Read<Cluster> {
    at.map(|fields| {
        let name = fields.required("name")?.name()?;
        fields.maybe("type", |at| at.choice(&[("STATIC", ())]))?;
        let breakers = fields
            .maybe("circuit_breakers", |at| breakers(&at))?
            .unwrap_or(BREAKERS);
        let protocol = protocol(fields)?;
        Ok(Cluster {
            http2: protocol.http2,
            http1: protocol.http1,
            connect_timeout: fields
                .maybe("connect_timeout", |at| at.limit())?
                .unwrap_or(CONNECT_TIMEOUT),
            endpoints: fields
                .maybe("load_assignment", |at| endpoints(&at, &name))?
                .unwrap_or_default(),
            load_balancing: load_balancing(fields)?,
            max_retries: breakers.retries,
            max_requests: breakers.requests,
            max_pending_requests: breakers.pending_requests,
            max_connections: breakers.connections,
            upstream_filters: protocol.filters,
            name,
        })
    })
}

/// One threshold, for requests of the default priority.
fn breakers(at: &At<'_>) -> Read<Breakers> {
    at.map(|fields| {
        fields.required("thresholds")?.only()?.map(|threshold| {
            let mut most = |key: &str, default| {
                Ok(threshold.maybe(key, |at| at.number32())?.unwrap_or(default))
            };
            Ok(Breakers {
                retries: most("max_retries", BREAKERS.retries)?,
                requests: most("max_requests", BREAKERS.requests)?,
                pending_requests: most("max_pending_requests", BREAKERS.pending_requests)?,
                connections: most("max_connections", BREAKERS.connections)?,
            })
        })
    })
}

fn endpoints(at: &At<'_>, name: &str) -> Read<Vec<SocketAddr>> {
    at.map(|assignment| {
        assignment.required("cluster_name")?.choice(&[(name, ())])?;
        let localities = assignment.list("endpoints", |at| {
            at.map(|locality| locality.list("lb_endpoints", |at| endpoint(&at)))
        })?;
        Ok(localities.into_iter().flatten().collect())
    })
}

fn endpoint(at: &At<'_>) -> Read<SocketAddr> {
    at.map(|entry| {
        entry
            .required("endpoint")?
            .map(|endpoint| endpoint.required("address")?.address())
    })
}

fn load_balancing(fields: &mut Fields<'_>) -> Read<LoadBalancing> {
    let old = fields.optional("lb_policy");
    let new = fields.optional("load_balancing_policy");
    match (old, new) {
        (None, None) => Ok(LoadBalancing::RoundRobin),
        (Some(old), None) => old.choice(&[("ROUND_ROBIN", LoadBalancing::RoundRobin)]),
        (None, Some(new)) => policy(&new),
        (Some(old), Some(_)) => Err(old.problem("has no effect beside load_balancing_policy")),
    }
}

/// `LoadBalancingPolicy` with one policy: Envoy takes the first that it knows.
fn policy(at: &At<'_>) -> Read<LoadBalancing> {
    at.map(|fields| {
        fields.required("policies")?.only()?.map(|policy| {
            policy.required("typed_extension_config")?.map(|extension| {
                extension.required("name")?.name()?;
                typed_policy(&extension.required("typed_config")?)
            })
        })
    })
}

fn typed_policy(at: &At<'_>) -> Read<LoadBalancing> {
    at.map(|fields| {
        let name = fields.type_name()?;
        match &*name {
            ROUND_ROBIN => Ok(LoadBalancing::RoundRobin),
            OVERRIDE_HOST => override_host(fields),
            SUBSET => no_subset(fields),
            _ => Err(at.not_modelled(&name)),
        }
    })
}

fn override_host(fields: &mut Fields<'_>) -> Read<LoadBalancing> {
    let sources = fields.required("override_host_sources")?;
    let headers = sources
        .each(|at| at.map(|source| Ok(source.required("header")?.name()?.to_ascii_lowercase())))?;
    if headers.is_empty() {
        return Err(sources.problem("must not be empty"));
    }
    let fallback = Box::new(policy(&fields.required("fallback_policy")?)?);
    Ok(LoadBalancing::OverrideHost { headers, fallback })
}

/// A subset policy without fallback: routes here give no subset, so it never has a host.
fn no_subset(fields: &mut Fields<'_>) -> Read<LoadBalancing> {
    fields.maybe("fallback_policy", |at| at.choice(&[("NO_FALLBACK", ())]))?;
    fields
        .required("subset_selectors")?
        .each(|at| at.map(|selector| selector.list("keys", |at| at.name())))?;
    policy(&fields.required("subset_lb_policy")?)?;
    Ok(LoadBalancing::None)
}

/// What a cluster's `HttpProtocolOptions` say.
struct Protocol {
    http2: Option<Http2>,
    http1: Http1,
    filters: Vec<Arc<Plugin>>,
}

/// The protocol, and the upstream chain: wasm filters, then the codec.
fn protocol(fields: &mut Fields<'_>) -> Read<Protocol> {
    let protocol = fields.maybe("typed_extension_protocol_options", |at| {
        at.map(|options| {
            options
                .required(PROTOCOL_OPTIONS)?
                .typed(PROTOCOL_OPTIONS, |http| {
                    let mut http1 = http
                        .maybe("common_http_protocol_options", |at| {
                            at.map(http1::of_workers)
                        })?
                        .unwrap_or(Http1::WORKERS);
                    let http2 = http
                        .required("explicit_http_config")?
                        .map(|config| explicit(config, &mut http1))?;
                    Ok(Protocol {
                        http2,
                        http1,
                        filters: http
                            .maybe("http_filters", |at| chain(&at))?
                            .unwrap_or_default(),
                    })
                })
        })
    })?;
    Ok(protocol.unwrap_or(Protocol {
        http2: None,
        http1: Http1::WORKERS,
        filters: Vec::new(),
    }))
}

/// One of the two protocols.
fn explicit(config: &mut Fields<'_>, http1: &mut Http1) -> Read<Option<Http2>> {
    if let Some(options) = config.optional("http2_protocol_options") {
        return options.map(http2).map(Some);
    }
    http1.trailers = http1::trailers(&config.required("http_protocol_options")?)?;
    Ok(None)
}

fn http2(options: &mut Fields<'_>) -> Read<Http2> {
    let mut number = |key: &str, least: u64| {
        options.maybe(key, |at| {
            let number = at.number(HTTP2_LARGEST)?;
            if number < least {
                return Err(at.problem(format!("{number}: must be at least {least}")));
            }
            at.number32()
        })
    };
    Ok(Http2 {
        max_concurrent_streams: number("max_concurrent_streams", 1)?,
        initial_stream_window_size: number("initial_stream_window_size", HTTP2_LEAST_WINDOW)?,
        initial_connection_window_size: number(
            "initial_connection_window_size",
            HTTP2_LEAST_WINDOW,
        )?,
    })
}

fn chain(at: &At<'_>) -> Read<Vec<Arc<Plugin>>> {
    let mut items = at.items()?;
    let last = items.pop().ok_or_else(|| at.problem("must not be empty"))?;
    let plugins = items.iter().map(wasm::filter).collect::<Read<_>>()?;
    last.map(|codec| {
        codec.required("name")?.name()?;
        codec
            .required("typed_config")?
            .typed(UPSTREAM_CODEC, |_| Ok(()))
    })?;
    Ok(plugins)
}
