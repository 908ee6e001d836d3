//! Both directions of the Proxy-Wasm ABI as traits: [`Vm`] is what the host asks of a guest,
//! [`HostCalls`] what a guest asks of the host. Memory layout and linking are the business of
//! whoever implements [`Vm`].

mod call;
mod kinds;
pub mod pairs;
pub mod watch;

use std::fmt;
use std::time::Duration;

use crate::config::VmConfig;
use crate::io::Headers;

pub use call::Call;
pub use kinds::{BufferKind, MapKind, MetricKind, Status, StreamKind};

/// Context id of a guest: root contexts and streams share one counter, from 1.
pub type ContextId = u32;

/// The guest stopped: a trap, a bound that was passed, or a wrong export. It is not to be called again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap(pub String);

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Trap {}

/// A guest that is loaded and linked.
pub trait Vm: Send {
    /// Runs the start functions: `_initialize` and `main`, else `_start`. Only logging and WASI are
    /// answered meanwhile.
    ///
    /// # Errors
    /// When the guest traps.
    fn start(&mut self, host: &mut dyn HostCalls) -> Result<(), Trap>;

    /// Calls one export; [`Call::default_answer`] if the guest has none of that name.
    ///
    /// # Errors
    /// When the guest traps.
    fn call(&mut self, host: &mut dyn HostCalls, call: &Call) -> Result<u32, Trap>;

    /// Whether the guest has the export of this call, and so runs when it comes. A guest that does
    /// not say runs for all.
    fn exports(&self, _call: &Call) -> bool {
        true
    }

    /// Instructions of the last [`Vm::start`] or [`Vm::call`], what the guest ran to give the host memory
    /// included. The same for the same call every time; 0 from a guest that does not count.
    fn instructions(&self) -> u64 {
        0
    }
}

/// Makes guests; shared by all worker threads.
pub trait VmFactory: Send + Sync {
    /// A new instance of a module, linked, not yet started.
    ///
    /// # Errors
    /// When the file cannot be read or compiled, or imports what Envoy does not offer.
    fn instantiate(&self, vm: &VmConfig) -> Result<Box<dyn Vm>, LoadError>;

    /// Which code the file of a module holds now. VMs of one configuration are shared only as long
    /// as the code stays the same. A factory without files has one code for each path.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn code(&self, _vm: &VmConfig) -> Result<CodeId, LoadError> {
        Ok(CodeId::default())
    }

    /// As [`VmFactory::instantiate`], with the code that [`VmFactory::code`] named, whatever the
    /// file holds by now.
    ///
    /// # Errors
    /// As [`VmFactory::instantiate`]; also when the code is no longer kept.
    fn instantiate_code(&self, vm: &VmConfig, _code: CodeId) -> Result<Box<dyn Vm>, LoadError> {
        self.instantiate(vm)
    }

    /// What a module may be denied by a capability restriction: the `proxy_*` functions that it
    /// imports, the callbacks that it exports, and its WASI imports. Empty if unknown.
    ///
    /// # Errors
    /// When the file cannot be read or compiled.
    fn capabilities(&self, _vm: &VmConfig) -> Result<Vec<String>, LoadError> {
        Ok(Vec::new())
    }
}

/// Names the content of a module's file: its SHA-256.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeId(pub [u8; 32]);

/// A module that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// The file, as configured.
    pub code_path: String,
    /// What is wrong with it.
    pub reason: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code_path, self.reason)
    }
}

impl std::error::Error for LoadError {}

/// Why a host call gave nothing: what the guest is told, and what stops it, are different things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The guest gets this status.
    Tell(Status),
    /// The guest is stopped: here Envoy itself would have crashed.
    Stop(String),
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Refusal::Tell(status)
    }
}

/// Answer to a host call.
pub type Answer<T> = Result<T, Refusal>;

/// An answer of the guest's own, queued until its call returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalResponse {
    /// HTTP status.
    pub status: u32,
    /// For clients that speak gRPC; `None`: what the status means there.
    pub grpc_status: Option<u32>,
    /// For logs; spaces become `_`.
    pub details: Vec<u8>,
    /// Body.
    pub body: Vec<u8>,
    /// Additional headers.
    pub headers: Headers,
}

/// A callout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpCall {
    /// Name of the cluster.
    pub cluster: Vec<u8>,
    /// Head, with `:method`, `:path` and `:authority`.
    pub headers: Headers,
    /// Body.
    pub body: Vec<u8>,
    /// Zero is none.
    pub timeout: Duration,
}

/// Where a call or stream over gRPC goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrpcTarget {
    /// A serialised `envoy.config.core.v3.GrpcService`, or the name of a cluster.
    pub service: Vec<u8>,
    /// First part of the path.
    pub service_name: Vec<u8>,
    /// Second part of the path.
    pub method_name: Vec<u8>,
    /// Further headers; values of names that end with `-bin` are any bytes.
    pub initial_metadata: Headers,
}

/// What a guest may ask of its host. Each method is one import (or one part of WASI) with its
/// arguments already taken out of the guest's memory.
#[expect(
    missing_docs,
    clippy::missing_errors_doc,
    reason = "names and meaning are the ABI's"
)]
pub trait HostCalls {
    fn log(&mut self, level: u32, text: &[u8]) -> Answer<()>;
    fn get_log_level(&mut self) -> u32;
    fn get_status(&mut self) -> (u32, Vec<u8>);

    fn get_property(&mut self, path: &[u8]) -> Answer<Vec<u8>>;
    fn set_property(&mut self, path: &[u8], value: &[u8]) -> Answer<()>;

