use super::{DOCUMENT, Input, Options, Row, SHIPPED, check, check_rows, configuration, named};

const ALIAS: &str = "root_id: alias";
const ATTEMPT: &str = "root_id: attempt";
const FLAG: &str = "allow_on_headers_stop_iteration: true";

#[test]
fn who_holds_the_body_must_be_let_see_it() {
    let says = "every request with a body hangs until the idle limit (60s)";
    check_rows(&[
        Row {
            behind: ALIAS,
            old: FLAG,
            new: "allow_on_headers_stop_iteration: false",
            line: "allow_on",
            found: &["error headers-stop"],
            says,
        },
        Row {
            behind: "- name: alias",
            old: "                allow_on_headers_stop_iteration: true\n",
            new: "",
            line: " config:",
            found: &["error headers-stop"],
            says,
        },
        Row {
            behind: ATTEMPT,
            old: FLAG,
            new: "allow_on_headers_stop_iteration: false",
            line: "allow_on",
            found: &["error headers-stop"],
            says: "attempt holds the headers",
        },
    ]);
    // The others read no body: they work either way.
    let yaml = SHIPPED.replacen(FLAG, "allow_on_headers_stop_iteration: false", 2);
    assert_eq!(configuration("envoy.yaml", &yaml), []);
}

#[test]
fn after_a_trap_there_is_a_new_vm_and_soon() {
    let reload = "failure_policy: FAIL_RELOAD\n                reload_config: {backoff: {base_interval: 0.1s}}";
    check_rows(&[
        Row {
            behind: ALIAS,
            old: reload,
            new: "failure_policy: FAIL_OPEN",
            line: "failure_policy",
            found: &["error failure-policy"],
            says: "lets requests pass without alias",
        },
        Row {
            behind: ALIAS,
            old: reload,
            new: "failure_policy: FAIL_CLOSED",
            line: "failure_policy",
            found: &["error failure-policy"],
            says: "until Envoy is restarted",
        },
        Row {
            behind: "- name: alias",
            old: reload,
            new: "name_: x",
            line: " config:",
            found: &["error failure-policy", "error form"],
            says: "is not FAIL_RELOAD",
        },
        Row {
            behind: ALIAS,
            old: "0.1s",
            new: "2s",
            line: "reload_config",
            found: &["warning failure-policy"],
            says: "2000 ms",
        },
        Row {
            behind: "- name: alias",
            old: "\n                reload_config: {backoff: {base_interval: 0.1s}}",
            new: "",
            line: " config:",
            found: &["warning failure-policy"],
            says: "1000 ms",
        },
        // As in Envoy null says nothing: its default is in force.
        Row {
            behind: "- name: alias",
            old: "reload_config: {backoff: {base_interval: 0.1s}}",
            new: "reload_config: null",
            line: " config:",
            found: &["warning failure-policy"],
            says: "1000 ms",
        },
    ]);
}

#[test]
fn a_configuration_that_is_no_text_is_an_error() {
    check_rows(&[
        Row {
            behind: ALIAS,
            old: "configuration: *config",
            new: "configuration: {\"@type\": type.googleapis.com/google.protobuf.Struct, value: {version: 1}}",
            line: "configuration:",
            found: &["error plugin-configuration", "warning not-modelled"],
            says: "bytes of a protobuf message, not as JSON",
        },
        Row {
            behind: "- name: alias",
            old: "                configuration: *config\n",
            new: "",
            line: " config:",
            found: &["error plugin-configuration"],
            says: "does not start without",
        },
    ]);
}

#[test]
fn all_plugins_have_one_document() {
    let other = DOCUMENT
        .replace("chat-fast", "chat-faster")
        .replace('\n', " ");
    let new = format!(
        "configuration: {{\"@type\": type.googleapis.com/google.protobuf.StringValue, value: '{other}'}}"
    );
    check_rows(&[Row {
        behind: ALIAS,
        old: "configuration: *config",
        new: &new,
        line: "configuration:",
        found: &["error same-document"],
        says: "alias has another document",
    }]);
}

#[test]
fn a_document_that_is_not_the_written_one_is_a_warning() {
    let input = |name: &str, text: &str| Input {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let changed = DOCUMENT.replace("4194304", "2097152");
    let report = check(
        &[input("envoy.yaml", SHIPPED), input("g.json", &changed)],
        &Options::default(),
    );
    let [stale] = report.findings() else {
        panic!("{}", report.text())
    };
    assert_eq!(named(stale), "warning stale");
    assert!(stale.what.contains("is not what g.json says"));
}

#[test]
fn who_shares_data_has_one_vm_id() {
    check_rows(&[
        Row {
            behind: ATTEMPT,
            old: "vm_id: dragoman",
            new: "vm_id: other",
            line: "vm_id",
            found: &["error vm-id"],
            says: "\"other\", but poll has \"dragoman\"",
        },
        Row {
            behind: ATTEMPT,
            old: "                vm_id: dragoman\n",
            new: "",
            line: "vm_config:",
            found: &["error vm-id"],
            says: "the other never sees",
        },
    ]);
}

#[test]
fn a_plugin_named_after_another_module_is_a_warning() {
    check_rows(&[Row {
        behind: "root_id: poll",
        old: "poll.wasm",
        new: "idle.wasm",
        line: "filename",
        found: &["warning plugin-name", "error chain-complete"],
        says: "called poll and runs envoy/modules/idle.wasm",
    }]);
}
