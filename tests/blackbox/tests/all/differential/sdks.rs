//! Modules of other toolchains: what they import, and how they start.

use blackbox::differential::Case;
use blackbox::plugin::{Plugin, scripted};

/// A plugin whose module is a file of `tests/blackbox/guests`, built into `folder`.
fn built(name: &str, folder: &tempfile::TempDir) -> Plugin {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/guests/");
    let module = wat::parse_file(format!("{source}{name}.wat")).expect("text of a module");
    let path = folder.path().join(format!("{name}.wasm"));
    std::fs::write(&path, module).expect("the folder is here");
    scripted(name, "").with_code(path.to_str().expect("a path of text"))
}

/// It loads, starts, and changes a header.
fn runs(name: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let seen = Case::new()
        .filter(built(name, &folder))
        .run(|client| drop(client.get("/")));
    assert!(
        seen.workers()
            .iter()
            .any(|line| line.contains("x-sdk: yes"))
    );
}

#[test]
fn imports_of_go_link_and_initialize_starts() {
    runs("go");
}

#[test]
fn imports_of_tinygo_link_and_start_starts_under_the_older_abi() {
    runs("tinygo");
}

#[test]
fn imports_of_emscripten_link_and_main_runs_behind_initialize() {
    runs("cpp");
}

#[test]
fn imports_of_assemblyscript_link_and_start_may_print() {
    runs("assemblyscript");
}

#[test]
fn a_module_of_the_assemblyscript_sdk_reads_a_header_sets_one_and_answers() {
    let file = blackbox::shell::modules().join("guests/assemblyscript.wasm");
    assert!(file.is_file(), "run scripts/build-assemblyscript first");
    // The SDK refuses an empty configuration. The name is the root id of its context, too.
    let plugin =
        scripted("assemblyscript", "anything").with_code(file.to_str().expect("a path of text"));

    let seen = Case::new().filter(plugin).run(|client| {
        client.get("/x");
        client.get("/reply");
    });

    assert_eq!(seen.statuses()[1], 403);
    let marked = |line: &&String| line.contains("x-guest: assemblyscript");
    assert_eq!(seen.workers().iter().filter(marked).count(), 1);
}
