//! `envoy.config.route.v3.RouteConfiguration`

use std::collections::BTreeMap;
use std::time::Duration;

use host_sim_host::config::{
    ClusterChoice, Forward, PathMatch, RetryPolicy, Route, RouteAction, VirtualHost,
};

use super::replies::header_match;
use crate::at::{At, Fields, Read};

const MATCHER: &str =
    "envoy.extensions.router.cluster_specifiers.matcher.v3.MatcherClusterSpecifier";
const HEADER_INPUT: &str = "envoy.type.matcher.v3.HttpRequestHeaderMatchInput";
const CLUSTER_ACTION: &str = "envoy.extensions.router.cluster_specifiers.matcher.v3.ClusterAction";
/// Envoy's default of a route's `timeout`.
const TIMEOUT: Duration = Duration::from_secs(15);
/// Names of `retry_on` that the router of the simulator knows.
const RETRY_ON: [&str; 7] = [
    "5xx",
    "gateway-error",
    "reset",
    "connect-failure",
    "retriable-4xx",
    "retriable-status-codes",
    "envoy-ratelimited",
];

/// The virtual hosts of `route_config`.
pub fn virtual_hosts(at: &At<'_>) -> Read<Vec<VirtualHost>> {
    at.map(|fields| {
        fields.maybe("name", |at| at.string())?;
        fields.list("virtual_hosts", |at| at.map(virtual_host))
    })
}

fn virtual_host(fields: &mut Fields<'_>) -> Read<VirtualHost> {
    let domain = |at: At<'_>| {
        let domain = at.name()?;
        if domain != "*" && domain.contains('*') {
            return Err(at.not_modelled(&domain));
        }
        Ok(domain)
    };
    Ok(VirtualHost {
        name: fields.required("name")?.name()?,
        domains: fields.required("domains")?.each(domain)?,
        request_body_buffer_limit: body_limit(fields)?,
        routes: fields.list("routes", |at| at.map(route))?,
    })
}

fn body_limit(fields: &mut Fields<'_>) -> Read<Option<u64>> {
    fields.maybe("request_body_buffer_limit", |at| at.number(u64::MAX))
}

fn route(fields: &mut Fields<'_>) -> Read<Route> {
    let name = fields.maybe("name", |at| at.string())?;
    let (path, headers) = fields.required("match")?.map(|condition| {
        let prefix = condition
            .maybe("prefix", |at| at.string())?
            .map(PathMatch::Prefix);
        let exact = condition
            .maybe("path", |at| at.string())?
            .map(PathMatch::Exact);
        let path = either(condition, prefix, exact, "prefix or path")?;
        Ok((path, condition.list("headers", |at| header_match(&at))?))
    })?;
    let request_body_buffer_limit = body_limit(fields)?;
    let forward = fields
        .maybe("route", |at| at.map(forward))?
        .map(RouteAction::Forward);
    let direct = fields.maybe("direct_response", |at| at.map(direct))?;
    Ok(Route {
        name,
        path,
        headers,
        request_body_buffer_limit,
        action: either(fields, forward, direct, "route or direct_response")?,
    })
}

/// The one of two fields that is there.
fn either<T>(fields: &Fields<'_>, one: Option<T>, other: Option<T>, names: &str) -> Read<T> {
    match (one, other) {
        (Some(value), None) | (None, Some(value)) => Ok(value),
        _ => Err(fields.at().problem(format!("must have either {names}"))),
    }
}

fn direct(fields: &mut Fields<'_>) -> Read<RouteAction> {
    let status = fields.required("status")?.status()?;
    let body = fields.maybe("body", |at| {
        at.map(|body| body.required("inline_string")?.string())
    })?;
    Ok(RouteAction::Direct {
        status,
        body: body.unwrap_or_default(),
    })
}

