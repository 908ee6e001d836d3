//! Requests without a plan: callouts of `poll`, and what only looks like one.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod support;

use dragoman_sdk::Action;
use dragoman_sdk::fake::{Exchange, FakeHost};

use support::{attempt, names};

/// A callout of `poll` at `address`, with a token that the process has or has not.
fn callout(token: &str, address: &str) -> FakeHost {
    let mut host = FakeHost::new(&[
        (":authority", "x"),
        ("x-gateway-destination-endpoint", address),
        ("x-dragoman-probe", token),
    ]);
    let known = ("dragoman/1/probe_token".to_owned(), (b"secret".to_vec(), 1));
    host.shared.borrow_mut().extend([known]);
    host.properties
        .insert("upstream.address".into(), address.into());
    host.properties
        .insert("xds.cluster_name".into(), "a".into());
    host
}

#[test]
fn a_callout_with_the_probe_token_carries_the_workers_credential() {
    let mut it = Exchange::new(&attempt(), callout("secret", "127.0.0.1:9101"));
    assert_eq!(it.headers(true), Action::Continue);
    assert_eq!(
        names(&it.host),
        [
            ":authority: 127.0.0.1:9101",
            "authorization: Bearer first-secret"
        ]
    );
}

#[test]
fn nobody_else_gets_a_credential_without_a_plan() {
    let client = {
        let mut host = callout("secret", "127.0.0.1:9101");
        host.properties.insert("connection.id".into(), vec![1; 8]);
        host
    };
    let unmarked = {
        let host = callout("", "127.0.0.1:9101");
        host.shared.borrow_mut().clear();
        host
    };
    for host in [
        callout("guess", "127.0.0.1:9101"),
        callout("secret", "127.0.0.1:9999"),
        client,
        unmarked,
    ] {
        let mut it = Exchange::new(&attempt(), host);
        assert_eq!(it.headers(true), Action::Pause);
        assert_eq!(it.host.replied.as_ref().unwrap().status, 500);
        assert_eq!(it.host.request_header("authorization"), None);
    }
}
