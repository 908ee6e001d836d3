//! A request that holds its key, from its claim to what is remembered of it.

use std::cell::RefCell;
use std::rc::Rc;

use dragoman_config::OnUnknown;
use dragoman_sdk::{HostError, HostResult};
use dragoman_slots::SharedData;

use crate::claim::Settlement;
use crate::claims::Claim;
use crate::config::Rules;
use crate::ending::Ending;
use crate::keeping::{Answering, Kept, Until};
use crate::record::State;
use crate::store::Store;

/// The request.
pub(crate) struct Running {
    pub(crate) rules: Rules,
    pub(crate) store: Store,
    pub(crate) claim: Rc<RefCell<Claim>>,
    /// The answer of a worker, if it is one to keep.
    pub(crate) answer: Option<Answering>,
    /// A whole answer came, from whoever.
    pub(crate) complete: bool,
}

/// What the access log says of the key, where it is not `claimed` any more.
pub(crate) type Word = &'static [u8];

impl Running {
    /// Copies a piece of an answer to keep.
    pub(crate) fn copy<S>(&mut self, shared: &mut S, piece: &[u8], now_ms: u64) -> HostResult<()>
    where
        S: SharedData<Error = HostError>,
    {
        let until = until(now_ms, self.rules.lease_ms);
        let mut claim = self.claim.borrow_mut();
        match &mut self.answer {
            Some(answer) => answer.push(shared, self.store, &mut claim, piece, until),
            None => Ok(()),
        }
    }

    /// Keeps the answer that came to its end.
    pub(crate) fn keep<S>(mut self, shared: &mut S, now_ms: u64) -> HostResult<Option<Word>>
    where
        S: SharedData<Error = HostError>,
    {
        let Some(answer) = self.answer.take() else {
            return Ok(None);
        };
        let until = until(now_ms, self.rules.ttl_ms);
        let mut claim = self.claim.borrow_mut();
        let kept = answer.keep(shared, self.store, &mut claim, until)?;
        Ok(match kept {
            Kept::Whole => None,
            Kept::TooLarge => Some(b"too_large"),
            Kept::Lost => Some(b"lost"),
        })
    }

    /// Ends the claim of a request without an answer to keep.
    pub(crate) fn give_up<S>(self, shared: &mut S, ending: Ending, now_ms: u64) -> HostResult<Word>
    where
        S: SharedData<Error = HostError>,
    {
        let mut claim = self.claim.borrow_mut();
        self.store.forget_body(shared, &mut claim)?;
        let (end, word): (_, Word) = match (ending, self.rules.on_unknown) {
            (Ending::Unknown, OnUnknown::Hold) => {
                let request_id = claim.claimant.request_id.clone();
                let expires_ms = until(now_ms, self.rules.ttl_ms).expires_ms;
                let state = State::Unknown { request_id };
                (Settlement::Keep { state, expires_ms }, b"held")
            }
            (Ending::Unknown | Ending::Failed, _) => (Settlement::Release, b"released"),
        };
        self.store.settle(shared, &claim, now_ms, &end)?;
        Ok(word)
    }
}

fn until(now_ms: u64, span_ms: u64) -> Until {
    let expires_ms = now_ms.saturating_add(span_ms);
    Until { now_ms, expires_ms }
}
