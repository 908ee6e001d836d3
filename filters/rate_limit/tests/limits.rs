//! Who is admitted, and who is not.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod support;

use dragoman_sdk::fake::FakeHost;
use support::{ALICE, Caller, PER_APP, configured, gateway};

const OF_KEY: &str = r#"{"name": "per-key", "by": ["key"], "rate": {"per_second": 1, "burst": 1}}"#;
const OF_TENANT: &str =
    r#"{"name": "per-tenant", "by": ["tenant"], "rate": {"per_second": 0.1, "burst": 3}}"#;

#[test]
fn a_burst_is_admitted_and_then_as_many_as_come_back() {
    let mut gateway = gateway(PER_APP);
    assert_eq!(gateway.admitted(ALICE, 5), 2);
    gateway.wait_ms(999);
    assert_eq!(gateway.admitted(ALICE, 5), 0);
    gateway.wait_ms(1);
    assert_eq!(gateway.admitted(ALICE, 5), 1);
    gateway.wait_ms(3_600_000);
    assert_eq!(gateway.admitted(ALICE, 5), 2, "never more than the burst");
}

#[test]
fn each_value_of_the_dimensions_has_a_bucket_of_its_own() {
    let other_key = Caller {
        key: "k-bob",
        ..ALICE
    };
    let other_app = Caller {
        app: "batch",
        ..ALICE
    };
    let other_tenant = Caller {
        tenant: "team-b",
        ..ALICE
    };
    // For each dimension: does this caller share Alice's bucket?
    for (by, shares) in [
        ("\"key\"", [false, true, false]),
        ("\"app\"", [true, false, false]),
        ("\"tenant\"", [true, true, false]),
        ("\"tenant\", \"key\"", [false, true, false]),
        ("\"app\", \"key\"", [false, false, false]),
    ] {
        let limit =
            format!(r#"{{"name": "l", "by": [{by}], "rate": {{"per_second": 1, "burst": 1}}}}"#);
        for (caller, shared) in [other_key, other_app, other_tenant].into_iter().zip(shares) {
            let gateway = gateway(&limit);
            assert!(gateway.admits(ALICE));
            assert_eq!(gateway.admits(caller), !shared, "by {by}: {caller:?}");
        }
    }
}

#[test]
fn names_that_read_alike_when_joined_have_buckets_of_their_own() {
    let gateway =
        gateway(r#"{"name": "l", "by": ["app", "key"], "rate": {"per_second": 1, "burst": 1}}"#);
    for (app, key) in [
        ("ab", "c"),
        ("a", "bc"),
        ("abc", ""),
        ("", "abc"),
        ("ak", "c"),
        ("a", "kc"),
    ] {
        assert!(
            gateway.admits(Caller { app, key, ..ALICE }),
            "{app:?} {key:?}"
        );
    }
}

#[test]
fn two_limits_of_the_same_dimension_have_a_bucket_each() {
    let other = OF_KEY.replace("per-key", "other");
    let gateway = gateway(
        &[OF_KEY, &other]
            .join(",")
            .replace("\"burst\": 1", "\"burst\": 2"),
    );
    assert_eq!(gateway.admitted(ALICE, 3), 2);
}

#[test]
fn what_a_client_says_of_itself_changes_nothing() {
    let gateway = gateway(OF_KEY);
    assert!(gateway.admits(ALICE));
    for header in [
        "user",
        "x-user",
        "x-forwarded-for",
        "x-dragoman-identity",
        "openai-organization",
    ] {
        let host = gateway.host_with(ALICE, &[(":path", "/"), (header, "somebody")]);
        assert!(gateway.begin(host).host.replied.is_some(), "{header}");
    }
}

#[test]
fn every_limit_must_admit_and_a_refusal_takes_from_none() {
    let mut gateway = gateway(&[OF_TENANT, PER_APP, OF_KEY].join(","));
    let batch = Caller {
        app: "batch",
        key: "k-batch",
        ..ALICE
    };

    assert!(gateway.admits(ALICE), "one of the tenant's three");
    for _ in 0..10 {
        assert!(!gateway.admits(ALICE), "the key has none");
    }
    assert!(
        gateway.admits(batch),
        "the second of three, whatever was refused"
    );
    gateway.wait_ms(1_000);
    assert!(gateway.admits(ALICE), "the third");
    gateway.wait_ms(1_000);
    assert!(!gateway.admits(ALICE), "the tenant has none");
    assert!(!gateway.admits(batch));
    gateway.wait_ms(8_000);
    assert!(gateway.admits(batch), "ten seconds after the first");
}

#[test]
fn tenants_do_not_feel_each_other() {
    let gateway = gateway(&[OF_TENANT, OF_KEY].join(","));
    let names = ["team-b", "team-c", "team-d"];
    assert_eq!(gateway.admitted(ALICE, 50), 1);
    for tenant in names {
        assert!(gateway.admits(Caller { tenant, ..ALICE }), "{tenant}");
    }
}

#[test]
fn one_limit_in_two_documents_is_one_bucket() {
    let mut gateway = gateway(PER_APP);
    assert_eq!(gateway.admitted(ALICE, 3), 2);
    gateway.plugin = configured(&PER_APP.replace("\"burst\": 2", "\"burst\": 3"));
    assert_eq!(gateway.admitted(ALICE, 3), 1, "one more, not three");
}

#[test]
fn nobody_is_limited_where_there_are_no_limits() {
    let gateway = gateway("");
    assert_eq!(gateway.admitted(ALICE, 100), 100);
    let unknown = FakeHost::new(&[(":path", "/")]);
    assert!(gateway.begin(unknown).host.replied.is_none());
    assert!(gateway.shared.borrow().is_empty());
}

/// C35
#[test]
fn no_fraction_is_lost_however_often_somebody_asks() {
    for (per_second, step_ms, asks, expected) in [
        ("0.1", 1_000, 100, 10),
        ("0.3", 100, 1_000, 30),
        ("1000", 1, 700, 700),
    ] {
        let mut gateway = gateway(&format!(
            r#"{{"name": "l", "by": ["key"], "rate": {{"per_second": {per_second}, "burst": 2}}}}"#
        ));
        assert_eq!(gateway.admitted(ALICE, 3), 2);
        let mut admitted = 0;
        for _ in 0..asks {
            gateway.wait_ms(step_ms);
            admitted += gateway.admitted(ALICE, 1);
        }
        assert_eq!(admitted, expected, "{per_second} a second");
    }
}
