//! What a filter is.

use std::rc::Rc;
use std::time::Duration;

use crate::flow::{Flow, HeadersFlow, Reply};
use crate::host::HostResult;
use crate::phase::{
    CalloutResponse, Done, RequestBody, RequestHeaders, ResponseBody, ResponseHeaders, Root,
};

/// The environment variables that the configuration of the VM lets through.
pub trait Environment {
    /// Value of a variable, if it is set.
    fn variable(&self, name: &str) -> Option<String>;
}

/// A configured filter: one per thread and configuration.
pub trait Plugin: Sized + 'static {
    /// One per request.
    type Filter: Filter;

    /// Reads the configuration.
    ///
    /// # Errors
    /// With a text of the form `path: value: reason`; the previous configuration stays in force.
    fn configure(configuration: &[u8], environment: &dyn Environment) -> Result<Self, String>;

    /// The configuration is in force on this thread, and no request has come yet: the place for
    /// what the log should say at start.
    ///
    /// # Errors
    /// A host call that failed; it is logged, and requests are served all the same.
    #[allow(unused_variables, reason = "the default ignores what it is given")]
    fn on_start(&self, cx: &mut Root<'_>) -> HostResult<()> {
        Ok(())
    }

    /// A filter for a new request.
    fn filter(self: &Rc<Self>) -> Self::Filter;

    /// Time between two ticks of this thread's copy; zero never ticks.
    fn period(&self) -> Duration {
        Duration::ZERO
    }

    /// The timer fired. Needs the callback `tick`.
    ///
    /// # Errors
    /// A host call that failed; it is logged, and the next tick comes all the same.
    #[allow(unused_variables, reason = "the default ignores what it is given")]
    fn on_tick(&self, cx: &mut Root<'_>) -> HostResult<()> {
        Ok(())
    }
}

/// A configured module that works by a timer instead of on requests: one per thread and
/// configuration.
pub trait Service: Sized + 'static {
    /// Reads the configuration.
    ///
    /// # Errors
    /// As in [`Plugin::configure`].
    fn configure(configuration: &[u8], environment: &dyn Environment) -> Result<Self, String>;

    /// Time between two ticks; zero never ticks.
    fn period(&self) -> Duration;

    /// The timer fired.
    ///
    /// # Errors
    /// A host call that failed; it is logged, and the next tick comes all the same.
    fn on_tick(&mut self, cx: &mut Root<'_>) -> HostResult<()>;

    /// A callout of [`Root::dispatch`] was answered.
    ///
    /// # Errors
    /// As in `on_tick`.
    fn on_callout(
        &mut self,
        cx: &mut Root<'_>,
        token: u32,
        response: CalloutResponse,
    ) -> HostResult<()>;
}

/// One request's way through a filter. A module exports only the callbacks it lists
/// (see `dragoman_sdk::module!`); the others keep these defaults.
#[allow(unused_variables, reason = "defaults ignore what they are given")]
pub trait Filter: 'static {
    /// The request headers came.
    ///
    /// # Errors
    /// A host call that failed; answered with 500 `internal_error`.
    fn on_request_headers(&mut self, cx: &mut RequestHeaders<'_>) -> HostResult<HeadersFlow> {
        Ok(HeadersFlow::Continue)
    }

    /// The body is complete, after [`HeadersFlow::MoreBody`]. `length` is its size in bytes.
    ///
    /// # Errors
    /// As in `on_request_headers`.
    fn on_request_body(&mut self, cx: &mut RequestBody<'_>, length: usize) -> HostResult<Flow> {
        Ok(Flow::Continue)
    }

    /// The last of the request came and goes on to the next filter.
    fn on_request_complete(&mut self) {}

    /// The body is longer than the limit given with [`HeadersFlow::MoreBody`].
    fn on_body_too_large(&mut self, limit_bytes: u32) -> Reply {
        Reply::too_large(limit_bytes)
    }

    /// The callout was answered, after `Await`. The request headers are still held.
    ///
    /// # Errors
    /// As in `on_request_headers`.
    fn on_callout(
        &mut self,
        cx: &mut RequestHeaders<'_>,
        response: CalloutResponse,
    ) -> HostResult<HeadersFlow> {
        Ok(HeadersFlow::Continue)
    }

    /// The response headers came. Also called for requests this filter never saw.
    ///
    /// # Errors
    /// A host call that failed; the response goes on and the failure is logged.
    fn on_response_headers(
        &mut self,
        cx: &mut ResponseHeaders<'_>,
        end_of_stream: bool,
    ) -> HostResult<()> {
        Ok(())
    }

    /// A chunk of the response came; `end_of_stream` may come with an empty one, or with trailers.
    ///
    /// # Errors
    /// As in `on_response_headers`.
    fn on_response_body(
        &mut self,
        cx: &mut ResponseBody<'_>,
        size: usize,
        end_of_stream: bool,
    ) -> HostResult<()> {
        Ok(())
    }

    /// The request is over. Downstream filters can still write properties for the access log.
    ///
    /// # Errors
    /// As in `on_response_headers`.
    fn on_log(&mut self, cx: &mut Done<'_>) -> HostResult<()> {
        Ok(())
    }

    /// The filter is about to go. In an upstream filter the end of the attempt.
    ///
    /// # Errors
    /// As in `on_response_headers`.
    fn on_done(&mut self, cx: &mut Done<'_>) -> HostResult<()> {
        Ok(())
    }
}
