//! The imports of ABI 0.2.1 as they are: pointers, lengths and statuses.

type In = *const u8;
type OutBytes = *mut *mut u8;
type Out<T> = *mut T;

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    pub safe fn proxy_log(level: u32, text: In, length: usize) -> u32;
    pub safe fn proxy_get_log_level(level: Out<u32>) -> u32;
    pub safe fn proxy_get_status(code: Out<u32>, text: OutBytes, length: Out<usize>) -> u32;
    pub safe fn proxy_get_property(
        path: In,
        path_length: usize,
        value: OutBytes,
        length: Out<usize>,
    ) -> u32;
    pub safe fn proxy_set_property(path: In, path_length: usize, value: In, length: usize) -> u32;
    pub safe fn proxy_send_local_response(
        status: u32,
        details: In,
        details_length: usize,
        body: In,
        body_length: usize,
        headers: In,
        headers_length: usize,
        grpc_status: i32,
    ) -> u32;

    pub safe fn proxy_get_shared_data(
        key: In,
        key_length: usize,
        value: OutBytes,
        length: Out<usize>,
        cas: Out<u32>,
    ) -> u32;
    pub safe fn proxy_set_shared_data(
        key: In,
        key_length: usize,
        value: In,
        length: usize,
        cas: u32,
    ) -> u32;
    pub safe fn proxy_register_shared_queue(name: In, length: usize, token: Out<u32>) -> u32;
    pub safe fn proxy_resolve_shared_queue(
        vm_id: In,
        vm_id_length: usize,
        name: In,
        length: usize,
        token: Out<u32>,
    ) -> u32;
    pub safe fn proxy_dequeue_shared_queue(token: u32, item: OutBytes, length: Out<usize>) -> u32;
    pub safe fn proxy_enqueue_shared_queue(token: u32, item: In, length: usize) -> u32;

    pub safe fn proxy_get_header_map_value(
        map: u32,
        name: In,
        name_length: usize,
        value: OutBytes,
        length: Out<usize>,
    ) -> u32;
    pub safe fn proxy_add_header_map_value(
        map: u32,
        name: In,
        name_length: usize,
        value: In,
        length: usize,
    ) -> u32;
    pub safe fn proxy_replace_header_map_value(
        map: u32,
        name: In,
        name_length: usize,
        value: In,
        length: usize,
    ) -> u32;
    pub safe fn proxy_remove_header_map_value(map: u32, name: In, name_length: usize) -> u32;
    pub safe fn proxy_get_header_map_pairs(map: u32, pairs: OutBytes, length: Out<usize>) -> u32;
    pub safe fn proxy_set_header_map_pairs(map: u32, pairs: In, length: usize) -> u32;
    pub safe fn proxy_get_header_map_size(map: u32, size: Out<usize>) -> u32;

    pub safe fn proxy_get_buffer_status(buffer: u32, length: Out<usize>, flags: Out<u32>) -> u32;
    pub safe fn proxy_get_buffer_bytes(
        buffer: u32,
        start: u32,
        wanted: u32,
        bytes: OutBytes,
        length: Out<usize>,
    ) -> u32;
    pub safe fn proxy_set_buffer_bytes(
        buffer: u32,
        start: u32,
        replaced: u32,
        bytes: In,
        length: usize,
    ) -> u32;

    pub safe fn proxy_http_call(
        cluster: In,
        cluster_length: usize,
        headers: In,
        headers_length: usize,
        body: In,
        body_length: usize,
        trailers: In,
        trailers_length: usize,
        timeout_ms: i32,
        token: Out<u32>,
    ) -> u32;
    pub safe fn proxy_grpc_call(
        cluster: In,
        cluster_length: usize,
        service: In,
        service_length: usize,
        method: In,
        method_length: usize,
        metadata: In,
        metadata_length: usize,
        message: In,
        message_length: usize,
        timeout_ms: i32,
        token: Out<u32>,
    ) -> u32;
    pub safe fn proxy_grpc_stream(
        cluster: In,
        cluster_length: usize,
        service: In,
        service_length: usize,
        method: In,
        method_length: usize,
        metadata: In,
        metadata_length: usize,
        token: Out<u32>,
    ) -> u32;
    pub safe fn proxy_grpc_cancel(token: u32) -> u32;
    pub safe fn proxy_grpc_close(token: u32) -> u32;
    pub safe fn proxy_grpc_send(token: u32, message: In, length: usize, end: u32) -> u32;

    pub safe fn proxy_set_tick_period_milliseconds(period: u32) -> u32;
    pub safe fn proxy_get_current_time_nanoseconds(time: Out<u64>) -> u32;
    pub safe fn proxy_define_metric(kind: u32, name: In, length: usize, id: Out<u32>) -> u32;
    pub safe fn proxy_increment_metric(id: u32, offset: i64) -> u32;
    pub safe fn proxy_record_metric(id: u32, value: u64) -> u32;
    pub safe fn proxy_get_metric(id: u32, value: Out<u64>) -> u32;
    pub safe fn proxy_set_effective_context(context: u32) -> u32;
    pub safe fn proxy_done() -> u32;
    pub safe fn proxy_call_foreign_function(
        name: In,
        name_length: usize,
        argument: In,
        argument_length: usize,
        result: OutBytes,
        length: Out<usize>,
    ) -> u32;
    pub safe fn proxy_continue_stream(stream: u32) -> u32;
    pub safe fn proxy_close_stream(stream: u32) -> u32;
    pub safe fn envoy_resolve_dns(name: In, length: usize, token: Out<u32>) -> u32;
}
