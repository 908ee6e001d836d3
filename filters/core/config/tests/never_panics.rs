//! Whatever the document, the answer is a checked gateway or one fault.

use dragoman_config::parse;
use proptest::prelude::*;

const GOOD: &str = include_str!("../../../../envoy/gateway.json");

/// Pieces that matter to the grammar or to the checks.
const PIECES: &[&str] = &[
    "",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "null",
    "-1",
    "1e999",
    "\\u0000",
    "\\ud800",
    "true",
    "\"w1\"",
    "\"weight\"",
    "\"slug\"",
    "18446744073709551616",
    "\u{85}",
    "ü",
];

proptest! {
    #[test]
    fn on_arbitrary_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&bytes);
    }

    #[test]
    fn on_a_good_document_with_pieces_replaced(
        edits in proptest::collection::vec(
            (any::<prop::sample::Index>(), 0..12usize, prop::sample::select(PIECES)), 1..6)
    ) {
        let mut bytes = GOOD.as_bytes().to_vec();
        for (place, length, piece) in edits {
            let start = place.index(bytes.len() + 1);
            let end = (start + length).min(bytes.len());
            bytes.splice(start..end, piece.bytes());
        }
        if let Err(fault) = parse(&bytes) {
            let line = fault.to_string();
            prop_assert!(line.len() < 600 && !line.contains('\n'), "{}", line);
        }
    }
}
