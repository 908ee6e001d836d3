//! Lines that outlive a stream, in shared data.

use dragoman_sdk::wasm::proxy_wasm::hostcalls::{get_shared_data, set_shared_data};

const KEY: &str = "probe/notes";
/// Never the token of a live value, so a key is created only where it is absent.
pub const ABSENT: u32 = u32::MAX;

/// Adds a line; tries again when another thread was faster.
pub fn add(line: &str) {
    loop {
        let (old, cas) = get_shared_data(KEY).unwrap_or_default();
        let mut text = old.unwrap_or_default();
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
        if set_shared_data(KEY, Some(&text), Some(cas.unwrap_or(ABSENT))).is_ok() {
            return;
        }
    }
}

/// All lines.
pub fn all() -> Vec<u8> {
    let (text, _) = get_shared_data(KEY).unwrap_or_default();
    text.unwrap_or_default()
}
