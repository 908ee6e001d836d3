//! One filter, one request: turns the host's callbacks into phases and keeps the waiting rule.
//!
//! The rule: with `allow_on_headers_stop_iteration`, a paused header callback alone does not hold
//! a request that has a body. So one state says whether this filter holds the request, and every
//! request callback asks it.

use dragoman_contract::{Code, Dialect, names};

use crate::filter::Filter;
use crate::flow::{Callout, Content, HeadersFlow, Reply};
use crate::host::{Control, Host, HostResult, Level, Map};
use crate::phase::{
    CalloutResponse, Done, RequestBody, RequestHeaders, ResponseBody, ResponseHeaders,
};

/// What a callback tells Envoy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// On to the next filter.
    Continue,
    /// Hold what came, and all that comes.
    Pause,
}

/// Why this filter holds the request, if it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// It does not.
    No,
    /// For the rest of the body.
    Body { limit_bytes: u32 },
    /// For the answer to a callout.
    Callout,
    /// For ever: it was answered here.
    Replied,
}

/// Length of the body so far, and whether it is all.
#[derive(Clone, Copy, Debug, Default)]
struct Received {
    length: usize,
    complete: bool,
}

/// A filter on its way through one request.
pub struct Stream<F> {
    filter: F,
    hold: Hold,
    received: Received,
    /// The filter was told that the request is complete.
    completed: bool,
}

impl<F: Filter> Stream<F> {
    /// A request that has not begun.
    pub fn new(filter: F) -> Self {
        Self {
            filter,
            hold: Hold::No,
            received: Received::default(),
            completed: false,
        }
    }

    /// `on_request_headers`.
    pub fn on_request_headers(&mut self, host: &mut dyn Host, end_of_stream: bool) -> Action {
        self.received = Received {
            length: 0,
            complete: end_of_stream,
        };
        let complete = end_of_stream;
        let mut cx = RequestHeaders { host, complete };
        let flow = self.filter.on_request_headers(&mut cx);
        self.decide(host, flow)
    }

    /// `on_request_body`. `size` is all that is held while this filter holds the request.
    pub fn on_request_body(
        &mut self,
        host: &mut dyn Host,
        size: usize,
        end_of_stream: bool,
    ) -> Action {
        self.received.complete |= end_of_stream;
        match self.hold {
            Hold::No => {
                self.passed();
                Action::Continue
            }
            Hold::Replied => Action::Pause,
            Hold::Callout => {
                self.received.length = size;
                Action::Pause
            }
            Hold::Body { limit_bytes } => {
                self.received.length = size;
                self.body_grew(host, limit_bytes)
            }
        }
    }

    /// `on_request_trailers`: they end the body.
    pub fn on_request_trailers(&mut self, host: &mut dyn Host) -> Action {
        self.received.complete = true;
        match self.hold {
            Hold::No => {
                self.passed();
                Action::Continue
            }
            Hold::Replied | Hold::Callout => Action::Pause,
            Hold::Body { limit_bytes } => self.body_grew(host, limit_bytes),
        }
    }

    /// `on_http_call_response` for the callout this filter waits for.
    pub fn on_callout(&mut self, host: &mut dyn Host, response: CalloutResponse) {
        if self.hold != Hold::Callout {
            return;
        }
        self.hold = Hold::No;
        let complete = self.received.complete;
        let mut cx = RequestHeaders { host, complete };
        let flow = self.filter.on_callout(&mut cx, response);
        if self.decide(host, flow) == Action::Continue {
            host.resume();
        }
    }

    /// `on_response_headers`.
    pub fn on_response_headers(&mut self, host: &mut dyn Host, end_of_stream: bool) {
        let result = self
            .filter
            .on_response_headers(&mut ResponseHeaders { host }, end_of_stream);
        report(host, result);
    }

    /// `on_response_body`.
    pub fn on_response_body(&mut self, host: &mut dyn Host, size: usize, end_of_stream: bool) {
        let result = self
            .filter
            .on_response_body(&mut ResponseBody { host }, size, end_of_stream);
        report(host, result);
    }

