//! What the shipped modules say when they are started with a configuration that is not right.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails stops"
)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use host_sim_check::{Input, Options, Report, Severity, check};
use host_sim_host::VmFactory;
use host_sim_vm::Modules;

const YAML: &str = include_str!("../../../envoy/envoy.yaml");
const JSON: &str = include_str!("../../../envoy/gateway.json");

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn options() -> Options {
    static MODULES: OnceLock<Arc<Modules>> = OnceLock::new();
    let cache = repository().join("target/host-sim-cache");
    let modules = MODULES.get_or_init(|| Arc::new(Modules::new(Some(cache)).unwrap()));
    let vms: Arc<dyn VmFactory> = modules.clone();
    let folder = repository().join("envoy/modules");
    Options {
        vms: Some(vms),
        modules: Some(folder.to_string_lossy().into_owned()),
        ..Options::default()
    }
}

fn checked(name: &str, text: &str, options: &Options) -> Report {
    let input = Input {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    check(&[input], options)
}

/// The line of the first occurrence of a text.
fn line(text: &str, of: &str) -> usize {
    1 + text[..text.find(of).expect(of)].matches('\n').count()
}

/// Line, path, rule and text of each finding of these rules; of all if none is named.
fn told<'r>(report: &'r Report, rule: &str) -> Vec<(usize, &'r str, &'r str)> {
    let findings = report.findings().iter();
    findings
        .filter(|finding| finding.rule == rule)
        .map(|finding| (finding.line, &*finding.path, &*finding.what))
        .collect()
}

#[test]
fn the_modules_take_what_ships() {
    for (name, text) in [("envoy.yaml", YAML), ("gateway.json", JSON)] {
        let report = checked(name, text, &options());
        assert_eq!(report.findings(), [], "{}", report.text());
    }
}

#[test]
fn a_fault_of_the_document_is_at_its_own_line_and_says_who_refuses() {
    let all = "poll, auth, alias, idempotency, rate_limit, select, attempt";
    let fault = "\"weight\": -1}";
    let yaml = YAML.replacen("\"weight\": 20}", fault, 1);
    let report = checked("envoy.yaml", &yaml, &options());
    let what = format!("-1: must be at least 0 (says {all})");
    let path = "endpoints[0].targets[1].weight";
    assert_eq!(
        told(&report, "gateway-document"),
        [(line(&yaml, fault), path, &*what)]
    );
    assert_eq!(report.findings().len(), 1, "{}", report.text());

    let json = JSON.replacen("\"weight\": 20}", fault, 1);
    let report = checked("gateway.json", &json, &options());
    let what = "-1: must be at least 0";
    assert_eq!(
        told(&report, "gateway-document"),
        [(line(&json, fault), path, what)]
    );
}

#[test]
fn a_document_that_is_no_json_is_refused_where_it_breaks() {
    let yaml = YAML.replacen(
        "\"auth\": {\"mode\": \"on\"},",
        "\"auth\": {\"mode\": \"on\"}",
        1,
    );
    let report = checked("envoy.yaml", &yaml, &options());
    let [(at, path, what)] = told(&report, "gateway-document")[..] else {
        panic!("{}", report.text())
    };
    // The parser is at the next word when it misses the comma.
    assert_eq!((at, path), (line(&yaml, "\"tenants\""), ""));
    assert!(
        what.starts_with("is not JSON: expected `,` or `}`"),
        "{what}"
    );
    assert!(what.ends_with("attempt)"), "{what}");
    assert_eq!(report.findings().len(), 1, "{}", report.text());
}

#[test]
fn one_plugin_that_refuses_does_not_hide_another() {
    let value = |text: &str| {
        format!(
            "configuration: {{\"@type\": type.googleapis.com/google.protobuf.StringValue, value: '{text}'}}"
        )
    };
    let mut yaml = YAML.to_owned();
    for (name, text) in [("auth", "{\"version\": 2}"), ("select", "nothing")] {
        let (before, behind) = yaml.split_once(&format!("root_id: {name}\n")).unwrap();
        let behind = behind.replacen("configuration: *config", &value(text), 1);
        yaml = format!("{before}root_id: {name}\n{behind}");
    }
    let report = checked("envoy.yaml", &yaml, &options());
    let [auth, select] = told(&report, "module-refuses")[..] else {
        panic!("{}", report.text())
    };
    let version = line(&yaml, "{\"version\": 2}");
    assert_eq!(auth, (version, "version", "2: must be 1 (says auth)"));
    assert_eq!(select.0, line(&yaml, "'nothing'"));
    assert!(select.2.ends_with("(says select)"), "{}", select.2);
}

