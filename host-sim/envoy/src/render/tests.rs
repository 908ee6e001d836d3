use std::sync::Arc;

use host_sim_host::config::Plugin;

use super::{RenderError, RenderOptions, render};
use crate::read;

const SHIPPED: &str = include_str!("../../../../envoy/gateway.json");

/// A document with these members beside what every document needs.
fn gateway(members: &str) -> String {
    format!(
        r#"{{"version": 1, {members}
  "endpoints": [{{"name": "chat", "targets": [{{"worker": "w1"}}, {{"worker": "w2"}}]}}],
  "workers": [{{"id": "w1", "address": "127.0.0.1:9101", "credential": {{"env": "W1_KEY"}}}},
              {{"id": "w2", "address": "127.0.0.1:9102", "credential": {{"env": "W2_KEY"}}}}]
}}"#
    )
}

fn rendered(document: &str) -> String {
    match render(document, &RenderOptions::default()) {
        Ok(yaml) => yaml,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_shipped_envoy_yaml_is_what_its_gateway_json_renders_to() {
    let shipped = include_str!("../../../../envoy/envoy.yaml");
    assert!(
        rendered(SHIPPED) == shipped,
        "envoy/envoy.yaml is out of date: run `host-sim render envoy/gateway.json > envoy/envoy.yaml`"
    );
}

#[test]
fn no_name_of_a_template_is_left_over() {
    assert!(!rendered(SHIPPED).contains("${"));
}

#[test]
fn a_document_that_the_gateway_refuses_is_not_rendered() {
    let error = render(&gateway("\"max_body_byte\": 1,"), &RenderOptions::default());
    let Err(RenderError::Config(error)) = error else {
        panic!("expected a refusal, got {error:?}")
    };
    assert!(error.to_string().contains("max_body_byte"), "{error}");
}

/// What switches each optional module on.
const AUTH: &str = r#""auth": {"mode": "on"},"#;
const LIMITS: &str =
    r#""limits": [{"name": "l", "by": ["key"], "rate": {"per_second": 1, "burst": 1}}],"#;
const IDEMPOTENCY: &str = r#""idempotency": {},"#;
const HEALTH: &str = r#""health": {},"#;

/// A document with these sections; `auth` is off where they do not say otherwise.
fn with_sections(sections: &[&str]) -> String {
    let off = if sections.contains(&AUTH) {
        ""
    } else {
        r#""auth": {"mode": "off"},"#
    };
    gateway(&format!("{off} {}", sections.concat()))
}

/// The modules of the chain in order, each with the variables that it may read.
fn chain(document: &str) -> Vec<(String, Vec<String>)> {
    let bootstrap = match read(&rendered(document)) {
        Ok(bootstrap) => bootstrap,
        Err(problems) => panic!("{problems:?}"),
    };
    let module = |plugin: &Arc<Plugin>| {
        assert_eq!(plugin.configuration, document.as_bytes(), "{}", plugin.name);
        (plugin.name.clone(), plugin.vm.host_env_keys.clone())
    };
    let filters = &bootstrap.listeners[0].http.filters;
    filters.iter().map(module).collect()
}

fn names(document: &str) -> Vec<String> {
    chain(document).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_feature_that_is_off_is_left_out_of_the_chain() {
    for (sections, expected) in [
        (&[][..], &["alias", "select"][..]),
        (&[AUTH], &["auth", "alias", "select"]),
        (&[AUTH, LIMITS], &["auth", "alias", "rate_limit", "select"]),
        (&[AUTH, "\"limits\": [],"], &["auth", "alias", "select"]),
        (&[IDEMPOTENCY], &["alias", "idempotency", "select"]),
        (&[HEALTH], &["poll", "alias", "select"]),
        (&["\"circuit\": {},"], &["alias", "select"]),
    ] {
        assert_eq!(names(&with_sections(sections)), expected, "{sections:?}");
    }
}

#[test]
fn only_auth_may_read_the_secrets_of_issuers() {
    let issuers = r#""auth": {"issuers": [{"id": "i", "issuer": "x", "audiences": ["a"],
        "secrets": [{"env": "NEW_SECRET"}, {"env": "OLD_SECRET", "kid": "old"}]}]},"#;
    let name = String::from;
    assert_eq!(
        chain(&gateway(issuers)),
        [
            (name("auth"), vec![name("NEW_SECRET"), name("OLD_SECRET")]),
            (name("alias"), Vec::new()),
            (name("select"), Vec::new()),
        ]
    );
}

