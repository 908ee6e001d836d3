//! Endpoints: the public model names and what serves them.

use std::collections::{BTreeMap, BTreeSet};

use dragoman_contract::records::MAX_CANDIDATES;
pub(crate) use dragoman_contract::records::MAX_TARGETS;
use dragoman_selection::Strategy;

use crate::error::ConfigError;
use crate::form::{id, model_name};
use crate::raw::Raw;
use crate::read::{flag, list, object, text, whole, word};
use crate::strategy::Said;
use crate::tenant::{TenantIndex, tenant_index};
use crate::unique::unique;
use crate::worker::Worker;

/// Most endpoints. Every VM holds the whole table, and the model list answers all of it at once.
pub const MAX_ENDPOINTS: usize = 4096;
/// Most bytes of an endpoint's name.
pub const MAX_ENDPOINT_NAME_BYTES: usize = 128;
/// Most bytes of an endpoint's version.
pub const MAX_VERSION_BYTES: usize = 64;
/// Longest time to the first byte of an attempt: an hour, which no client waits for.
pub const MAX_TIMEOUT_MS: u32 = 3_600_000;
/// Largest weight; [`MAX_TARGETS`] of them still add up within 32 bits.
pub const MAX_WEIGHT: u32 = 1_000_000;

/// Longest context that a target may have, in tokens: more than a body of the largest size can hold.
pub const MAX_CONTEXT_TOKENS: u32 = 100_000_000;

const DEFAULT_VERSION: &str = "v1";
const DEFAULT_TIMEOUT_MS: u32 = 30_000;
const DEFAULT_WEIGHT: u32 = 100;
/// One attempt and one switch to another target.
const DEFAULT_ATTEMPTS: u8 = 2;

/// A public model name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Endpoint {
    /// Id that never changes; unique, at most [`MAX_ENDPOINT_NAME_BYTES`].
    pub name: String,
    /// What clients send as `model`; unique, no control characters.
    pub slug: String,
    /// Which state of the configuration this is, for logs and caches.
    pub version: String,
    /// Index into [`crate::Gateway::tenants`] of the only tenant that may know of it; `None`: all.
    pub tenant: Option<usize>,
    /// Whether it exists on internal listeners only.
    pub is_private: bool,
    /// How the targets are ordered.
    pub strategy: Strategy,
    /// Time to the first byte of one attempt, in milliseconds, 1 to [`MAX_TIMEOUT_MS`].
    pub timeout_ms: u32,
    /// Most attempts in all, 1 to [`MAX_CANDIDATES`].
    pub max_attempts: u8,
    /// At most [`MAX_TARGETS`], each worker once; none means that requests get `no_capacity`.
    pub targets: Vec<Target>,
}

/// One way to serve an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Target {
    /// Index into [`crate::Gateway::workers`].
    pub worker: usize,
    /// What the worker calls the model.
    pub served_model_name: String,
    /// Share in the weighted strategies, 0 to [`MAX_WEIGHT`]; without meaning in the others.
    pub weight: u32,
    /// Whether new requests may go there.
    pub enabled: bool,
    /// Longest prompt and answer together, in tokens; `None`: not known.
    pub context_tokens: Option<u32>,
    /// Whether it can call tools.
    pub tools: bool,
}

/// Worker id to index; looking a worker up in the list for each target would take seconds for
/// full tables.
type WorkerIndex<'a> = BTreeMap<&'a str, usize>;

/// All endpoints, with their targets resolved against `workers`.
pub(crate) fn endpoints(
    raw: &Raw,
    workers: &[Worker],
    tenants: &TenantIndex<'_>,
    usual: Strategy,
) -> Result<Vec<Endpoint>, ConfigError> {
    let ids = workers.iter().map(|worker| worker.id.as_str());
    let workers: WorkerIndex<'_> = ids.zip(0..).collect();
    let endpoints = list(raw, MAX_ENDPOINTS, |raw, _| {
        endpoint(raw, &workers, tenants, usual)
    })?;
    let names = endpoints
        .iter()
        .map(|endpoint: &Endpoint| endpoint.name.as_str());
    unique("endpoints", "name", names)?;
    let slugs = endpoints.iter().map(|endpoint| endpoint.slug.as_str());
    unique("endpoints", "slug", slugs)?;
    Ok(endpoints)
}

