use super::{Row, SHIPPED, check_rows, configuration, named};

const SECTION: &str = "          - name: rate_limit\n";

/// The entry of a plugin in the chain of the listener.
fn entry(name: &str) -> &'static str {
    let start = SHIPPED
        .find(&format!("          - name: {name}\n"))
        .expect("an entry");
    let rest = &SHIPPED[start..];
    let end = rest.find(&format!("{name}.wasm\"}}}}\n")).expect("its end");
    &rest[..end + format!("{name}.wasm\"}}}}\n").len()]
}

#[test]
fn a_module_before_one_whose_results_it_needs_is_an_error() {
    let moved = SHIPPED.replacen(entry("rate_limit"), "", 1).replacen(
        "          # The one body reader",
        &format!("{}          # The one body reader", entry("rate_limit")),
        1,
    );
    let findings = configuration("envoy.yaml", &moved);
    let found: Vec<String> = findings.iter().map(named).collect();
    assert_eq!(found, ["error chain-order", "error chain-order"]);
    let line = 1 + moved[..moved.find(SECTION).unwrap()].matches('\n').count();
    assert!(findings.iter().all(|finding| finding.line == line));
    assert!(
        findings[0]
            .what
            .contains("rate_limit runs before alias: requests that are refused as malformed spend"),
        "{}",
        findings[0].what
    );
    assert!(
        findings[1]
            .what
            .contains("rate_limit runs before idempotency")
    );
}

#[test]
fn modules_of_others_may_stand_anywhere() {
    for behind in ["http_filters:\n", SECTION] {
        let foreign = entry("select")
            .replace("select", "theirs")
            .replace("vm_id: dragoman", "vm_id: other")
            .replace(
                "*config",
                "{\"@type\": type.googleapis.com/google.protobuf.StringValue, value: x}",
            );
        let at = SHIPPED.find(SECTION).unwrap();
        let yaml = format!("{}{foreign}{}", &SHIPPED[..at], &SHIPPED[at..]);
        assert_eq!(configuration("envoy.yaml", &yaml), [], "{behind}");
    }
}

#[test]
fn a_module_that_the_document_wants_and_the_chain_lacks_is_an_error() {
    for (name, says) in [
        ("auth", "nobody checks who calls"),
        ("alias", "nobody reads the model"),
        ("idempotency", "carried out again"),
        ("rate_limit", "limit nobody"),
        ("select", "answered 503"),
    ] {
        check_rows(&[Row {
            behind: "",
            old: entry(name),
            new: "",
            line: "http_filters:",
            found: &["error chain-complete"],
            says,
        }]);
    }
}

#[test]
fn a_module_twice_is_an_error() {
    let twice = format!(
        "{}{}",
        entry("rate_limit"),
        entry("rate_limit").replace("- name: rate_limit", "- name: again")
    );
    check_rows(&[Row {
        behind: "",
        old: entry("rate_limit"),
        new: &twice,
        line: "- name: again",
        found: &["error chain-once"],
        says: "count, claim and rewrite each request twice",
    }]);
}

#[test]
fn a_module_on_the_wrong_side_is_an_error() {
    check_rows(&[
        Row {
            behind: "",
            old: "envoy/modules/poll.wasm",
            new: "envoy/modules/attempt.wasm",
            line: "- name: poll",
            found: &[
                "error chain-side",
                "error chain-complete",
                "error credentials",
                "warning plugin-name",
            ],
            says: "there is no worker yet",
        },
        Row {
            behind: "\n  clusters:\n",
            old: "envoy/modules/attempt.wasm",
            new: "envoy/modules/poll.wasm",
            line: "- name: attempt",
            found: &[
                "error chain-side",
                "error cluster-attempt",
                "warning credentials",
                "warning credentials",
                "warning plugin-name",
            ],
            says: "once an attempt",
        },
    ]);
}
