//! The phases of `attempt`.

use std::rc::Rc;
use std::time::Duration;

use dragoman_circuit::Ticket;
use dragoman_contract::load::Claims;
use dragoman_contract::names::{self, property};
use dragoman_contract::records::RETRIABLE_STATUSES;
use dragoman_contract::{Code, Plan};
use dragoman_sdk::host::{Clock, status};
use dragoman_sdk::{
    Done, Filter, Flow, HeadersFlow, HostResult, Reply, RequestBody, RequestHeaders, ResponseBody,
    ResponseHeaders,
};
use dragoman_slots::{Swap, swap};

use crate::circuit::settle;
use crate::config::Attempt;
use crate::meter::Meter;
use crate::outcome::{Outcome, Seen, outcome, trail};
use crate::probe::chosen;
use crate::rewrite::Rewrite;

/// Headers that only the gateway and Envoy talk in, or that would make an answer unreadable for us.
const NOT_FOR_WORKERS: &[&str] = &[
    names::ENDPOINT_LIST,
    names::ROUTED,
    names::PROBE,
    "accept-encoding",
];
/// Marks of the gateway's own; a worker that sends them is not believed.
const NOT_FROM_WORKERS: &[&str] = &["x-cache", "idempotency-replayed"];

/// One attempt.
pub struct Attempting {
    plugin: Rc<Attempt>,
    state: Option<State>,
}

/// An attempt that is in the plan.
struct State {
    worker: String,
    rewrite: Rewrite,
    started: Duration,
    timeout_ms: u32,
    /// The trail of the attempts before.
    before: String,
    status: Option<u16>,
    /// When the head of the answer came, where it is measured.
    answered: Option<Duration>,
    complete: bool,
    /// Reads the tokens off the answer, if it can tell them.
    meter: Option<Meter>,
    /// Another candidate follows.
    has_next: bool,
    /// The worker's circuit waits for this attempt.
    trial: Option<Ticket>,
}

impl Attempting {
    pub(crate) fn new(plugin: Rc<Attempt>) -> Self {
        Self {
            plugin,
            state: None,
        }
    }
}

impl Filter for Attempting {
    fn on_request_headers(&mut self, cx: &mut RequestHeaders<'_>) -> HostResult<HeadersFlow> {
        let bytes = cx.property(property::PLAN)?.unwrap_or_default();
        let plan = Plan::decode(&bytes);
        let token = match plan {
            Some(_) => None,
            None => cx.request_header(names::PROBE)?,
        };
        self.plugin.strip(cx)?;
        let Some(plan) = plan else {
            let unplanned = refused(
                Code::Misconfigured,
                "no earlier filter planned this request",
            );
            return Ok(self.plugin.probe(cx, token)?.unwrap_or(unplanned));
        };
        let Some(at) = position(cx, &plan)? else {
            return Ok(refused(
                Code::NoBackendAvailable,
                "the chosen address is not in the plan",
            ));
        };
        let begun = self.begin(cx, &plan, at)?;
        Ok(begun.unwrap_or_else(|| refused(Code::InternalError, "the plan does not fit the body")))
    }

    fn on_request_body(&mut self, cx: &mut RequestBody<'_>, length: usize) -> HostResult<Flow> {
        let Some(state) = &self.state else {
            return Ok(Flow::Continue);
        };
        let rewrite = &state.rewrite;
        let prefix = if length == rewrite.old_len {
            rewrite.prefix(cx.body(0, rewrite.keep)?)
        } else {
            None
        };
        let Some(prefix) = prefix else {
            let reply =
                Reply::error(Code::InternalError).message("the body is not the planned one");
            return Ok(Flow::Reply(reply));
        };
        cx.replace_body_prefix(rewrite.end, &prefix)?;
        Ok(Flow::Continue)
    }

    fn on_body_too_large(&mut self, _limit_bytes: u32) -> Reply {
        Reply::error(Code::InternalError).message("the body is not the planned one")
    }