    fn get_header_map_pairs(&mut self, map: MapKind) -> Answer<Headers>;
    fn set_header_map_pairs(&mut self, map: MapKind, pairs: Headers) -> Answer<()>;
    fn get_header_map_value(&mut self, map: MapKind, name: &[u8]) -> Answer<Vec<u8>>;
    fn add_header_map_value(&mut self, map: MapKind, name: &[u8], value: &[u8]) -> Answer<()>;
    fn replace_header_map_value(&mut self, map: MapKind, name: &[u8], value: &[u8]) -> Answer<()>;
    fn remove_header_map_value(&mut self, map: MapKind, name: &[u8]) -> Answer<()>;
    fn get_header_map_size(&mut self, map: MapKind) -> Answer<u32>;

    fn get_buffer_bytes(&mut self, buffer: BufferKind, start: u32, length: u32) -> Answer<Vec<u8>>;
    fn get_buffer_status(&mut self, buffer: BufferKind) -> Answer<(u32, u32)>;
    fn set_buffer_bytes(
        &mut self,
        buffer: BufferKind,
        start: u32,
        length: u32,
        data: &[u8],
    ) -> Answer<()>;

    /// Of ABI 0.1.0: the plugin's while it is created and configured, else the VM's.
    fn get_configuration(&mut self) -> Answer<Vec<u8>>;

    fn get_shared_data(&mut self, key: &[u8]) -> Answer<(Vec<u8>, u32)>;
    fn set_shared_data(&mut self, key: &[u8], value: &[u8], cas: u32) -> Answer<()>;

    fn register_shared_queue(&mut self, name: &[u8]) -> Answer<u32>;
    /// An empty `vm_id` is the guest's own.
    fn resolve_shared_queue(&mut self, vm_id: &[u8], name: &[u8]) -> Answer<u32>;
    fn dequeue_shared_queue(&mut self, token: u32) -> Answer<Vec<u8>>;
    fn enqueue_shared_queue(&mut self, token: u32, value: &[u8]) -> Answer<()>;

    fn define_metric(&mut self, kind: MetricKind, name: &[u8]) -> Answer<u32>;
    fn increment_metric(&mut self, id: u32, offset: i64) -> Answer<()>;
    fn record_metric(&mut self, id: u32, value: u64) -> Answer<()>;
    fn get_metric(&mut self, id: u32) -> Answer<u64>;

    fn http_call(&mut self, call: HttpCall) -> Answer<u32>;
    fn grpc_call(&mut self, message: &[u8], timeout: Duration, target: GrpcTarget) -> Answer<u32>;
    fn grpc_stream(&mut self, target: GrpcTarget) -> Answer<u32>;
    fn grpc_send(&mut self, token: u32, message: &[u8], end_of_stream: bool) -> Answer<()>;
    fn grpc_close(&mut self, token: u32) -> Answer<()>;
    fn grpc_cancel(&mut self, token: u32) -> Answer<()>;
    /// After a call that can bring about callbacks of the very guest that makes it (`grpc_stream`,
    /// `grpc_send`, `resolve_dns`): the next one to run before the call returns. [`HostCalls::nested_done`] follows.
    fn next_nested(&mut self) -> Option<Call>;
    fn nested_done(&mut self) -> Answer<()>;
    fn send_local_response(&mut self, response: LocalResponse) -> Answer<()>;
    fn continue_stream(&mut self, stream: StreamKind) -> Answer<()>;
    fn close_stream(&mut self, stream: StreamKind) -> Answer<()>;

    /// Of ABI 0.1.0; later a foreign function.
    fn clear_route_cache(&mut self) -> Answer<()>;

    fn set_tick_period_milliseconds(&mut self, period_ms: u32) -> Answer<()>;
    fn get_current_time_nanoseconds(&mut self) -> u64;
    fn set_effective_context(&mut self, context: ContextId) -> Answer<()>;
    fn done(&mut self) -> Answer<()>;
    /// Of Envoy's own: looks a name up. The answer comes in `envoy_on_resolve_dns`, for some names before this returns:
    /// [`HostCalls::next_nested`].
    fn resolve_dns(&mut self, name: &[u8]) -> Answer<u32>;
    /// Whether there is one of that name. If not, nothing is written for the guest.
    fn knows_foreign_function(&mut self, name: &[u8]) -> bool;
    fn call_foreign_function(&mut self, name: &[u8], argument: &[u8]) -> Answer<Vec<u8>>;

    /// Whose call it is now, for a [`watch::Watcher`]; no guest can ask for it.
    fn whose(&mut self) -> watch::Whose {
        watch::Whose::default()
    }

    /// A line of the host's own about the guest, not of the guest's.
    fn host_log(&mut self, level: &'static str, text: &str);
    /// The guest's allocator trapped inside a host call. The guest is dead, but not before the call
    /// that is under way has returned.
    fn allocator_failed(&mut self, reason: &str);

    /// WASI `fd_write` to 1 or 2.
    fn write(&mut self, fd: u32, text: &[u8]);
    /// WASI `proc_exit`, which ends nothing.
    fn exit(&mut self, code: u32);
    /// WASI `CLOCK_MONOTONIC`.
    fn monotonic(&mut self) -> Duration;
    /// WASI `random_get`; from the seed.
    fn random(&mut self, out: &mut [u8]);
    /// WASI `environ_get`, as `NAME=value`.
    fn environment(&mut self) -> Vec<String>;
}
