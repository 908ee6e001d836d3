//! A host that counts what it is asked.

use std::time::Duration;

use host_sim_host::abi::{
    Answer, BufferKind, ContextId, HttpCall, LocalResponse, MapKind, MetricKind, Refusal,
    StreamKind,
};
use host_sim_host::io::Headers;

use super::{HostCalls, abi};

/// The host behind it answers.
pub(super) struct Counting<'a> {
    host: &'a mut dyn abi::HostCalls,
    calls: &'a mut HostCalls,
}

impl<'a> Counting<'a> {
    pub(super) fn new(host: &'a mut dyn abi::HostCalls, calls: &'a mut HostCalls) -> Self {
        Counting { host, calls }
    }
}

/// Calls whose answer is put into memory that the guest hands out, if there is one.
macro_rules! bytes_back {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)*) => {$(
        fn $name(&mut self, $($argument: $kind),*) -> Answer<$answer> {
            let answer = self.host.$name($($argument),*);
            let calls = if answer.is_ok() { &mut self.calls.bytes_back } else { &mut self.calls.other };
            *calls.entry(stringify!($name)).or_default() += 1;
            answer
        }
    )*};
}

/// All others; the one foreign function that filters call, `clear_route_cache`, answers with nothing.
macro_rules! other {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $answer:ty;)*) => {$(
        fn $name(&mut self, $($argument: $kind),*) -> $answer {
            *self.calls.other.entry(stringify!($name)).or_default() += 1;
            self.host.$name($($argument),*)
        }
    )*};
}

impl abi::HostCalls for Counting<'_> {
    bytes_back! {
        get_property(path: &[u8]) -> Vec<u8>;
        get_header_map_pairs(map: MapKind) -> Headers;
        get_header_map_value(map: MapKind, name: &[u8]) -> Vec<u8>;
        get_buffer_bytes(buffer: BufferKind, start: u32, length: u32) -> Vec<u8>;
        get_shared_data(key: &[u8]) -> (Vec<u8>, u32);
    }

    other! {
        log(level: u32, text: &[u8]) -> Answer<()>;
        get_log_level() -> u32;
        get_status() -> (u32, Vec<u8>);
        set_property(path: &[u8], value: &[u8]) -> Answer<()>;
        set_header_map_pairs(map: MapKind, pairs: Headers) -> Answer<()>;
        add_header_map_value(map: MapKind, name: &[u8], value: &[u8]) -> Answer<()>;
        replace_header_map_value(map: MapKind, name: &[u8], value: &[u8]) -> Answer<()>;
        remove_header_map_value(map: MapKind, name: &[u8]) -> Answer<()>;
        get_header_map_size(map: MapKind) -> Answer<u32>;
        get_buffer_status(buffer: BufferKind) -> Answer<(u32, u32)>;
        set_buffer_bytes(buffer: BufferKind, start: u32, length: u32, data: &[u8]) -> Answer<()>;
        set_shared_data(key: &[u8], value: &[u8], cas: u32) -> Answer<()>;
        define_metric(kind: MetricKind, name: &[u8]) -> Answer<u32>;
        increment_metric(id: u32, offset: i64) -> Answer<()>;
        record_metric(id: u32, value: u64) -> Answer<()>;
        get_metric(id: u32) -> Answer<u64>;
        http_call(call: HttpCall) -> Answer<u32>;
        send_local_response(response: LocalResponse) -> Answer<()>;
        continue_stream(stream: StreamKind) -> Answer<()>;
        close_stream(stream: StreamKind) -> Answer<()>;
        set_tick_period_milliseconds(period_ms: u32) -> Answer<()>;
        get_current_time_nanoseconds() -> u64;
        set_effective_context(context: ContextId) -> Answer<()>;
        done() -> Answer<()>;
        call_foreign_function(name: &[u8], argument: &[u8]) -> Answer<Vec<u8>>;
        not_modelled(import: &'static str) -> Refusal;
        write(fd: u32, text: &[u8]) -> ();
        monotonic() -> Duration;
        random(out: &mut [u8]) -> ();
        environment() -> Vec<String>;
    }
}