    fn on_response_headers(
        &mut self,
        cx: &mut ResponseHeaders<'_>,
        end_of_stream: bool,
    ) -> HostResult<()> {
        let pairs = cx.response_headers()?;
        let backend_header = self.plugin.backend_header.as_deref();
        for (name, _) in &pairs {
            if self.plugin.is_not_for_clients(name) {
                cx.remove_response_header(name)?;
            }
        }
        let Some(state) = &mut self.state else {
            return Ok(());
        };
        if let Some(header) = backend_header {
            cx.set_response_header(header, state.worker.as_bytes())?;
        }
        let answered = status(&pairs).unwrap_or(0);
        state.status = Some(answered);
        state.complete = end_of_stream;
        if self.plugin.stopwatch.is_some() {
            state.answered = Some(cx.monotonic());
        }
        state.meter = Meter::of(&pairs);
        let so_far = trail(&state.before, &state.worker, answered);
        cx.publish(property::ATTEMPTS, so_far.as_bytes())
    }

    fn on_response_body(
        &mut self,
        cx: &mut ResponseBody<'_>,
        size: usize,
        end_of_stream: bool,
    ) -> HostResult<()> {
        let Some(state) = &mut self.state else {
            return Ok(());
        };
        state.complete |= end_of_stream;
        match &mut state.meter {
            Some(meter) => meter.read(cx, size),
            None => Ok(()),
        }
    }

    fn on_done(&mut self, cx: &mut Done<'_>) -> HostResult<()> {
        let Some(state) = &self.state else {
            return Ok(());
        };
        self.plugin.load.end(cx, &state.worker)?;
        let end = state.end(cx)?;
        self.plugin.measure(cx, state, end)?;
        if let Some(rule) = &self.plugin.circuit {
            settle(cx, rule, &state.worker, end, state.trial)?;
        }
        if matches!(end, Outcome::Answered(_)) {
            // Told with the response head already.
            return Ok(());
        }
        cx.publish(
            property::ATTEMPTS,
            trail(&state.before, &state.worker, end).as_bytes(),
        )
    }
}

impl Attempting {
    /// Sends the request on its way to the candidate at this place of the plan; `None` if the plan
    /// has no such candidate or does not fit the body.
    fn begin(
        &mut self,
        cx: &mut RequestHeaders<'_>,
        plan: &Plan<'_>,
        at: usize,
    ) -> HostResult<Option<HeadersFlow>> {
        let Some(candidate) = plan.candidates.get(at) else {
            return Ok(None);
        };
        let Some(rewrite) = Rewrite::new(plan, candidate.served_model_name) else {
            return Ok(None);
        };
        let next = plan.candidates.get(at + 1);
        if let Some(next) = next {
            cx.set_request_header(names::CLUSTER, next.cluster.as_bytes())?;
        }
        cx.set_request_header("content-length", rewrite.new_len.to_string().as_bytes())?;
        cx.set_request_header(":authority", candidate.address.as_bytes())?;
        self.plugin.present(cx, candidate.worker)?;
        cx.publish(property::WORKER, candidate.worker.as_bytes())?;
        let before = if at == 0 {
            None
        } else {
            cx.property(property::ATTEMPTS)?
        };
        self.state = Some(State {
            worker: candidate.worker.to_owned(),
            rewrite,
            started: cx.monotonic(),
            timeout_ms: plan.timeout_ms,
            before: String::from_utf8(before.unwrap_or_default()).unwrap_or_default(),
            status: None,
            answered: None,
            complete: false,
            meter: None,
            has_next: next.is_some(),
            trial: plan.trial.filter(|_| at == 0).map(Ticket::from_u32),
        });
        self.plugin.load.begin(cx, candidate.worker)?;
        if let Some(claimant) = plan.claim.filter(|_| at == 0) {
            give_up_claim(cx, candidate.worker, claimant)?;
        }
        Ok(Some(HeadersFlow::MoreBody {
            limit_bytes: plan.body_len,
        }))
    }
}

