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
    /// As if it did not exist: it is private or belongs to another tenant.
    Hidden,
}

/// Who looks, and from where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Viewer<'a> {
    /// `None` is anybody, where `auth.mode` is `off`.
    pub caller: Option<Identity<'a>>,
    /// By an internal listener, where whoever gets in may know of every endpoint.
    pub internal: bool,
}

/// How an endpoint stands to a viewer.
pub(crate) fn access(gateway: &Gateway, viewer: &Viewer<'_>, endpoint: &Endpoint) -> Access {
    if !viewer.internal && is_hidden(gateway, viewer.caller.as_ref(), endpoint) {
        return Access::Hidden;
    }
    match &viewer.caller {
        Some(caller) if !caller.may_use(&endpoint.slug) => Access::Denied,
        _ => Access::Granted,
    }
}

/// Whether an endpoint is private or somebody else's.
fn is_hidden(gateway: &Gateway, caller: Option<&Identity<'_>>, endpoint: &Endpoint) -> bool {
    let Some(owner) = endpoint.tenant else {
        return endpoint.is_private;
    };
    let owner = gateway.tenant(owner).map(|tenant| tenant.id.as_str());
    endpoint.is_private || owner.is_none() || owner != caller.map(|caller| caller.tenant)
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
            ..Identity::default()
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
            let viewer = Viewer {
                caller,
                internal: false,
            };
            assert_eq!(seen(&gateway, &viewer), expected, "{viewer:?}");
        }
    }

    fn seen(gateway: &Gateway, viewer: &Viewer<'_>) -> Vec<Access> {
        let endpoints = gateway.endpoints.iter();
        endpoints.map(|one| access(gateway, viewer, one)).collect()
    }

    #[test]
    fn on_an_internal_listener_everything_is_known_and_allowlists_still_count() {
        use Access::{Denied, Granted, Hidden};
        let private = CONFIG.replace(r#""of-a","#, r#""of-a", "visibility": "private","#);
        let gateway = dragoman_config::parse(private.as_bytes()).unwrap();
        let of_a = || Some(identity("a", None, None));
        let narrow = Some(identity("a", Some(vec!["of-*"]), None));
        for (caller, internal, expected) in [
            (of_a(), false, [Granted, Hidden, Hidden]),
            (of_a(), true, [Granted, Granted, Granted]),
            (None, false, [Granted, Hidden, Hidden]),
            (None, true, [Granted, Granted, Granted]),
            (narrow, true, [Denied, Granted, Granted]),
        ] {
            let viewer = Viewer { caller, internal };
            assert_eq!(seen(&gateway, &viewer), expected, "{viewer:?}");
        }
    }
}
