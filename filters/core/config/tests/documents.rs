//! Documents that are taken, with what is read from them.

mod support;

use dragoman_config::{AuthMode, CredentialHeader, Gateway};
use dragoman_contract::Class;
use dragoman_selection::{Strategy, TopK};
use support::good;
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// A document whose only endpoint is `m`, with these fields and the workers w1 to w20.
fn endpoint(fields: &str) -> Gateway {
    let workers: Vec<String> = (1..=20)
        .map(|n| format!(r#"{{"id":"w{n}","address":"10.0.0.{n}:80"}}"#))
        .collect();
    good(&format!(
        r#"{{"version":1,"workers":[{}],"endpoints":[{{"name":"m",{fields}}}]}}"#,
        workers.join(",")
    ))
}

#[test]
fn the_example_in_the_readme_is_a_good_document() {
    let readme = include_str!("../../../../README.md");
    let (_, after) = readme.split_once("```json\n").unwrap();
    let (example, _) = after.split_once("```").unwrap();
    let gateway = good(&example.replace("<64 hex digits>", &"0f".repeat(32)));
    assert_eq!(gateway.endpoints.len(), 1);
}

#[test]
fn the_shipped_example_is_read_as_it_is_meant() {
    let gateway = good(include_str!("../../../../envoy/gateway.json"));
    assert_eq!(
        (gateway.max_body_bytes, gateway.auth.mode),
        (4_194_304, AuthMode::On)
    );
    assert!(gateway.auth.keys.is_empty(), "no key is shipped");
    let limits: Vec<_> = gateway
        .limits
        .iter()
        .map(|limit| (limit.per_1000_s, limit.burst))
        .collect();
    assert_eq!(limits, [(10_000, 20)]);
    assert!(gateway.idempotency.is_some() && gateway.health.is_some() && gateway.circuit.is_some());
    assert_eq!(
        gateway.routing.backend_header.as_deref(),
        Some("x-aisuite-backend")
    );

    let workers: Vec<_> = gateway
        .workers
        .iter()
        .map(|worker| {
            let credential = worker.credential.as_ref().unwrap();
            assert_eq!(credential.header, CredentialHeader::Authorization);
            let address = worker.address.to_string();
            (
                worker.id.as_str(),
                worker.cluster.as_str(),
                address,
                credential.env.as_str(),
            )
        })
        .collect();
    assert_eq!(
        workers,
        [
            ("w1", "workers", "127.0.0.1:9101".to_owned(), "W1_KEY"),
            ("w2", "workers", "127.0.0.1:9102".to_owned(), "W2_KEY"),
        ]
    );

    let standard = gateway.endpoint("chat-standard").unwrap();
    assert_eq!(
        (standard.version.as_str(), standard.strategy),
        ("v3", Strategy::Weighted)
    );
    assert_eq!((standard.timeout_ms, standard.max_attempts), (30_000, 2));
    let shares: Vec<_> = standard
        .targets
        .iter()
        .map(|t| {
            (
                gateway.worker(t).unwrap().id.as_str(),
                t.served_model_name.as_str(),
                t.weight,
            )
        })
        .collect();
    assert_eq!(
        shares,
        [
            ("w1", "backend-model-large", 80),
            ("w2", "backend-model-medium", 20)
        ]
    );

    let fast = gateway.endpoint("chat-fast").unwrap();
    assert_eq!((fast.strategy, fast.max_attempts), (Strategy::Failover, 2));
    let order: Vec<usize> = fast.targets.iter().map(|target| target.worker).collect();
    assert_eq!(order, [1, 0]);
}

#[test]
fn what_is_left_out_has_its_default() {
    let gateway = good(r#"{"version":1,"workers":[],"endpoints":[]}"#);
    assert_eq!(
        (gateway.max_body_bytes, gateway.auth.mode),
        (4_194_304, AuthMode::On)
    );
    assert_eq!(
        gateway.routing.backend_header.as_deref(),
        Some("x-aisuite-backend")
    );

    let gateway = endpoint(r#""targets":[{"worker":"w1"},{"worker":"w2"}]"#);
    let (worker, m) = (&gateway.workers[0], &gateway.endpoints[0]);
    assert_eq!(
        (worker.cluster.as_str(), &worker.credential),
        ("workers", &None)
    );
    assert_eq!(
        (m.slug.as_str(), m.version.as_str(), m.timeout_ms),
        ("m", "v1", 30_000)
    );
    assert_eq!(m.targets[1].served_model_name, "m");
    assert_eq!((m.targets[1].weight, m.targets[1].enabled), (100, true));
}

#[test]
fn a_backend_header_of_null_switches_it_off() {
    let routing = r#"{"version":1,"workers":[],"endpoints":[],"routing":{"backend_header":null}}"#;
    assert_eq!(good(routing).routing.backend_header, None);
}

#[test]
fn a_mode_that_is_left_out_follows_from_the_weights() {
    for (fields, mode, attempts) in [
        (r#""targets":[]"#, Strategy::Failover, 1),
        (r#""targets":[{"worker":"w1"}]"#, Strategy::Failover, 1),
        (
            r#""targets":[{"worker":"w1"},{"worker":"w2"},{"worker":"w3"}]"#,
            Strategy::Failover,
            3,
        ),
        (
            r#""targets":[{"worker":"w1"},{"worker":"w2","enabled":false}]"#,
            Strategy::Failover,
            1,
        ),
        (
            r#""targets":[{"worker":"w1","enabled":false}]"#,
            Strategy::Failover,
            1,
        ),
        (
            r#""targets":[{"worker":"w1"},{"worker":"w2","weight":5}]"#,
            Strategy::Weighted,
            2,
        ),
        (
            r#""mode":"failover","targets":[{"worker":"w1","weight":0}]"#,
            Strategy::Failover,
            1,
        ),
        (
            r#""mode":"weighted","targets":[{"worker":"w1"}]"#,
            Strategy::Weighted,
            2,
        ),
        (
            r#""mode":"round-robin","targets":[{"worker":"w1"}]"#,
            Strategy::RoundRobin,
            2,
        ),
        (
            r#""mode":"failover","max_attempts":5,"targets":[]"#,
            Strategy::Failover,
            5,
        ),
        (
            r#""max_attempts":16,"targets":[{"worker":"w1","weight":5}]"#,
            Strategy::Weighted,
            16,
        ),
    ] {
        let gateway = endpoint(fields);
        let found = &gateway.endpoints[0];
        assert_eq!(
            (found.strategy, found.max_attempts),
            (mode, attempts),
            "{fields}"
        );
    }
}

#[test]
fn a_long_failover_list_is_tried_sixteen_times_at_most() {
    let targets: Vec<String> = (1..=20)
        .map(|n| format!(r#"{{"worker":"w{n}"}}"#))
        .collect();
    let gateway = endpoint(&format!(r#""targets":[{}]"#, targets.join(",")));
    assert_eq!(gateway.endpoints[0].max_attempts, 16);
}

#[test]
fn a_weighted_endpoint_may_have_all_its_targets_disabled() {
    endpoint(r#""mode":"weighted","targets":[{"worker":"w1","weight":0,"enabled":false}]"#);
    endpoint(r#""mode":"weighted","targets":[]"#);
}

#[test]
fn every_credential_header_is_known() {
    for (given, header) in [
        (r#"{"env":"K"}"#, CredentialHeader::Authorization),
        (
            r#"{"env":"K","header":"authorization"}"#,
            CredentialHeader::Authorization,
        ),
        (
            r#"{"env":"_K9","header":"x-api-key"}"#,
            CredentialHeader::XApiKey,
        ),
        (
            r#"{"env":"K","header":"api-key"}"#,
            CredentialHeader::ApiKey,
        ),
        (
            r#"{"env":"K","header":"x-goog-api-key"}"#,
            CredentialHeader::Named("x-goog-api-key".into()),
        ),
    ] {
        let gateway = good(&format!(
            r#"{{"version":1,"endpoints":[],"workers":[{{"id":"w","address":"[::1]:80","credential":{given}}}]}}"#
        ));
        assert_eq!(
            gateway.workers[0].credential.as_ref().unwrap().header,
            header,
            "{given}"
        );
    }
}

#[test]
fn an_endpoint_is_found_by_its_slug_alone() {
    let gateway = good(
        r#"{"version":1,"workers":[],"endpoints":[
            {"name":"b","slug":"Z/ü 1","targets":[]},
            {"name":"a","targets":[]},
            {"name":"c","slug":"b","targets":[]}]}"#,
    );
    let name = |slug: &str| gateway.endpoint(slug).map(|found| found.name.as_str());
    assert_eq!(name("Z/ü 1"), Some("b"));
    assert_eq!(name("a"), Some("a"));
    assert_eq!(name("b"), Some("c"));
    for absent in ["c", "A", "", "a ", "zz"] {
        assert_eq!(name(absent), None, "{absent}");
    }
}

#[test]
fn the_same_address_may_serve_in_two_clusters() {
    good(
        r#"{"version":1,"endpoints":[],"workers":[
            {"id":"w1","cluster":"plain","address":"127.0.0.1:9101"},
            {"id":"w2","cluster":"tls","address":"127.0.0.1:9101"}]}"#,
    );
}

#[test]
fn what_an_endpoint_says_of_its_order() {
    let top = |k, epsilon| Strategy::LeastRequestTopK(TopK { k, epsilon });
    for (fields, usual, expected) in [
        ("", "", Strategy::Failover),
        ("", r#""strategy":"sticky""#, Strategy::Sticky),
        (
            r#""mode":"least-connections""#,
            r#""strategy":"sticky""#,
            Strategy::LeastConnections,
        ),
        (r#""mode":"least-latency""#, "", Strategy::LeastLatency),
        (r#""mode":"random""#, "", Strategy::Random),
        (r#""mode":"power-of-two""#, "", Strategy::PowerOfTwo),
        (r#""mode":"weighted""#, "", Strategy::Weighted),
        (
            r#""mode":"weighted","split":"request""#,
            "",
            Strategy::Weighted,
        ),
        (
            r#""mode":"weighted","split":"caller""#,
            "",
            Strategy::WeightedByCaller,
        ),
        (r#""mode":"least-request-top-k""#, "", top(5, 4)),
        (
            r#""mode":"least-request-top-k","top_k":{"k":2}"#,
            "",
            top(2, 4),
        ),
        (
            r#""top_k":{"epsilon":0}"#,
            r#""strategy":"least-request-top-k""#,
            top(5, 0),
        ),
    ] {
        let comma = if fields.is_empty() { "" } else { "," };
        let document = format!(
            r#"{{"version":1,"workers":[{{"id":"w","address":"127.0.0.1:80"}}],"routing":{{{usual}}},
                "endpoints":[{{"name":"m","targets":[{{"worker":"w"}}]{comma}{fields}}}]}}"#
        );
        let found = good(&document).endpoints[0].strategy;
        assert_eq!(found, expected, "{fields} {usual}");
    }
}

#[test]
fn weights_speak_for_themselves_where_the_endpoint_names_no_order() {
    let document = r#"{"version":1,"workers":[{"id":"w","address":"127.0.0.1:80"}],"routing":{"strategy":"sticky"},
        "endpoints":[{"name":"m","targets":[{"worker":"w","weight":5}]}]}"#;
    assert_eq!(good(document).endpoints[0].strategy, Strategy::Weighted);
}

#[test]
fn whom_a_worker_serves() {
    let document = r#"{"version":1,"endpoints":[],"tenants":[{"id":"a","residency":["eu"]},{"id":"b"}],
        "routing":{"canary_percent":5},
        "workers":[{"id":"w1","address":"127.0.0.1:80"},
                   {"id":"w2","address":"127.0.0.1:81","classes":["background"],"canary":true,"tenants":["b"],"region":"eu"}]}"#;
    let gateway = good(document);
    let [usual, special] = gateway.workers.as_slice() else {
        panic!("two workers");
    };
    assert_eq!(usual.classes, Class::ALL);
    assert!(!usual.canary);
    assert_eq!((&usual.tenants, &usual.region), (&None, &None));
    assert_eq!(special.classes, [Class::Background]);
    assert!(special.canary);
    assert_eq!(special.tenants, Some(vec![1]));
    assert_eq!(special.region.as_deref(), Some("eu"));
    assert_eq!(gateway.tenants[0].residency, Some(vec!["eu".to_owned()]));
    let policy = gateway.routing.policy;
    assert_eq!((policy.canary_percent, policy.background_percent), (5, 75));
}