fn forward(fields: &mut Fields<'_>) -> Read<Forward> {
    let named = fields
        .maybe("cluster", |at| at.name())?
        .map(ClusterChoice::Named);
    let by_header = fields.maybe("inline_cluster_specifier_plugin", cluster_specifier)?;
    let names = "cluster or inline_cluster_specifier_plugin";
    let cluster = either(fields, named, by_header, names)?;
    let timeout = fields
        .maybe("timeout", |at| at.duration())?
        .unwrap_or(TIMEOUT);
    Ok(Forward {
        cluster,
        timeout: (!timeout.is_zero()).then_some(timeout),
        idle_timeout: fields.maybe("idle_timeout", |at| at.limit())?,
        retry: fields
            .maybe("retry_policy", |at| at.map(retry_policy))?
            .unwrap_or_default(),
    })
}

/// The matcher by a request header, exact.
fn cluster_specifier(at: At<'_>) -> Read<ClusterChoice> {
    let tree = |tree: &mut Fields<'_>| {
        let header = extension(&tree.required("input")?, HEADER_INPUT, "header_name")?;
        let entries = tree
            .required("exact_match_map")?
            .map(|map| map.required("map")?.entries())?;
        let action = |(value, at): (&str, At<'_>)| {
            let action =
                at.map(|entry| extension(&entry.required("action")?, CLUSTER_ACTION, "cluster"))?;
            Ok((value.to_owned(), action))
        };
        let map = entries
            .into_iter()
            .map(action)
            .collect::<Read<BTreeMap<_, _>>>()?;
        if map.is_empty() {
            return Err(tree.at().problem("exact_match_map.map: must not be empty"));
        }
        Ok(ClusterChoice::ByHeader {
            header: header.to_ascii_lowercase(),
            map,
        })
    };
    at.map(|plugin| {
        plugin.required("extension")?.map(|extension| {
            extension.required("name")?.name()?;
            extension
                .required("typed_config")?
                .typed(MATCHER, |specifier| {
                    specifier
                        .required("cluster_matcher")?
                        .map(|matcher| matcher.required("matcher_tree")?.map(tree))
                })
        })
    })
}

/// The one string of a `TypedExtensionConfig`.
fn extension(at: &At<'_>, type_name: &str, key: &str) -> Read<String> {
    at.map(|extension| {
        extension.required("name")?.name()?;
        extension
            .required("typed_config")?
            .typed(type_name, |config| config.required(key)?.name())
    })
}

fn retry_policy(fields: &mut Fields<'_>) -> Read<RetryPolicy> {
    let (base_interval, max_interval) = fields.maybe("retry_back_off", back_off)?.unzip();
    Ok(RetryPolicy {
        retry_on: fields.maybe("retry_on", retry_on)?.unwrap_or_default(),
        num_retries: fields.maybe("num_retries", |at| at.number32())?,
        per_try_timeout: fields.maybe("per_try_timeout", |at| at.limit())?,
        per_try_idle_timeout: fields.maybe("per_try_idle_timeout", |at| at.limit())?,
        base_interval,
        max_interval: max_interval.flatten(),
        refresh_cluster_on_retry: fields.flag("refresh_cluster_on_retry")?,
    })
}

/// Envoy drops names that it does not know; here they are refused.
fn retry_on(at: At<'_>) -> Read<String> {
    let text = at.string()?;
    match text
        .split(',')
        .find(|name| !RETRY_ON.contains(&name.trim()))
    {
        Some(name) => Err(at.not_modelled(name)),
        None => Ok(text),
    }
}

fn back_off(at: At<'_>) -> Read<(Duration, Option<Duration>)> {
    at.map(|fields| {
        let base = fields.required("base_interval")?.limit()?;
        let largest = fields.maybe("max_interval", |at| at.limit())?;
        match largest {
            Some(largest) if largest < base => {
                Err(at.problem("max_interval: must be at least base_interval"))
            }
            _ => Ok((base, largest)),
        }
    })
}
