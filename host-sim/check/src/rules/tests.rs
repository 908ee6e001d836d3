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

/// A name in the spelling of JSON.
fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |name, part| {
        let (initial, rest) = part.split_at(1);
        name + &initial.to_uppercase() + rest
    })
}

/// The file with its field names in the spelling of JSON. Keys of the document in it are in quotes and stay.
fn in_camel_case(yaml: &str) -> String {
    let is_of_name =
        |character: char| character.is_ascii_lowercase() || "_0123456789".contains(character);
    let mut text = String::new();
    let mut rest = yaml;
    while let Some(start) = rest.find(is_of_name) {
        let end = rest[start..].find(|character| !is_of_name(character));
        let end = end.map_or(rest.len(), |length| start + length);
        let name = &rest[start..end];
        let is_key = rest[end..].starts_with(": ") || rest[end..].starts_with(":\n");
        let begins = rest[..start].ends_with([' ', '{']) || rest[..start].is_empty();
        text += &rest[..start];
        match is_key && begins && !name.starts_with('_') {
            true => text += &camel(name),
            false => text += name,
        }
        rest = &rest[end..];
    }
    text + rest
}

#[test]
fn the_other_spelling_of_fields_counts_as_well() {
    let yaml = in_camel_case(SHIPPED);
    assert!(yaml.contains("allowOnHeadersStopIteration: true"), "{yaml}");
    assert_eq!(configuration("envoy.yaml", &yaml), []);
    // And what is wrong is found at its line, under the name that stands there.
    let yaml = yaml.replacen("failurePolicy: FAIL_RELOAD", "failurePolicy: FAIL_OPEN", 1);
    let findings = configuration("envoy.yaml", &yaml);
    let rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
    assert!(rules.contains(&"failure-policy"), "{findings:?}");
}
