//! Reads an `envoy.yaml` into the model of the simulator, one file per part of it.

use std::collections::BTreeMap;

use host_sim_host::config::{Bootstrap, ClusterChoice, Listener, RouteAction, StatsTag};

use crate::at::{At, Fields, Read};
use crate::problem::{Problem, Problems};
use crate::tree;

mod cluster;
mod connection_manager;
mod http1;
mod listener;
mod logs;
mod metadata;
mod replies;
mod route;
#[cfg(test)]
mod tests;
mod wasm;

/// Reads a whole file. What the model has no place for is refused, never ignored.
///
/// # Errors
///
/// Every field that is not modelled, up to [`crate::MAX_PROBLEMS`], and the first fault
/// that stops the reading.
pub fn read(yaml: &str) -> Result<Bootstrap, Vec<Problem>> {
    let root = tree::parse(yaml).map_err(|problem| vec![problem])?;
    let problems = Problems::default();
    let bootstrap = At::root(&root, &problems).map(bootstrap);
    let bootstrap = bootstrap.map_err(|problem| problems.add_last(problem));
    let mut list = problems.into_list();
    list.sort_by_key(|problem| problem.line);
    match bootstrap {
        Ok(bootstrap) if list.is_empty() => Ok(bootstrap),
        _ => Err(list),
    }
}

fn bootstrap(fields: &mut Fields<'_>) -> Read<Bootstrap> {
    let admin = fields.maybe("admin", |at| {
        at.map(|admin| admin.required("address")?.address())
    })?;
    let node = fields.maybe("node", |at| at.map(metadata::node))?;
    let stats_tags = fields.maybe("stats_config", |at| {
        at.map(|stats| stats.list("stats_tags", stats_tag))
    })?;
    let resources = fields.required("static_resources")?;
    let (listeners, clusters) = resources.map(|resources| {
        let listeners = resources.list("listeners", |at| Ok((listener::listener(&at)?, at)))?;
        let mut clusters = BTreeMap::new();
        for at in resources
            .maybe("clusters", |at| at.items())?
            .unwrap_or_default()
        {
            let cluster = cluster::cluster(&at)?;
            if let Some(twin) = clusters.insert(cluster.name.clone(), cluster) {
                return Err(at.problem(format!(
                    "name: {}: there is another of that name",
                    twin.name
                )));
            }
        }
        Ok((listeners, clusters))
    })?;
    for (listener, at) in &listeners {
        let unknown = named_clusters(listener).find(|name| !clusters.contains_key(*name));
        if let Some(name) = unknown {
            return Err(at.problem(format!(
                "a route names the cluster {name:?}, which is not there"
            )));
        }
    }
    Ok(Bootstrap {
        admin,
        listeners: listeners
            .into_iter()
            .map(|(listener, _)| listener)
            .collect(),
        clusters,
        stats_tags: stats_tags.unwrap_or_default(),
        node: node.unwrap_or_default(),
    })
}

/// The clusters that must exist at start. One that a matcher names may be missing, as in Envoy.
fn named_clusters(listener: &Listener) -> impl Iterator<Item = &str> {
    let routes = listener
        .http
        .virtual_hosts
        .iter()
        .flat_map(|host| &host.routes);
    routes.filter_map(|route| match &route.action {
        RouteAction::Forward(forward) => match &forward.cluster {
            ClusterChoice::Named(name) => Some(name.as_str()),
            ClusterChoice::ByHeader { .. } => None,
        },
        RouteAction::Direct { .. } => None,
    })
}

fn stats_tag(at: At<'_>) -> Read<StatsTag> {
    at.map(|tag| {
        Ok(StatsTag {
            tag_name: tag.required("tag_name")?.name()?,
            regex: tag.required("regex")?.name()?,
        })
    })
}
