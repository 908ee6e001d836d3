//! The token counts of an answer do not depend on where its chunks are cut.
#![no_main]

use dragoman_usage::{Kind, Scanner, Usage};

fn told(kind: Kind, chunks: &[&[u8]]) -> Option<Usage> {
    let mut scanner = Scanner::new(kind);
    for chunk in chunks {
        scanner.push(chunk);
    }
    scanner.usage()
}

libfuzzer_sys::fuzz_target!(|input: (bool, u16, &[u8])| {
    let (streamed, cut, body) = input;
    let kind = if streamed { Kind::Events } else { Kind::Document };
    let (first, second) = body.split_at(usize::from(cut).min(body.len()));
    assert_eq!(told(kind, &[body]), told(kind, &[first, second]));
});
