//! What source may not reach for: clocks, files, sockets and threads where a host hands them in,
//! and `unsafe` outside of the three places that need it.

use crate::paths::{self, NamedPath};
use crate::tokens::{self, Kind, Token};
use crate::{Finding, Tree};

/// Where `unsafe` is: the host functions of the ABI, the memory of a guest, and the guest that speaks to a host without the sdk.
const UNSAFE: &[&str] = &[
    "filters/sdk/src/wasm/",
    "host-sim/vm/",
    "tests/guests/examples/scripted/",
];

/// Names that code in a module may not use: its host hands these in.
const NOT_IN_FILTERS: &[&[&str]] = &[
    &["time", "Instant"],
    &["time", "SystemTime"],
    &["time", "*"],
    &["std", "env"],
    &["std", "fs"],
    &["std", "thread"],
    &["std", "*"],
    &["net", "TcpStream"],
    &["net", "TcpListener"],
    &["net", "UdpSocket"],
    &["net", "*"],
    &["unix", "net"],
    &["thread_local"],
];

/// Names that host-sim uses in its server and its program only: the rest runs on a virtual clock.
const ONLY_IN_PROGRAM: &[&[&str]] = &[
    &["Instant", "now"],
    &["SystemTime", "now"],
    &["net", "TcpStream"],
    &["net", "TcpListener"],
    &["net", "UdpSocket"],
    &["net", "*"],
    &["unix", "net"],
    &["thread", "spawn"],
    &["thread", "scope"],
    &["thread", "Builder"],
    &["thread", "sleep"],
    &["thread", "*"],
];

/// The one place beside them that starts threads: guests overlap there, one running at a time, in an order of the seed.
const THREADS: &str = "host-sim/scenario/src/turns.rs";

/// Every place that reaches for something its folder may not use.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.rust() {
        let tokens = tokens::read(text);
        findings.extend(check_unsafe(path, &tokens));
        if is_test(path) {
            continue;
        }
        let tokens = paths::without_tests(&tokens);
        if is_filter(path) {
            let reason = "the host hands this in; a filter and its core do not reach for it";
            findings.extend(named(path, &tokens, NOT_IN_FILTERS, reason));
            findings.extend(check_static_mut(path, &tokens));
        } else if is_simulator(path) {
            let reason =
                "real clocks, sockets and threads are in host-sim/server and host-sim/cli only";
            let is_excepted = |name: &&&[&str]| path == THREADS && name.first() == Some(&"thread");
            let refused: Vec<&[&str]> = ONLY_IN_PROGRAM
                .iter()
                .filter(|name| !is_excepted(name))
                .copied()
                .collect();
            findings.extend(named(path, &tokens, &refused, reason));
        }
    }
    findings
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("_tests.rs")
}

/// Source of a filter or of the core: not the sdk, which speaks to the host, nor the shells.
fn is_filter(path: &str) -> bool {
    let outside = ["filters/sdk/", "filters/modules/"];
    path.starts_with("filters/")
        && path.contains("/src/")
        && !outside.iter().any(|folder| path.starts_with(folder))
}

fn is_simulator(path: &str) -> bool {
    let real = ["host-sim/server/", "host-sim/cli/"];
    path.starts_with("host-sim/")
        && path.contains("/src/")
        && !real.iter().any(|folder| path.starts_with(folder))
}

fn check_unsafe(path: &str, tokens: &[Token<'_>]) -> Vec<Finding> {
    if UNSAFE.iter().any(|folder| path.starts_with(folder)) {
        return Vec::new();
    }
    let found = tokens.iter().filter(|token| token.text == "unsafe");
    let reason = "unsafe is in filters/sdk/src/wasm, host-sim/vm and the guest `scripted` only";
    found
        .map(|token| Finding::on_line(path, token.line, reason))
        .collect()
}

fn check_static_mut(path: &str, tokens: &[Token<'_>]) -> Vec<Finding> {
    let pairs = tokens.iter().zip(tokens.iter().skip(1));
    let found = pairs.filter(|(first, second)| {
        first.kind == Kind::Word && first.text == "static" && second.text == "mut"
    });
    let reason = "static mut: state belongs to a context or to shared data";
    found
        .map(|(first, _)| Finding::on_line(path, first.line, reason))
        .collect()
}

fn named(path: &str, tokens: &[Token<'_>], refused: &[&[&str]], reason: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for NamedPath { segments, line } in paths::named(tokens) {
        let hit = |refused: &&&[&str]| {
            segments
                .windows(refused.len())
                .any(|part| part == **refused)
        };
        if let Some(name) = refused.iter().find(hit) {
            let reason = format!("{}: {reason}", name.join("::"));
            findings.push(Finding::on_line(path, line, reason));
        }
    }
    findings
}
