//! The memory of a guest: its bound, its name, its allocator.

use blackbox::differential::{Case, Seen};
use blackbox::plugin::{Plugin, scripted};

use super::text::Text;

/// Bytes of room of the text guests: two pages.
const END: u32 = 2 * 65536;

fn said(text: &Text) -> Seen {
    let folder = tempfile::tempdir().expect("a folder");
    Case::new()
        .filter(text.plugin(&folder))
        .run(|client| drop(client.get("/")))
}

/// A module as it stands, in a folder that must live as long as it is used.
fn module(text: &str) -> (tempfile::TempDir, Plugin) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("module.wasm");
    std::fs::write(&path, wat::parse_str(text).expect("text of a module")).expect("a folder");
    let plugin = scripted("a", "").with_code(path.to_str().expect("a path of text"));
    (folder, plugin)
}

/// Both engines end at their start with this sentence.
fn is_refused(text: &str, sentence: &str) {
    let (_folder, plugin) = module(text);
    let said = Case::new().filter(plugin).refused();
    assert!(!said.is_empty());
    for said in said {
        assert!(said.contains(sentence), "{said}");
    }
}

#[test]
fn a_memory_grows_to_one_gibibyte() {
    let seen = said(
        &Text::new()
            .step("size", "(memory.size)")
            .step("grow 16383", "(memory.grow (i32.const 16383))")
            .step("grow 65535", "(memory.grow (i32.const 65535))")
            .step("grow 16382", "(memory.grow (i32.const 16382))")
            .step("filled", "(memory.size)")
            .step("one more", "(memory.grow (i32.const 1))")
            .step("none", "(memory.grow (i32.const 0))"),
    );

    assert_eq!(seen.answers("grow 16383"), ["4294967295"]);
    assert_eq!(seen.answers("grow 16382"), ["2"]);
    assert_eq!(seen.answers("filled"), ["16384"]);
    assert_eq!(seen.answers("one more"), ["4294967295"]);
    assert_eq!(seen.answers("none"), ["16384"]);
}

#[test]
fn a_memory_grows_to_what_it_says_itself() {
    let small = said(
        &Text::new()
            .memory(r#"(memory (export "memory") 2 4)"#)
            .step("grow 2", "(memory.grow (i32.const 2))")
            .step("grow 1", "(memory.grow (i32.const 1))"),
    );
    assert_eq!(small.answers("grow 2"), ["2"]);
    assert_eq!(small.answers("grow 1"), ["4294967295"]);

    let large = said(
        &Text::new()
            .memory(r#"(memory (export "memory") 2 65536)"#)
            .step("grow 16382", "(memory.grow (i32.const 16382))")
            .step("one more", "(memory.grow (i32.const 1))"),
    );
    assert_eq!(large.answers("grow 16382"), ["2"]);
    assert_eq!(large.answers("one more"), ["4294967295"]);
}

#[test]
fn a_memory_may_begin_with_one_gibibyte_and_not_with_more() {
    let whole = r#"(memory (export "memory") 16384)"#;
    let seen = said(&Text::new().memory(whole).step("size", "(memory.size)"));
    assert_eq!(seen.answers("size"), ["16384"]);

    is_refused(
        r#"(module (memory (export "memory") 16385) (func (export "proxy_abi_version_0_2_1"))
            (func (export "malloc") (param i32) (result i32) (i32.const 1024)))"#,
        "Failed to create new Wasm instance",
    );
}

#[test]
fn a_module_needs_an_allocator_with_the_right_signature() {
    let prelude = r#"(memory (export "memory") 1) (func (export "proxy_abi_version_0_2_1"))"#;
    is_refused(
        &format!("(module {prelude})"),
        "Wasm module is missing malloc function",
    );
    is_refused(
        &format!(
            r#"(module {prelude} (func (export "malloc") (param i64) (result i32) (i32.const 0)))"#
        ),
        "Bad function signature for: malloc, want: i32 -> i32, but the module exports: i64 -> i32",
    );
}

#[test]
fn a_module_may_have_no_memory() {
    let (_folder, plugin) = module(
        r#"(module (func (export "proxy_abi_version_0_2_1"))
            (func (export "malloc") (param i32) (result i32) (i32.const 0)))"#,
    );

    let seen = Case::new()
        .filter(plugin)
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.statuses(), [200]);
}

