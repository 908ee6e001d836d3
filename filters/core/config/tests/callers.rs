//! Who may call: tenants, keys and limits, taken and refused.

mod support;

use dragoman_config::{AuthMode, Dimension, Gateway, parse};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// Two digests that differ in their first and last bytes only.
const ONE: &str = "59a64b1b0d1d2f5e0dbf9ac0c2a0c6b0cf9c8a2ed5a9b2b6f7e4a3d2c1b0a998";
const TWO: &str = "ffa64b1b0d1d2f5e0dbf9ac0c2a0c6b0cf9c8a2ed5a9b2b6f7e4a3d2c1b0a900";

fn document(sections: &str) -> String {
    format!(r#"{{"version":1,"workers":[],"endpoints":[],{sections}}}"#)
}

fn good(sections: &str) -> Gateway {
    support::good(&document(sections))
}

fn refusal(sections: &str) -> String {
    support::refusal(&document(sections))
}

fn check(cases: &[(&str, &str)], wrap: impl Fn(&str) -> String) {
    for (given, expected) in cases {
        assert_eq!(refusal(&wrap(given)), *expected, "{given}");
    }
}

/// Tenants `t1` and `t2`, and these keys.
fn with_keys(keys: &str) -> String {
    format!(r#""tenants":[{{"id":"t1"}},{{"id":"t2"}}],"auth":{{"keys":[{keys}]}}"#)
}

/// A key of `t1` with this digest and further fields.
fn key(id: &str, digest: &str, more: &str) -> String {
    format!(r#"{{"id":"{id}","sha256":"{digest}","tenant":"t1","app":"a"{more}}}"#)
}

fn digest(first: u8, last: u8) -> [u8; 32] {
    let mut digest = [
        0x59, 0xa6, 0x4b, 0x1b, 0x0d, 0x1d, 0x2f, 0x5e, 0x0d, 0xbf, 0x9a, 0xc0, 0xc2, 0xa0, 0xc6,
        0xb0, 0xcf, 0x9c, 0x8a, 0x2e, 0xd5, 0xa9, 0xb2, 0xb6, 0xf7, 0xe4, 0xa3, 0xd2, 0xc1, 0xb0,
        0xa9, 0x98,
    ];
    (digest[0], digest[31]) = (first, last);
    digest
}

#[test]
fn a_key_has_all_that_was_said_of_it() {
    let gateway = good(
        r#""tenants":[{"id":"t1"},{"id":"t2","status":"suspended","models":["chat-*"]}],
        "auth":{"mode":"on","max_uploads":3,"keys":[{"id":"k1","tenant":"t2","app":"bot",
            "sha256":"59a64b1b0d1d2f5e0dbf9ac0c2a0c6b0cf9c8a2ed5a9b2b6f7e4a3d2c1b0a998",
            "models":["*","chat-fast"],"expires_at":"2027-01-01T00:00:00Z"}]}"#,
    );
    assert_eq!(
        (gateway.auth.mode, gateway.auth.max_uploads),
        (AuthMode::On, 3)
    );
    let key = &gateway.auth.keys[0];
    assert_eq!((key.id.as_str(), key.grant.app.as_str()), ("k1", "bot"));
    assert_eq!(key.sha256, digest(0x59, 0x98));
    assert_eq!(key.grant.models.as_deref().unwrap(), ["*", "chat-fast"]);
    assert_eq!(key.expires_at, Some(1_798_761_600));
    let tenant = gateway
        .tenant(gateway.tenant_index(&key.grant.tenant).unwrap())
        .unwrap();
    assert_eq!((tenant.id.as_str(), tenant.active), ("t2", false));
    assert_eq!(tenant.models.as_deref().unwrap(), ["chat-*"]);
    assert_eq!(gateway.tenant(2), None);
}

#[test]
fn what_is_left_out_of_a_key_allows_everything_for_ever() {
    for more in ["", r#","expires_at":null"#] {
        let gateway = good(&with_keys(&key("k1", ONE, more)));
        let key = &gateway.auth.keys[0];
        assert_eq!((&key.grant.models, key.expires_at), (&None, None), "{more}");
        assert_eq!(
            (gateway.auth.mode, gateway.auth.max_uploads),
            (AuthMode::On, 64)
        );
        let tenant = gateway
            .tenant(gateway.tenant_index(&key.grant.tenant).unwrap())
            .unwrap();
        assert!(tenant.active && tenant.models.is_none());
    }
}

#[test]
fn a_key_is_found_by_its_digest_alone() {
    let keys = [key("k2", TWO, ""), key("k1", ONE, "")].join(",");
    let gateway = good(&with_keys(&keys));
    let id = |digest: [u8; 32]| gateway.key_by_digest(&digest).map(|key| key.id.as_str());
    assert_eq!(id(digest(0x59, 0x98)), Some("k1"));
    assert_eq!(id(digest(0xff, 0x00)), Some("k2"));
    for absent in [digest(0x59, 0x99), digest(0x58, 0x98), [0; 32], [255; 32]] {
        assert_eq!(id(absent), None, "{absent:?}");
    }
    let nobody = good(r#""auth":{"mode":"on"}"#);
    assert_eq!(nobody.key_by_digest(&[0; 32]), None);
}

#[test]
fn keys_and_tenants_may_wait_while_auth_is_off() {
    let sections = with_keys(&key("k1", ONE, "")).replace(r#""keys""#, r#""mode":"off","keys""#);
    let gateway = good(&format!(r#"{sections},"limits":[]"#));
    assert_eq!(
        (gateway.auth.mode, gateway.auth.keys.len()),
        (AuthMode::Off, 1)
    );
}

#[test]
fn a_literal_key_is_refused_and_not_repeated() {
    let literal = "auth.keys[0]: must not hold the key itself, which config dumps show: give its digest as {\"sha256\": \"<64 lower-case hex digits>\"}";
    let hex = "auth.keys[0].sha256: must be the SHA-256 of the key as 64 lower-case hex digits, not the key itself, which config dumps show";
    check(
        &[
            (r#""sk-1""#, literal),
            (r#"{"key":"sk-1"}"#, literal),
            (r#"{"value":"sk-1"}"#, literal),
            (&key("k", ONE, r#","secret":"sk-1""#), literal),
            (&key("k", ONE, r#","token":"sk-1""#), literal),
            (&key("k", "sk-1", ""), hex),
            (&key("k", "", ""), hex),
            (&key("k", &ONE.to_uppercase(), ""), hex),
            (&key("k", &ONE[1..], ""), hex),
            (&key("k", &format!("{ONE}0"), ""), hex),
            (&key("k", &format!("{ONE}00"), ""), hex),
            (&key("k", &ONE.replace('5', "g"), ""), hex),
            (
                &key("sk/1", ONE, ""),
                "auth.keys[0].id: must be 1 to 64 of A-Z a-z 0-9 . _ -",
            ),
        ],
        with_keys,
    );
    assert_eq!(
        refusal(r#""auth":{"keys":"sk-1"}"#),
        "auth.keys: must be a list"
    );
}

#[test]
fn a_key_has_its_form() {
    let time = "auth.keys[0].expires_at: must be a time in UTC such as 2027-01-01T00:00:00Z";
    let app = |app: &str| key("k", ONE, "").replace(r#""app":"a""#, app);
    let two = |one: &str, other: &str| format!("{one},{other}");
    check(
        &[
            ("{}", "auth.keys[0].id: is required"),
            ("7", "auth.keys[0]: must be an object"),
            (r#"{"id":"k"}"#, "auth.keys[0].sha256: is required"),
            (
                &key("k", ONE, "").replace("t1", "t3"),
                "auth.keys[0].tenant: is no tenant of this document",
            ),
            (&app(r#""quota":[]"#), "auth.keys[0].quota: unknown field"),
            (
                &app(r#""app":"a b""#),
                "auth.keys[0].app: must be 1 to 64 of A-Z a-z 0-9 . _ -",
            ),
            (
                &key("k", ONE, r#","expires_at":1798761600"#),
                "auth.keys[0].expires_at: must be a string",
            ),
            (&key("k", ONE, r#","expires_at":"2027-01-01""#), time),
            (
                &key("k", ONE, r#","expires_at":"2027-02-29T00:00:00Z""#),
                time,
            ),
            (
                &two(&key("k", ONE, ""), &key("k", TWO, "")),
                "auth.keys[1].id: is the id of auth.keys[0] already",
            ),
            (
                &two(&key("k", ONE, ""), &key("l", ONE, "")),
                "auth.keys[1].sha256: is the sha256 of auth.keys[0] already",
            ),
            (
                &vec!["0"; 4097].join(","),
                "auth.keys: has 4097 items: must have at most 4096",
            ),
        ],
        with_keys,
    );
    check(
        &[
            ("0", "auth.max_uploads: 0: must be at least 1"),
            ("10001", "auth.max_uploads: 10001: must be at most 10000"),
        ],
        |uploads| format!(r#""auth":{{"max_uploads":{uploads}}}"#),
    );
}

#[test]
fn a_tenant_has_its_form() {
    let many = vec!["0"; 4097].join(",");
    check(
        &[
            ("{}", "tenants[0].id: is required"),
            (
                r#"{"id":"t 1"}"#,
                r#"tenants[0].id: "t 1": must be 1 to 64 of A-Z a-z 0-9 . _ -"#,
            ),
            (
                r#"{"id":"t","status":"inactive"}"#,
                r#"tenants[0].status: "inactive": must be one of active, suspended"#,
            ),
            (
                r#"{"id":"t","domains":[]}"#,
                "tenants[0].domains: unknown field",
            ),
            (
                r#"{"id":"t"},{"id":"u"},{"id":"t"}"#,
                r#"tenants[2].id: "t": is the id of tenants[0] already"#,
            ),
            (&many, "tenants: has 4097 items: must have at most 4096"),
        ],
        |tenants| format!(r#""tenants":[{tenants}]"#),
    );
}

#[test]
fn an_allowlist_takes_names_and_beginnings() {
    let models = |models: &str| format!(r#""tenants":[{{"id":"t","models":{models}}}]"#);
    for (given, expected) in [
        ("[]", vec![]),
        (r#"["*"]"#, vec!["*"]),
        (r#"["chat-*","a/b c","ü*"]"#, vec!["chat-*", "a/b c", "ü*"]),
    ] {
        assert_eq!(
            good(&models(given)).tenants[0].models.as_deref().unwrap(),
            expected
        );
    }
    let many = format!("[{}]", vec![r#""m""#; 65].join(","));
    check(
        &[
            ("null", "tenants[0].models: null: must be a list"),
            (r#"["a",1]"#, "tenants[0].models[1]: 1: must be a string"),
            (
                r#"[""]"#,
                r#"tenants[0].models[0]: "": must have 1 to 256 bytes"#,
            ),
            (
                r#"["*a"]"#,
                r#"tenants[0].models[0]: "*a": must have * at its end only"#,
            ),
            (
                r#"["a**"]"#,
                r#"tenants[0].models[0]: "a**": must have * at its end only"#,
            ),
            (
                &many,
                "tenants[0].models: has 65 items: must have at most 64",
            ),
        ],
        models,
    );
}

#[test]
fn an_endpoint_may_belong_to_a_tenant_of_the_document() {
    let endpoints = |tenant: &str| {
        format!(
            r#"{{"version":1,"workers":[],"tenants":[{{"id":"t1"}},{{"id":"t2"}}],
            "endpoints":[{{"name":"m","targets":[]{tenant}}}]}}"#
        )
    };
    for (given, expected) in [("", None), (r#","tenant":"t2""#, Some(1))] {
        let gateway = parse(endpoints(given).as_bytes()).unwrap();
        assert_eq!(gateway.endpoints[0].tenant, expected, "{given}");
    }
    let fault = parse(endpoints(r#","tenant":"t3""#).as_bytes()).unwrap_err();
    assert_eq!(
        fault.to_string(),
        r#"endpoints[0].tenant: "t3": is no tenant of this document"#
    );
}

fn limit(by: &str, per_second: &str, burst: &str) -> String {
    format!(r#"{{"name":"l","by":{by},"rate":{{"per_second":{per_second},"burst":{burst}}}}}"#)
}

#[test]
fn a_rate_is_exact_to_the_thousandth() {
    for (given, expected) in [
        ("1", 1000),
        ("10", 10_000),
        ("0.5", 500),
        ("0.001", 1),
        ("0.1", 100),
        ("33.333", 33_333),
        ("1e3", 1_000_000),
        ("999999.999", 999_999_999),
        ("1000000", 1_000_000_000),
        ("1e6", 1_000_000_000),
    ] {
        let gateway = good(&format!(
            r#""limits":[{}]"#,
            limit(r#"["key"]"#, given, "31622")
        ));
        let limit = &gateway.limits[0];
        assert_eq!(
            (limit.per_1000_s, limit.burst),
            (expected, 31_622),
            "{given}"
        );
    }
}

#[test]
fn a_bucket_may_hold_a_million() {
    let limits = format!(r#""limits":[{}]"#, limit(r#"["key"]"#, "1", "1000000"));
    assert_eq!(good(&limits).limits[0].burst, 1_000_000);
}

#[test]
fn an_application_is_one_of_its_tenant() {
    use Dimension::{App, Key, Tenant};
    for (given, expected) in [
        (r#"["tenant"]"#, vec![Tenant]),
        (r#"["key"]"#, vec![Key]),
        (r#"["app"]"#, vec![Tenant, App]),
        (r#"["app","tenant"]"#, vec![Tenant, App]),
        (r#"["key","app"]"#, vec![Tenant, App, Key]),
    ] {
        let gateway = good(&format!(r#""limits":[{}]"#, limit(given, "1", "1")));
        assert_eq!(gateway.limits[0].by, expected, "{given}");
    }
}

#[test]
fn a_limit_has_its_form() {
    let rate = |rate: &str| limit(r#"["key"]"#, rate, "1");
    let per_second = "limits[0].rate.per_second";
    let by = |by: &str| limit(by, "1", "1");
    let table = [
        (rate("0"), format!("{per_second}: 0: must be above 0")),
        (rate("-0.5"), format!("{per_second}: -0.5: must be above 0")),
        (rate("-7"), format!("{per_second}: -7: must be above 0")),
        (
            rate("1000001"),
            format!("{per_second}: 1000001: must be at most 1000000"),
        ),
        (
            rate("1000000.001"),
            format!("{per_second}: 1000000.001: must be at most 1000000"),
        ),
        (
            rate("18446744073709551615"),
            format!("{per_second}: 18446744073709551615: must be at most 1000000"),
        ),
        (
            rate("0.0001"),
            format!("{per_second}: 0.0001: must be a multiple of 0.001"),
        ),
        (
            rate("0.3333"),
            format!("{per_second}: 0.3333: must be a multiple of 0.001"),
        ),
        (
            rate(r#""10""#),
            format!(r#"{per_second}: "10": must be a number"#),
        ),
        (
            limit(r#"["key"]"#, "0.001", "31623"),
            "limits[0].rate: must fill the burst within 366 days".to_owned(),
        ),
        (
            limit(r#"["key"]"#, "1", "0"),
            "limits[0].rate.burst: 0: must be at least 1".to_owned(),
        ),
        (
            limit(r#"["key"]"#, "1", "1000001"),
            "limits[0].rate.burst: 1000001: must be at most 1000000".to_owned(),
        ),
        (
            by("[]"),
            "limits[0].by: must name at least one dimension".to_owned(),
        ),
        (
            by(r#"["model"]"#),
            r#"limits[0].by[0]: "model": must be one of tenant, app, key"#.to_owned(),
        ),
        (
            by(r#"["key","key"]"#),
            r#"limits[0].by[1]: "key": is given twice"#.to_owned(),
        ),
        ("{}".to_owned(), "limits[0].name: is required".to_owned()),
        (
            r#"{"name":"l","by":["key"]}"#.to_owned(),
            "limits[0].rate: is required".to_owned(),
        ),
        (
            format!("{},{}", rate("1"), rate("2")),
            r#"limits[1].name: "l": is the name of limits[0] already"#.to_owned(),
        ),
        (
            ["0"; 9].join(","),
            "limits: has 9 items: must have at most 8".to_owned(),
        ),
    ];
    for (given, expected) in table {
        assert_eq!(
            refusal(&format!(r#""limits":[{given}]"#)),
            expected,
            "{given}"
        );
    }
}

#[test]
fn limits_need_to_know_who_calls() {
    let limits = format!(
        r#""auth":{{"mode":"off"}},"limits":[{}]"#,
        limit(r#"["key"]"#, "1", "1")
    );
    assert_eq!(
        refusal(&limits),
        "limits: need auth.mode on: without it nobody knows who calls"
    );
}
