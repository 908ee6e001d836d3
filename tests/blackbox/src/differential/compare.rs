//! Two lists of lines, side by side.

use std::fmt::Write;

use super::Seen;

/// Lines of equal text that are shown around a difference.
const CONTEXT: usize = 3;

/// Compares everything that both engines show.
pub(super) fn assert_same(envoy: &Seen, host_sim: &Seen) {
    let mut report = String::new();
    for ((name, left), (_, right)) in envoy.sections().iter().zip(host_sim.sections()) {
        if *left != right {
            let _ = writeln!(report, "== {name} ==\n{}", difference(left, right));
        }
    }
    assert!(
        report.is_empty(),
        "the engines differ (- only Envoy, + only host-sim):\n{report}"
    );
}

/// Lines that only one side has, with their surroundings.
fn difference(left: &[String], right: &[String]) -> String {
    let marked = marked(left, right);
    let near = |at: usize| {
        let from = at.saturating_sub(CONTEXT);
        marked
            .iter()
            .skip(from)
            .take(at - from + CONTEXT + 1)
            .any(|(mark, _)| *mark != ' ')
    };
    let mut text = String::new();
    let mut gap = false;
    for (at, (mark, line)) in marked.iter().enumerate() {
        if near(at) {
            let _ = writeln!(text, "{mark} {line}");
        } else if !gap {
            text.push_str("  ...\n");
        }
        gap = !near(at);
    }
    text
}

/// The longest common subsequence stays unmarked.
fn marked<'a>(left: &'a [String], right: &'a [String]) -> Vec<(char, &'a String)> {
    let mut common = vec![vec![0_usize; right.len() + 1]; left.len() + 1];
    for (i, a) in left.iter().enumerate().rev() {
        for (j, b) in right.iter().enumerate().rev() {
            common[i][j] = if a == b {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut out = Vec::new();
    while i < left.len() || j < right.len() {
        if i < left.len() && j < right.len() && left[i] == right[j] {
            out.push((' ', &left[i]));
            i += 1;
            j += 1;
        } else if j == right.len() || (i < left.len() && common[i + 1][j] >= common[i][j + 1]) {
            out.push(('-', &left[i]));
            i += 1;
        } else {
            out.push(('+', &right[j]));
            j += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn only_what_differs_is_marked() {
        let text = difference(&lines("a b c d e f g h"), &lines("a b c d e x g h"));

        assert_eq!(text, "  ...\n  c\n  d\n  e\n- f\n+ x\n  g\n  h\n");
    }
}
