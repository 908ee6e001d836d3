//! Each rule: the shipped file with one edit, and exactly what is found, at its line.

use crate::{EnvoyVersion, Finding, Input, Options, check, configuration};

mod bodies;
mod chain;
mod clusters;
mod credentials;
mod listeners;
mod manager;
mod plugins;
mod routes;
mod versions;

const SHIPPED: &str = include_str!("../../../../envoy/envoy.yaml");
const DOCUMENT: &str = include_str!("../../../../envoy/gateway.json");

/// One edit and what comes of it.
struct Row<'t> {
    /// The edit begins behind this text; empty: at the top of the file.
    behind: &'t str,
    old: &'t str,
    new: &'t str,
    /// Text of the line of the finding, the first one behind `behind` in the edited file.
    line: &'t str,
    /// Severity and rule of the finding, then of others that follow from the edit.
    found: &'t [&'t str],
    /// What the finding must say.
    says: &'t str,
}

fn edited(row: &Row<'_>) -> (String, usize) {
    let (before, rest) = split(SHIPPED, row.behind);
    assert!(rest.contains(row.old), "{}", row.old);
    let text = format!("{before}{}", rest.replacen(row.old, row.new, 1));
    let (before, rest) = split(&text, row.behind);
    let at = rest.find(row.line).expect(row.line);
    let line = 1 + before.matches('\n').count() + rest[..at].matches('\n').count();
    (text, line)
}

fn split<'t>(text: &'t str, behind: &str) -> (&'t str, &'t str) {
    let at = text.find(behind).expect(behind) + behind.len();
    text.split_at(at)
}

fn named(finding: &Finding) -> String {
    format!("{} {}", finding.severity.name(), finding.rule)
}

/// Checks each row of a table.
fn check_rows(rows: &[Row<'_>]) {
    for row in rows {
        let (yaml, line) = edited(row);
        let findings = configuration("envoy.yaml", &yaml);
        let shown: Vec<String> = findings
            .iter()
            .map(|finding| {
                format!(
                    "{}:{}: {}: {}",
                    finding.line,
                    finding.path,
                    named(finding),
                    finding.what
                )
            })
            .collect();
        let mut names: Vec<String> = findings.iter().map(named).collect();
        let mut expected: Vec<&str> = row.found.to_vec();
        names.sort();
        expected.sort_unstable();
        assert_eq!(names, expected, "{} -> {}: {shown:#?}", row.old, row.new);
        let first = findings
            .iter()
            .find(|finding| named(finding) == row.found[0])
            .expect("it is there");
        assert_eq!(first.line, line, "{} -> {}: {shown:#?}", row.old, row.new);
        assert!(
            first.what.contains(row.says),
            "{} -> {}: {shown:#?}",
            row.old,
            row.new
        );
        assert!(!first.fix.is_empty());
    }
}

#[test]
fn what_ships_has_no_findings() {
    assert_eq!(configuration("envoy.yaml", SHIPPED), []);
    let inputs = [("envoy.yaml", SHIPPED), ("gateway.json", DOCUMENT)].map(|(name, text)| Input {
        name: name.to_owned(),
        text: text.to_owned(),
    });
    let report = check(&inputs, &Options::default());
    assert_eq!(report.findings(), []);
    assert_eq!(report.text(), "envoy.yaml, gateway.json: no problems\n");
}

#[test]
fn a_file_without_the_products_modules_has_only_its_form_checked() {
    let yaml = "static_resources:\n  clusters:\n  - {name: c, circuit_breakers: {thresholds: [{max_retries: 1}]}}\n";
    assert_eq!(configuration("other.yaml", yaml), []);
}
