//! What happened, a line each: in the log, and for the answer.

use std::cell::RefCell;

use crate::abi;

thread_local! {
    static LINES: RefCell<String> = const { RefCell::new(String::new()) };
}

pub fn begin() {
    LINES.take();
}

/// Adds a line, unless it is empty.
pub fn note(line: &str) {
    if line.is_empty() {
        return;
    }
    abi::log(&format!("grpc: {line}"));
    LINES.with_borrow_mut(|lines| {
        lines.push_str(line);
        lines.push('\n');
    });
}

pub fn text() -> String {
    LINES.with_borrow(Clone::clone)
}

/// Printable text; other bytes as `%` and two hex digits.
pub fn escaped(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|byte| match byte {
            b'!'..=b'$' | b'&'..=b'~' | b' ' => char::from(*byte).to_string(),
            _ => format!("%{byte:02x}"),
        })
        .collect()
}
