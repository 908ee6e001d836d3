//! The host functions of proxy-wasm ABI 0.2.1, declared here because the SDK's own panic on
//! statuses they do not expect, and a panic fails every stream of the VM. Here each is a value.

use std::time::Duration;

use super::env::Random;
use crate::flow::Callout;
use crate::host::{
    Body, Buffer, Bus, Cas, Clock, Control, Headers, HostError, HostResult, Level, Map, Metric,
    MetricKind, Metrics, Pairs, Shared,
};

const OK: u32 = 0;
const NOT_FOUND: u32 = 1;
const CAS_MISMATCH: u32 = 8;

#[link(wasm_import_module = "env")]
unsafe extern "C" {
    fn proxy_log(level: u32, text: *const u8, length: usize) -> u32;
    fn proxy_get_header_map_pairs(map: u32, data: *mut *mut u8, length: *mut usize) -> u32;
    fn proxy_get_header_map_value(
        map: u32,
        name: *const u8,
        name_length: usize,
        data: *mut *mut u8,
        length: *mut usize,
    ) -> u32;
    fn proxy_replace_header_map_value(
        map: u32,
        name: *const u8,
        name_length: usize,
        value: *const u8,
        value_length: usize,
    ) -> u32;
    fn proxy_remove_header_map_value(map: u32, name: *const u8, name_length: usize) -> u32;
    fn proxy_get_buffer_bytes(
        buffer: u32,
        start: usize,
        max_length: usize,
        data: *mut *mut u8,
        length: *mut usize,
    ) -> u32;
    fn proxy_set_buffer_bytes(
        buffer: u32,
        start: usize,
        length: usize,
        data: *const u8,
        data_length: usize,
    ) -> u32;
    fn proxy_get_property(
        path: *const u8,
        path_length: usize,
        data: *mut *mut u8,
        length: *mut usize,
    ) -> u32;
    fn proxy_set_property(
        path: *const u8,
        path_length: usize,
        value: *const u8,
        value_length: usize,
    ) -> u32;
    fn proxy_get_shared_data(
        key: *const u8,
        key_length: usize,
        data: *mut *mut u8,
        length: *mut usize,
        cas: *mut u32,
    ) -> u32;
    fn proxy_set_shared_data(
        key: *const u8,
        key_length: usize,
        value: *const u8,
        value_length: usize,
        cas: u32,
    ) -> u32;
    fn proxy_send_local_response(
        status: u32,
        details: *const u8,
        details_length: usize,
        body: *const u8,
        body_length: usize,
        headers: *const u8,
        headers_length: usize,
        grpc_status: i32,
    ) -> u32;
    fn proxy_continue_stream(stream: u32) -> u32;
    fn proxy_set_tick_period_milliseconds(period: u32) -> u32;
    fn proxy_define_metric(kind: u32, name: *const u8, length: usize, metric: *mut u32) -> u32;
    fn proxy_record_metric(metric: u32, value: u64) -> u32;
    fn proxy_increment_metric(metric: u32, by: i64) -> u32;
}

/// The host behind the current callback.
pub(super) struct WasmHost;

/// Bytes the host has put into this module's memory.
struct Answer {
    data: *mut u8,
    length: usize,
}

impl Answer {
    const fn new() -> Self {
        Self {
            data: std::ptr::null_mut(),
            length: 0,
        }
    }

    /// Empty where the host gave nothing.
    fn into_vec(self) -> Vec<u8> {
        if self.data.is_null() {
            return Vec::new();
        }
        // SAFETY: the host got this memory from `proxy_on_memory_allocate`, which leaks a `Vec` of
        // exactly this capacity, and has written all of it.
        unsafe { Vec::from_raw_parts(self.data, self.length, self.length) }
    }
}

/// The plugin configuration; only there during `on_configure`.
pub(super) fn plugin_configuration() -> Vec<u8> {
    const PLUGIN_CONFIGURATION: u32 = 7;
    let mut answer = Answer::new();
    // SAFETY: both pointers are to live locals.
    let status = unsafe {
        proxy_get_buffer_bytes(
            PLUGIN_CONFIGURATION,
            0,
            usize::MAX,
            &mut answer.data,
            &mut answer.length,
        )
    };
    if status == OK {
        answer.into_vec()
    } else {
        Vec::new()
    }
}

