//! What a caller may know of, and what it may use.

use dragoman_config::{Endpoint, Gateway};
use dragoman_contract::Identity;

/// How an endpoint stands to a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It may be used.
    Granted,
    /// It may be known, but the allowlist of the key or of the tenant leaves it out.
    Denied,
    /// As if it did not exist: it belongs to another tenant.
    Hidden,
}

/// How an endpoint stands to a caller; `None` is anybody, where `auth.mode` is `off`.
pub(crate) fn access(
    gateway: &Gateway,
    caller: Option<&Identity<'_>>,
    endpoint: &Endpoint,
) -> Access {
    if let Some(owner) = endpoint.tenant {
        let owner = gateway.tenant(owner).map(|tenant| tenant.id.as_str());
        if owner.is_none() || owner != caller.map(|caller| caller.tenant) {
            return Access::Hidden;
        }
    }
    match caller {
        Some(caller) if !caller.may_use(&endpoint.slug) => Access::Denied,
        _ => Access::Granted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"{
      "version": 1, "auth": {"mode": "on"}, "tenants": [{"id": "a"}, {"id": "b"}], "workers": [],
      "endpoints": [{"name": "everyone", "targets": []},
                    {"name": "of-a", "tenant": "a", "targets": []},
                    {"name": "of-b", "tenant": "b", "targets": []}]
    }"#;

    fn identity<'a>(
        tenant: &'a str,
        key_models: Option<Vec<&'a str>>,
        tenant_models: Option<Vec<&'a str>>,
    ) -> Identity<'a> {
        Identity {
            key: "k",
            tenant,
            app: "app",
            key_models,
            tenant_models,
        }
    }

    #[test]
    fn what_belongs_to_another_tenant_is_hidden_and_what_is_not_allowed_is_denied() {
        use Access::{Denied, Granted, Hidden};
        let gateway = dragoman_config::parse(CONFIG.as_bytes()).unwrap();
        let table = [
            (None, [Granted, Hidden, Hidden]),
            (Some(identity("a", None, None)), [Granted, Granted, Hidden]),
            (Some(identity("b", None, None)), [Granted, Hidden, Granted]),
            (Some(identity("c", None, None)), [Granted, Hidden, Hidden]),
            (Some(identity("A", None, None)), [Granted, Hidden, Hidden]),
            (Some(identity("", None, None)), [Granted, Hidden, Hidden]),
            (
                Some(identity("a", Some(vec!["of-*"]), None)),
                [Denied, Granted, Hidden],
            ),
            (
                Some(identity("a", None, Some(vec!["everyone"]))),
                [Granted, Denied, Hidden],
            ),
            (
                Some(identity("a", Some(vec!["of-a"]), Some(vec!["everyone"]))),
                [Denied, Denied, Hidden],
            ),
            // An allowlist opens nothing that belongs to somebody else.
            (
                Some(identity("a", Some(vec!["of-b", "*"]), Some(vec!["of-b"]))),
                [Denied, Denied, Hidden],
            ),
        ];
        for (caller, expected) in table {
            let found = gateway
                .endpoints
                .iter()
                .map(|endpoint| access(&gateway, caller.as_ref(), endpoint));
            assert_eq!(found.collect::<Vec<_>>(), expected, "{caller:?}");
        }
    }
}
