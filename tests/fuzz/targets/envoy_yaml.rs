//! An `envoy.yaml`: read, or refused with at least one problem.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Err(problems) = host_sim_envoy::read(text) {
        assert!(!problems.is_empty());
        for problem in problems {
            assert!(!problem.to_string().is_empty());
        }
    }
});