/// Asks for a tick every `period`, whole milliseconds; zero asks for none.
pub(super) fn set_tick_period(period: Duration) -> HostResult<()> {
    let milliseconds = u32::try_from(period.as_millis()).unwrap_or(u32::MAX);
    // SAFETY: no memory is involved.
    check("set_tick_period", unsafe {
        proxy_set_tick_period_milliseconds(milliseconds)
    })
}

fn check(call: &'static str, status: u32) -> HostResult<()> {
    if status == OK {
        Ok(())
    } else {
        Err(HostError { call, status })
    }
}

const fn map_number(map: Map) -> u32 {
    match map {
        Map::Request => 0,
        Map::Response => 2,
        Map::Callout => 6,
    }
}

const fn buffer_number(buffer: Buffer) -> u32 {
    match buffer {
        Buffer::Request => 0,
        Buffer::Response => 1,
        Buffer::Callout => 4,
    }
}

impl Headers for WasmHost {
    fn pairs(&mut self, map: Map) -> HostResult<Pairs> {
        let mut answer = Answer::new();
        // SAFETY: both pointers are to live locals.
        let status = unsafe {
            proxy_get_header_map_pairs(map_number(map), &mut answer.data, &mut answer.length)
        };
        check("get_header_map_pairs", status)?;
        let bytes = answer.into_vec();
        super::env::decode_pairs(&bytes).ok_or(HostError {
            call: "get_header_map_pairs",
            status: u32::MAX,
        })
    }

    fn header(&mut self, map: Map, name: &str) -> HostResult<Option<Vec<u8>>> {
        let mut answer = Answer::new();
        // SAFETY: `name` outlives the call, the other pointers are to live locals.
        let status = unsafe {
            proxy_get_header_map_value(
                map_number(map),
                name.as_ptr(),
                name.len(),
                &mut answer.data,
                &mut answer.length,
            )
        };
        if status == NOT_FOUND {
            return Ok(None);
        }
        check("get_header_map_value", status)?;
        Ok(Some(answer.into_vec()))
    }

    fn set_header(&mut self, map: Map, name: &str, value: &[u8]) -> HostResult<()> {
        // SAFETY: `name` and `value` outlive the call.
        check("replace_header_map_value", unsafe {
            proxy_replace_header_map_value(
                map_number(map),
                name.as_ptr(),
                name.len(),
                value.as_ptr(),
                value.len(),
            )
        })
    }

    fn remove_header(&mut self, map: Map, name: &[u8]) -> HostResult<()> {
        // SAFETY: `name` outlives the call.
        check("remove_header_map_value", unsafe {
            proxy_remove_header_map_value(map_number(map), name.as_ptr(), name.len())
        })
    }
}

impl Body for WasmHost {
    fn body(&mut self, buffer: Buffer, start: usize, length: usize) -> HostResult<Vec<u8>> {
        let mut answer = Answer::new();
        // SAFETY: both pointers are to live locals.
        let status = unsafe {
            proxy_get_buffer_bytes(
                buffer_number(buffer),
                start,
                length,
                &mut answer.data,
                &mut answer.length,
            )
        };
        check("get_buffer_bytes", status)?;
        Ok(answer.into_vec())
    }

    fn replace_prefix(&mut self, buffer: Buffer, length: usize, bytes: &[u8]) -> HostResult<()> {
        // SAFETY: `bytes` outlives the call.
        check("set_buffer_bytes", unsafe {
            proxy_set_buffer_bytes(
                buffer_number(buffer),
                0,
                length,
                bytes.as_ptr(),
                bytes.len(),
            )
        })
    }
}

impl Bus for WasmHost {
    fn property(&mut self, path: &[&str]) -> HostResult<Option<Vec<u8>>> {
        let joined = path.join("\0");
        let mut answer = Answer::new();
        // SAFETY: `joined` outlives the call, the other pointers are to live locals.
        let status = unsafe {
            proxy_get_property(
                joined.as_ptr(),
                joined.len(),
                &mut answer.data,
                &mut answer.length,
            )
        };
        if status == NOT_FOUND {
            return Ok(None);
        }
        check("get_property", status)?;
        Ok(Some(answer.into_vec()))
    }

