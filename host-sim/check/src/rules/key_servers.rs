//! The clusters that `poll` reads keys from.

use std::net::SocketAddr;

use dragoman_config::Gateway;
use dragoman_contract::names;

use super::Rule;
use crate::facts::Facts;
use crate::finding::Notes;

pub const RULES: &[Rule] = &[of_keys];

/// A server that `poll` reads keys from.
struct KeyServer {
    cluster: String,
    address: SocketAddr,
    /// Where the document names it.
    path: String,
    /// What comes of it when it is not there.
    loss: String,
}

fn key_servers(gateway: &Gateway) -> Vec<KeyServer> {
    let store = gateway.auth.key_store.iter().map(|store| KeyServer {
        cluster: names::CONTROL_CLUSTER.to_owned(),
        address: store.address,
        path: "auth.key_store.address".to_owned(),
        loss: "no key is ever read, and every request gets 503".to_owned(),
    });
    let issuers = gateway.auth.issuers.iter().enumerate();
    let issuers = issuers.filter_map(|(index, issuer)| {
        let from = issuer.jwks_from.as_ref()?;
        Some(KeyServer {
            cluster: names::issuer_cluster(&issuer.id),
            address: from.address,
            path: format!("auth.issuers[{index}].jwks_from.address"),
            loss: format!(
                "no key of {} is ever read, and its tokens get 503",
                issuer.id
            ),
        })
    });
    store.chain(issuers).collect()
}

/// The clusters that keys are read from are there and have their addresses.
fn of_keys(facts: &Facts<'_>, notes: &mut Notes) {
    let (Some(gateway), Some(document)) = (&facts.gateway, &facts.document) else {
        return;
    };
    for server in key_servers(gateway) {
        let mut clusters = facts.clusters.iter();
        match clusters.find(|cluster| cluster.name == server.cluster) {
            Some(cluster) if !cluster.members().contains(&server.address) => {
                notes.error_in(
                    "cluster-members",
                    &cluster.at,
                    "load_assignment.endpoints",
                    format!(
                        "lacks {}, which is {}: {}",
                        server.address, server.path, server.loss
                    ),
                    "add the address to lb_endpoints",
                );
            }
            Some(_) => {}
            None => {
                let text = document.text().unwrap_or_default();
                let line = document.line_of_text(crate::locate::line(text, &server.path, ""));
                let what = format!(
                    "{} is no cluster of this file: {}",
                    server.cluster, server.loss
                );
                let hint = "add it to static_resources.clusters; `host-sim render` writes all that the document names";
                notes.add(
                    crate::Severity::Error,
                    "cluster-present",
                    line,
                    server.path,
                    what,
                    hint,
                );
            }
        }
    }
}
