use super::{Row, check_rows};

const KEYS: &str = "environment_variables: {host_env_keys: [\"W1_KEY\", \"W2_KEY\"]}";

#[test]
fn attempt_sees_the_variables_that_the_document_names() {
    check_rows(&[
        Row {
            behind: "",
            old: KEYS,
            new: "environment_variables: {host_env_keys: [\"W2_KEY\"]}",
            line: "host_env_keys",
            found: &["error credentials"],
            says: "lacks W1_KEY",
        },
        Row {
            behind: "- name: attempt",
            old: KEYS,
            new: "vm_id_: x",
            line: "vm_config:",
            found: &["error credentials", "error form"],
            says: "lacks W1_KEY, W2_KEY",
        },
    ]);
}

#[test]
fn a_secret_in_the_file_is_an_error() {
    check_rows(&[Row {
        behind: "",
        old: KEYS,
        new: "environment_variables: {host_env_keys: [\"W2_KEY\"], key_values: {W1_KEY: sk-1}}",
        line: "key_values",
        found: &["error literal-secret"],
        says: "W1_KEY has its value in this file",
    }]);
}

#[test]
fn other_modules_have_no_business_with_credentials() {
    let new = "vm_id: dragoman\n                  environment_variables: {host_env_keys: [W1_KEY]}";
    check_rows(&[Row {
        behind: "root_id: auth",
        old: "vm_id: dragoman",
        new,
        line: "host_env_keys",
        found: &["warning credentials"],
        says: "auth.wasm can read W1_KEY",
    }]);
}
