//! Nothing is admitted that was not counted.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use std::collections::BTreeMap;

use dragoman_rate_limit::RateLimit;
use dragoman_sdk::fake::{FakeHost, root};
use dragoman_sdk::{Action, Plugin};
use support::{ALICE, Caller, Gateway, PER_APP, configured, gateway};

/// The one slot with buckets, and its value.
fn slot(gateway: &Gateway) -> (String, Vec<u8>) {
    let shared = gateway.shared.borrow();
    let mut slots = shared
        .iter()
        .filter(|(key, _)| key.starts_with("dragoman/1/buckets/"));
    let (key, (value, _)) = slots.next().expect("a slot");
    assert!(slots.next().is_none());
    (key.clone(), value.clone())
}

/// In the same slot as Alice, with the salt that the fake host's zeros make.
const NEIGHBOUR: Caller = Caller {
    app: "neighbour-7618",
    ..ALICE
};

fn overwrite(gateway: &Gateway, key: &str, value: Vec<u8>) {
    gateway.shared.borrow_mut().get_mut(key).unwrap().0 = value;
}

#[test]
fn without_an_identity_the_gateway_is_misconfigured() {
    let gateway = gateway(PER_APP);
    let mut damaged = gateway.host(ALICE);
    damaged.properties.get_mut("dragoman.identity").unwrap()[0] = 99;
    let mut long = gateway.host(ALICE);
    long.properties
        .get_mut("dragoman.identity")
        .unwrap()
        .push(0);
    for host in [
        FakeHost::new(&[(":path", "/v1/chat/completions")]),
        damaged,
        long,
    ] {
        let it = gateway.begin(host);
        let refusal = it.host.replied.as_ref().expect("a refusal");
        assert_eq!(refusal.status, 500);
        assert!(
            refusal.text().contains("misconfigured"),
            "{}",
            refusal.text()
        );
    }
    assert!(gateway.admits(ALICE));
}

/// C34
#[test]
fn a_swap_that_comes_too_late_is_tried_again_and_counts_once() {
    let gateway = gateway(PER_APP);
    assert!(gateway.admits(ALICE), "and the salt is known");
    let mut host = gateway.host(ALICE);
    host.late_swaps = 63;
    let it = gateway.begin(host);
    assert!(it.host.replied.is_none());
    assert_eq!(it.host.late_swaps, 0);
    assert!(!gateway.admits(ALICE));
}

/// C34
#[test]
fn a_request_whose_swaps_all_come_too_late_is_refused_after_a_bounded_number() {
    let gateway = gateway(PER_APP);
    assert!(gateway.admits(ALICE));
    let mut host = gateway.host(ALICE);
    host.late_swaps = u32::MAX;
    let it = gateway.begin(host);
    let refusal = it.host.replied.as_ref().expect("a refusal");
    assert_eq!(refusal.status, 429);
    assert_eq!(refusal.header("retry-after").as_deref(), Some("1"));
    assert_eq!(u32::MAX - it.host.late_swaps, 64);
    assert!(gateway.admits(ALICE), "nothing was taken");
}

#[test]
fn without_the_salt_nothing_is_admitted_and_the_next_request_looks_again() {
    let gateway = gateway(PER_APP);
    let mut host = gateway.host(ALICE);
    host.late_swaps = u32::MAX;
    let it = gateway.begin(host);
    assert_eq!(
        it.host.replied.as_ref().map(|reply| reply.status),
        Some(500)
    );
    assert!(gateway.admits(ALICE));
}

#[test]
fn a_slot_of_another_layout_is_left_alone_and_nobody_is_admitted() {
    let gateway = gateway(PER_APP);
    assert!(gateway.admits(ALICE));
    let (key, mut value) = slot(&gateway);
    value[0] = 99;
    overwrite(&gateway, &key, value.clone());
    let refusal = gateway.refusal(ALICE);
    assert_eq!(refusal.status, 500);
    assert!(
        refusal.text().contains("internal_error"),
        "{}",
        refusal.text()
    );
    assert_eq!(slot(&gateway).1, value);
}