#[test]
fn the_whole_chain_is_in_order_and_the_first_module_has_the_document() {
    let document = with_sections(&[HEALTH, IDEMPOTENCY, LIMITS, AUTH]);
    assert_eq!(
        names(&document),
        [
            "poll",
            "auth",
            "alias",
            "idempotency",
            "rate_limit",
            "select"
        ]
    );
    let yaml = rendered(&document);
    assert_eq!(yaml.matches("&config").count(), 1);
    assert!(yaml.find("&config") < yaml.find("*config"));
}

/// A control plane that wants a secret.
const KEY_STORE: &str = r#""auth": {"key_store": {"address": "127.0.0.1:9201", "credential": {"env": "CONTROL_KEY"}}},"#;

#[test]
fn a_key_store_is_a_cluster_of_its_own_that_poll_has_the_secret_of() {
    let document = gateway(KEY_STORE);
    let of = |name: &str, variables: &[&str]| {
        let variables = variables.iter().map(|name| (*name).to_owned());
        (name.to_owned(), variables.collect::<Vec<_>>())
    };
    assert_eq!(
        chain(&document),
        [
            of("poll", &["CONTROL_KEY"]),
            of("auth", &[]),
            of("alias", &[]),
            of("select", &[])
        ]
    );
    let Ok(bootstrap) = read(&rendered(&document)) else {
        panic!("the file is read")
    };
    let control = &bootstrap.clusters["dragoman-control"];
    let addresses: Vec<String> = control.endpoints.iter().map(ToString::to_string).collect();
    assert_eq!(addresses, ["127.0.0.1:9201"]);
    let filters = &control.upstream_filters;
    assert!(
        filters.is_empty(),
        "without attempt no worker's secret goes there"
    );
    assert!(!rendered(&gateway("")).contains("dragoman-control"));
}

#[test]
fn an_issuer_that_publishes_its_keys_is_a_cluster_of_its_own_and_needs_poll() {
    let issuer = |id: &str, port: u16| {
        format!(
            r#"{{"id": "{id}", "issuer": "{id}", "audiences": ["a"], "jwks_from": {{"address": "127.0.0.1:{port}", "path": "/jwks"}}}}"#
        )
    };
    let issuers = [issuer("corp", 9301), issuer("a.b", 9302)].join(",");
    let document = gateway(&format!(r#""auth": {{"issuers": [{issuers}]}},"#));
    assert_eq!(names(&document), ["poll", "auth", "alias", "select"]);
    let Ok(bootstrap) = read(&rendered(&document)) else {
        panic!("the file is read")
    };
    for (name, address) in [("corp", "127.0.0.1:9301"), ("a.b", "127.0.0.1:9302")] {
        let cluster = &bootstrap.clusters[&format!("dragoman-issuer-{name}")];
        let addresses: Vec<String> = cluster.endpoints.iter().map(ToString::to_string).collect();
        assert_eq!(addresses, [address]);
        assert!(cluster.upstream_filters.is_empty());
    }
}

#[test]
fn no_downstream_filter_may_read_the_workers_credentials() {
    for (name, variables) in chain(&with_sections(&[HEALTH, IDEMPOTENCY, LIMITS, AUTH])) {
        assert!(variables.is_empty(), "{name}: {variables:?}");
    }
}

#[test]
fn an_internal_listener_has_the_same_chain_and_another_role() {
    let internal = r#""listeners": {"internal": "127.0.0.1:10001"},"#;
    let document = with_sections(&[HEALTH, AUTH, internal]);
    let bootstrap = match read(&rendered(&document)) {
        Ok(bootstrap) => bootstrap,
        Err(problems) => panic!("{problems:?}"),
    };
    let names = |index: usize| -> Vec<String> {
        let filters = &bootstrap.listeners[index].http.filters;
        filters.iter().map(|plugin| plugin.name.clone()).collect()
    };
    assert_eq!(bootstrap.listeners.len(), 2);
    assert_eq!(names(1), names(0));
    let yaml = rendered(&document);
    assert_eq!(yaml.matches("dragoman: {role: internal}").count(), 1);
    assert!(!rendered(&with_sections(&[AUTH])).contains("internal}"));
}
