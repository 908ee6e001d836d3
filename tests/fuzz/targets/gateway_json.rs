//! A `gateway.json`: read, or refused with path and reason; what is read is rendered into a YAML
//! that the simulator reads.
#![no_main]

use host_sim_envoy::{RenderOptions, read, render};

libfuzzer_sys::fuzz_target!(|text: &str| {
    match dragoman_config::parse(text.as_bytes()) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(_) => {
            if let Ok(yaml) = render(text, &RenderOptions::default()) {
                assert!(read(&yaml).is_ok(), "{yaml}");
            }
        }
    }
});
