//! What a filter may ask of its host, and when.
//!
//! A filter is plain Rust: it implements [`Filter`] over the phases of a request and says with a
//! [`Flow`] how the request goes on. It cannot name Envoy, proxy-wasm or a status number:
//!
//! - [`host`] has the small traits behind the phases;
//! - [`phase`] has what each phase can reach: request headers only while Envoy still holds them;
//! - [`Stream`] drives one filter through one request and keeps the waiting rule;
//! - `wasm` (in modules only) is the real host, [`fake`] (elsewhere) the one for tests.

pub mod filter;
pub mod flow;
pub mod host;
pub mod phase;
mod shared;
pub mod stream;

#[cfg(not(target_arch = "wasm32"))]
pub mod fake;
#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
pub mod wasm;

pub use filter::{Environment, Filter, Plugin, Service};
pub use flow::{Callout, Flow, HeadersFlow, Reply};
pub use host::{HostError, HostResult};
pub use phase::{
    CalloutResponse, Done, RequestBody, RequestHeaders, ResponseBody, ResponseHeaders, Root,
};
pub use stream::{Action, Stream};
