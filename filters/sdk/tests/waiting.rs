//! The waiting rule: what holds a request, and what lets it go.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may panic"
)]

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use dragoman_contract::Code;
use dragoman_sdk::fake::{Exchange, FakeHost, lines};
use dragoman_sdk::{
    Action, Callout, CalloutResponse, Environment, Filter, Flow, HeadersFlow, HostResult, Plugin,
    Reply, RequestBody, RequestHeaders,
};

/// What the filter under test says in each phase.
#[derive(Clone, Copy)]
enum Script {
    /// Wait for a body of at most ten bytes.
    Body,
    /// Wait for a callout, then go on.
    Callout,
    /// Wait for a callout, then for the body.
    CalloutThenBody,
    /// Wait for a callout, then refuse.
    CalloutThenRefuse,
    /// Wait for the body, then for a callout.
    BodyThenCallout,
    /// Ask for a callout, whatever comes back.
    CalloutForEver,
    /// Touch headers that are not there.
    Broken,
}

struct Scripted(Script);

thread_local! {
    /// How often the filter was told that its request is complete.
    static COMPLETED: Cell<u32> = const { Cell::new(0) };
}

impl Plugin for Scripted {
    type Filter = Scripted;
    fn configure(_: &[u8], _: &dyn Environment) -> Result<Self, String> {
        Ok(Self(Script::Body))
    }
    fn filter(self: &Rc<Self>) -> Scripted {
        Scripted(self.0)
    }
}

fn callout() -> Callout {
    Callout {
        cluster: "store".to_owned(),
        headers: Vec::new(),
        body: Vec::new(),
        timeout: Duration::from_millis(200),
    }
}

const BODY: HeadersFlow = HeadersFlow::MoreBody { limit_bytes: 10 };

impl Filter for Scripted {
    fn on_request_headers(&mut self, cx: &mut RequestHeaders<'_>) -> HostResult<HeadersFlow> {
        Ok(match self.0 {
            Script::Body | Script::BodyThenCallout => BODY,
            Script::Broken => {
                cx.request_header("host")?;
                HeadersFlow::Continue
            }
            _ => HeadersFlow::Await(callout()),
        })
    }

    fn on_request_body(&mut self, cx: &mut RequestBody<'_>, length: usize) -> HostResult<Flow> {
        cx.publish("seen", length.to_string().as_bytes())?;
        Ok(match self.0 {
            Script::BodyThenCallout => Flow::Await(callout()),
            _ => Flow::Continue,
        })
    }

    fn on_request_complete(&mut self) {
        COMPLETED.set(COMPLETED.get() + 1);
    }

    fn on_callout(
        &mut self,
        _: &mut RequestHeaders<'_>,
        _: CalloutResponse,
    ) -> HostResult<HeadersFlow> {
        Ok(match self.0 {
            Script::CalloutThenBody => BODY,
            Script::CalloutThenRefuse => HeadersFlow::Reply(Reply::error(Code::NotFound)),
            Script::CalloutForEver => HeadersFlow::Await(callout()),
            _ => HeadersFlow::Continue,
        })
    }
}

fn exchange(script: Script) -> Exchange<Scripted> {
    Exchange::new(
        &Rc::new(Scripted(script)),
        FakeHost::new(&[("x-request-id", "r1")]),
    )
}

fn answer() -> CalloutResponse {
    CalloutResponse {
        headers: lines(&[(":status", "200")]),
        body: Vec::new(),
    }
}

fn seen(exchange: &Exchange<Scripted>) -> Option<&[u8]> {
    exchange.host.properties.get("seen").map(Vec::as_slice)
}

#[test]
fn a_body_is_held_to_its_end_and_counted_once() {
    let mut it = exchange(Script::Body);
    assert_eq!(it.headers(false), Action::Pause);
    assert_eq!(it.data(b"aaa", false), Action::Pause);
    assert_eq!(it.data(b"bbb", false), Action::Pause);
    assert_eq!(seen(&it), None);
    assert_eq!(it.data(b"", true), Action::Continue);
    assert_eq!(seen(&it), Some(b"6".as_slice()));
}

#[test]
fn a_request_without_a_body_has_an_empty_one() {
    let mut it = exchange(Script::Body);
    assert_eq!(it.headers(true), Action::Continue);
    assert_eq!(seen(&it), Some(b"0".as_slice()));
}

#[test]
fn trailers_end_a_body() {
    let mut it = exchange(Script::Body);
    it.headers(false);
    assert_eq!(it.data(b"aaa", false), Action::Pause);
    assert_eq!(it.trailers(), Action::Continue);
    assert_eq!(seen(&it), Some(b"3".as_slice()));
}

