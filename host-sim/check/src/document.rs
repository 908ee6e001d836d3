//! The faults of a gateway document: the first one, and those that show when it is taken away.

use dragoman_config::ConfigError;
use serde_json::Value;

/// Most faults of a document that are looked for: each one reads the document again.
const MAX_FAULTS: usize = 20;

/// All faults that can be told apart, the first one first; none if the document is right.
///
/// A reader of the document stops at its first fault. To see what else is wrong the faulty field is
/// taken out and the rest is read again, until a field that must be there is the faulty one.
pub fn faults(text: &str) -> Vec<ConfigError> {
    let Err(mut fault) = dragoman_config::parse(text.as_bytes()) else {
        return Vec::new();
    };
    let mut faults = vec![fault.clone()];
    let Ok(mut document) = serde_json::from_str::<Value>(text) else {
        return faults;
    };
    while faults.len() < MAX_FAULTS && take_out(&mut document, &fault.path) {
        match dragoman_config::parse(document.to_string().as_bytes()) {
            Err(next) if next.path != fault.path && next.reason != "is required" => {
                faults.push(next.clone());
                fault = next;
            }
            _ => break,
        }
    }
    faults
}

/// Takes the field at a path away; items of lists stay, since paths count them.
fn take_out(document: &mut Value, path: &str) -> bool {
    let Some((parent, field)) = path.rsplit_once('.') else {
        return match document.as_object_mut() {
            Some(fields) => fields.remove(path).is_some(),
            None => false,
        };
    };
    let pointer: String = steps(parent).map(|step| format!("/{step}")).collect();
    match document.pointer_mut(&pointer) {
        Some(Value::Object(fields)) => fields.remove(field).is_some(),
        _ => false,
    }
}

/// The parts of `a[0].b` : `a`, `0`, `b`.
pub fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split(['.', '['])
        .map(|step| step.trim_end_matches(']'))
        .filter(|step| !step.is_empty())
}

#[cfg(test)]
mod tests {
    use super::faults;

    fn said(text: &str) -> Vec<String> {
        faults(text).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn faults_that_do_not_depend_on_each_other_are_all_found() {
        let text = r#"{"version": 1, "max_body_bytes": 1, "auth": {"mode": "off"}, "wokers": [],
            "workers": [{"id": "w1", "address": "127.0.0.1:1", "max_in_flight": 0}],
            "endpoints": [{"name": "e", "timeout_ms": -5, "targets": [{"worker": "w1"}]}]}"#;
        assert_eq!(
            said(text),
            [
                "wokers: unknown field",
                "max_body_bytes: 1: must be at least 1024",
                "workers[0].max_in_flight: 0: must be at least 1",
                "endpoints[0].timeout_ms: -5: must be at least 1",
            ]
        );
    }

    #[test]
    fn what_only_follows_from_a_fault_is_not_one() {
        let text = r#"{"version": 1, "auth": {"mode": "off"},
            "workers": [{"id": "w1", "address": "nowhere"}], "endpoints": []}"#;
        assert_eq!(
            said(text),
            ["workers[0].address: \"nowhere\": must be an IP address and a port"]
        );
    }

    #[test]
    fn what_is_no_json_has_one_fault() {
        assert_eq!(said("{\"version\": 1,\n}").len(), 1);
    }
}
