use tidy::{Tree, source};

use crate::{assert_finds, assert_tidy, project};

#[track_caller]
fn accepted(path: &str, sources: &[&str]) {
    for text in sources {
        assert_tidy(&source::check(&Tree::of(&[(path, text)])));
    }
}

/// Each source is refused once, on its line 2, for the name beside it.
#[track_caller]
fn refused(path: &str, sources: &[(&str, &str)]) {
    for (text, name) in sources {
        let findings = source::check(&Tree::of(&[(path, &format!("\n{text}\n"))]));
        assert_finds(&findings, &[&format!("{path}:2: {name}")]);
    }
}

const FILTER: &str = "filters/alias/src/filter.rs";
const CORE: &str = "filters/core/json/src/lib.rs";
const HOST: &str = "host-sim/host/src/lib.rs";

#[test]
fn the_project_reaches_for_nothing_it_is_handed() {
    assert_tidy(&source::check(&project()));
}

#[test]
fn a_filter_reaches_for_no_clock_file_socket_thread_or_static() {
    let cases = &[
        ("use std::time::Instant;", "time::Instant"),
        (
            "use std::time::{Duration, SystemTime as Clock};",
            "time::SystemTime",
        ),
        (
            "use std::{cell::Cell, time::{Duration, Instant}};",
            "time::Instant",
        ),
        ("use std::time::*;", "time::*"),
        ("fn f() { let t = time::Instant::now(); }", "time::Instant"),
        ("fn f() { std::env::var(\"A\"); }", "std::env"),
        ("use std::{env, cmp};", "std::env"),
        ("use std::fs as disk;", "std::fs"),
        ("use std::thread;", "std::thread"),
        ("fn f(s: &std::net::TcpStream) {}", "net::TcpStream"),
        ("use std::net::{IpAddr, UdpSocket};", "net::UdpSocket"),
        ("use std::os::unix::net::UnixStream;", "unix::net"),
        ("static mut COUNT: u32 = 0;", "static mut"),
        ("thread_local! { static A: u8 = 0; }", "thread_local"),
        ("fn f() { vec![std::fs::read(\"a\")]; }", "std::fs"),
    ];
    refused(FILTER, cases);
    refused(CORE, cases);
    refused("filters/guard/src/lib.rs", &cases[..1]);
}

#[test]
fn words_in_comments_and_literals_mean_nothing() {
    let sources = &[
        "//! Never std::time::Instant.\n/* std::fs /* std::env */ std::thread */",
        "const A: &str = \"std::fs::read\"; const B: &str = r#\"unsafe \" std::env\"#;",
        "const A: &[u8] = b\"unsafe\"; const B: char = '\"'; const C: u8 = b'\\''; // std::fs",
        "fn f<'a>(x: &'static mut u8, y: &'a str) -> char { 'x' }",
        "use std::net::IpAddr; use std::time::Duration; use std::collections::BTreeMap;",
        "fn f() -> impl Iterator + use<> { std::iter::empty::<u8>() }",
    ];
    accepted(FILTER, sources);
}

#[test]
fn tests_may_reach_for_anything_but_unsafe() {
    let inline = "#[cfg(test)]\n#[allow(dead_code)]\nmod tests { use std::fs; fn f() { {} } }";
    accepted(
        FILTER,
        &[inline, "#[cfg(all(test, unix))] use std::{fs, env};"],
    );
    accepted("filters/alias/tests/life.rs", &["use std::fs;"]);
    accepted("filters/alias/src/tests.rs", &["use std::fs;"]);
    refused(
        FILTER,
        &[("#[cfg(test)] mod tests { } use std::fs;", "std::fs")],
    );
    refused(
        FILTER,
        &[("#[cfg(test)] mod tests; use std::fs;", "std::fs")],
    );
    refused(FILTER, &[("#[cfg(not(test))] use std::fs;", "std::fs")]);
    refused(
        "filters/alias/tests/life.rs",
        &[("fn f() { unsafe { g() } }", "unsafe")],
    );
}

#[test]
fn the_sdk_may_speak_to_its_host() {
    accepted(
        "filters/sdk/src/wasm/env.rs",
        &["fn f() { std::env::var(\"A\"); unsafe { g() } }"],
    );
    refused(
        "filters/sdk/src/fake.rs",
        &[("unsafe impl Send for Fake {}", "unsafe")],
    );
}

#[test]
fn only_the_server_of_host_sim_has_clocks_sockets_and_threads() {
    let cases = &[
        ("fn f() { std::time::Instant::now(); }", "Instant::now"),
        ("fn f() -> T { SystemTime::now() }", "SystemTime::now"),
        ("use std::net::TcpListener;", "net::TcpListener"),
        ("use std::os::unix::net::UnixStream;", "unix::net"),
        ("fn f() { std::thread::spawn(|| ()); }", "thread::spawn"),
        ("fn f() { thread::sleep(d); }", "thread::sleep"),
    ];
    for folder in ["host", "vm", "envoy", "scenario"] {
        refused(&format!("host-sim/{folder}/src/lib.rs"), cases);
    }
    for (text, _) in cases {
        accepted("host-sim/server/src/main.rs", &[text]);
    }
    accepted(HOST, &["fn f(now: std::time::Instant) {} use std::fs;"]);
}

#[test]
fn overlapping_guests_may_start_threads_but_read_no_clock() {
    let turns = "host-sim/scenario/src/turns.rs";
    accepted(turns, &["fn f() { std::thread::scope(|scope| ()); }"]);
    refused(
        turns,
        &[("fn f() { std::time::Instant::now(); }", "Instant::now")],
    );
}

#[test]
fn unsafe_is_in_two_places_only() {
    accepted("host-sim/vm/src/memory.rs", &["fn f() { unsafe { g() } }"]);
    refused(HOST, &[("fn f() { unsafe { g() } }", "unsafe")]);
    refused(
        "scripts/x/src/main.rs",
        &[("unsafe extern \"C\" {}", "unsafe")],
    );
}
