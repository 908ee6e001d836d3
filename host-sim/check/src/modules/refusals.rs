//! What modules say that refuse their configuration, and where in the file the reason stands.

use crate::facts::Plugin;
use crate::finding::{Notes, Severity};
use crate::locate;

/// A plugin that refused, and what it logged.
pub struct Refusal<'f, 'a> {
    pub plugin: &'f Plugin<'a>,
    pub said: Vec<String>,
}

const FIX: &str = "Envoy does not start with it: correct the configuration";

impl Refusal<'_, '_> {
    fn reason(&self) -> String {
        match (self.said.last(), self.plugin.module) {
            (None, _) => "it does not say why".to_owned(),
            // The last thing that a module of the product says is the reason.
            (Some(reason), Some(_)) => reason.clone(),
            (Some(_), None) => self.said.join("; "),
        }
    }
}

/// One finding for one reason, whoever gave it.
pub fn note(refusals: &[Refusal<'_, '_>], notes: &mut Notes) {
    let mut reasons: Vec<(String, Vec<&Plugin<'_>>)> = Vec::new();
    for refusal in refusals {
        let reason = refusal.reason();
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, by)) => by.push(refusal.plugin),
            None => reasons.push((reason, vec![refusal.plugin])),
        }
    }
    for (reason, by) in reasons {
        let reason = reason
            .strip_prefix("configuration refused: ")
            .unwrap_or(&reason);
        place(reason, &by, notes);
    }
}

/// Notes a reason where the value stands that it names.
fn place(reason: &str, by: &[&Plugin<'_>], notes: &mut Notes) {
    let Some(first) = by.first() else { return };
    let names: Vec<&str> = by.iter().map(|plugin| plugin.name()).collect();
    let document = first.document().filter(|_| first.module.is_some());
    let text = document.as_ref().and_then(|document| document.text());
    let (Some(document), Some(text), Some((path, what))) = (&document, text, path_of(reason))
    else {
        let what = format!("{}: {reason}", names.join(", "));
        return notes.error("module-refuses", &first.at, what, FIX);
    };
    let line = document.line_of_text(locate::line(text, path, what));
    let says = format!(" (says {})", names.join(", "));
    // The reader of the document has found the same; that the modules agree is worth knowing.
    if !notes.amend("gateway-document", line, &says) {
        let what = format!("{what}{says}");
        notes.add(
            Severity::Error,
            "module-refuses",
            line,
            path.to_owned(),
            what,
            FIX,
        );
    }
}

/// `workers[2].weight: -1: must be at least 0` as path and the rest; `None` if it is another sentence,
/// such as that of a trap.
fn path_of(reason: &str) -> Option<(&str, &str)> {
    let (path, what) = reason.split_once(": ")?;
    match path {
        "document" => Some(("", what)),
        path if path.contains(char::is_whitespace) => None,
        path => Some((path, what)),
    }
}

#[cfg(test)]
mod tests {
    use super::path_of;

    #[test]
    fn only_a_path_is_taken_for_one() {
        assert_eq!(path_of("a[0].b: 1: no"), Some(("a[0].b", "1: no")));
        assert_eq!(path_of("document: is not JSON"), Some(("", "is not JSON")));
        assert_eq!(path_of("wasm trap: unreachable"), None);
        assert_eq!(path_of("nothing"), None);
    }
}
