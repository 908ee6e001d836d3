//! Which tenant a host name belongs to.

use std::collections::BTreeMap;

use crate::error::ConfigError;
use crate::raw::Raw;
use crate::read::{list, text};

/// Most host names of a tenant.
pub const MAX_TENANT_HOSTS: usize = 16;
/// Longest host name, in bytes (RFC 1035).
pub const MAX_HOST_BYTES: usize = 253;

/// A host name of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// This name.
    Exact(String),
    /// Every name below this one; the text is what such a name ends with, its first byte a dot.
    Below(String),
}

impl Host {
    /// As the document has it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Exact(name) => name.clone(),
            Self::Below(end) => format!("*{end}"),
        }
    }
}

/// Host names to tenants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    exact: BTreeMap<String, usize>,
    below: BTreeMap<String, usize>,
}

impl Hosts {
    /// `hosts` are each tenant's, in the order of the tenants.
    pub(crate) fn new<'a>(hosts: impl Iterator<Item = &'a [Host]>) -> Result<Self, ConfigError> {
        let mut all = Self::default();
        for (tenant, hosts) in hosts.enumerate() {
            for (index, host) in hosts.iter().enumerate() {
                let taken = match host {
                    Host::Exact(name) => all.exact.insert(name.clone(), tenant),
                    Host::Below(end) => all.below.insert(end.clone(), tenant),
                };
                if taken.is_some() {
                    let reason = format!(
                        "\"{}\": is the host of another tenant or given twice",
                        host.shown()
                    );
                    return Err(ConfigError::new(reason)
                        .in_item(index)
                        .in_field("hosts")
                        .in_item(tenant));
                }
            }
        }
        Ok(all)
    }

    /// Whether no tenant has any.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.below.is_empty()
    }

    /// Index of the tenant whom a `Host` or `:authority` names: without its port, in any case, with
    /// a dot at its end or without. A name itself goes before one it lies below, and of those the
    /// longest counts.
    #[must_use]
    pub fn tenant(&self, authority: &[u8]) -> Option<usize> {
        let name = name_of(authority)?;
        if let Some(tenant) = self.exact.get(&name) {
            return Some(*tenant);
        }
        // The first byte is left out: something has to stand before the dot.
        let dots = name.match_indices('.').map(|(at, _)| at);
        dots.filter(|at| *at > 0)
            .find_map(|at| self.below.get(name.get(at..)?).copied())
    }
}

/// The host of an authority, in lower case.
fn name_of(authority: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(authority).ok()?;
    let host = match text.rsplit_once(':') {
        // An IPv6 address has colons of its own, and stands in brackets.
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        Some((_, rest)) if !rest.ends_with(']') => return None,
        _ => text,
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    (1..=MAX_HOST_BYTES)
        .contains(&host.len())
        .then(|| host.to_ascii_lowercase())
}

/// The host names of a tenant.
pub(crate) fn hosts(raw: &Raw) -> Result<Vec<Host>, ConfigError> {
    list(raw, MAX_TENANT_HOSTS, |raw, _| host(raw))
}

fn host(raw: &Raw) -> Result<Host, ConfigError> {
    let text = text(raw)?;
    let (name, below) = match text.strip_prefix("*.") {
        Some(name) => (name, true),
        None => (text, false),
    };
    let is_label = |label: &str| {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (1..=63).contains(&label.len())
            && label.bytes().all(allowed)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if name.len() > MAX_HOST_BYTES || !name.split('.').all(is_label) {
        let reason = "must be a host name in lower case without port, or *. and one";
        return Err(ConfigError::of(raw, reason));
    }
    Ok(if below {
        Host::Below(format!(".{name}"))
    } else {
        Host::Exact(name.to_owned())
    })
}
