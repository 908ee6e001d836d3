//! Golden traces: what a scenario did once, as text, compared with what it does now.

use std::fmt::Write;

/// Largest trace that is kept in a file, in bytes: more is not read by anybody.
pub const MAX_BYTES: usize = 512 * 1024;
/// Lines before a difference that are shown, and lines of each side after it.
const CONTEXT: usize = 4;
/// Longest line that is shown whole, in characters.
const WIDTH: usize = 400;

/// The first place where two traces differ, with what led to it; `None` if they are equal.
#[must_use]
pub fn difference(golden: &str, now: &str) -> Option<String> {
    if golden == now {
        return None;
    }
    let (golden, now): (Vec<&str>, Vec<&str>) = (golden.lines().collect(), now.lines().collect());
    let same = golden
        .iter()
        .zip(&now)
        .take_while(|(one, other)| one == other);
    let at = same.count();
    let mut text = format!("line {}:\n", at + 1);
    let side = |text: &mut String, mark: char, lines: &[&str]| {
        for line in lines {
            let line: String = line.chars().take(WIDTH).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{mark} {line}");
        }
    };
    side(&mut text, ' ', &golden[at.saturating_sub(CONTEXT)..at]);
    side(&mut text, '-', tail(&golden, at));
    side(&mut text, '+', tail(&now, at));
    if golden.len() != now.len() {
        let _ = writeln!(text, "({} lines then, {} now)", golden.len(), now.len());
    }
    Some(text)
}

fn tail<'a>(lines: &'a [&'a str], at: usize) -> &'a [&'a str] {
    let end = lines.len().min(at + CONTEXT);
    lines.get(at..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_shown_with_what_led_to_it() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        let text = difference("1\n2\n3\n4\n5\nold\n7\n", "1\n2\n3\n4\n5\nnew\n7\n").unwrap();
        assert_eq!(
            text,
            "line 6:\n  2\n  3\n  4\n  5\n- old\n- 7\n+ new\n+ 7\n"
        );
    }

    #[test]
    fn a_trace_that_ends_early_differs() {
        let text = difference("a\nb\n", "a\n").unwrap();
        assert_eq!(text, "line 2:\n  a\n- b\n(2 lines then, 1 now)\n");
    }
}
