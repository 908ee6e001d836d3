use super::{Row, check_rows};

#[test]
fn an_admin_address_that_others_reach_is_a_warning() {
    check_rows(&[Row {
        behind: "",
        old: "127.0.0.1",
        new: "0.0.0.0",
        line: "admin:",
        found: &["warning admin"],
        says: "can stop Envoy",
    }]);
}

#[test]
fn an_internal_listener_is_reached_from_this_machine_only() {
    let old = "address: {socket_address: {address: \"127.0.0.1\", port_value: 10000}}\n    metadata: {filter_metadata: {dragoman: {role: public}}}";
    let new = "address: {socket_address: {address: \"10.0.0.1\", port_value: 10000}}\n    metadata: {filter_metadata: {dragoman: {role: internal}}}";
    check_rows(&[Row {
        behind: "- name: public",
        old,
        new,
        line: "address:",
        found: &["error internal-listener"],
        says: "it is internal",
    }]);
}
