//! The phases of `idempotency`.

use std::rc::Rc;

use dragoman_contract::names::{IDEMPOTENCY_KEY, property};
use dragoman_contract::{Identity, RequestRecord};
use dragoman_sdk::host::{Clock, Pairs, first_value, millis};
use dragoman_sdk::{
    Done, Filter, HeadersFlow, HostError, HostResult, RequestHeaders, ResponseBody, ResponseHeaders,
};
use dragoman_slots::{Outcome, SharedData};

use crate::answers::{self, Answered};
use crate::claim::{Claimant, Claimed};
use crate::claims::Claim;
use crate::config::{Idempotency, Rules, random};
use crate::ending::{Seen, ending, is_final};
use crate::keeping::Answering;
use crate::key::{RecordId, key_of};
use crate::record::{Fingerprint, MAX_REQUEST_ID_BYTES, Owner};
use crate::replay;
use crate::running::{Running, Word};

/// One request's way through `idempotency`.
pub struct Guarding {
    plugin: Rc<Idempotency>,
    /// A request that holds its key.
    running: Option<Running>,
}

impl Guarding {
    pub(crate) fn new(plugin: Rc<Idempotency>) -> Self {
        Self {
            plugin,
            running: None,
        }
    }
}

impl Filter for Guarding {
    fn on_request_headers(&mut self, cx: &mut RequestHeaders<'_>) -> HostResult<HeadersFlow> {
        let Some(rules) = self.plugin.rules else {
            return Ok(HeadersFlow::Continue);
        };
        if cx.request_header(IDEMPOTENCY_KEY)?.is_none() {
            return Ok(HeadersFlow::Continue);
        }
        let headers = cx.request_headers()?;
        let (word, reply) = match self.claim(cx, rules, &headers)? {
            None => ("claimed", None),
            Some((word, reply)) => (word, Some(reply)),
        };
        cx.publish(property::IDEMPOTENCY, word.as_bytes())?;
        Ok(reply.map_or(HeadersFlow::Continue, HeadersFlow::Reply))
    }

    fn on_response_headers(
        &mut self,
        cx: &mut ResponseHeaders<'_>,
        end_of_stream: bool,
    ) -> HostResult<()> {
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        running.complete = end_of_stream;
        let headers = cx.response_headers()?;
        let status = number(&headers, ":status").unwrap_or(0);
        if !is_final(status) || !is_from_worker(cx)? {
            return Ok(());
        }
        running.answer = Some(Answering::new(
            &self.plugin.memory,
            running.rules.max_response_bytes,
            status,
            replay::kept(&headers),
            number(&headers, "content-length"),
        ));
        if end_of_stream {
            let now_ms = millis(cx.monotonic());
            if let Some(word) = self.keep(cx, now_ms)? {
                cx.publish(property::IDEMPOTENCY, word)?;
            }
        }
        Ok(())
    }

    fn on_response_body(
        &mut self,
        cx: &mut ResponseBody<'_>,
        size: usize,
        end_of_stream: bool,
    ) -> HostResult<()> {
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        running.complete = end_of_stream;
        let now_ms = millis(cx.monotonic());
        if size > 0 && running.answer.as_ref().is_some_and(Answering::is_copied) {
            let piece = cx.chunk(size)?;
            running.copy(cx, &piece, now_ms)?;
        }
        if end_of_stream && let Some(word) = self.keep(cx, now_ms)? {
            cx.publish(property::IDEMPOTENCY, word)?;
        }
        Ok(())
    }

    /// The request is over. A claim that is still there has no answer to keep.
    fn on_log(&mut self, cx: &mut Done<'_>) -> HostResult<()> {
        let Some(running) = self.running.take() else {
            return Ok(());
        };
        let worker = text(cx.property(property::WORKER)?);
        let trail = text(cx.property(property::ATTEMPTS)?).unwrap_or_default();
        let ending = ending(Seen {
            complete: running.complete,
            worker: worker.as_deref(),
            trail: &trail,
        });
        let now_ms = millis(cx.monotonic());
        let word = running.give_up(cx, ending, now_ms)?;
        cx.publish(property::IDEMPOTENCY, word)
    }
}

