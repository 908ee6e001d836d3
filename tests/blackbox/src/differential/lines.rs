//! The guests' lines in an engine's log.

use std::collections::BTreeMap;

/// What stands before a guest's line, in both engines.
const MARK: &str = "wasm log";
/// Hex digits of the tag by which a VM of `scripted.wasm` names itself.
const TAG: usize = 8;

/// The lines of guests, by the VM they ran in.
#[derive(Debug, Default)]
pub(super) struct Lines {
    /// Of VMs that had streams, in order. Each begins with the VM's number.
    pub(super) serving: Vec<String>,
    /// Of all other VMs (of the main thread, of a trial), sorted, without number.
    pub(super) idle: Vec<Vec<String>>,
}

struct Line<'a> {
    tag: &'a str,
    text: String,
}

/// Takes the guests' lines out of a log.
pub(super) fn read(log: &str) -> Lines {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for line in log.lines() {
        if let Some((tag, text)) = guest_line(line) {
            // A line without a tag was not written by the script itself: it belongs to who spoke last.
            let tag = tag.or_else(|| lines.last().map(|last| last.tag));
            lines.push(Line {
                tag: tag.unwrap_or_default(),
                text,
            });
        }
    }
    sorted_out(&lines)
}

fn sorted_out(lines: &[Line<'_>]) -> Lines {
    let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines {
        if makes_a_stream(&line.text) {
            let next = numbers.len() + 1;
            numbers.entry(line.tag).or_insert(next);
        }
    }
    let mut out = Lines::default();
    let mut idle: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for line in lines {
        match numbers.get(line.tag) {
            Some(number) => out.serving.push(format!("{number} {}", line.text)),
            None => idle.entry(line.tag).or_default().push(line.text.clone()),
        }
    }
    out.idle = idle.into_values().collect();
    out.idle.sort();
    out
}

fn makes_a_stream(text: &str) -> bool {
    text.split_once("context_create(")
        .and_then(|(_, ids)| ids.split_once(", "))
        .is_some_and(|(_, root)| root != "0)")
}

/// Tag and text, with the plugin's name and, unless it is info, the level.
fn guest_line(line: &str) -> Option<(Option<&str>, String)> {
    let (head, rest) = line.split_once(MARK)?;
    let level = ["trace", "debug", "info", "warning", "error", "critical"]
        .into_iter()
        .find(|level| head.contains(&format!("[{level}]")))?;
    let (names, text) = rest.split_once(':')?;
    let names: Vec<&str> = names.split_whitespace().collect();
    let name = match names.as_slice() {
        [] => "(vm)".to_owned(),
        [root] => format!("({root})"),
        [plugin, root, rest @ ..] if plugin == root => [&[*plugin], rest].concat().join(" "),
        others => others.join(" "),
    };
    let text = text.strip_prefix(' ').unwrap_or(text);
    let (tag, text) = match tagged(text) {
        Some((tag, text)) => (Some(tag), text),
        None => (None, text),
    };
    let level = if level == "info" {
        String::new()
    } else {
        format!("[{level}] ")
    };
    Some((tag, format!("{name}: {level}{text}")))
}

fn tagged(text: &str) -> Option<(&str, &str)> {
    let (tag, rest) = text.strip_prefix('[')?.split_once("] ")?;
    let hex = tag.bytes().all(|byte| byte.is_ascii_hexdigit());
    (tag.len() == TAG && hex).then_some((tag, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
[2026-11-30 20:51:15.001][1][info][wasm] [source/context.cc:1] wasm log: [aaaaaaaa] initialize(0)
[2026-11-30 20:51:15.001][1][info][wasm] [source/context.cc:1] wasm log a: [bbbbbbbb] context_create(1, 0)
[2026-11-30 20:51:15.001][1][warning][main] something else
[2026-11-30 20:51:15.001][info] wasm log a a: [bbbbbbbb] context_create(2, 1)
[2026-11-30 20:51:15.001][error] wasm log a a: no tag
[2026-11-30 20:51:15.001][info] wasm log b c d: [cccccccc] context_create(2, 1)
";

    #[test]
    fn lines_have_the_number_of_their_vm_and_those_without_streams_stand_apart() {
        let lines = read(LOG);

        assert_eq!(
            lines.serving,
            [
                "1 (a): context_create(1, 0)",
                "1 a: context_create(2, 1)",
                "1 a: [error] no tag",
                "2 b c d: context_create(2, 1)",
            ]
        );
        assert_eq!(lines.idle, [["(vm): initialize(0)"]]);
    }
}
