//! What `host-sim render` writes is clean, whatever the document says.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that fails stops"
)]

use host_sim_check::{EnvoyVersion, Input, Options, check};

fn found(document: &str, options: &Options) -> String {
    let input = Input {
        name: "gateway.json".to_owned(),
        text: document.to_owned(),
    };
    let report = check(&[input], options);
    match report.findings() {
        [] => String::new(),
        _ => report.text(),
    }
}

const ENDPOINTS: &str = r#""endpoints": [{"name": "e", "targets": [{"worker": "a"}]}]"#;

#[test]
fn every_document_that_is_right_renders_to_a_file_without_findings() {
    let one = r#""workers": [{"id": "a", "address": "127.0.0.1:9101"}]"#;
    let many = r#""workers": [
        {"id": "a", "address": "127.0.0.1:9101", "credential": {"env": "A"}},
        {"id": "b", "cluster": "far", "address": "[2001:db8::1]:443", "credential": {"env": "B", "header": "x-api-key"}},
        {"id": "c", "cluster": "far", "address": "[::1]:9103"},
        {"id": "d", "cluster": "1.2", "address": "127.0.0.1:9101"}]"#;
    let off = r#""auth": {"mode": "off"}"#;
    for document in [
        format!(r#"{{"version": 1, {off}, {one}, {ENDPOINTS}}}"#),
        format!(r#"{{"version": 1, {one}, {ENDPOINTS}}}"#),
        format!(r#"{{"version": 1, {off}, {many}, {ENDPOINTS}}}"#),
        format!(r#"{{"version": 1, "max_body_bytes": 1024, {off}, {one}, {ENDPOINTS}}}"#),
        format!(r#"{{"version": 1, "max_body_bytes": 67108864, {off}, {many}, {ENDPOINTS}}}"#),
        format!(
            r#"{{"version": 1, {off}, "health": {{}}, "circuit": {{}}, "idempotency": {{}}, {one}, {ENDPOINTS}}}"#
        ),
        format!(
            r#"{{"version": 1, "auth": {{"key_store": {{"address": "127.0.0.1:9201"}}, "issuers": [{{"id": "i", "issuer": "x", "audiences": ["a"],
                "jwks_from": {{"address": "127.0.0.1:9301", "path": "/"}}}}]}}, {one}, {ENDPOINTS}}}"#
        ),
        // What a YAML block would change is written in quotes.
        format!("{{\"version\": 1, {off},\r\n{one}, {ENDPOINTS}}}"),
    ] {
        assert_eq!(found(&document, &Options::default()), "", "{document}");
        let oldest = Options {
            envoy: EnvoyVersion { minor: 39 },
            ..Options::default()
        };
        assert_eq!(found(&document, &oldest), "", "{document}");
    }
}

#[test]
fn a_document_without_workers_is_told_so_at_its_line() {
    let document =
        "{\"version\": 1, \"auth\": {\"mode\": \"off\"},\n\"workers\": [],\n\"endpoints\": []}";
    let said = found(document, &Options::default());
    assert!(
        said.starts_with("gateway.json:2: workers: []: must not be empty"),
        "{said}"
    );
}

#[test]
fn an_address_that_two_clusters_share_belongs_to_both() {
    let document = format!(
        r#"{{"version": 1, "auth": {{"mode": "off"}}, {ENDPOINTS}, "workers": [
            {{"id": "a", "address": "127.0.0.1:9101"}},
            {{"id": "b", "cluster": "other", "address": "127.0.0.1:9101"}}]}}"#
    );
    assert_eq!(found(&document, &Options::default()), "");
}
