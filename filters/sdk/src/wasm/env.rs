//! What goes through WASI instead of the proxy-wasm ABI, and the wire form of header lists.

use std::cell::Cell;
use std::time::Duration;

use crate::host::Pairs;

/// Numbers drawn with one host call; 64 bytes cost no more than 8.
const DRAWN_AHEAD: usize = 8;

thread_local! {
    static DRAWN: Cell<([u64; DRAWN_AHEAD], usize)> = const { Cell::new(([0; DRAWN_AHEAD], 0)) };
}

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn random_get(buffer: *mut u8, length: usize) -> u16;
    fn clock_time_get(clock: u32, precision_ns: u64, now_ns: *mut u64) -> u16;
}

/// A supply of random numbers.
pub(super) struct Random;

impl Random {
    pub(super) fn next() -> u64 {
        DRAWN.with(|drawn| {
            let (mut numbers, mut left) = drawn.get();
            if left == 0 {
                // SAFETY: the buffer is as long as said.
                let status = unsafe {
                    random_get(numbers.as_mut_ptr().cast(), std::mem::size_of_val(&numbers))
                };
                debug_assert_eq!(status, 0);
                left = DRAWN_AHEAD;
            }
            left -= 1;
            drawn.set((numbers, left));
            numbers.get(left).copied().unwrap_or_default()
        })
    }
}

/// Time since the machine started: the same for all threads and modules, so that it may stand in
/// shared data.
pub(super) fn monotonic() -> Duration {
    const MONOTONIC: u32 = 1;
    let mut nanoseconds = 0;
    // SAFETY: the pointer is to a live local.
    let status = unsafe { clock_time_get(MONOTONIC, 1, &mut nanoseconds) };
    debug_assert_eq!(status, 0);
    Duration::from_nanos(nanoseconds)
}

/// `count, (name length, value length)*, (name NUL value NUL)*`, numbers as `u32` little-endian.
pub(super) fn decode_pairs(bytes: &[u8]) -> Option<Pairs> {
    // No map at all reads as no bytes.
    if bytes.is_empty() {
        return Some(Vec::new());
    }
    let number = |at: usize| -> Option<usize> {
        let four: [u8; 4] = bytes.get(at..at.checked_add(4)?)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(four)).ok()
    };
    let count = number(0)?;
    let mut at = count.checked_mul(8)?.checked_add(4)?;
    let mut pairs = Vec::with_capacity(count.min(bytes.len() / 8));
    for index in 0..count {
        let lengths = index.checked_mul(8)?.checked_add(4)?;
        let mut field = |length: usize| -> Option<Vec<u8>> {
            let end = at.checked_add(length)?;
            let value = bytes.get(at..end)?.to_vec();
            at = end.checked_add(1)?;
            Some(value)
        };
        let name = field(number(lengths)?)?;
        pairs.push((name, field(number(lengths.checked_add(4)?)?)?));
    }
    Some(pairs)
}

/// The reverse.
pub(super) fn encode_pairs(pairs: &[(&str, &[u8])]) -> Vec<u8> {
    let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes();
    let mut out = Vec::new();
    out.extend_from_slice(&number(pairs.len()));
    for (name, value) in pairs {
        out.extend_from_slice(&number(name.len()));
        out.extend_from_slice(&number(value.len()));
    }
    for (name, value) in pairs {
        for field in [name.as_bytes(), value] {
            out.extend_from_slice(field);
            out.push(0);
        }
    }
    out
}
