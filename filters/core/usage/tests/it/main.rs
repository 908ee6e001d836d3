//! The scanner from outside, with every body cut everywhere.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

mod documents;
mod events;
mod oracle;

use dragoman_usage::{Kind, Scanner, Usage};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// What a body tells in these chunks.
fn told<'a>(kind: Kind, chunks: impl IntoIterator<Item = &'a [u8]>) -> Option<Usage> {
    let mut scanner = Scanner::new(kind);
    for chunk in chunks {
        scanner.push(chunk);
    }
    scanner.usage()
}

/// What a body tells; the same whole, byte by byte, and cut in two at every place.
fn everywhere(kind: Kind, body: &[u8]) -> Option<Usage> {
    let whole = told(kind, [body]);
    let text = String::from_utf8_lossy(body);
    assert_eq!(told(kind, body.chunks(1)), whole, "byte by byte: {text}");
    for cut in 0..=body.len() {
        let (first, second) = body.split_at(cut);
        assert_eq!(
            told(kind, [first, b"", second]),
            whole,
            "cut at {cut}: {text}"
        );
    }
    whole
}

/// Input, output and total.
fn usage(counts: [Option<u64>; 3]) -> Option<Usage> {
    let [input, output, total] = counts;
    Some(Usage {
        input,
        output,
        total,
    })
}

/// Input and output only.
fn both(input: u64, output: u64) -> Option<Usage> {
    usage([Some(input), Some(output), None])
}

#[test]
fn the_kind_goes_by_the_media_type() {
    for (content_type, kind) in [
        ("application/json", Some(Kind::Document)),
        ("Application/JSON; charset=utf-8", Some(Kind::Document)),
        (" text/event-stream ;charset=utf-8", Some(Kind::Events)),
        ("text/plain", None),
        ("application/jsonl", None),
        ("audio/mpeg", None),
        ("", None),
    ] {
        assert_eq!(Kind::of(content_type.as_bytes()), kind, "{content_type}");
    }
}
