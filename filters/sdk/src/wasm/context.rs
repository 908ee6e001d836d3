//! Glue between the SDK's contexts and [`Stream`].

use std::rc::Rc;

use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action as SdkAction, ContextType};

use super::calls::WasmHost;
use crate::host::{Body, Buffer, Control, Headers, Level, Map};
use crate::{Action, CalloutResponse, Environment, Plugin, Stream};

/// Registers the plugin; called from the module's start function.
pub fn start<P: Plugin>() {
    proxy_wasm::set_root_context(|_| Box::new(Root::<P> { plugin: None }));
}

struct Root<P> {
    plugin: Option<Rc<P>>,
}

struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

impl<P: Plugin> Context for Root<P> {}

impl<P: Plugin> RootContext for Root<P> {
    fn on_configure(&mut self, _size: usize) -> bool {
        let configuration = super::calls::plugin_configuration();
        match P::configure(&configuration, &ProcessEnvironment) {
            Ok(plugin) => {
                self.plugin = Some(Rc::new(plugin));
                true
            }
            Err(reason) => {
                WasmHost.log(Level::Error, &format!("configuration refused: {reason}"));
                false
            }
        }
    }

    fn create_http_context(&self, _context_id: u32) -> Option<Box<dyn HttpContext>> {
        let plugin = self.plugin.as_ref()?;
        Some(Box::new(Request::<P> {
            stream: Stream::new(plugin.filter()),
        }))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}

struct Request<P: Plugin> {
    stream: Stream<P::Filter>,
}

const fn action(action: Action) -> SdkAction {
    match action {
        Action::Continue => SdkAction::Continue,
        Action::Pause => SdkAction::Pause,
    }
}

impl<P: Plugin> Context for Request<P> {
    fn on_http_call_response(
        &mut self,
        _token: u32,
        num_headers: usize,
        body_size: usize,
        _num_trailers: usize,
    ) {
        let mut response = CalloutResponse::default();
        if num_headers > 0 {
            response.headers = WasmHost.pairs(Map::Callout).unwrap_or_default();
            response.body = WasmHost
                .body(Buffer::Callout, 0, body_size)
                .unwrap_or_default();
        }
        self.stream.on_callout(&mut WasmHost, response);
    }

    fn on_done(&mut self) -> bool {
        self.stream.on_done(&mut WasmHost);
        true
    }
}

impl<P: Plugin> HttpContext for Request<P> {
    fn on_http_request_headers(&mut self, _count: usize, end_of_stream: bool) -> SdkAction {
        action(self.stream.on_request_headers(&mut WasmHost, end_of_stream))
    }

    fn on_http_request_body(&mut self, size: usize, end_of_stream: bool) -> SdkAction {
        action(
            self.stream
                .on_request_body(&mut WasmHost, size, end_of_stream),
        )
    }

    fn on_http_request_trailers(&mut self, _count: usize) -> SdkAction {
        action(self.stream.on_request_trailers(&mut WasmHost))
    }

    fn on_http_response_headers(&mut self, _count: usize, end_of_stream: bool) -> SdkAction {
        self.stream
            .on_response_headers(&mut WasmHost, end_of_stream);
        SdkAction::Continue
    }

    fn on_http_response_body(&mut self, size: usize, end_of_stream: bool) -> SdkAction {
        self.stream
            .on_response_body(&mut WasmHost, size, end_of_stream);
        SdkAction::Continue
    }

    fn on_http_response_trailers(&mut self, _count: usize) -> SdkAction {
        self.stream.on_response_body(&mut WasmHost, 0, true);
        SdkAction::Continue
    }

    fn on_log(&mut self) {
        self.stream.on_log(&mut WasmHost);
    }
}
