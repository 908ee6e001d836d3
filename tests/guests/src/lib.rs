//! A filter that asks another service about each request, as a filter on the sdk does.

mod idle;
mod trapping;

use std::rc::Rc;
use std::time::Duration;

use dragoman_sdk::{
    Callout, CalloutResponse, Environment, Filter, HeadersFlow, HostResult, Plugin, Reply,
    RequestHeaders,
};

pub use idle::Idle;
pub use trapping::Trapping;

/// Longest wait for an answer: longer than any test holds one.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The plugin. Takes no configuration.
pub struct Asking;

/// One request.
pub struct Question;

impl Plugin for Asking {
    type Filter = Question;

    fn configure(_: &[u8], _: &dyn Environment) -> Result<Self, String> {
        Ok(Self)
    }

    fn filter(self: &Rc<Self>) -> Question {
        Question
    }
}

impl Filter for Question {
    fn on_request_headers(&mut self, _: &mut RequestHeaders<'_>) -> HostResult<HeadersFlow> {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        Ok(HeadersFlow::Await(Callout {
            cluster: "checker".to_owned(),
            headers: vec![
                header(":method", "GET"),
                header(":path", "/readyz"),
                header(":authority", "checker"),
            ],
            body: Vec::new(),
            timeout: TIMEOUT,
        }))
    }

    fn on_callout(
        &mut self,
        _: &mut RequestHeaders<'_>,
        response: CalloutResponse,
    ) -> HostResult<HeadersFlow> {
        Ok(match response.status() {
            Some(200) => HeadersFlow::Continue,
            status => HeadersFlow::Reply(Reply::json(status.unwrap_or(503), b"{}".to_vec())),
        })
    }
}
