//! A filter that is another one until a worker's answer tells it to trap.

use std::rc::Rc;
use std::time::Duration;

use dragoman_sdk::{
    Done, Environment, Filter, HeadersFlow, HostResult, Plugin, RequestHeaders, ResponseBody,
    ResponseHeaders, Root,
};

/// Header of an answer that traps.
const TRAP: &[u8] = b"x-trap";

/// The plugin `P`.
pub struct Trapping<P>(Rc<P>);

/// A request of `P`.
pub struct Trapped<F>(F);

impl<P: Plugin> Plugin for Trapping<P> {
    type Filter = Trapped<P::Filter>;

    fn configure(configuration: &[u8], environment: &dyn Environment) -> Result<Self, String> {
        P::configure(configuration, environment).map(|plugin| Self(Rc::new(plugin)))
    }

    fn on_start(&self, cx: &mut Root<'_>) -> HostResult<()> {
        self.0.on_start(cx)
    }

    fn filter(self: &Rc<Self>) -> Trapped<P::Filter> {
        Trapped(self.0.filter())
    }

    fn period(&self) -> Duration {
        self.0.period()
    }

    fn on_tick(&self, cx: &mut Root<'_>) -> HostResult<()> {
        self.0.on_tick(cx)
    }
}

impl<F: Filter> Filter for Trapped<F> {
    fn on_request_headers(&mut self, cx: &mut RequestHeaders<'_>) -> HostResult<HeadersFlow> {
        self.0.on_request_headers(cx)
    }

    fn on_response_headers(
        &mut self,
        cx: &mut ResponseHeaders<'_>,
        end_of_stream: bool,
    ) -> HostResult<()> {
        if cx.response_headers()?.iter().any(|(name, _)| name == TRAP) {
            // A trap: the module has no process to end.
            std::process::abort();
        }
        self.0.on_response_headers(cx, end_of_stream)
    }

    fn on_response_body(
        &mut self,
        cx: &mut ResponseBody<'_>,
        size: usize,
        end_of_stream: bool,
    ) -> HostResult<()> {
        self.0.on_response_body(cx, size, end_of_stream)
    }

    fn on_log(&mut self, cx: &mut Done<'_>) -> HostResult<()> {
        self.0.on_log(cx)
    }
}
