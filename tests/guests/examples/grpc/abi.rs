//! The calls of the ABI in both directions.

use crate::{SCRIPT, arrived, go_on, script, transcript};

mod host {
    #[link(wasm_import_module = "env")]
    unsafe extern "C" {
        pub fn proxy_log(level: u32, text: *const u8, length: usize) -> u32;
        pub fn proxy_get_status(code: *mut u32, text: *mut *mut u8, length: *mut usize) -> u32;
        pub fn proxy_get_header_map_value(
            map: u32,
            name: *const u8,
            length: usize,
            value: *mut *mut u8,
            value_length: *mut usize,
        ) -> u32;
        pub fn proxy_get_header_map_pairs(map: u32, pairs: *mut *mut u8, length: *mut usize)
        -> u32;
        pub fn proxy_get_buffer_bytes(
            buffer: u32,
            start: usize,
            most: usize,
            bytes: *mut *mut u8,
            length: *mut usize,
        ) -> u32;
        pub fn proxy_send_local_response(
            status: u32,
            details: *const u8,
            details_length: usize,
            body: *const u8,
            body_length: usize,
            headers: *const u8,
            headers_length: usize,
            grpc_status: i32,
        ) -> u32;
        pub fn proxy_continue_stream(stream: u32) -> u32;
        pub fn proxy_set_effective_context(context: u32) -> u32;
        pub fn proxy_set_tick_period_milliseconds(period: u32) -> u32;
        pub fn proxy_grpc_call(
            service: *const u8,
            service_length: usize,
            name: *const u8,
            name_length: usize,
            method: *const u8,
            method_length: usize,
            metadata: *const u8,
            metadata_length: usize,
            message: *const u8,
            message_length: usize,
            timeout: i32,
            token: *mut u32,
        ) -> u32;
        pub fn proxy_grpc_stream(
            service: *const u8,
            service_length: usize,
            name: *const u8,
            name_length: usize,
            method: *const u8,
            method_length: usize,
            metadata: *const u8,
            metadata_length: usize,
            token: *mut u32,
        ) -> u32;
        pub fn proxy_grpc_send(token: u32, message: *const u8, length: usize, end: u32) -> u32;
        pub fn proxy_grpc_close(token: u32) -> u32;
        pub fn proxy_grpc_cancel(token: u32) -> u32;
    }
}

/// What comes of a call.
pub enum Event {
    Initial { token: u32, count: u32 },
    Message { token: u32, size: u32 },
    Trailing { token: u32, count: u32 },
    Close { token: u32, status: u32 },
    Tick,
}

/// Bytes of a message that are shown.
const SHOWN: usize = 64;

impl Event {
    /// Its word in a script.
    pub fn kind(&self) -> &'static str {
        match self {
            Event::Initial { .. } => "initial",
            Event::Message { .. } => "message",
            Event::Trailing { .. } => "trailing",
            Event::Close { .. } => "close",
            Event::Tick => "tick",
        }
    }

    /// All that can be read of it now.
    pub fn line(&self) -> String {
        match self {
            Event::Initial { token, count } => format!("initial {token} {count} {}", pairs(4)),
            Event::Trailing { token, count } => format!("trailing {token} {count} {}", pairs(5)),
            Event::Message { token, size } => {
                let (status, bytes) = buffer(5);
                let shown = bytes.get(..SHOWN).unwrap_or(&bytes);
                format!(
                    "message {token} {size} {status} {}",
                    transcript::escaped(shown)
                )
            }
            Event::Close { token, status } => format!("close {token} {status} {}", get_status()),
            Event::Tick => String::new(),
        }
    }
}

/// Bytes that the host allocated here.
fn given(pointer: *mut u8, length: usize) -> Vec<u8> {
    if pointer.is_null() {
        return Vec::new();
    }
    // SAFETY: the host got this memory from `proxy_on_memory_allocate` with this very length.
    unsafe { Vec::from_raw_parts(pointer, length, length) }
}

fn pairs(map: u32) -> String {
    let (mut at, mut length) = (std::ptr::null_mut(), 0);
    // SAFETY: two out pointers to locals.
    let status = unsafe { host::proxy_get_header_map_pairs(map, &raw mut at, &raw mut length) };
    format!("{status} {}", script::shown_pairs(&given(at, length)))
}

fn buffer(kind: u32) -> (u32, Vec<u8>) {
    let (mut at, mut length) = (std::ptr::null_mut(), 0);
    // SAFETY: two out pointers to locals.
    let status = unsafe {
        host::proxy_get_buffer_bytes(kind, 0, usize::MAX / 2, &raw mut at, &raw mut length)
    };
    (status, given(at, length))
}

fn get_status() -> String {
    let (mut code, mut at, mut length) = (0, std::ptr::null_mut(), 0);
    // SAFETY: three out pointers to locals.
    let status = unsafe { host::proxy_get_status(&raw mut code, &raw mut at, &raw mut length) };
    let text = given(at, length);
    format!("{status} {code} {}", transcript::escaped(&text))
}