#[test]
fn a_bucket_of_another_version_counts_as_empty_and_fills() {
    let mut gateway = gateway(PER_APP);
    assert!(gateway.admits(ALICE));
    let (key, mut value) = slot(&gateway);
    *value.last_mut().unwrap() = 99;
    overwrite(&gateway, &key, value);
    assert!(!gateway.admits(ALICE));
    gateway.wait_ms(1_000);
    assert_eq!(gateway.admitted(ALICE, 3), 1);
    gateway.wait_ms(10_000);
    assert_eq!(gateway.admitted(ALICE, 3), 2);
}

#[test]
fn a_refusal_changes_nothing_in_shared_data() {
    let gateway = gateway(PER_APP);
    gateway.admitted(ALICE, 2);
    let before = gateway.shared.borrow().clone();
    gateway.admitted(ALICE, 10);
    assert_eq!(*gateway.shared.borrow(), before);
}

/// The thread was held up between reading the clock and the bucket.
#[test]
fn a_clock_that_was_read_earlier_gives_no_tokens() {
    let mut gateway = gateway(PER_APP);
    assert_eq!(gateway.admitted(ALICE, 3), 2);
    let (slot_of_alice, _) = slot(&gateway);
    gateway.wait_ms(500);
    let earlier = [gateway.host(ALICE), gateway.host(ALICE)];
    gateway.wait_ms(2_000);
    // A change beside Alice's bucket, which is full by now, may forget it.
    assert_eq!(gateway.admitted(NEIGHBOUR, 1), 1);
    assert_eq!(slot(&gateway).0, slot_of_alice);

    let early = earlier.map(|host| gateway.begin(host).host.replied.is_none());

    let at_once = gateway.admitted(ALICE, 5);
    let admitted = 2 + early.iter().filter(|it| **it).count() + at_once;
    assert!(admitted <= 2 + 2, "{admitted} in 2.5 s");
}

#[test]
fn the_bound_of_shared_data_is_in_the_log_at_start_and_holds() {
    let mut gateway = gateway(PER_APP);
    let mut host = gateway.host(ALICE);
    gateway.plugin.on_start(&mut root(&mut host)).unwrap();
    let [line] = host.logged.as_slice() else {
        panic!("{:?}", host.logged)
    };
    let bound: usize = line
        .strip_prefix("rate_limit: at most ")
        .and_then(|rest| rest.strip_suffix(" bytes of shared data"))
        .expect("the line of the bound")
        .parse()
        .unwrap();
    for _ in 0..100 {
        gateway.admitted(ALICE, 3);
        gateway.wait_ms(100);
    }
    let shared = gateway.shared.borrow();
    let used: usize = shared
        .iter()
        .map(|(key, (value, _))| key.len() + value.len())
        .sum();
    assert!(used < bound, "{used} of {bound}");
    assert_eq!(shared.len(), 2, "the salt and a slot: {:?}", shared.keys());
}

#[test]
fn without_limits_nothing_is_said_at_start() {
    let mut host = FakeHost::default();
    configured("").on_start(&mut root(&mut host)).unwrap();
    assert!(host.logged.is_empty() && host.shared.borrow().is_empty());
}

#[test]
fn a_faulty_document_is_refused_with_its_path() {
    let text = br#"{"version": 1, "workers": [], "endpoints": [], "limits": [{"name": "l", "by": ["key"], "rate": {"per_second": 0, "burst": 1}}]}"#;
    let reason = RateLimit::configure(text, &BTreeMap::new()).unwrap_err();
    assert!(
        reason.starts_with("limits[0].rate.per_second: 0: "),
        "{reason}"
    );
}

#[test]
fn a_body_is_let_through_as_it_comes() {
    let gateway = gateway(PER_APP);
    let mut it = gateway.asks(ALICE);
    assert_eq!(it.data(b"{", false), Action::Continue);
    assert_eq!(it.data(b"}", true), Action::Continue);
}
