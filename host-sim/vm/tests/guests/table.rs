//! All that a module may import from Envoy 1.40, found by asking it: names with their parameters, `i`
//! for 32 bits and `I` for 64. All but two answer with 32 bits.

/// Module `env`.
pub const ENV: &[(&str, &str)] = &[
    ("proxy_log", "iii"),
    ("proxy_get_log_level", "i"),
    ("proxy_get_status", "iii"),
    ("proxy_set_property", "iiii"),
    ("proxy_get_property", "iiii"),
    ("proxy_send_local_response", "iiiiiiii"),
    ("proxy_get_shared_data", "iiiii"),
    ("proxy_set_shared_data", "iiiii"),
    ("proxy_register_shared_queue", "iii"),
    ("proxy_resolve_shared_queue", "iiiii"),
    ("proxy_dequeue_shared_queue", "iii"),
    ("proxy_enqueue_shared_queue", "iii"),
    ("proxy_get_header_map_value", "iiiii"),
    ("proxy_add_header_map_value", "iiiii"),
    ("proxy_replace_header_map_value", "iiiii"),
    ("proxy_remove_header_map_value", "iii"),
    ("proxy_get_header_map_pairs", "iii"),
    ("proxy_set_header_map_pairs", "iii"),
    ("proxy_get_header_map_size", "ii"),
    ("proxy_get_buffer_status", "iii"),
    ("proxy_get_buffer_bytes", "iiiii"),
    ("proxy_set_buffer_bytes", "iiiii"),
    ("proxy_http_call", "iiiiiiiiii"),
    ("proxy_grpc_call", "iiiiiiiiiiii"),
    ("proxy_grpc_stream", "iiiiiiiii"),
    ("proxy_grpc_close", "i"),
    ("proxy_grpc_cancel", "i"),
    ("proxy_grpc_send", "iiii"),
    ("proxy_set_tick_period_milliseconds", "i"),
    ("proxy_get_current_time_nanoseconds", "i"),
    ("proxy_define_metric", "iiii"),
    ("proxy_increment_metric", "iI"),
    ("proxy_record_metric", "iI"),
    ("proxy_get_metric", "ii"),
    ("proxy_set_effective_context", "i"),
    ("proxy_done", ""),
    ("proxy_call_foreign_function", "iiiiii"),
    ("proxy_continue_stream", "i"),
    ("proxy_close_stream", "i"),
    ("pthread_equal", "ii"),
    ("emscripten_notify_memory_growth", "i"),
    ("envoy_resolve_dns", "iii"),
];

/// Both modules of WASI.
pub const WASI: &[(&str, &str)] = &[
    ("args_get", "ii"),
    ("args_sizes_get", "ii"),
    ("environ_get", "ii"),
    ("environ_sizes_get", "ii"),
    ("clock_res_get", "ii"),
    ("clock_time_get", "iIi"),
    ("fd_advise", "iIIi"),
    ("fd_allocate", "iII"),
    ("fd_close", "i"),
    ("fd_datasync", "i"),
    ("fd_fdstat_get", "ii"),
    ("fd_fdstat_set_flags", "ii"),
    ("fd_fdstat_set_rights", "iII"),
    ("fd_filestat_get", "ii"),
    ("fd_filestat_set_size", "iI"),
    ("fd_filestat_set_times", "iIIi"),
    ("fd_pread", "iiiIi"),
    ("fd_prestat_get", "ii"),
    ("fd_prestat_dir_name", "iii"),
    ("fd_pwrite", "iiiIi"),
    ("fd_read", "iiii"),
    ("fd_readdir", "iiiIi"),
    ("fd_renumber", "ii"),
    ("fd_seek", "iIii"),
    ("fd_sync", "i"),
    ("fd_tell", "ii"),
    ("fd_write", "iiii"),
    ("path_create_directory", "iii"),
    ("path_filestat_get", "iiiii"),
    ("path_filestat_set_times", "iiiiIIi"),
    ("path_link", "iiiiii"),
    ("path_open", "iiiiiIIii"),
    ("path_readlink", "iiiiii"),
    ("path_remove_directory", "iii"),
    ("path_rename", "iiiiii"),
    ("path_symlink", "iiii"),
    ("path_unlink_file", "iii"),
    ("poll_oneoff", "iiii"),
    ("proc_exit", "i"),
    ("sched_yield", ""),
    ("random_get", "ii"),
    ("sock_accept", "iii"),
    ("sock_recv", "iiiiii"),
    ("sock_send", "iiiii"),
    ("sock_shutdown", "ii"),
];

/// Imports that answer nothing.
const MUTE: [&str; 2] = ["proc_exit", "emscripten_notify_memory_growth"];

/// An import as text, under a name for calls.
pub fn import(module: &str, name: &str, kinds: &str, call_name: &str) -> String {
    let kinds: Vec<&str> = kinds
        .chars()
        .map(|kind| if kind == 'I' { "i64" } else { "i32" })
        .collect();
    let result = if MUTE.contains(&name) {
        ""
    } else {
        "(result i32)"
    };
    let kinds = kinds.join(" ");
    format!(r#"(import "{module}" "{name}" (func {call_name} (param {kinds}) {result}))"#)
}

/// A call of that import as an expression that leaves 32 bits; its first argument is `first`, every
/// other 64 or 0.
pub fn call(name: &str, kinds: &str, call_name: &str, first: u32) -> String {
    let arguments = kinds
        .chars()
        .enumerate()
        .map(|(index, kind)| match (index, kind) {
            (_, 'I') => "(i64.const 0)".to_owned(),
            (0, _) => format!("(i32.const {first})"),
            _ => "(i32.const 64)".to_owned(),
        });
    let arguments = arguments.collect::<Vec<_>>().join(" ");
    let call = format!("(call {call_name} {arguments})");
    if MUTE.contains(&name) {
        format!("{call} (i32.const 0)")
    } else {
        call
    }
}
