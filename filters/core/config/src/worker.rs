//! Workers: the servers that run models.

use std::net::{IpAddr, SocketAddr};

use dragoman_contract::Class;

use crate::error::ConfigError;
use crate::form::{env_name, header_name, id};
use crate::grant::class;
use crate::raw::Raw;
use crate::read::{flag, list, object, text, whole};
use crate::tenant::{MAX_TENANTS, TenantIndex, region, tenant_index};
use crate::unique::unique;

/// Most workers. Every VM holds the whole table, and Envoy builds one host for each.
pub const MAX_WORKERS: usize = 1024;
/// Most bytes of a worker's id or a cluster's name; both stand in every plan.
pub const MAX_WORKER_ID_BYTES: usize = 64;
/// Largest cap on the requests of one worker. More is a slip: no inference server works on as many.
pub const MAX_IN_FLIGHT: u32 = 100_000;
/// Cluster of workers that name none.
pub const DEFAULT_CLUSTER: &str = "workers";
/// Clusters that the rendered Envoy configuration has, or will have, for itself.
pub const RESERVED_CLUSTERS: &[&str] = &["admin", "webdis"];
/// Names that start with this are kept for the rendered Envoy configuration too.
pub const RESERVED_CLUSTER_PREFIX: &str = "dragoman";

/// A server that runs models.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Worker {
    /// Unique, at most [`MAX_WORKER_ID_BYTES`].
    pub id: String,
    /// Envoy cluster that has the worker as a host.
    pub cluster: String,
    /// Where it listens; unique within its cluster.
    pub address: SocketAddr,
    /// What to present to it.
    pub credential: Option<Credential>,
    /// Most requests at a time from this Envoy process, 1 to [`MAX_IN_FLIGHT`]; `None`: no cap.
    pub max_in_flight: Option<u32>,
    /// Work classes it takes, at least one.
    pub classes: Vec<Class>,
    /// Whether it serves the next version, for the callers of the canary slice alone.
    pub canary: bool,
    /// Indices into [`crate::Gateway::tenants`] of the only tenants that may use it; `None`: all.
    pub tenants: Option<Vec<usize>>,
    /// Where it is; `None`: nothing is said, so that tenants with a residency do not use it.
    pub region: Option<String>,
}

/// A secret that a worker wants to see. The document names it; it never holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Credential {
    /// Environment variable of the Envoy process that holds the secret.
    pub env: String,
    /// How the secret is presented.
    pub header: CredentialHeader,
}

impl Credential {
    /// Name and value of the header that presents the secret. `path` is where the document names the
    /// credential, `variable` looks into the environment of Envoy.
    ///
    /// # Errors
    /// As `path.env: NAME: reason`: who is to be shown a secret that is not there would be asked
    /// without one; so that is a faulty configuration.
    pub fn header_line(
        &self,
        path: &str,
        variable: impl FnOnce(&str) -> Option<String>,
    ) -> Result<(String, String), String> {
        let fault = |reason: &str| format!("{path}.env: {}: {reason}", self.env);
        let secret = variable(&self.env)
            .filter(|secret| !secret.is_empty())
            .ok_or_else(|| fault("not set in the environment of Envoy"))?;
        if secret.bytes().any(|byte| !(0x20..0x7f).contains(&byte)) {
            return Err(fault("holds a byte that a header value cannot carry"));
        }
        let (name, value) = match &self.header {
            CredentialHeader::Authorization => ("authorization", format!("Bearer {secret}")),
            CredentialHeader::XApiKey => ("x-api-key", secret),
            CredentialHeader::ApiKey => ("api-key", secret),
            CredentialHeader::Named(name) => (name.as_str(), secret),
        };
        Ok((name.to_owned(), value))
    }
}

/// The header that carries a credential.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialHeader {
    /// `authorization: Bearer <secret>`
    Authorization,
    /// `x-api-key: <secret>`
    XApiKey,
    /// `api-key: <secret>`
    ApiKey,
    /// `<name>: <secret>`; a lower-case name that neither HTTP nor the gateway runs on.
    Named(String),
}

/// All workers.
pub(crate) fn workers(raw: &Raw, tenants: &TenantIndex<'_>) -> Result<Vec<Worker>, ConfigError> {
    let workers = list(raw, MAX_WORKERS, |raw, before| {
        let worker = worker(raw, tenants)?;
        let same =
            |other: &&Worker| (&other.cluster, other.address) == (&worker.cluster, worker.address);
        if let Some(other) = before.iter().find(same) {
            let reason = format!("{} is the address of {} already", worker.address, other.id);
            return Err(ConfigError::new(reason).in_field("address"));
        }
        Ok(worker)
    })?;
    unique(
        "workers",
        "id",
        workers.iter().map(|worker| worker.id.as_str()),
    )?;
    Ok(workers)
}