    /// `on_log`.
    pub fn on_log(&mut self, host: &mut dyn Host) {
        let result = self.filter.on_log(&mut Done { host });
        report(host, result);
    }

    /// `on_done`.
    pub fn on_done(&mut self, host: &mut dyn Host) {
        let result = self.filter.on_done(&mut Done { host });
        report(host, result);
    }

    /// The request is complete, whether this filter held it or not.
    fn passed(&mut self) {
        if self.received.complete && !self.completed {
            self.completed = true;
            self.filter.on_request_complete();
        }
    }

    fn body_grew(&mut self, host: &mut dyn Host, limit_bytes: u32) -> Action {
        if u32::try_from(self.received.length).map_or(true, |length| length > limit_bytes) {
            let reply = self.filter.on_body_too_large(limit_bytes);
            return self.reply(host, reply);
        }
        if !self.received.complete {
            return Action::Pause;
        }
        self.hold = Hold::No;
        let flow = self
            .filter
            .on_request_body(&mut RequestBody { host }, self.received.length);
        self.decide(host, flow.map(HeadersFlow::from))
    }

    fn decide(&mut self, host: &mut dyn Host, flow: HostResult<HeadersFlow>) -> Action {
        match flow {
            Ok(HeadersFlow::Continue) => {
                self.hold = Hold::No;
                self.passed();
                Action::Continue
            }
            Ok(HeadersFlow::MoreBody { limit_bytes }) => {
                self.hold = Hold::Body { limit_bytes };
                self.body_grew(host, limit_bytes)
            }
            Ok(HeadersFlow::Await(callout)) => self.dispatch(host, &callout),
            Ok(HeadersFlow::Reply(reply)) => self.reply(host, reply),
            Err(error) => {
                host.log(Level::Error, &error.to_string());
                self.reply(host, Reply::error(Code::InternalError))
            }
        }
    }

    /// A callout that cannot be sent is answered like one whose connection broke, at once.
    fn dispatch(&mut self, host: &mut dyn Host, callout: &Callout) -> Action {
        self.hold = Hold::Callout;
        if let Err(error) = host.dispatch(callout) {
            host.log(Level::Warn, &error.to_string());
            let complete = self.received.complete;
            let mut cx = RequestHeaders { host, complete };
            let flow = self.filter.on_callout(&mut cx, CalloutResponse::default());
            return match flow {
                // Asking again at once could go on for ever.
                Ok(HeadersFlow::Await(_)) => self.reply(host, Reply::error(Code::InternalError)),
                other => self.decide(host, other),
            };
        }
        Action::Pause
    }

    fn reply(&mut self, host: &mut dyn Host, reply: Reply) -> Action {
        self.hold = Hold::Replied;
        if let Some(code) = reply.code() {
            let result = host.publish(names::property::ERROR, code.as_str().as_bytes());
            report(host, result);
        }
        let (request_id, dialect) = match &reply.content {
            Content::Error { .. } => (
                String::from_utf8_lossy(&header(host, "x-request-id")).into_owned(),
                Dialect::of_path(&header(host, ":path")),
            ),
            Content::Bytes(_) => (String::new(), Dialect::OpenAi),
        };
        let headers: Vec<(&str, &[u8])> = reply
            .headers
            .iter()
            .map(|(name, value)| (name.as_ref(), value.as_slice()))
            .collect();
        host.reply(reply.status, &headers, &reply.body(&request_id, dialect));
        Action::Pause
    }
}

/// A header of the request; empty where it is not there, or the headers are not.
fn header(host: &mut dyn Host, name: &str) -> Vec<u8> {
    let value = host.header(Map::Request, name);
    value.ok().flatten().unwrap_or_default()
}

fn report(host: &mut (impl Control + ?Sized), result: HostResult<()>) {
    if let Err(error) = result {
        host.log(Level::Error, &error.to_string());
    }
}