    fn publish(&mut self, name: &str, value: &[u8]) -> HostResult<()> {
        // SAFETY: `name` and `value` outlive the call.
        check("set_property", unsafe {
            proxy_set_property(name.as_ptr(), name.len(), value.as_ptr(), value.len())
        })
    }
}

impl Shared for WasmHost {
    fn shared(&mut self, key: &str) -> HostResult<Option<(Vec<u8>, Cas)>> {
        let mut answer = Answer::new();
        let mut cas = 0;
        // SAFETY: `key` outlives the call, the other pointers are to live locals.
        let status = unsafe {
            proxy_get_shared_data(
                key.as_ptr(),
                key.len(),
                &mut answer.data,
                &mut answer.length,
                &mut cas,
            )
        };
        if status == NOT_FOUND {
            return Ok(None);
        }
        check("get_shared_data", status)?;
        Ok(Some((answer.into_vec(), Cas(cas))))
    }

    fn swap_shared(&mut self, key: &str, value: &[u8], cas: Cas) -> HostResult<bool> {
        // What a filter would be that forgot to compare: it overwrites what others wrote meanwhile.
        #[cfg(feature = "test-careless")]
        let cas = {
            let _ = cas;
            Cas(0)
        };
        // SAFETY: `key` and `value` outlive the call.
        let status = unsafe {
            proxy_set_shared_data(key.as_ptr(), key.len(), value.as_ptr(), value.len(), cas.0)
        };
        if status == CAS_MISMATCH {
            return Ok(false);
        }
        check("set_shared_data", status)?;
        Ok(true)
    }
}

impl Clock for WasmHost {
    fn wall(&mut self) -> Duration {
        std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default()
    }

    fn monotonic(&mut self) -> Duration {
        super::env::monotonic()
    }

    fn random(&mut self) -> u64 {
        Random::next()
    }
}

impl Metrics for WasmHost {
    fn define_metric(&mut self, kind: MetricKind, name: &str) -> HostResult<Metric> {
        let mut metric = 0;
        // SAFETY: `name` outlives the call, the other pointer is to a live local.
        let status =
            unsafe { proxy_define_metric(kind as u32, name.as_ptr(), name.len(), &mut metric) };
        check("define_metric", status)?;
        Ok(Metric(metric))
    }

    fn record_metric(&mut self, metric: Metric, value: u64) -> HostResult<()> {
        // SAFETY: no memory is involved.
        check("record_metric", unsafe {
            proxy_record_metric(metric.0, value)
        })
    }

    fn increment_metric(&mut self, metric: Metric, by: i64) -> HostResult<()> {
        // SAFETY: no memory is involved.
        check("increment_metric", unsafe {
            proxy_increment_metric(metric.0, by)
        })
    }
}

impl Control for WasmHost {
    fn reply(&mut self, status: u16, headers: &[(&str, &[u8])], body: &[u8]) {
        let headers = super::env::encode_pairs(headers);
        // SAFETY: `headers` and `body` outlive the call; the empty details have a valid address.
        let _ = unsafe {
            proxy_send_local_response(
                u32::from(status),
                "".as_ptr(),
                0,
                body.as_ptr(),
                body.len(),
                headers.as_ptr(),
                headers.len(),
                -1,
            )
        };
    }

    fn resume(&mut self) {
        // SAFETY: no memory is involved. 0 is the request.
        let _ = unsafe { proxy_continue_stream(0) };
    }

    fn dispatch(&mut self, callout: &Callout) -> HostResult<u32> {
        let headers: Vec<(&str, &str)> = callout
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        // The SDK's own function, because only it tells the SDK whose callout the answer is for. It
        // panics on no status that Envoy gives here: `Ok`, `BadArgument`, `InternalFailure`.
        proxy_wasm::hostcalls::dispatch_http_call(
            &callout.cluster,
            headers,
            Some(&callout.body),
            Vec::new(),
            callout.timeout,
        )
        .map_err(|status| HostError {
            call: "http_call",
            status: status as u32,
        })
    }

    fn log(&mut self, level: Level, text: &str) {
        // SAFETY: `text` outlives the call.
        let _ = unsafe { proxy_log(level as u32, text.as_ptr(), text.len()) };
    }
}
