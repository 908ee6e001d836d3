//! What each phase of a request can reach.
//!
//! Shared data, time and chance, and metrics are there in every phase, as the traits [`Shared`],
//! [`Clock`] and [`Metrics`], so that a piece of a filter can work in any of them.
//!
//! Envoy hands the request headers on when a filter continues; from then on they cannot be read or
//! written. So they are methods of the request phases only, and asking for them later does not
//! compile:
//!
//! ```compile_fail
//! fn later(cx: &mut dragoman_sdk::ResponseHeaders<'_>) {
//!     let _ = cx.request_header("authorization");
//! }
//! ```

use std::time::Duration;

use dragoman_contract::names::{INTERNAL_ROLE, LISTENER_ROLE, is_reserved};

use crate::flow::Callout;
use crate::host::{
    Buffer, Cas, Clock, Host, HostResult, Level, Map, Metric, MetricKind, Metrics, Pairs, Shared,
    status,
};

/// The host calls of one phase.
pub(crate) type HostRef<'h> = &'h mut dyn Host;

macro_rules! phase {
    ($(#[$doc:meta])* $name:ident $({$($field:ident: $type:ty)*})?: $($part:ident),*) => {
        $(#[$doc])*
        pub struct $name<'h> {
            pub(crate) host: HostRef<'h>,
            $($(pub(crate) $field: $type,)*)?
        }

        #[allow(clippy::missing_errors_doc, reason = "each is its trait method in `host`")]
        impl $name<'_> {
            /// A property of the stream, `None` if nobody published it.
            pub fn property(&mut self, name: &str) -> HostResult<Option<Vec<u8>>> {
                self.host.property(&[name])
            }
            /// An attribute of Envoy's, such as `["upstream", "address"]`.
            pub fn attribute(&mut self, path: &[&str]) -> HostResult<Option<Vec<u8>>> {
                self.host.property(path)
            }
            /// Publishes a property.
            pub fn publish(&mut self, name: &str, value: &[u8]) -> HostResult<()> {
                self.host.publish(name, value)
            }
            /// Writes to the host's log.
            pub fn log(&mut self, level: Level, text: &str) {
                self.host.log(level, text);
            }
        }

        impl Shared for $name<'_> {
            fn shared(&mut self, key: &str) -> HostResult<Option<(Vec<u8>, Cas)>> {
                self.host.shared(key)
            }
            fn swap_shared(&mut self, key: &str, value: &[u8], cas: Cas) -> HostResult<bool> {
                self.host.swap_shared(key, value, cas)
            }
        }

        impl Clock for $name<'_> {
            fn wall(&mut self) -> Duration {
                self.host.wall()
            }
            fn monotonic(&mut self) -> Duration {
                self.host.monotonic()
            }
            fn random(&mut self) -> u64 {
                self.host.random()
            }
        }

        impl Metrics for $name<'_> {
            fn define_metric(&mut self, kind: MetricKind, name: &str) -> HostResult<Metric> {
                self.host.define_metric(kind, name)
            }
            fn record_metric(&mut self, metric: Metric, value: u64) -> HostResult<()> {
                self.host.record_metric(metric, value)
            }
            fn increment_metric(&mut self, metric: Metric, by: i64) -> HostResult<()> {
                self.host.increment_metric(metric, by)
            }
        }

        $(phase!(@$part $name);)*
    };
    (@request_headers $name:ident) => {
        #[allow(clippy::missing_errors_doc, reason = "each is its trait method in `host`")]
        impl $name<'_> {
            /// All header lines of the request.
            pub fn request_headers(&mut self) -> HostResult<Pairs> {
                self.host.pairs(Map::Request)
            }
            /// Whether the request came in by a listener whose metadata call it internal. Whatever
            /// else they say, or do not say, is taken for public.
            pub fn is_internal_listener(&mut self) -> HostResult<bool> {
                let role = self.host.property(&LISTENER_ROLE)?;
                Ok(role.as_deref() == Some(INTERNAL_ROLE.as_bytes()))
            }
            /// First value of one header of the request.
            pub fn request_header(&mut self, name: &str) -> HostResult<Option<Vec<u8>>> {
                self.host.header(Map::Request, name)
            }
            /// Sets one.
            pub fn set_request_header(&mut self, name: &str, value: &[u8]) -> HostResult<()> {
                self.host.set_header(Map::Request, name, value)
            }
            /// Removes all lines of one.
            pub fn remove_request_header(&mut self, name: impl AsRef<[u8]>) -> HostResult<()> {
                self.host.remove_header(Map::Request, name.as_ref())
            }
        }
    };
    (@request_body $name:ident) => {
        #[allow(clippy::missing_errors_doc, reason = "each is its trait method in `host`")]
        impl $name<'_> {
            /// Up to `length` bytes of the request body from `start`.
            pub fn body(&mut self, start: usize, length: usize) -> HostResult<Vec<u8>> {
                self.host.body(Buffer::Request, start, length)
            }
            /// Replaces the first `length` bytes of the request body. The `content-length` is the
            /// caller's to set.
            pub fn replace_body_prefix(&mut self, length: usize, bytes: &[u8]) -> HostResult<()> {
                self.host.replace_prefix(Buffer::Request, length, bytes)
            }
        }
    };
    (@response_chunk $name:ident) => {
        #[allow(clippy::missing_errors_doc, reason = "each is its trait method in `host`")]
        impl $name<'_> {
            /// The chunk at hand, of the `size` that the callback was given.
            pub fn chunk(&mut self, size: usize) -> HostResult<Vec<u8>> {
                self.host.body(Buffer::Response, 0, size)
            }
        }
    };
    (@callouts $name:ident) => {
        impl $name<'_> {
            /// Sends a callout; its answer comes with the returned token.
            ///
            /// # Errors
            /// When it could not be sent; then no answer will come.
            pub fn dispatch(&mut self, callout: &Callout) -> HostResult<u32> {
                self.host.dispatch(callout)
            }
        }
    };
    (@response_headers $name:ident) => {
        #[allow(clippy::missing_errors_doc, reason = "each is its trait method in `host`")]
        impl $name<'_> {
            /// All header lines of the response.
            pub fn response_headers(&mut self) -> HostResult<Pairs> {
                self.host.pairs(Map::Response)
            }
            /// Sets one.
            pub fn set_response_header(&mut self, name: &str, value: &[u8]) -> HostResult<()> {
                self.host.set_header(Map::Response, name, value)
            }
            /// Removes all lines of one.
            pub fn remove_response_header(&mut self, name: impl AsRef<[u8]>) -> HostResult<()> {
                self.host.remove_header(Map::Response, name.as_ref())
            }
        }
    };
}

