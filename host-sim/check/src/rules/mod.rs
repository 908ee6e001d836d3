//! What must agree, a topic a file, a rule a function.

mod bodies;
mod chain;
mod clusters;
mod credentials;
mod key_servers;
mod listeners;
mod manager;
mod plugins;
mod routes;
#[cfg(test)]
mod tests;
pub mod versions;

use crate::facts::Facts;
use crate::finding::Notes;
use crate::{Input, Options};

/// A rule: what it sees and where it notes what it finds.
type Rule = fn(&Facts<'_>, &mut Notes);

/// All rules that need the file alone.
const RULES: &[&[Rule]] = &[
    chain::RULES,
    plugins::RULES,
    credentials::RULES,
    bodies::RULES,
    routes::RULES,
    clusters::RULES,
    key_servers::RULES,
    manager::RULES,
    listeners::RULES,
];

/// Applies all rules. A file without a module of the product has nothing that must agree.
pub fn check(facts: &Facts<'_>, written: Option<&Input>, options: &Options, notes: &mut Notes) {
    versions::too_new(facts, options.envoy, notes);
    if facts.own_plugins().next().is_none() {
        return;
    }
    for rule in RULES.iter().copied().flatten() {
        rule(facts, notes);
    }
    if let Some(written) = written {
        plugins::document_is_the_written_one(facts, written, notes);
    }
}
