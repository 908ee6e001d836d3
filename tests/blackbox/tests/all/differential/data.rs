//! Shared data, metrics, and what a guest says in its log.

use blackbox::differential::Case;
use blackbox::plugin::scripted;

#[test]
fn compare_and_swap_has_four_outcomes() {
    let script = "
        request_headers: get_shared_data k
        request_headers: set_shared_data k first 4294967295
        request_headers: cas = get_shared_data k
        request_headers: set_shared_data k again 4294967295
        request_headers: get_shared_data k
        request_headers: set_shared_data k second $cas
        request_headers: set_shared_data k third $cas
        request_headers: get_shared_data k
        request_headers: set_shared_data k forced 0
        request_headers: get_shared_data k
        request_headers: set_shared_data k - 0
        request_headers: get_shared_data k";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.answers("set_shared_data"),
        ["0", "8", "0", "8", "0", "0"]
    );
    let values: Vec<_> = seen
        .answers("get_shared_data")
        .iter()
        .map(|answer| answer.split(" cas").next().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(
        values,
        [
            "1",
            "0 \"first\"",
            "0 \"first\"",
            "0 \"second\"",
            "0 \"forced\"",
            "0 \"\""
        ]
    );
}

#[test]
fn an_absent_key_is_created_whatever_number_is_given() {
    let script = "
        request_headers: set_shared_data a 1 7
        request_headers: get_shared_data a
        request_headers: set_shared_data b 1 0
        request_headers: get_shared_data b
        request_headers: set_shared_data - empty-key 0
        request_headers: get_shared_data -
        request_headers: set_shared_data %00%ff bytes 0
        request_headers: get_shared_data %00%ff
        request_headers: set_shared_data long 100000*x 0
        request_headers: get_shared_data long";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.answers("set_shared_data"), ["0"; 5]);
    assert_eq!(seen.answers("get_shared_data a"), ["0 \"1\" cas 1"]);
}

#[test]
fn data_is_shared_by_vm_id_and_not_by_module() {
    let writes = "request_headers: set_shared_data k from-a 0";
    let reads = "request_headers: get_shared_data k";

    let seen = Case::new()
        .filter(scripted("a", writes).with_vm_id("one"))
        .filter(scripted("b", reads).with_vm_id("one"))
        .filter(scripted("c", reads).with_vm_id("two"))
        .filter(scripted("d", reads))
        .run(|client| drop(client.get("/readyz")));

    let values = seen.answers("get_shared_data");
    assert!(values[0].starts_with("0 \"from-a\""), "{values:?}");
    assert_eq!(values[1..], ["1", "1"]);
}

#[test]
fn metrics_answer_by_their_kind() {
    let script = "
        configure: c = define_metric 0 scripted_counter
        configure: g = define_metric 1 scripted_gauge
        configure: h = define_metric 2 histogram_of_script
        configure: define_metric 3 scripted_none
        configure: again = define_metric 0 scripted_counter
        request_headers: increment_metric $c 2
        request_headers: increment_metric $c 0
        request_headers: increment_metric $c -1
        request_headers: increment_metric $again 3
        request_headers: record_metric $c 5
        request_headers: get_metric $c
        request_headers: increment_metric $g 7
        request_headers: increment_metric $g -3
        request_headers: increment_metric $g 0
        request_headers: get_metric $g
        request_headers: record_metric $g 11
        request_headers: get_metric $g
        request_headers: increment_metric $h 1
        request_headers: record_metric $h 13
        request_headers: get_metric $h
        request_headers: increment_metric 99 1
        request_headers: record_metric 98 1
        request_headers: get_metric 97
        request_headers: get_metric 96
        request_headers: get_metric 3";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.answers("define_metric 0"),
        ["0 4", "0 8"],
        "another id of the same metric"
    );
    assert_eq!(seen.answers("define_metric 3"), ["2"]);
    assert_eq!(seen.answers("get_metric $c"), ["0 10"]);
    assert_eq!(seen.answers("increment_metric $c"), ["0", "2", "2"]);
    assert!(
        seen.metrics()
            .iter()
            .any(|line| line.contains("scripted_counter") && line.ends_with(" 10")),
        "{:?}",
        seen.metrics()
    );
}

#[test]
fn a_gauge_below_zero_and_large_numbers() {
    let script = "
        configure: g = define_metric 1 scripted_below
        configure: c = define_metric 0 scripted_large
        request_headers: increment_metric $g -1
        request_headers: get_metric $g
        request_headers: record_metric $g -1
        request_headers: get_metric $g
        request_headers: increment_metric $c 9223372036854775807
        request_headers: increment_metric $c 9223372036854775807
        request_headers: increment_metric $c 9223372036854775807
        request_headers: get_metric $c";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.answers("increment_metric $g"), ["0"]);
}