phase!(
    /// The request headers are here, the body is not.
    RequestHeaders { complete: bool }: request_headers
);
impl RequestHeaders<'_> {
    /// Whether more of the request is still to come: a body, or trailers.
    #[must_use]
    pub fn body_follows(&self) -> bool {
        !self.complete
    }

    /// Removes what a client may not say ([`is_reserved`]); `headers` are the lines of the request.
    ///
    /// # Errors
    /// As [`RequestHeaders::remove_request_header`].
    pub fn remove_reserved_headers(&mut self, headers: &Pairs) -> HostResult<()> {
        for (name, _) in headers {
            if is_reserved(name) {
                self.remove_request_header(name)?;
            }
        }
        Ok(())
    }
}

phase!(
    /// The request is complete and its headers have not left.
    RequestBody: request_headers, request_body
);
phase!(
    /// The response headers are here.
    ResponseHeaders: response_headers
);
phase!(
    /// A chunk of the response is here.
    ResponseBody: response_chunk
);
phase!(
    /// The request is over, however it ended.
    Done:
);

phase!(
    /// No request: a timer fired or a callout of the module's own was answered. There is no stream,
    /// so properties cannot be published.
    Root: callouts
);

/// The answer to a callout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalloutResponse {
    /// Header lines with `:status`; none at all when the connection broke.
    pub headers: Pairs,
    /// Body.
    pub body: Vec<u8>,
}

impl CalloutResponse {
    /// The status, if there was an answer.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        status(&self.headers)
    }
}
