//! Glue between the SDK's contexts and [`Stream`].

use std::rc::Rc;

use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action as SdkAction, ContextType};

use super::calls::WasmHost;
use crate::host::{Body, Buffer, Control, Headers, HostResult, Level, Map};
use crate::{Action, CalloutResponse, Environment, Plugin, Service, Stream};

/// Registers the service; called from the module's start function.
pub fn start_service<S: Service>() {
    proxy_wasm::set_root_context(|_| Box::new(Timer::<S> { service: None }));
}

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

/// What `configure` makes of the plugin configuration; a refusal is logged.
fn configured<T>(
    configure: impl FnOnce(&[u8], &dyn Environment) -> Result<T, String>,
) -> Option<T> {
    configure(&super::calls::plugin_configuration(), &ProcessEnvironment)
        .map_err(|reason| {
            WasmHost.log(Level::Error, &format!("configuration refused: {reason}"));
        })
        .ok()
}

fn report(result: HostResult<()>) {
    if let Err(error) = result {
        WasmHost.log(Level::Error, &error.to_string());
    }
}

fn callout_response(num_headers: usize, body_size: usize) -> CalloutResponse {
    let mut response = CalloutResponse::default();
    // Without headers the connection broke, and there is nothing to read.
    if num_headers > 0 {
        response.headers = WasmHost.pairs(Map::Callout).unwrap_or_default();
        response.body = WasmHost
            .body(Buffer::Callout, 0, body_size)
            .unwrap_or_default();
    }
    response
}

/// A module that ticks. It is a filter in a chain, because a trapped filter is loaded again.
struct Timer<S> {
    service: Option<S>,
}

impl<S: Service> Timer<S> {
    fn run(&mut self, work: impl FnOnce(&mut S, &mut crate::Root<'_>) -> HostResult<()>) {
        let Some(service) = &mut self.service else {
            return;
        };
        report(work(
            service,
            &mut crate::Root {
                host: &mut WasmHost,
            },
        ));
    }
}

impl<S: Service> Context for Timer<S> {
    fn on_http_call_response(
        &mut self,
        token: u32,
        num_headers: usize,
        body_size: usize,
        _num_trailers: usize,
    ) {
        let response = callout_response(num_headers, body_size);
        self.run(|service, cx| service.on_callout(cx, token, response));
    }
}

impl<S: Service> RootContext for Timer<S> {
    fn on_configure(&mut self, _size: usize) -> bool {
        self.service = configured(S::configure);
        let Some(service) = &self.service else {
            return false;
        };
        super::calls::set_tick_period(service.period()).is_ok()
    }

    fn on_tick(&mut self) {
        #[cfg(feature = "test-hooks")]
        super::hooks::on_tick();
        self.run(|service, cx| service.on_tick(cx));
    }

    fn create_http_context(&self, _context_id: u32) -> Option<Box<dyn HttpContext>> {
        Some(Box::new(Passing))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}

/// A request that a service lets pass.
struct Passing;

impl Context for Passing {}
impl HttpContext for Passing {}

impl<P: Plugin> RootContext for Root<P> {
    fn on_configure(&mut self, _size: usize) -> bool {
        self.plugin = configured(P::configure).map(Rc::new);
        let Some(plugin) = &self.plugin else {
            return false;
        };
        report(plugin.on_start(&mut crate::Root {
            host: &mut WasmHost,
        }));
        let period = plugin.period();
        period.is_zero() || super::calls::set_tick_period(period).is_ok()
    }

    fn on_tick(&mut self) {
        let Some(plugin) = &self.plugin else { return };
        report(plugin.on_tick(&mut crate::Root {
            host: &mut WasmHost,
        }));
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
        let response = callout_response(num_headers, body_size);
        self.stream.on_callout(&mut WasmHost, response);
    }

    fn on_done(&mut self) -> bool {
        self.stream.on_done(&mut WasmHost);
        true
    }
}

impl<P: Plugin> HttpContext for Request<P> {
    fn on_http_request_headers(&mut self, _count: usize, end_of_stream: bool) -> SdkAction {
        #[cfg(feature = "test-hooks")]
        super::hooks::on_request();
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
