//! Every callback of ABI 0.2.1, and what each does beside its script.

use crate::answer::taken;
use crate::imports::{proxy_get_buffer_bytes, proxy_get_header_map_value};
use crate::run::{Event, run, say};
use crate::{script, vm};

const VM_CONFIGURATION: u32 = 6;
const PLUGIN_CONFIGURATION: u32 = 7;
const WHOLE: u32 = 1 << 30;

/// A callback that only runs its script.
macro_rules! callbacks {
    ($($export:ident = $name:literal ($($argument:ident),*) $(end $end:ident)? $(of $token:ident)? $(-> $answer:literal)?;)+) => {
        $(callbacks!(@one $export $name ($($argument),*) ($($end)?) ($($token)?) ($($answer)?));)+
    };
    (@one $export:ident $name:literal ($($argument:ident),*) ($($end:ident)?) ($($token:ident)?) ()) => {
        #[unsafe(no_mangle)]
        extern "C" fn $export(context: u32 $(, $argument: u32)*) {
            let arguments: &[u32] = &[$($argument),*];
            let event = Event::new($name, context, arguments);
            $(let event = event.of(vm::caller($token, context));)?
            let _ = run(&event);
        }
    };
    (@one $export:ident $name:literal ($($argument:ident),*) ($($end:ident)?) () ($answer:literal)) => {
        #[unsafe(no_mangle)]
        extern "C" fn $export(context: u32 $(, $argument: u32)*) -> u32 {
            let arguments: &[u32] = &[$($argument),*];
            let event = Event::new($name, context, arguments).answer($answer);
            $(let event = event.end($end);)?
            run(&event)
        }
    };
}

callbacks! {
    proxy_on_tick = "tick"();
    proxy_on_queue_ready = "queue_ready"(token);
    proxy_on_new_connection = "new_connection"() -> 0;
    proxy_on_downstream_data = "downstream_data"(size, last) end last -> 0;
    proxy_on_upstream_data = "upstream_data"(size, last) end last -> 0;
    proxy_on_downstream_connection_close = "downstream_connection_close"(peer);
    proxy_on_upstream_connection_close = "upstream_connection_close"(peer);
    proxy_on_request_body = "request_body"(size, last) end last -> 0;
    proxy_on_request_metadata = "request_metadata"(count) -> 0;
    proxy_on_request_trailers = "request_trailers"(count) -> 0;
    proxy_on_response_headers = "response_headers"(count, last) end last -> 0;
    proxy_on_response_body = "response_body"(size, last) end last -> 0;
    proxy_on_response_metadata = "response_metadata"(count) -> 0;
    proxy_on_response_trailers = "response_trailers"(count) -> 0;
    proxy_on_http_call_response = "http_call_response"(token, headers, body, trailers) of token;
    proxy_on_grpc_receive_initial_metadata = "grpc_receive_initial_metadata"(token, headers) of token;
    proxy_on_grpc_receive = "grpc_receive"(token, size) of token;
    proxy_on_grpc_receive_trailing_metadata = "grpc_receive_trailing_metadata"(token, trailers) of token;
    proxy_on_grpc_close = "grpc_close"(token, status) of token;
    proxy_on_foreign_function = "foreign_function"(function, size);
    envoy_on_resolve_dns = "resolve_dns"(token, size) of token;
    proxy_on_done = "done"() -> 1;
    proxy_on_log = "log"();
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_context_create(context: u32, root: u32) {
    if root == 0 {
        learn(0, VM_CONFIGURATION);
    }
    vm::created(context, root);
    let _ = run(&Event::new("context_create", context, &[root]));
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_vm_start(context: u32, size: u32) -> u32 {
    run(&Event::new("vm_start", context, &[size]).answer(1))
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_configure(context: u32, size: u32) -> u32 {
    learn(context, PLUGIN_CONFIGURATION);
    run(&Event::new("configure", context, &[size]).answer(1))
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_request_headers(context: u32, count: u32, last: u32) -> u32 {
    let name = b":path";
    let (_, path) = taken(|value, length| {
        proxy_get_header_map_value(0, name.as_ptr(), name.len(), value, length)
    });
    vm::set_path(context, String::from_utf8_lossy(&path).into_owned());
    run(&Event::new("request_headers", context, &[count, last]).end(last))
}

#[unsafe(no_mangle)]
extern "C" fn proxy_on_delete(context: u32) {
    let _ = run(&Event::new("delete", context, &[]));
    vm::deleted(context);
}

/// Takes the script out of a configuration, which is only at hand now.
fn learn(root: u32, buffer: u32) {
    let (_, text) = taken(|bytes, length| proxy_get_buffer_bytes(buffer, 0, WHOLE, bytes, length));
    match script::parse(&String::from_utf8_lossy(&text)) {
        Ok(lines) => vm::set_script(root, lines),
        Err(line) => say(&format!("no such line: {line}")),
    }
}