/// A request header, if it is there.
pub fn request_header(name: &str) -> Option<Vec<u8>> {
    let (mut at, mut length) = (std::ptr::null_mut(), 0);
    // SAFETY: a slice and two out pointers to locals.
    let status = unsafe {
        host::proxy_get_header_map_value(0, name.as_ptr(), name.len(), &raw mut at, &raw mut length)
    };
    (status == 0).then(|| given(at, length))
}

/// A line of the log.
pub fn log(text: &str) {
    // SAFETY: a slice.
    unsafe { host::proxy_log(2, text.as_ptr(), text.len()) };
}

/// Answers the request of a context.
pub fn answer(context: u32, body: &str) {
    // SAFETY: slices, or null with length 0.
    unsafe {
        host::proxy_set_effective_context(context);
        host::proxy_send_local_response(
            200,
            std::ptr::null(),
            0,
            body.as_ptr(),
            body.len(),
            std::ptr::null(),
            0,
            -1,
        );
    }
}

/// Lets the request of a context pass.
pub fn resume(context: u32) {
    // SAFETY: numbers only.
    unsafe {
        host::proxy_set_effective_context(context);
        host::proxy_continue_stream(0);
    }
}

/// Ticks of the root context; 0 stops them.
pub fn tick_every(period_ms: u32) {
    // SAFETY: a number only.
    unsafe { host::proxy_set_tick_period_milliseconds(period_ms) };
}

/// Where a call goes, and what goes along.
pub struct Target<'a> {
    pub service: &'a [u8],
    pub name: &'a str,
    pub method: &'a str,
    pub metadata: &'a [u8],
}

/// The host's status and the token.
pub fn call(target: &Target<'_>, message: &[u8], timeout_ms: i32) -> (u32, u32) {
    let mut token = 77;
    // SAFETY: slices and an out pointer to a local.
    let status = unsafe {
        host::proxy_grpc_call(
            target.service.as_ptr(),
            target.service.len(),
            target.name.as_ptr(),
            target.name.len(),
            target.method.as_ptr(),
            target.method.len(),
            target.metadata.as_ptr(),
            target.metadata.len(),
            message.as_ptr(),
            message.len(),
            timeout_ms,
            &raw mut token,
        )
    };
    (status, token)
}

/// The host's status and the token.
pub fn stream(target: &Target<'_>) -> (u32, u32) {
    let mut token = 77;
    // SAFETY: slices and an out pointer to a local.
    let status = unsafe {
        host::proxy_grpc_stream(
            target.service.as_ptr(),
            target.service.len(),
            target.name.as_ptr(),
            target.name.len(),
            target.method.as_ptr(),
            target.method.len(),
            target.metadata.as_ptr(),
            target.metadata.len(),
            &raw mut token,
        )
    };
    (status, token)
}

pub fn send(token: u32, message: &[u8], end: bool) -> u32 {
    // SAFETY: a slice.
    unsafe { host::proxy_grpc_send(token, message.as_ptr(), message.len(), end.into()) }
}

pub fn close(token: u32) -> u32 {
    // SAFETY: a number only.
    unsafe { host::proxy_grpc_close(token) }
}

pub fn cancel(token: u32) -> u32 {
    // SAFETY: a number only.
    unsafe { host::proxy_grpc_cancel(token) }
}

#[unsafe(no_mangle)]
extern "C" fn proxy_abi_version_0_2_1() {}

/// Room for what the host hands over.
#[unsafe(no_mangle)]
extern "C" fn proxy_on_memory_allocate(size: usize) -> *mut u8 {
    let mut bytes = std::mem::ManuallyDrop::new(Vec::<u8>::with_capacity(size));
    bytes.as_mut_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_context_create(_: u32, _: u32) {}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_vm_start(_: u32, _: u32) -> u32 {
    1
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_configure(_: u32, _: u32) -> u32 {
    1
}

/// Requests without a script pass; the others wait for its end.
#[unsafe(no_mangle)]
extern "C" fn proxy_on_request_headers(context: u32, _: u32, _: u32) -> u32 {
    let Some(text) = request_header("x-grpc") else {
        return 0;
    };
    transcript::begin();
    SCRIPT.with_borrow_mut(|script| script.begin(context, &String::from_utf8_lossy(&text)));
    go_on();
    1
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_request_body(_: u32, _: u32, _: u32) -> u32 {
    0
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_tick(_: u32) {
    arrived(Event::Tick);
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_log(context: u32) {
    if SCRIPT.with_borrow(|script| script.is_of(context)) {
        transcript::note("log");
        SCRIPT.with_borrow_mut(|script| script.arrived("log"));
        go_on();
    }
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_delete(_: u32) {}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_grpc_receive_initial_metadata(_: u32, token: u32, count: u32) {
    arrived(Event::Initial { token, count });
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_grpc_receive(_: u32, token: u32, size: u32) {
    arrived(Event::Message { token, size });
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_grpc_receive_trailing_metadata(_: u32, token: u32, count: u32) {
    arrived(Event::Trailing { token, count });
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_grpc_close(_: u32, token: u32, status: u32) {
    arrived(Event::Close { token, status });
}
