//! The wire format of header lists, as a guest may hand it over.
#![no_main]

use host_sim_host::abi::pairs;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let pairs = pairs::read(bytes);
    // Whatever counts as a list has one spelling only.
    if !pairs.is_empty() {
        assert_eq!(pairs::write(&pairs), bytes);
    }
    assert_eq!(pairs::read(&pairs::write(&pairs)), pairs);
});