impl Guarding {
    /// Claims the key of a request; `None` if the request may run.
    fn claim(
        &mut self,
        cx: &mut RequestHeaders<'_>,
        rules: Rules,
        headers: &Pairs,
    ) -> HostResult<Option<Answered>> {
        let Ok(key) = key_of(headers) else {
            return Ok(Some(answers::invalid()));
        };
        let Some(fingerprint) = fingerprint(cx)? else {
            let reason = "idempotency needs the alias filter before it";
            return Ok(Some(answers::misconfigured(reason)));
        };
        let Some(id) = record_id(cx, rules, key)? else {
            let reason = "auth.mode is on, but no auth filter runs before idempotency";
            return Ok(Some(answers::misconfigured(reason)));
        };
        let Some(store) = self.plugin.store(cx)? else {
            return Ok(Some(answers::unreadable()));
        };
        let claimant = Claimant {
            fingerprint,
            owner: Owner(random(cx)),
            request_id: request_id(headers),
        };
        let claim = Claim {
            id,
            claimant,
            chunks: None,
        };
        let now_ms = millis(cx.monotonic());
        Ok(match store.claim(cx, &claim, now_ms, rules.lease_ms)? {
            Outcome::Done(Claimed::Granted) => {
                self.running = Some(Running {
                    rules,
                    store,
                    claim: self.plugin.claims.add(claim),
                    answer: None,
                    complete: false,
                });
                None
            }
            Outcome::Done(Claimed::Answered(answer)) => {
                Some(answers::replayed(cx, store, &claim, answer)?)
            }
            Outcome::Done(other) => Some(answers::refused(&other)),
            Outcome::Full | Outcome::ShareSpent => Some(answers::full()),
            Outcome::Contended | Outcome::Unreadable => Some(answers::unreadable()),
        })
    }

    /// Keeps the answer that came to its end, if there is one to keep.
    fn keep<S>(&mut self, shared: &mut S, now_ms: u64) -> HostResult<Option<Word>>
    where
        S: SharedData<Error = HostError>,
    {
        match self.running.take_if(|running| running.answer.is_some()) {
            Some(running) => running.keep(shared, now_ms),
            None => Ok(None),
        }
    }
}

/// What the request asks for, as `alias` found out; `None` without `alias`.
fn fingerprint(cx: &mut RequestHeaders<'_>) -> HostResult<Option<Fingerprint>> {
    let bytes = cx.property(property::REQUEST)?.unwrap_or_default();
    let Some(record) = RequestRecord::decode(&bytes) else {
        return Ok(None);
    };
    let api = record.api as u8;
    let fingerprint = |body_sha256| Fingerprint { api, body_sha256 };
    Ok(record.body_sha256.map(fingerprint))
}

/// The record of the caller's key; `None` where the caller has to be known and is not.
fn record_id(
    cx: &mut RequestHeaders<'_>,
    rules: Rules,
    key: &[u8],
) -> HostResult<Option<RecordId>> {
    if !rules.needs_identity {
        return Ok(Some(RecordId::new(None, key)));
    }
    let bytes = cx.property(property::IDENTITY)?.unwrap_or_default();
    let caller = Identity::decode(&bytes);
    Ok(caller.map(|caller| RecordId::new(Some(&caller), key)))
}

/// Whether an answer is a worker's. Envoy's own have other details, and those of filters have
/// none; `attempt`'s look like a worker's, but leave a code.
fn is_from_worker(cx: &mut ResponseHeaders<'_>) -> HostResult<bool> {
    let details = cx.attribute(&["response", "code_details"])?;
    Ok(details.as_deref() == Some(b"via_upstream") && cx.property(property::ERROR)?.is_none())
}

/// Envoy's id of the request, which goes to the worker as well.
fn request_id(headers: &Pairs) -> String {
    let id = first_value(headers, "x-request-id").unwrap_or_default();
    let id = id.iter().copied().filter(u8::is_ascii_graphic);
    id.take(MAX_REQUEST_ID_BYTES).map(char::from).collect()
}

fn number<T: std::str::FromStr>(headers: &Pairs, name: &str) -> Option<T> {
    std::str::from_utf8(first_value(headers, name)?)
        .ok()?
        .parse()
        .ok()
}

fn text(bytes: Option<Vec<u8>>) -> Option<String> {
    String::from_utf8(bytes?).ok()
}