fn worker(raw: &Raw, tenants: &TenantIndex<'_>) -> Result<Worker, ConfigError> {
    const FIELDS: &[&str] = &[
        "id",
        "cluster",
        "address",
        "credential",
        "max_in_flight",
        "classes",
        "canary",
        "tenants",
        "region",
    ];
    object(raw, FIELDS, |fields| {
        Ok(Worker {
            id: fields.required("id", |raw| id(raw, MAX_WORKER_ID_BYTES))?,
            cluster: fields
                .optional("cluster", cluster)?
                .unwrap_or_else(|| DEFAULT_CLUSTER.to_owned()),
            address: fields.required("address", address)?,
            // A secret in the wrong place must not end up in Envoy's log.
            credential: fields
                .optional("credential", credential)
                .map_err(ConfigError::without_value)?,
            max_in_flight: fields.optional("max_in_flight", |raw| whole(raw, 1, MAX_IN_FLIGHT))?,
            classes: fields
                .optional("classes", classes)?
                .unwrap_or_else(|| Class::ALL.to_vec()),
            canary: fields.optional("canary", flag)?.unwrap_or(false),
            tenants: fields.optional("tenants", |raw| {
                list(raw, MAX_TENANTS, |raw, _| tenant_index(raw, tenants))
            })?,
            region: fields.optional("region", region)?,
        })
    })
}

fn classes(raw: &Raw) -> Result<Vec<Class>, ConfigError> {
    let classes = list(raw, Class::ALL.len(), |raw, _| class(raw))?;
    if classes.is_empty() {
        let reason = "must name a class: without any the worker gets nothing";
        return Err(ConfigError::new(reason));
    }
    Ok(classes)
}

fn cluster(raw: &Raw) -> Result<String, ConfigError> {
    let name = id(raw, MAX_WORKER_ID_BYTES)?;
    if RESERVED_CLUSTERS.contains(&name.as_str()) || name.starts_with(RESERVED_CLUSTER_PREFIX) {
        return Err(ConfigError::of(raw, "is reserved for the gateway itself"));
    }
    Ok(name)
}

/// The address is compared with what Envoy prints in `upstream.address`, so only forms that have
/// one spelling are taken.
pub(crate) fn address(raw: &Raw) -> Result<SocketAddr, ConfigError> {
    let Ok(address) = text(raw)?.parse::<SocketAddr>() else {
        return Err(ConfigError::of(raw, "must be an IP address and a port"));
    };
    let odd = match address {
        SocketAddr::V4(_) => false,
        SocketAddr::V6(v6) => v6.scope_id() != 0 || v6.ip().to_ipv4_mapped().is_some(),
    };
    if odd {
        let reason = "must not have a zone or be an IPv4 address in IPv6 form";
        return Err(ConfigError::of(raw, reason));
    }
    let nowhere = match address.ip() {
        IpAddr::V4(ip) => ip.is_unspecified() || ip.is_multicast() || ip.is_broadcast(),
        IpAddr::V6(ip) => ip.is_unspecified() || ip.is_multicast(),
    };
    if nowhere || address.port() == 0 {
        return Err(ConfigError::of(raw, "must be one host and a port above 0"));
    }
    Ok(address)
}

pub(crate) fn credential(raw: &Raw) -> Result<Credential, ConfigError> {
    let literal = match raw {
        Raw::Text(_) => true,
        Raw::Object(entries) => entries.iter().any(|(key, _)| key == "value"),
        _ => false,
    };
    if literal {
        let reason = "must not hold the secret itself, which config dumps show: name the environment variable that holds it as {\"env\": \"NAME\"}";
        return Err(ConfigError::new(reason));
    }
    object(raw, &["env", "header"], |fields| {
        Ok(Credential {
            env: fields.required("env", env_name)?,
            header: fields
                .optional("header", credential_header)?
                .unwrap_or(CredentialHeader::Authorization),
        })
    })
}

fn credential_header(raw: &Raw) -> Result<CredentialHeader, ConfigError> {
    Ok(match header_name(raw)?.as_str() {
        "authorization" => CredentialHeader::Authorization,
        "x-api-key" => CredentialHeader::XApiKey,
        "api-key" => CredentialHeader::ApiKey,
        other => CredentialHeader::Named(other.to_owned()),
    })
}
