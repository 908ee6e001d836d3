//! Foreign functions and declared properties.

use blackbox::differential::Case;
use blackbox::plugin::scripted;

#[test]
fn a_property_declared_readonly_is_set_once() {
    // Field 1 is the name, field 2 says readonly.
    let script = "
        configure: call_foreign_function declare_property %0a%04once%10%01
        configure: call_foreign_function declare_property %0a%04once%10%01
        request_headers: set_property once 1
        request_headers: set_property once 2
        request_headers: get_property once";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/")));

    assert_eq!(seen.answers("set_property once 1"), ["0"]);
    assert_eq!(seen.answers("set_property once 2"), ["2"]);
    assert_eq!(seen.answers("get_property once"), ["0 \"1\""]);
}

#[test]
fn objects_of_envoy_are_made_where_there_is_a_factory() {
    // Field 1 is the name, field 2 the value.
    let script = "
        request_headers: call_foreign_function set_envoy_filter_state %0a%0cenvoy.string%12%03abc
        request_headers: get_property filter_state/envoy.string
        request_headers: call_foreign_function set_envoy_filter_state %0a%0aenvoy.bool%12%03abc
        request_headers: call_foreign_function set_envoy_filter_state %0a%04none%12%03abc
        request_headers: call_foreign_function nothing_such x";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/")));

    assert_eq!(
        seen.answers("get_property filter_state/envoy.string"),
        ["0 \"abc\""]
    );
    assert_eq!(seen.answers("call_foreign_function nothing_such x"), ["1"]);
}

#[test]
fn zlib_goes_there_and_back() {
    let script = "
        request_headers: small = call_foreign_function compress hello%20hello%20hello
        request_headers: call_foreign_function uncompress $small
        request_headers: call_foreign_function uncompress junk";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/")));

    assert_eq!(
        seen.answers("call_foreign_function uncompress $small"),
        ["0 \"hello hello hello\""]
    );
    assert_eq!(seen.answers("call_foreign_function uncompress junk"), ["3"]);
}

#[test]
fn what_is_not_allowed_answers_with_an_error_and_is_not_called() {
    let allowed = serde_json::json!({"allowed_capabilities": {
        "proxy_log": {}, "proxy_get_buffer_bytes": {}, "proxy_on_vm_start": {}, "proxy_on_context_create": {},
        "proxy_on_configure": {}, "proxy_on_request_headers": {}, "clock_time_get": {},
        "environ_get": {}, "environ_sizes_get": {}, "random_get": {},
    }});
    let script = "
        request_headers: set_property a b
        request_headers: fd_write 1 text
        request_headers: clock_time_get 0
        log: clock_time_get 0";

    let seen = Case::new()
        .filter(scripted("a", script).vm_field("capability_restriction_config", allowed))
        .run(|client| drop(client.get("/")));

    assert_eq!(seen.answers("set_property a b"), ["10"]);
    assert_eq!(seen.answers("fd_write 1 text"), ["76"]);
    assert_eq!(
        seen.answers("clock_time_get 0").len(),
        1,
        "on_log is not called"
    );
}