#[test]
fn a_body_over_the_limit_is_refused_before_it_is_complete() {
    let mut it = exchange(Script::Body);
    it.headers(false);
    assert_eq!(it.data(b"0123456789", false), Action::Pause);
    assert_eq!(it.host.replied, None);
    assert_eq!(it.data(b"x", false), Action::Pause);
    assert_eq!(it.host.replied.as_ref().unwrap().status, 413);
    // What still comes of it stays here.
    assert_eq!(it.data(b"y", true), Action::Pause);
    assert_eq!(seen(&it), None);
}

#[test]
fn a_callout_holds_the_body_too() {
    let mut it = exchange(Script::Callout);
    assert_eq!(it.headers(false), Action::Pause);
    assert_eq!(it.data(b"aaa", true), Action::Pause);
    it.callout(answer());
    assert_eq!(it.host.resumed, 1);
}

#[test]
fn a_body_that_came_during_a_callout_is_not_waited_for_again() {
    let mut it = exchange(Script::CalloutThenBody);
    it.headers(false);
    it.data(b"aaa", true);
    it.callout(answer());
    assert_eq!(seen(&it), Some(b"3".as_slice()));
    assert_eq!(it.host.resumed, 1);
}

#[test]
fn a_body_that_comes_after_a_callout_is_waited_for() {
    let mut it = exchange(Script::CalloutThenBody);
    it.headers(false);
    it.callout(answer());
    assert_eq!(it.host.resumed, 0);
    assert_eq!(it.data(b"aaa", true), Action::Continue);
}

#[test]
fn a_refusal_after_a_callout_answers_and_does_not_resume() {
    let mut it = exchange(Script::CalloutThenRefuse);
    it.headers(false);
    it.callout(answer());
    let replied = it.host.replied.clone().unwrap();
    assert_eq!((replied.status, it.host.resumed), (404, 0));
    assert!(
        replied.text().contains(r#""request_id":"r1""#),
        "{}",
        replied.text()
    );
    assert_eq!(it.host.properties["dragoman.error"], b"not_found");
    // A second answer to the same callout changes nothing.
    it.callout(answer());
    assert_eq!(it.host.resumed, 0);
}

#[test]
fn a_callout_after_the_body_holds_the_request() {
    let mut it = exchange(Script::BodyThenCallout);
    it.headers(false);
    assert_eq!(it.data(b"aaa", true), Action::Pause);
    it.callout(answer());
    assert_eq!(it.host.resumed, 1);
}

#[test]
fn a_callout_that_cannot_be_sent_is_answered_at_once() {
    let mut it = exchange(Script::Callout);
    it.host.refuse_callouts = true;
    assert_eq!(it.headers(false), Action::Continue);

    let mut it = exchange(Script::CalloutForEver);
    it.host.refuse_callouts = true;
    assert_eq!(it.headers(false), Action::Pause);
    assert_eq!(it.host.replied.as_ref().unwrap().status, 500);
}

#[test]
fn a_host_call_that_fails_ends_the_request_and_is_logged() {
    let mut it = exchange(Script::Broken);
    it.host.request = None;
    assert_eq!(it.headers(false), Action::Pause);
    assert_eq!(it.host.replied.as_ref().unwrap().status, 500);
    assert_eq!(it.host.logged, ["header: status 2"]);
}

#[test]
fn a_filter_learns_once_that_the_request_is_complete() {
    for (script, pieces) in [
        (Script::Body, 1),
        (Script::Body, 2),
        (Script::CalloutThenBody, 1),
    ] {
        let mut it = exchange(script);
        it.headers(false);
        it.callout(answer());
        for piece in 1..=pieces {
            assert_eq!(COMPLETED.get(), 0);
            it.data(b"a", piece == pieces);
        }
        it.trailers();
        assert_eq!(COMPLETED.take(), 1);
    }
}

#[test]
fn an_error_has_the_shape_of_the_clients_api() {
    for (path, beginning) in [
        ("/v1/chat/completions", r#"{"error":{"message""#),
        ("/v1/messages?beta=1", r#"{"type":"error","error":"#),
    ] {
        let host = FakeHost::new(&[(":path", path)]);
        let mut it = Exchange::new(&Rc::new(Scripted(Script::CalloutThenRefuse)), host);
        it.headers(false);
        it.callout(answer());
        let text = it.host.replied.unwrap().text();
        assert!(text.starts_with(beginning), "{text}");
    }
}