/// Some calls that want room for their answer.
fn asks(name: &str) -> Text {
    let imports = r#"(import "env" "proxy_get_buffer_bytes" (func $get (param i32 i32 i32 i32 i32) (result i32)))
        (import "env" "proxy_get_header_map_value" (func $header (param i32 i32 i32 i32 i32) (result i32)))
        (import "env" "proxy_get_header_map_pairs" (func $pairs (param i32 i32 i32) (result i32)))
        (import "env" "proxy_get_property" (func $property (param i32 i32 i32 i32) (result i32)))"#;
    let memory =
        format!(r#"(memory (export "{name}") 2) (data (i32.const 100) ":pathplugin_name")"#);
    let get = |length: i32, pointer: i32, out: i32| {
        format!(
            "(call $get (i32.const 6) (i32.const 0) (i32.const {length}) (i32.const {pointer}) (i32.const {out}))"
        )
    };
    Text::new()
        .import(imports)
        .memory(&memory)
        .step("bytes", &get(5, 32, 36))
        .step("pointer", "(i32.load (i32.const 32))")
        .step("length", "(i32.load (i32.const 36))")
        .step("header", "(call $header (i32.const 0) (i32.const 100) (i32.const 5) (i32.const 40) (i32.const 44))")
        .step("pairs", "(call $pairs (i32.const 0) (i32.const 48) (i32.const 52))")
        .step("property", "(call $property (i32.const 105) (i32.const 11) (i32.const 56) (i32.const 60))")
        .step("empty", &get(0, 32, 36))
        .step("nowhere for the pointer", &get(5, -2, 36))
        .step("nowhere for the length", &get(5, 32, -2))
}

/// The answers of a guest whose `malloc` always gives this.
fn with_malloc(gives: u32) -> Seen {
    let malloc =
        format!(r#"(func (export "malloc") (param i32) (result i32) (i32.const {gives}))"#);
    said(&asks("memory").allocator(&malloc))
}

#[test]
fn a_memory_of_any_name_is_the_guests() {
    let seen = said(&asks("mine"));

    assert_eq!(seen.answers("bytes"), ["0"]);
    assert_eq!(seen.answers("length"), ["5"]);
}

#[test]
fn of_two_allocators_malloc_is_asked() {
    let seen = said(&asks("memory").allocator(
        r#"(func (export "malloc") (param i32) (result i32) (i32.const 70000))
           (func (export "proxy_on_memory_allocate") (param i32) (result i32) (i32.const 80000))"#,
    ));

    assert_eq!(seen.answers("pointer"), ["70000"]);
}

#[test]
fn an_allocator_that_has_nothing_left_makes_calls_fail() {
    let seen = with_malloc(0);

    for call in ["bytes", "header", "pairs", "property"] {
        assert_eq!(seen.answers(call), ["6"], "{call}");
    }
    assert_eq!(seen.answers("empty"), ["0"], "it is not asked for nothing");
}

#[test]
fn an_allocator_that_points_outside_makes_calls_fail() {
    let seen = with_malloc(END);

    for call in ["bytes", "header", "pairs", "property"] {
        assert_eq!(seen.answers(call), ["6"], "{call}");
    }
}

#[test]
fn an_answer_may_end_with_the_memory() {
    let seen = with_malloc(END - 5);

    assert_eq!(seen.answers("bytes"), ["0"]);
    assert_eq!(seen.answers("pairs"), ["6"]);
    assert_eq!(seen.answers("nowhere for the pointer"), ["6"]);
    assert_eq!(seen.answers("nowhere for the length"), ["6"]);
}
