//! With limits, without, and without what limits need.

use blackbox::{Engine, Faults, both_engines, envoy_only};

use super::{KEY_A, NEVER, ask, builder, limit, told};
use crate::support::refused;

both_engines![
    without_limits_the_filter_is_left_out_and_nobody_is_limited,
    limits_where_nobody_knows_who_calls_are_misconfigured,
];
envoy_only!["host-sim writes its own log at one level for all components; its scenarios read the same line.":
    the_bound_of_shared_data_is_in_the_log_at_start];

fn without_limits_the_filter_is_left_out_and_nobody_is_limited(engine: Engine) {
    let world = builder(engine, &[])
        .edit_yaml(|yaml| {
            assert!(!yaml.contains("rate_limit.wasm"), "the module is left out");
            yaml
        })
        .start();
    let headers = [("x-ratelimit-limit-requests".to_owned(), "9000".to_owned())];
    world.fail(
        "w1",
        Faults {
            headers: headers.into(),
            ..Faults::default()
        },
    );
    for _ in 0..50 {
        let response = ask(&world, KEY_A);
        assert_eq!(response.status, 200);
        assert_eq!(told(&response), [Some("9000".to_owned()), None, None]);
    }
}

/// The filter stands where `auth` should, and `auth` after it.
fn limits_where_nobody_knows_who_calls_are_misconfigured(engine: Engine) {
    let world = builder(engine, &[limit("per-key", &["key"], NEVER, 100)])
        .edit_yaml(|yaml| {
            let yaml = yaml.replace("/auth.wasm", "/first.wasm");
            let yaml = yaml.replace("/rate_limit.wasm", "/auth.wasm");
            yaml.replace("/first.wasm", "/rate_limit.wasm")
        })
        .start();

    for _ in 0..3 {
        let response = ask(&world, KEY_A);
        assert_eq!(response.outcome(), refused(500, "misconfigured"));
        assert!(response.text().contains("limits need auth"), "{response:?}");
    }
    assert_eq!(world.hits(), [0]);
}

fn the_bound_of_shared_data_is_in_the_log_at_start(engine: Engine) {
    let world = builder(engine, &[limit("per-key", &["key"], NEVER, 1)])
        .argument("--component-log-level")
        .argument("wasm:info")
        .start();
    assert_eq!(ask(&world, KEY_A).status, 200);
    let output = world.output();
    assert!(
        output.contains("rate_limit: at most ") && output.contains(" bytes of shared data"),
        "{output}"
    );
}
