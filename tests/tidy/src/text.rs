//! Words that have no place in the project, and files that grew too long.

use crate::{Finding, Tree};

/// The most lines of a Rust file: past that, there is a second idea in it.
pub const MAX_LINES: usize = 500;

/// Written by cargo, which names its registry there; one in the root of each workspace.
const GENERATED: &str = "Cargo.lock";

/// A text that may not occur. Written in two parts, so that this file does not break its own rule.
struct Refused {
    text: &'static str,
    /// Only where no letter, digit, `_`, `.` or `-` stands next to it.
    whole: bool,
    reason: &'static str,
}

const fn word(text: &'static str, reason: &'static str) -> Refused {
    Refused {
        text,
        whole: true,
        reason,
    }
}

const fn part(text: &'static str, reason: &'static str) -> Refused {
    Refused {
        text,
        whole: false,
        reason,
    }
}

const HOST: &str = "names the host of a package registry";
const MACHINE: &str = "names a folder of one machine";
const UNFINISHED: &str = "marks something unfinished; finish it or open an issue";

const REFUSED: &[Refused] = &[
    part(concat!("crates", ".io"), HOST),
    part(concat!("pypi", ".org"), HOST),
    part(concat!("pythonhosted", ".org"), HOST),
    part(concat!("npmjs", ".org"), HOST),
    part(concat!("npmjs", ".com"), HOST),
    part(concat!("yarnpkg", ".com"), HOST),
    part(concat!("rubygems", ".org"), HOST),
    part(concat!("proxy.golang", ".org"), HOST),
    part(concat!("docker", ".io"), HOST),
    part(concat!("ghcr", ".io"), HOST),
    part(concat!("deb.debian", ".org"), HOST),
    part(concat!("archive.ubuntu", ".com"), HOST),
    part(concat!("../sha", "red"), MACHINE),
    Refused {
        text: concat!("/wo", "rk/"),
        whole: true,
        reason: MACHINE,
    },
    word(concat!("TO", "DO"), UNFINISHED),
    word(concat!("FIX", "ME"), UNFINISHED),
    word(concat!("XX", "X"), UNFINISHED),
    part(concat!("to", "do!"), UNFINISHED),
    part(concat!("unimpl", "emented!"), UNFINISHED),
    part(concat!("(to be ", "written)"), UNFINISHED),
    part(
        concat!("#[ign", "ore"),
        "a test that never runs; delete it or make it run",
    ),
];

/// Every refused word and every Rust file over [`MAX_LINES`].
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let written_here = |path: &str| path.rsplit('/').next() != Some(GENERATED);
    for (path, text) in tree.texts().filter(|(path, _)| written_here(path)) {
        for (at, line) in text.lines().enumerate() {
            for refused in REFUSED.iter().filter(|refused| contains(line, refused)) {
                let reason = format!("{}: {}", refused.text, refused.reason);
                findings.push(Finding::on_line(path, at + 1, reason));
            }
        }
        let lines = text.lines().count();
        if path.ends_with(".rs") && lines > MAX_LINES {
            let reason = format!("{lines} lines; split it before {MAX_LINES}");
            findings.push(Finding::at(path, reason));
        }
    }
    findings
}

fn contains(line: &str, refused: &Refused) -> bool {
    line.match_indices(refused.text).any(|(at, text)| {
        let before = line[..at].chars().next_back();
        let after = line[at + text.len()..].chars().next();
        let joined = |next: Option<char>| next.is_some_and(is_joining);
        // A path goes on after its last slash.
        let open_end = text.ends_with('/');
        !refused.whole || !(joined(before) || (joined(after) && !open_end))
    })
}

fn is_joining(character: char) -> bool {
    character.is_alphanumeric() || "_.-".contains(character)
}
