//! What a request gets that does not run.

use dragoman_contract::Code;
use dragoman_sdk::Reply;
use dragoman_slots::SharedData;

use crate::claim::Claimed;
use crate::claims::Claim;
use crate::record::{Answer, Body};
use crate::replay::{self, REPLAYED};
use crate::store::Store;

/// Seconds after which a full store is worth another try: records leave it one by one.
const FULL_RETRY_AFTER_S: u32 = 10;

/// A reply and the word for it in the access log.
pub(crate) type Answered = (&'static str, Reply);

/// The kept answer, byte for byte.
pub(crate) fn replayed<S: SharedData>(
    shared: &mut S,
    store: Store,
    claim: &Claim,
    answer: Answer,
) -> Result<Answered, S::Error> {
    let body = match answer.body {
        Body::Inline(bytes) => Some(bytes),
        Body::Chunks { length, chunks } => store.body(shared, &claim.id, &chunks, length)?,
    };
    let (Some(head), Some(body)) = (replay::decode(&answer.head), body) else {
        // Chunks expire with their record, at worst a moment before it.
        return Ok(too_large());
    };
    let reply = Reply::stored(answer.status, head, body).header(REPLAYED, "true");
    Ok(("replayed", reply))
}

/// The answer to a request whose key is taken. `Granted` and `Answered` are none of these.
pub(crate) fn refused(claimed: &Claimed) -> Answered {
    match claimed {
        Claimed::InProgress => ("in_progress", Reply::error(Code::RequestInProgress)),
        Claimed::Reused => ("reused", Reply::error(Code::IdempotencyKeyReused)),
        Claimed::TooLarge => too_large(),
        Claimed::Unknown { request_id } => unknown(request_id),
        Claimed::Granted | Claimed::Answered(_) | Claimed::Unreadable => unreadable(),
    }
}

/// The id says where to look, in the logs of the worker or of the gateway.
fn unknown(request_id: &str) -> Answered {
    let reply = Reply::error(Code::OutcomeUnknown);
    let reply = if request_id.is_empty() {
        reply
    } else {
        let message = Code::OutcomeUnknown.message();
        reply.message(format!("{message}; the worker was sent it as {request_id}"))
    };
    ("outcome_unknown", reply)
}

fn too_large() -> Answered {
    ("too_large", Reply::error(Code::ResponseTooLargeToReplay))
}

/// For a key of the wrong form.
pub(crate) fn invalid() -> Answered {
    ("invalid", Reply::error(Code::InvalidIdempotencyKey))
}

/// There is no room for another record: to run the request without one might run it twice.
pub(crate) fn full() -> Answered {
    let reply = Reply::error(Code::Overloaded)
        .message("the gateway can remember no further idempotency keys at the moment")
        .retry_after_s(FULL_RETRY_AFTER_S);
    ("full", reply)
}

/// The record cannot be read or changed; what it says is not known, so nothing is run.
pub(crate) fn unreadable() -> Answered {
    let reply = Reply::error(Code::GatewayError)
        .message("the record of the idempotency key cannot be read at the moment");
    ("unreadable", reply)
}

/// A filter that has to come before this one is missing.
pub(crate) fn misconfigured(reason: &'static str) -> Answered {
    (
        "misconfigured",
        Reply::error(Code::Misconfigured).message(reason),
    )
}