#[test]
fn plugins_that_use_one_name_share_the_metric() {
    let script = "
        configure: c = define_metric 0 scripted_shared;tenant%3Da
        request_headers: increment_metric $c 1
        log: increment_metric $c 1
        log: get_metric $c";

    let seen = Case::new()
        .filter(scripted("a", script))
        .attempt(scripted("b", script))
        .run(|client| {
            drop(client.get("/readyz"));
            drop(client.get("/readyz"));
        });

    assert_eq!(
        seen.answers("get_metric $c"),
        ["0 3", "0 6"],
        "an attempt has no log"
    );
}

#[test]
fn log_lines_have_six_levels() {
    let script = "
        request_headers: log 0 trace
        request_headers: log 1 debug
        request_headers: log 2 info
        request_headers: log 3 warning
        request_headers: log 4 error
        request_headers: log 5 critical
        request_headers: log 6 none
        request_headers: log 4294967295 none
        request_headers: get_log_level
        request_headers: log_at 2 4294967040 10
        request_headers: log_at 2 0 4294967295
        request_headers: log_at 2 4294967295 4294967295
        request_headers: get_log_level_at 4294967294";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.answers("log 6"), ["2"]);
    assert_eq!(seen.answers("get_log_level")[0], "0 2");
    assert_eq!(
        seen.answers("log_at"),
        ["6"; 3],
        "memory that is not the guest's"
    );
    assert_eq!(
        seen.said("debug"),
        1,
        "below the level: only its step is seen"
    );
}

#[test]
fn the_log_level_is_that_of_the_process() {
    let script = "
        request_headers: get_log_level
        request_headers: log 1 shown";

    let seen = Case::new()
        .filter(scripted("a", script))
        .log_level("debug")
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.answers("get_log_level"), ["0 1"]);
    assert_eq!(seen.said("[debug] shown"), 1);
}

#[test]
fn standard_output_and_error_are_log_lines() {
    let script = "
        request_headers: fd_write 1 out%0a
        request_headers: fd_write 2 err
        request_headers: fd_write 1 two%0alines%0a%0a
        request_headers: fd_write 3 none
        request_headers: fd_write 0 none
        request_headers: fd_write 1 -
        request_headers: fd_write 1 %0a";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.answers("fd_write"),
        ["0 4", "0 3", "0 11", "8", "8", "0 0", "0 1"]
    );
    assert_eq!(seen.said("[error] err"), 1);
}

#[test]
fn small_questions_to_the_host() {
    let script = "
        request_headers: get_current_time
        request_headers: get_status
        request_headers: done
        request_headers: set_effective_context 77
        request_headers: set_effective_context $root
        request_headers: get_header_map_value 0 :path
        request_headers: set_effective_context $context
        request_headers: get_header_map_value 0 :path
        request_headers: set_tick_period 0
        configure: done
        configure: get_status";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.answers("get_current_time"), ["0 later"]);
    assert_eq!(seen.answers("done"), ["1", "1"], "nobody waits for it");
    assert_eq!(seen.answers("set_effective_context"), ["2", "0", "0"]);
    assert_eq!(
        seen.answers("get_header_map_value"),
        ["2", "0 \"/readyz\""],
        "a root context has no request"
    );
}

#[test]
fn wasi_has_no_files_and_no_sleep() {
    let script = "
        request_headers: path_open 3 file
        request_headers: fd_prestat_get 3
        request_headers: fd_read 0
        request_headers: fd_close 1
        request_headers: fd_close 9
        request_headers: fd_seek 1
        request_headers: fd_fdstat_get 1
        request_headers: fd_fdstat_get 7
        request_headers: poll_oneoff
        request_headers: sched_yield
        request_headers: random_get 16
        request_headers: random_get 65537
        request_headers: clock_time_get 0
        request_headers: clock_time_get 1
        request_headers: clock_time_get 2
        request_headers: clock_res_get 0
        request_headers: clock_res_get 9
        request_headers: args_sizes_get
        request_headers: environ_sizes_get
        request_headers: proc_exit 3";

    let seen = Case::new()
        .filter(scripted("a", script))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(seen.answers("path_open"), ["44"]);
    assert_eq!(seen.answers("poll_oneoff"), ["0 0"]);
    assert_eq!(seen.answers("proc_exit 3"), ["0 came back"]);
}

#[test]
fn the_environment_is_what_is_configured() {
    let script = "
        configure: getenv COLOUR
        configure: getenv PATH
        configure: getenv NONE
        configure: environ_sizes_get";
    let variables = serde_json::json!({"key_values": {"COLOUR": "blue green"}});

    let seen = Case::new()
        .filter(scripted("a", script).vm_field("environment_variables", variables))
        .run(|client| drop(client.get("/readyz")));

    assert_eq!(
        seen.answers("getenv"),
        ["0 blue green", "0 (none)", "0 (none)"]
    );
}
