//! `envoy_resolve_dns`. Only names that no server has to be asked for: what a server says is not for a test.

use blackbox::differential::Case;
use blackbox::plugin::scripted;

const READ: &str = "resolve_dns: get_buffer_bytes 8 0 1000\n";

/// Looks all of these up in a request.
fn asks(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("request_headers: resolve_dns {name}\n"))
        .collect()
}

#[test]
fn addresses_and_the_own_machine_are_told_before_the_call_returns() {
    let names = [
        "127.0.0.1",
        "010.1.1.1",
        "::1",
        "::ffff:1.2.3.4",
        "1:0:0:0:2::",
        "localhost",
        "LocalHost",
        "x.localhost",
        "localhost%00x",
    ];
    let script = asks(&names) + READ + "request_headers: get_property plugin_name";

    let seen = Case::new()
        .filter(scripted("a", &script))
        .run(|client| drop(client.get("/readyz")));

    let tokens: Vec<String> = (2..2 + names.len())
        .map(|token| format!("0 token {token}"))
        .collect();
    assert_eq!(seen.answers("resolve_dns"), tokens);
    let told = seen.answers("get_buffer_bytes 8");
    assert_eq!(told.len(), names.len());
    assert_eq!(
        told[0],
        r#"0 "\x01\x00\x00\x00\x00\x00\x00\x00127.0.0.1:0\x00""#
    );
    assert_eq!(
        seen.callbacks("(a)").last(),
        Some(&"resolve_dns(1, 10, 16)")
    );
}

#[test]
fn names_that_nobody_could_have_are_refused_by_an_answer_without_bytes() {
    let names = [
        "127.0.0.1:80",
        "[::1]",
        "bad%20name",
        "a..b",
        "user@host",
        "64*a",
        "300*a",
        "ex%c3%a4mple",
        "foo.onion",
    ];

    let seen = Case::new()
        .filter(scripted("a", &(asks(&names) + READ)))
        .run(|client| drop(client.get("/readyz")));

    let told = seen.answers("get_buffer_bytes 8");
    assert_eq!(told[..8], ["0 \"\""; 8]);
    assert_eq!(told[8], r#"0 "\x00\x00\x00\x00""#, "no address");
}

#[test]
fn a_plugin_can_look_a_name_up_while_it_is_configured() {
    let seen = Case::new()
        .filter(scripted(
            "a",
            &format!("configure: resolve_dns localhost\n{READ}"),
        ))
        .with_starts()
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.answers("resolve_dns"), ["0 token 2"]);
    assert_eq!(seen.said("resolve_dns(1, 2, 16)"), 1);
}

#[test]
fn what_a_guest_asks_for_when_it_is_told_is_carried_out_inside_of_its_call() {
    let script = "
        request_headers: resolve_dns localhost
        resolve_dns: set_effective_context $caller
        resolve_dns: set_tick_period 0
        resolve_dns: set_property told yes
        request_headers: get_property told
        request_headers: resolve_dns 127.0.0.1
        request_headers: send_local_response 201 body - -";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.statuses(), [201]);
    assert_eq!(seen.answers("get_property told").len(), 1);
}

#[test]
fn the_call_data_are_the_buffer_that_was_looked_at_last() {
    let script = "
        configure: get_buffer_bytes 8 0 9
        configure: resolve_dns localhost
        configure: get_buffer_bytes 8 0 100
        configure: get_buffer_bytes 6 0 100
        configure: get_buffer_bytes 8 0 100
        request_headers: get_buffer_bytes 8 0 100
        request_headers: get_buffer_bytes 6 0 100
        request_headers: get_buffer_bytes 7 0 100
        request_headers: get_buffer_bytes 8 0 100
        request_headers: set_buffer_bytes 8 0 100 abc
        request_headers: get_buffer_bytes 0 0 100
        request_headers: get_buffer_bytes 8 0 100
        request_headers: set_effective_context $root
        request_headers: get_buffer_bytes 8 0 100
        request_body end: get_buffer_status 6
        request_body end: get_buffer_bytes 8 0 100
        request_body end: get_buffer_bytes 2 0 100
        request_body end: get_buffer_bytes 8 0 100
        request_body end: get_buffer_bytes 0 0 100
        request_body end: set_buffer_bytes 8 0 0 first
        request_body end: get_buffer_bytes 0 0 100
        request_body end: get_buffer_bytes 9 0 100";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.post("/x", "body")));

    let last = seen.answers("get_buffer_bytes 0 0 100");
    assert_eq!(last.last(), Some(&"0 \"first\""));
    assert_eq!(seen.answers("get_buffer_bytes 9"), ["2"]);
}
