//! The table of promised behaviours and their proofs.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Finding, Tree};

/// The table, from the root.
pub const PATH: &str = "tests/requirements.tsv";

/// Its first line.
const HEADER: &str = "id\tstatus\tproof\tbehaviour";

/// What is written where a planned row has no proof yet.
const NO_PROOF: &str = "-";

/// How many behaviours each source promises.
pub const SOURCES: &[(&str, usize)] = &[("S0", 60), ("S1", 195), ("S2", 43), ("S3", 93)];

/// Every row that is missing, doubled, or not proven as its status says.
pub fn check(tree: &Tree, sources: &[(&str, usize)]) -> Vec<Finding> {
    let Some(text) = tree.text(PATH) else {
        return vec![Finding::at(PATH, "is missing")];
    };
    let functions = tree.functions();
    let mut findings = Vec::new();
    let mut missing: BTreeSet<String> = sources
        .iter()
        .flat_map(|(source, count)| (1..=*count).map(move |row| format!("{source}-{row}")))
        .collect();
    if text.lines().next() != Some(HEADER) {
        findings.push(Finding::on_line(
            PATH,
            1,
            "the header is not id, status, proof, behaviour",
        ));
    }
    for (at, row) in text.lines().enumerate().skip(1) {
        let mut say = |reason: String| findings.push(Finding::on_line(PATH, at + 1, reason));
        let [id, status, proof, behaviour] = row.split('\t').collect::<Vec<_>>()[..] else {
            say("a row has four columns, divided by tabs".to_owned());
            continue;
        };
        if !missing.remove(id) {
            say(format!("{id} is doubled or unknown"));
        }
        if behaviour.trim().is_empty() {
            say(format!("{id} says no behaviour"));
        }
        for reason in wrong_proof(status, proof, &functions) {
            say(format!("{id}: {reason}"));
        }
    }
    findings.extend(
        missing
            .into_iter()
            .map(|id| Finding::at(PATH, format!("{id} is missing"))),
    );
    findings
}

fn wrong_proof(status: &str, proof: &str, tests: &BTreeMap<&str, Vec<&str>>) -> Vec<String> {
    let empty = proof.trim().is_empty() || proof == NO_PROOF;
    match status {
        "planned" if proof == NO_PROOF => Vec::new(),
        "planned" => vec![format!("a planned row has the proof `{NO_PROOF}`")],
        "outside" if empty => vec!["an outside row says why".to_owned()],
        "outside" => Vec::new(),
        "done" if empty => vec!["a done row names its tests".to_owned()],
        "done" => proof
            .split(',')
            .map(str::trim)
            .filter(|test| !exists(test, tests))
            .map(|test| format!("there is no test {test}"))
            .collect(),
        _ => vec![format!("{status} is none of done, planned, outside")],
    }
}

/// Whether `test` (`folder::file::name`) is a function in a file whose path has all the other names.
fn exists(test: &str, tests: &BTreeMap<&str, Vec<&str>>) -> bool {
    let Some((place, name)) = test.rsplit_once("::") else {
        return false;
    };
    let fits = |path: &&str| {
        let parts: BTreeSet<&str> = path.trim_end_matches(".rs").split('/').collect();
        // An inline `mod tests` is in no path.
        place
            .split("::")
            .all(|part| part == "tests" || parts.contains(part))
    };
    tests.get(name).is_some_and(|paths| paths.iter().any(fits))
}
