//! Answers of WASI, each as Envoy 1.40 gave it.

use crate::stage::{module, start, value};
use crate::table::{WASI, call, import};

/// What a call answers when its first argument is 64, 1 or 3, where that is not 0.
const ANSWERS: [(&str, [u32; 3]); 36] = [
    ("clock_res_get", [58, 0, 58]),
    ("clock_time_get", [58, 0, 58]),
    ("fd_allocate", [8, 0, 8]),
    ("fd_datasync", [8, 0, 8]),
    ("fd_fdstat_get", [8, 0, 8]),
    ("fd_fdstat_set_flags", [52, 52, 52]),
    ("fd_fdstat_set_rights", [8, 0, 8]),
    ("fd_filestat_get", [8, 8, 8]),
    ("fd_filestat_set_size", [8, 0, 8]),
    ("fd_filestat_set_times", [8, 0, 8]),
    ("fd_pread", [52, 52, 52]),
    ("fd_prestat_get", [8, 8, 8]),
    ("fd_prestat_dir_name", [52, 52, 52]),
    ("fd_pwrite", [8, 0, 8]),
    ("fd_read", [52, 52, 52]),
    ("fd_readdir", [20, 20, 20]),
    ("fd_renumber", [8, 8, 8]),
    ("fd_sync", [8, 0, 8]),
    ("fd_tell", [8, 0, 8]),
    ("fd_write", [8, 0, 8]),
    ("path_create_directory", [58, 58, 58]),
    ("path_filestat_get", [58, 58, 58]),
    ("path_filestat_set_times", [58, 58, 58]),
    ("path_link", [58, 58, 58]),
    ("path_open", [44, 44, 44]),
    ("path_readlink", [58, 58, 58]),
    ("path_remove_directory", [58, 58, 58]),
    ("path_rename", [58, 58, 58]),
    ("path_symlink", [58, 58, 58]),
    ("path_unlink_file", [58, 58, 58]),
    ("sock_accept", [58, 58, 58]),
    ("sock_recv", [58, 58, 58]),
    ("sock_send", [58, 58, 58]),
    ("sock_shutdown", [58, 58, 58]),
    ("poll_oneoff", [0, 0, 0]),
    ("sched_yield", [0, 0, 0]),
];

/// A guest that writes the answer of `expression`, two digits, into the header `x-out`.
fn answer(import: &str, expression: &str) -> String {
    let imports = format!(
        r#"{import} (import "env" "proxy_replace_header_map_value" (func $set (param i32 i32 i32 i32 i32) (result i32)))"#
    );
    let rest = format!(
        r#"(data (i32.const 640) "x-out")
        (func (export "proxy_on_request_headers") (param i32 i32 i32) (result i32) (local $n i32)
          (local.set $n (block (result i32) {expression}))
          (i32.store8 (i32.const 700) (i32.add (i32.const 48) (i32.div_u (local.get $n) (i32.const 10))))
          (i32.store8 (i32.const 701) (i32.add (i32.const 48) (i32.rem_u (local.get $n) (i32.const 10))))
          (drop (call $set (i32.const 0) (i32.const 640) (i32.const 5) (i32.const 700) (i32.const 2)))
          (i32.const 0))"#
    );
    let head = start(&module(&imports, &rest)).unwrap().request(1, &[]);
    value(&head.unwrap(), "x-out").unwrap()
}

#[test]
fn each_call_answers_as_in_envoy() {
    for family in ["wasi_snapshot_preview1", "wasi_unstable"] {
        for (name, kinds) in WASI {
            let known = ANSWERS.iter().find(|(known, _)| known == name);
            let expected = known.map_or([0; 3], |(_, answers)| *answers);
            for (first, expected) in [64, 1, 3].into_iter().zip(expected) {
                let got = answer(
                    &import(family, name, kinds, "$f"),
                    &call(name, kinds, "$f", first),
                );
                assert_eq!(got, format!("{expected:02}"), "{name}({first})");
            }
        }
    }
}

#[test]
fn edges_of_pointers_and_sizes_are_envoys() {
    let wasi = "wasi_snapshot_preview1";
    for (name, kinds, arguments, expected) in [
        (
            "random_get",
            "ii",
            "(i32.const 1024) (i32.const 61440)",
            "00",
        ),
        ("random_get", "ii", "(i32.const 0) (i32.const 65537)", "28"),
        ("random_get", "ii", "(i32.const -16) (i32.const 100)", "21"),
        ("random_get", "ii", "(i32.const -1) (i32.const 0)", "00"),
        ("fd_renumber", "ii", "(i32.const 1) (i32.const 2)", "58"),
        ("fd_renumber", "ii", "(i32.const 1) (i32.const 3)", "08"),
        ("fd_tell", "ii", "(i32.const 1) (i32.const -16)", "21"),
        ("fd_fdstat_get", "ii", "(i32.const 1) (i32.const -16)", "00"),
        (
            "poll_oneoff",
            "iiii",
            "(i32.const 0) (i32.const 0) (i32.const 1) (i32.const -16)",
            "21",
        ),
        (
            "clock_time_get",
            "iIi",
            "(i32.const 0) (i64.const 0) (i32.const -16)",
            "21",
        ),
        ("clock_res_get", "ii", "(i32.const 0) (i32.const -16)", "21"),
        (
            "fd_write",
            "iiii",
            "(i32.const 1) (i32.const -16) (i32.const 3) (i32.const 64)",
            "21",
        ),
        (
            "fd_write",
            "iiii",
            "(i32.const 1) (i32.const 64) (i32.const 1) (i32.const -16)",
            "21",
        ),
        (
            "fd_write",
            "iiii",
            "(i32.const 0) (i32.const -16) (i32.const 3) (i32.const -16)",
            "08",
        ),
        (
            "args_sizes_get",
            "ii",
            "(i32.const -16) (i32.const 64)",
            "21",
        ),
        (
            "environ_sizes_get",
            "ii",
            "(i32.const -16) (i32.const 64)",
            "21",
        ),
        ("environ_get", "ii", "(i32.const -16) (i32.const 64)", "21"),
    ] {
        let got = answer(
            &import(wasi, name, kinds, "$f"),
            &format!("(call $f {arguments})"),
        );
        assert_eq!(got, expected, "{name} {arguments}");
    }
}