#[test]
fn a_module_that_is_not_there_is_named_with_its_line() {
    let yaml = YAML.replace("envoy/modules/select.wasm", "envoy/modules/theirs.wasm");
    let report = checked("envoy.yaml", &yaml, &options());
    let [(at, _, what)] = told(&report, "module-load")[..] else {
        panic!("{}", report.text())
    };
    assert_eq!(at, line(&yaml, "theirs.wasm"));
    assert!(
        what.contains("envoy/modules/theirs.wasm: No such file"),
        "{what}"
    );
}

#[test]
fn variables_of_credentials_are_asked_for_only_on_demand() {
    let environment = BTreeMap::from([("W1_KEY".to_owned(), "sk-1".to_owned())]);
    let here = Options {
        environment: Some(environment),
        ..options()
    };
    let report = checked("envoy.yaml", YAML, &here);
    let what = "W2_KEY: not set in the environment of Envoy (says attempt)";
    let path = "workers[1].credential.env";
    let w2 = line(YAML, "\"id\": \"w2\"");
    assert_eq!(told(&report, "module-refuses"), [(w2, path, what)]);
    assert_eq!(report.count(Severity::Error), 1);
}

#[test]
fn a_capability_restriction_leaves_each_module_what_it_asks_for() {
    let restricted = |capabilities: &str| {
        let (before, behind) = YAML.split_once("root_id: rate_limit\n").unwrap();
        let field = format!(
            "vm_id: dragoman\n                  capability_restriction_config: {{allowed_capabilities: {{{capabilities}}}}}\n"
        );
        let behind = behind.replacen("vm_id: dragoman\n", &field, 1);
        format!("{before}root_id: rate_limit\n{behind}")
    };
    let yaml = restricted("proxy_log: {}");
    let report = checked("envoy.yaml", &yaml, &options());
    let [(at, _, what)] = told(&report, "capabilities")[..] else {
        panic!("{}", report.text())
    };
    assert_eq!(at, line(&yaml, "capability_restriction_config"));
    assert!(what.contains("lacks what rate_limit asks for: "), "{what}");
    assert!(what.contains("proxy_on_request_headers"), "{what}");
    assert!(!what.contains("proxy_log"), "{what}");
    // It is started with what it may use: what it then says is what Envoy's log would say.
    let without = |capability: &str| {
        let modules = options().vms.unwrap();
        let folder = repository().join("envoy/modules/rate_limit.wasm");
        let vm = host_sim_host::config::VmConfig {
            vm_id: String::new(),
            configuration: Vec::new(),
            code_path: folder.to_string_lossy().into_owned(),
            env: BTreeMap::new(),
            host_env_keys: Vec::new(),
            allowed_capabilities: std::collections::BTreeSet::new(),
        };
        let asked = modules.capabilities(&vm).unwrap();
        let others = asked.iter().filter(|name| *name != capability);
        let others: Vec<String> = others.map(|name| format!("{name}: {{}}")).collect();
        restricted(&others.join(", "))
    };
    let report = checked("envoy.yaml", &without("none"), &options());
    assert_eq!(report.findings(), [], "{}", report.text());
    let report = checked("envoy.yaml", &without("proxy_get_buffer_bytes"), &options());
    assert_eq!(told(&report, "capabilities").len(), 1);
    assert_eq!(
        told(&report, "module-refuses").len(),
        1,
        "{}",
        report.text()
    );
    // An empty list allows everything.
    let report = checked("envoy.yaml", &restricted(""), &options());
    assert_eq!(told(&report, "capabilities"), []);
}
