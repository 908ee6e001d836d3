//! A page of keys of a control plane: read, or refused without a word of what stands in it; what is read is kept as it is.
#![no_main]

use dragoman_config::{MAX_PAGE_KEYS, PolledKey, key_page};
use libfuzzer_sys::fuzz_target;

/// As if somebody wrote the key itself where its digest belongs.
const SECRET: &str = "sk-fuzzed-secret";

fuzz_target!(|input: &[u8]| {
    match key_page(input) {
        Err(error) => {
            let text = error.to_string();
            assert!(!text.is_empty());
            assert!(!text.contains(SECRET), "{text}");
        }
        Ok(page) => {
            assert!(page.keys.len() <= MAX_PAGE_KEYS);
            assert!(
                page.next
                    .as_deref()
                    .is_none_or(|next| next.starts_with('/'))
            );
            for polled in &page.keys {
                let kept = PolledKey::decode(polled.key.sha256, &polled.encode());
                assert_eq!(kept.as_ref(), Some(polled));
            }
        }
    }
    // What is kept is read by other threads, perhaps of a later version: any bytes are a record or none.
    let _ = PolledKey::decode([0; 32], input);
});