impl State {
    /// How the attempt ended.
    fn end(&self, cx: &mut Done<'_>) -> HostResult<Outcome> {
        if let Some(status) = self.status.filter(|_| self.complete || self.moves_on()) {
            return Ok(Outcome::Answered(status));
        }
        // Envoy knows how long a request took as soon as it is over. Before its attempt is over, only
        // the client ends it, whatever the details say: they depend on how it left.
        let over = cx.attribute(&["request", "duration"])?.is_some();
        let failure = cx
            .attribute(&["upstream", "transport_failure_reason"])?
            .unwrap_or_default();
        Ok(outcome(Seen {
            status: self.status,
            client_gone: over,
            refused: !failure.is_empty(),
            elapsed_ms: cx.monotonic().saturating_sub(self.started).as_millis(),
            timeout_ms: self.timeout_ms,
        }))
    }

    /// Envoy drops such an answer for the next candidate, so nothing of its body is missed.
    fn moves_on(&self) -> bool {
        self.has_next
            && self
                .status
                .is_some_and(|status| RETRIABLE_STATUSES.contains(&status))
    }
}

/// The request shows in this VM's seat now, so the place that was claimed for it is not needed any
/// more. Where every race for it is lost, the claim ends by itself.
fn give_up_claim(cx: &mut RequestHeaders<'_>, worker: &str, claimant: u64) -> HostResult<()> {
    swap(cx, &Claims::key(worker), |bytes| {
        match Claims::decode(bytes).without(claimant) {
            Some(claims) => Swap::Write(claims.encode(), ()),
            None => Swap::Keep(()),
        }
    })?;
    Ok(())
}

/// A reply from here is final: Envoy does not try the next candidate.
fn refused(code: Code, message: &str) -> HeadersFlow {
    HeadersFlow::Reply(Reply::error(code).message(message))
}

/// Where in the plan the address that Envoy chose stands.
fn position(cx: &mut RequestHeaders<'_>, plan: &Plan<'_>) -> HostResult<Option<usize>> {
    let (cluster, address) = chosen(cx)?;
    Ok(plan.candidates.iter().position(|candidate| {
        candidate.address.as_bytes() == address && candidate.cluster.as_bytes() == cluster
    }))
}

impl Attempt {
    /// Notes how long a good answer took. What failed says nothing of how fast a worker is: a
    /// refusal may come at once.
    fn measure(&self, cx: &mut Done<'_>, state: &State, end: Outcome) -> HostResult<()> {
        let (Some(stopwatch), Some(answered)) = (&self.stopwatch, state.answered) else {
            return Ok(());
        };
        if !matches!(end, Outcome::Answered(200..=299)) {
            return Ok(());
        }
        let now = cx.monotonic();
        let times = (
            answered.saturating_sub(state.started),
            now.saturating_sub(state.started),
        );
        stopwatch.observe(cx, now, self.load.seat(), &state.worker, times)
    }

    /// Takes away what no worker may see: the client's credential, the credential of the worker
    /// that was tried before, and the gateway's own headers. The cluster header has to stay, Envoy
    /// reads it for the next attempt.
    fn strip(&self, cx: &mut RequestHeaders<'_>) -> HostResult<()> {
        for name in NOT_FOR_WORKERS {
            cx.remove_request_header(name)?;
        }
        for name in &self.credential_headers {
            cx.remove_request_header(name)?;
        }
        Ok(())
    }

    /// Whether a response header stays here: what only the gateway and Envoy may say (a worker behind
    /// an Envoy of its own answers `x-envoy-ratelimited`, and this one would not try the next
    /// candidate), and what a worker repeats of its credential.
    fn is_not_for_clients(&self, name: &[u8]) -> bool {
        let credentials = self.credential_headers.iter().map(String::as_str);
        let mut listed = NOT_FROM_WORKERS.iter().copied().chain(credentials);
        names::is_reserved(name) || listed.any(|entry| entry.as_bytes() == name)
    }

    /// The credential of a worker, if it has one.
    pub(crate) fn present(&self, cx: &mut RequestHeaders<'_>, worker: &str) -> HostResult<()> {
        match self.credentials.get(worker) {
            Some(credential) => cx.set_request_header(&credential.header, &credential.value),
            None => Ok(()),
        }
    }
}
