//! Times as clients read them.

use dragoman_limits::{reset_text, retry_after_s};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

#[test]
fn retry_after_is_rounded_up_and_at_least_one_second() {
    for (ms, expected) in [
        (0, 1),
        (1, 1),
        (1_000, 1),
        (1_001, 2),
        (59_999, 60),
        (u64::MAX, u64::MAX / 1_000 + 1),
    ] {
        assert_eq!(retry_after_s(ms), expected, "{ms}");
    }
}

#[test]
fn reset_times_are_written_as_openai_writes_them() {
    for (ms, expected) in [
        (0, "0s"),
        (1, "1ms"),
        (12, "12ms"),
        (20, "20ms"),
        (999, "999ms"),
        (1_000, "1s"),
        (1_001, "1.001s"),
        (1_500, "1.5s"),
        (8_640, "8.64s"),
        (59_999, "59.999s"),
        (60_000, "1m0s"),
        (86_400, "1m26.4s"),
        (360_000, "6m0s"),
        (3_600_000, "1h0m0s"),
        (3_661_010, "1h1m1.01s"),
        (90_000_000, "25h0m0s"),
        (u64::MAX, "5124095576030h25m51.615s"),
    ] {
        assert_eq!(reset_text(ms), expected);
    }
}
