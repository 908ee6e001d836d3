//! What clients are told.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use dragoman_sdk::fake::FakeHost;
use support::{ALICE, PER_APP, gateway, texts, told};

const SLOW: &str = r#"{"name": "slow", "by": ["key"], "rate": {"per_second": 0.005, "burst": 3}}"#;

#[test]
fn a_refusal_says_when_to_come_back_rounded_up() {
    let mut gateway = gateway(PER_APP);
    gateway.admitted(ALICE, 2);
    gateway.wait_ms(100);

    let refusal = gateway.refusal(ALICE);

    assert_eq!(refusal.status, 429);
    assert_eq!(refusal.header("retry-after").as_deref(), Some("1"));
    assert_eq!(told(|name| refusal.header(name)), texts(["2", "0", "1.9s"]));
    let body = refusal.text();
    assert!(body.contains(r#""code":"rate_limited""#), "{body}");
    assert!(
        body.contains("the rate limit per-app is used up, try again in 1 s"),
        "{body}"
    );
}

#[test]
fn who_waits_as_told_is_admitted_by_every_limit() {
    for limits in [[PER_APP, SLOW], [SLOW, PER_APP]] {
        let mut gateway = gateway(&limits.join(","));
        let mut refused = 0;
        for _ in 0..20 {
            gateway.wait_ms(373);
            let Some(refusal) = gateway.asks(ALICE).host.replied else {
                continue;
            };
            refused += 1;
            let seconds: u64 = refusal.header("retry-after").unwrap().parse().unwrap();
            gateway.wait_ms(seconds * 1_000);
            assert!(gateway.admits(ALICE), "after {seconds} s");
        }
        assert!(refused > 5, "{refused}");
    }
}

#[test]
fn a_refusal_names_the_limit_that_takes_longest() {
    for limits in [[PER_APP, SLOW], [SLOW, PER_APP]] {
        let mut gateway = gateway(&limits.join(","));
        gateway.admitted(ALICE, 2);
        gateway.wait_ms(1_000);
        assert!(gateway.admits(ALICE));

        let refusal = gateway.refusal(ALICE);

        assert_eq!(refusal.header("retry-after").as_deref(), Some("199"));
        assert_eq!(
            told(|name| refusal.header(name)),
            texts(["3", "0", "9m59s"])
        );
        assert!(
            refusal.text().contains("the rate limit slow"),
            "{}",
            refusal.text()
        );
    }
}

#[test]
fn every_answer_to_an_admitted_request_tells_of_the_tightest_limit() {
    for limits in [[PER_APP, SLOW], [SLOW, PER_APP]] {
        let mut gateway = gateway(&limits.join(","));
        let mut first = gateway.asks(ALICE);
        first.response(&[(":status", "200")], false);
        gateway.wait_ms(2_000);
        let mut second = gateway.asks(ALICE);
        second.response(&[(":status", "503")], true);

        let of = |host: &FakeHost| told(|name| host.response_header(name));
        assert_eq!(
            of(&first.host),
            texts(["2", "1", "1s"]),
            "less is left than of the other"
        );
        assert_eq!(
            of(&second.host),
            texts(["3", "1", "6m38s"]),
            "of two with one left it is slower"
        );
    }
}

#[test]
fn what_a_worker_says_of_its_own_limits_is_replaced() {
    let gateway = gateway(PER_APP);
    let mut it = gateway.asks(ALICE);
    it.response(
        &[
            ("x-ratelimit-remaining-requests", "4711"),
            ("x-ratelimit-limit-requests", "5000"),
            ("x-ratelimit-reset-requests", "9h"),
            ("x-ratelimit-remaining-requests", "4712"),
            ("x-ratelimit-remaining-tokens", "77"),
        ],
        false,
    );
    assert_eq!(
        told(|name| it.host.response_header(name)),
        texts(["2", "1", "1s"])
    );
    let lines = it.host.response.as_ref().unwrap();
    assert_eq!(lines.len(), 4, "{lines:?}");
}

#[test]
fn answers_to_requests_that_never_came_here_stay_as_they_are() {
    let gateway = gateway(PER_APP);
    let mut it = dragoman_sdk::fake::Exchange::new(&gateway.plugin, gateway.host(ALICE));
    it.response(
        &[(":status", "401"), ("x-ratelimit-limit-requests", "9")],
        true,
    );
    it.done();
    assert_eq!(
        told(|name| it.host.response_header(name)),
        [Some("9".to_owned()), None, None]
    );
    assert_eq!(gateway.admitted(ALICE, 3), 2, "and they cost nothing");
}

#[test]
fn anthropic_clients_are_refused_in_their_own_shape() {
    let gateway = gateway(PER_APP);
    gateway.admitted(ALICE, 2);
    let host = gateway.host_with(ALICE, &[(":path", "/v1/messages?beta=true")]);
    let body = gateway.begin(host).host.replied.expect("a refusal").text();
    assert!(
        body.starts_with(r#"{"type":"error","error":{"type":"rate_limit_error""#),
        "{body}"
    );
}
