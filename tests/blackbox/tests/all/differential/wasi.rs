//! WASI, call by call.

use blackbox::differential::Case;

use super::text::Text;

/// Name, parameters (`i` for 32 bits, `I` for 64), arguments of each call.
const CALLS: [(&str, &str, &[&str]); 42] = [
    ("args_get", "ii", &["100 200", "4294967295 4294967295"]),
    ("args_sizes_get", "ii", &["100 104", "100 4294967295"]),
    ("environ_get", "ii", &["100 200"]),
    ("environ_sizes_get", "ii", &["100 104", "4294967295 100"]),
    (
        "clock_res_get",
        "ii",
        &["0 100", "1 100", "2 100", "3 100", "0 4294967295"],
    ),
    (
        "clock_time_get",
        "iIi",
        &["0 0 100", "2 0 100", "3 0 100", "1 0 4294967295"],
    ),
    ("fd_advise", "iIIi", &["0 0 0 0", "1 0 0 0", "9 0 0 7"]),
    ("fd_allocate", "iII", &["0 0 0", "1 0 0", "2 0 0", "3 0 0"]),
    ("fd_close", "i", &["0", "1", "3"]),
    ("fd_datasync", "i", &["0", "1", "2", "3"]),
    (
        "fd_fdstat_get",
        "ii",
        &["0 100", "1 100", "2 100", "3 100", "1 4294967295"],
    ),
    ("fd_fdstat_set_flags", "ii", &["0 0", "1 0", "3 0"]),
    ("fd_fdstat_set_rights", "iII", &["0 0 0", "1 0 0", "3 0 0"]),
    ("fd_filestat_get", "ii", &["0 100", "1 100", "3 100"]),
    ("fd_filestat_set_size", "iI", &["0 0", "1 0", "3 0"]),
    (
        "fd_filestat_set_times",
        "iIIi",
        &["0 0 0 0", "1 0 0 0", "3 0 0 0"],
    ),
    (
        "fd_pread",
        "iiiIi",
        &["0 100 1 0 200", "1 100 1 0 200", "3 100 1 0 200"],
    ),
    ("fd_prestat_get", "ii", &["0 100", "1 100", "3 100"]),
    ("fd_prestat_dir_name", "iii", &["0 100 1", "3 100 1"]),
    (
        "fd_pwrite",
        "iiiIi",
        &[
            "0 100 0 0 200",
            "1 100 0 0 200",
            "3 100 0 0 200",
            "1 100 0 0 4294967295",
        ],
    ),
    (
        "fd_read",
        "iiii",
        &["0 100 1 200", "1 100 1 200", "3 100 1 200"],
    ),
    ("fd_readdir", "iiiIi", &["0 100 1 0 200", "3 100 1 0 200"]),
    (
        "fd_renumber",
        "ii",
        &["0 1", "1 2", "2 1", "1 1", "3 1", "1 3"],
    ),
    (
        "fd_seek",
        "iIii",
        &["0 0 0 100", "1 0 0 100", "3 0 9 100", "1 0 0 4294967295"],
    ),
    ("fd_sync", "i", &["0", "1", "2", "3"]),
    (
        "fd_tell",
        "ii",
        &["0 100", "1 100", "2 100", "3 100", "1 4294967295"],
    ),
    (
        "fd_write",
        "iiii",
        &[
            "1 100 0 200",
            "1 4294967295 1 200",
            "1 100 0 4294967295",
            "9 100 0 200",
        ],
    ),
    ("path_create_directory", "iii", &["3 100 1"]),
    ("path_filestat_get", "iiiii", &["3 0 100 1 200"]),
    ("path_filestat_set_times", "iiiiIIi", &["3 0 100 1 0 0 0"]),
    (
        "path_open",
        "iiiiiIIii",
        &[
            "3 0 100 1 0 0 0 0 200",
            "1 0 4294967295 1 0 0 0 0 4294967295",
        ],
    ),
    ("path_readlink", "iiiiii", &["3 100 1 200 1 300"]),
    ("path_remove_directory", "iii", &["3 100 1"]),
    ("path_rename", "iiiiii", &["3 100 1 3 100 1"]),
    ("path_unlink_file", "iii", &["3 100 1"]),
    (
        "poll_oneoff",
        "iiii",
        &[
            "100 200 0 300",
            "100 200 1 300",
            "100 200 1000 300",
            "100 200 1 4294967295",
        ],
    ),
    (
        "random_get",
        "ii",
        &[
            "100 0",
            "65536 65536",
            "65536 65537",
            "4294967295 1",
            "0 4294967295",
        ],
    ),
    ("sched_yield", "", &[""]),
    ("sock_accept", "iii", &["3 0 100"]),
    ("sock_recv", "iiiiii", &["3 100 1 0 200 300"]),
    ("sock_send", "iiiii", &["3 100 1 0 200"]),
    ("sock_shutdown", "ii", &["3 0"]),
];

fn guest(module: &str) -> Text {
    let mut text = Text::new();
    for (name, parameters, calls) in CALLS {
        let kind = |kind: char| if kind == 'I' { "i64" } else { "i32" };
        let kinds: Vec<_> = parameters.chars().map(kind).collect();
        let signature = format!("(func ${name} (param {}) (result i32))", kinds.join(" "));
        text = text.import(&format!("(import \"{module}\" \"{name}\" {signature})"));
        for call in calls {
            let values: String = (call.split(' ').zip(&kinds))
                .map(|(value, kind)| format!("({kind}.const {value})"))
                .collect();
            text = text.step(
                &format!("{name} {call}"),
                &format!("(call ${name} {values})"),
            );
        }
    }
    text
}

#[test]
fn each_call_answers_as_in_envoy() {
    let folder = tempfile::tempdir().expect("a folder");

    let seen = Case::new()
        .filter(guest("wasi_snapshot_preview1").plugin(&folder))
        .run(|client| drop(client.get("/")));

    assert_eq!(seen.answers("fd_sync"), ["8", "0", "0", "8"]);
    assert_eq!(seen.answers("fd_fdstat_get"), ["8", "0", "0", "8", "0"]);
    assert_eq!(seen.answers("path_rename"), ["58"]);
}

#[test]
fn the_older_name_of_wasi_has_the_same_calls() {
    let folder = tempfile::tempdir().expect("a folder");

    let seen = Case::new()
        .filter(guest("wasi_unstable").plugin(&folder))
        .run(|client| drop(client.get("/")));

    assert_eq!(seen.answers("fd_sync"), ["8", "0", "0", "8"]);
}