fn endpoint(
    raw: &Raw,
    workers: &WorkerIndex<'_>,
    tenants: &TenantIndex<'_>,
    usual: Strategy,
) -> Result<Endpoint, ConfigError> {
    const FIELDS: &[&str] = &[
        "name",
        "slug",
        "version",
        "tenant",
        "visibility",
        "mode",
        "split",
        "top_k",
        "timeout_ms",
        "max_attempts",
        "targets",
    ];
    object(raw, FIELDS, |fields| {
        let name = fields.required("name", |raw| id(raw, MAX_ENDPOINT_NAME_BYTES))?;
        let slug = fields
            .optional("slug", model_name)?
            .unwrap_or_else(|| name.clone());
        let version = fields.optional("version", |raw| id(raw, MAX_VERSION_BYTES))?;
        let tenant = fields.optional("tenant", |raw| tenant_index(raw, tenants))?;
        let is_private = fields.optional("visibility", |raw| {
            word(raw, &[("public", false), ("private", true)])
        })?;
        let said = Said::read(fields)?;
        let timeout_ms = fields.optional("timeout_ms", |raw| whole(raw, 1, MAX_TIMEOUT_MS))?;
        let max_attempts = fields.optional("max_attempts", attempts)?;
        let (targets, any_weight) =
            fields.required("targets", |raw| targets(raw, workers, &slug))?;
        let strategy = said.strategy(any_weight, usual)?;
        check_weights(&targets, strategy)?;
        Ok(Endpoint {
            name,
            slug,
            version: version.unwrap_or_else(|| DEFAULT_VERSION.to_owned()),
            tenant,
            is_private: is_private.unwrap_or(false),
            strategy,
            timeout_ms: timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS),
            max_attempts: max_attempts.unwrap_or_else(|| default_attempts(strategy, &targets)),
            targets,
        })
    })
}

fn attempts(raw: &Raw) -> Result<u8, ConfigError> {
    let most = u8::try_from(MAX_CANDIDATES).unwrap_or(u8::MAX);
    let attempts = whole(raw, 1, u32::from(most))?;
    Ok(u8::try_from(attempts).unwrap_or(most))
}

/// A failover endpoint may go down the whole list; the others switch once.
fn default_attempts(strategy: Strategy, targets: &[Target]) -> u8 {
    if strategy != Strategy::Failover {
        return DEFAULT_ATTEMPTS;
    }
    let enabled = targets.iter().filter(|target| target.enabled).count();
    u8::try_from(enabled.clamp(1, MAX_CANDIDATES)).unwrap_or(u8::MAX)
}

/// The targets, and whether any of them was given a weight.
fn targets(
    raw: &Raw,
    workers: &WorkerIndex<'_>,
    slug: &str,
) -> Result<(Vec<Target>, bool), ConfigError> {
    let mut any_weight = false;
    let mut seen = BTreeSet::new();
    let targets = list(raw, MAX_TARGETS, |raw, _| {
        let (target, weight_given) = target(raw, workers, slug)?;
        any_weight |= weight_given;
        if !seen.insert(target.worker) {
            let reason = "has another target in this endpoint already";
            return Err(ConfigError::new(reason).in_field("worker"));
        }
        Ok(target)
    })?;
    Ok((targets, any_weight))
}

/// Where weights count, somebody must have one.
fn check_weights(targets: &[Target], strategy: Strategy) -> Result<(), ConfigError> {
    let mut enabled = targets.iter().filter(|target| target.enabled).peekable();
    if strategy.weighs() && enabled.peek().is_some() && enabled.all(|target| target.weight == 0) {
        let reason = "must have a weight above 0 on an enabled target, or mode failover";
        return Err(ConfigError::new(reason).in_field("targets"));
    }
    Ok(())
}

fn target(raw: &Raw, workers: &WorkerIndex<'_>, slug: &str) -> Result<(Target, bool), ConfigError> {
    const FIELDS: &[&str] = &[
        "worker",
        "served_model_name",
        "weight",
        "enabled",
        "context_tokens",
        "tools",
    ];
    object(raw, FIELDS, |fields| {
        let worker = fields.required("worker", |raw| worker_index(raw, workers))?;
        let served_model_name = fields.optional("served_model_name", model_name)?;
        let weight = fields.optional("weight", |raw| whole(raw, 0, MAX_WEIGHT))?;
        let context_tokens =
            fields.optional("context_tokens", |raw| whole(raw, 1, MAX_CONTEXT_TOKENS))?;
        let target = Target {
            worker,
            context_tokens,
            tools: fields.optional("tools", flag)?.unwrap_or(true),
            served_model_name: served_model_name.unwrap_or_else(|| slug.to_owned()),
            weight: weight.unwrap_or(DEFAULT_WEIGHT),
            enabled: fields.optional("enabled", flag)?.unwrap_or(true),
        };
        Ok((target, weight.is_some()))
    })
}

fn worker_index(raw: &Raw, workers: &WorkerIndex<'_>) -> Result<usize, ConfigError> {
    let index = workers.get(text(raw)?).copied();
    index.ok_or_else(|| ConfigError::of(raw, "is no worker of this document"))
}
