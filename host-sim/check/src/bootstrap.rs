//! One `envoy.yaml`: its form, what must agree in it, what its modules say.

use host_sim_envoy::{Document, Kind, Problem, read, refused_by_envoy};

use crate::facts::Facts;
use crate::finding::{Notes, Severity};
use crate::{Input, Options, document, locate, modules, rules};

/// Checks one file. `written`: the one `gateway.json` that was given with it.
pub fn check(yaml: &str, written: Option<&Input>, options: &Options, notes: &mut Notes) {
    let tree = match Document::parse(yaml) {
        Ok(tree) => tree,
        Err(problem) => return refused(notes, &problem),
    };
    let by_envoy = refused_by_envoy(&tree);
    for problem in &by_envoy {
        refused(notes, problem);
    }
    if let Err(problems) = read(yaml) {
        for problem in problems {
            let known = by_envoy.iter().any(|other| says_the_same(other, &problem));
            match problem.kind {
                _ if known => {}
                Kind::NotModelled => not_modelled(notes, &problem),
                Kind::Refused => refused(notes, &problem),
            }
        }
    }
    let facts = Facts::of(tree.root());
    faults(&facts, notes);
    rules::check(&facts, written, options, notes);
    modules::check(&facts, options, notes);
}

/// Whether Envoy's reason, which is the better one, is about the same field as host-sim's.
fn says_the_same(by_envoy: &Problem, problem: &Problem) -> bool {
    let field = problem.what.split(':').next().unwrap_or_default();
    by_envoy.line == problem.line || by_envoy.path == format!("{}.{field}", problem.path)
}

fn refused(notes: &mut Notes, problem: &Problem) {
    let Problem {
        path, line, what, ..
    } = problem;
    let fix = "correct it: Envoy or host-sim does not start with it";
    notes.add(
        Severity::Error,
        "form",
        *line,
        path.clone(),
        what.clone(),
        fix,
    );
}

fn not_modelled(notes: &mut Notes, problem: &Problem) {
    let Problem {
        path, line, what, ..
    } = problem;
    let fix = "Envoy may take it: `envoy --mode validate -c FILE` tells; host-sim serve and scenarios do not run this file";
    notes.add(
        Severity::Warning,
        "not-modelled",
        *line,
        path.clone(),
        what.clone(),
        fix,
    );
}

/// The faults of the document that is inlined in the file, at the lines where they stand.
fn faults(facts: &Facts<'_>, notes: &mut Notes) {
    let Some((place, text)) = facts
        .document
        .as_ref()
        .and_then(|place| Some((place, place.text()?)))
    else {
        return;
    };
    for fault in document::faults(text) {
        let line = place.line_of_text(locate::line(text, &fault.path, &fault.reason));
        notes.document_fault(line, &fault);
    }
}
