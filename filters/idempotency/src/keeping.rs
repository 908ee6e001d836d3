//! Keeping the answer of a worker while it passes.

use std::rc::Rc;

use dragoman_slots::{Outcome, SharedData};

use crate::claim::Settlement;
use crate::claims::Claim;
use crate::copying::{Copied, Copying, Memory};
use crate::record::{Answer, Body, State};
use crate::store::{INLINE_BYTES, Store};

/// An answer on its way to the client.
#[derive(Debug)]
pub(crate) struct Answering {
    status: u16,
    /// The kept lines of its head, and the copy of its body; `None` once it was given up.
    parts: Option<(Vec<u8>, Copying)>,
}

/// What is remembered of an answer in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// The answer.
    Whole,
    /// That there was one, and that it was too large.
    TooLarge,
    /// Nothing: the lease was over, and the key is another's by now.
    Lost,
}

/// How long something is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Until {
    pub(crate) now_ms: u64,
    pub(crate) expires_ms: u64,
}

impl Answering {
    /// An answer with this head (`None`: one that is too large) and, if it says so, this length.
    pub(crate) fn new(
        memory: &Rc<Memory>,
        limit_bytes: usize,
        status: u16,
        head: Option<Vec<u8>>,
        length: Option<usize>,
    ) -> Self {
        let fits = length.is_none_or(|length| length <= limit_bytes);
        let copy = |head| (head, Copying::new(memory, limit_bytes));
        Self {
            status,
            parts: head.filter(|_| fits).map(copy),
        }
    }

    /// Whether it is still being copied.
    pub(crate) fn is_copied(&self) -> bool {
        self.parts.is_some()
    }

    /// Copies a piece. `until` is when the claim's lease is over.
    pub(crate) fn push<S: SharedData>(
        &mut self,
        shared: &mut S,
        store: Store,
        claim: &mut Claim,
        mut piece: &[u8],
        until: Until,
    ) -> Result<(), S::Error> {
        while let Some((_, copy)) = &mut self.parts {
            let put_away = match copy.push(piece) {
                Copied::Held => return Ok(()),
                Copied::TooLarge => false,
                Copied::Full(chunk, rest) => {
                    piece = rest;
                    store.append(shared, claim, &chunk, until)?
                }
            };
            if !put_away {
                self.parts = None;
                store.forget_body(shared, claim)?;
            }
        }
        Ok(())
    }

    /// Remembers the whole answer, in its record, else in chunks, else that it was too large.
    pub(crate) fn keep<S: SharedData>(
        self,
        shared: &mut S,
        store: Store,
        claim: &mut Claim,
        until: Until,
    ) -> Result<Kept, S::Error> {
        if let Some((head, mut copy)) = self.parts {
            let length = u32::try_from(copy.length()).unwrap_or(u32::MAX);
            let rest = copy.take_held();
            let answer = |body| {
                State::Answered(Answer {
                    status: self.status,
                    head: head.clone(),
                    body,
                })
            };
            if claim.chunks.is_none() && rest.len() <= INLINE_BYTES {
                let state = answer(Body::Inline(rest.clone()));
                if let Some(kept) = settle(shared, store, claim, until, state)? {
                    return Ok(kept);
                }
            }
            if let Some(chunks) = put_away(shared, store, claim, &rest, until)? {
                let state = answer(Body::Chunks { length, chunks });
                if let Some(kept) = settle(shared, store, claim, until, state)? {
                    return Ok(kept);
                }
            }
        }
        store.forget_body(shared, claim)?;
        // It needs less room than the claim, so there is room.
        let kept = settle(shared, store, claim, until, State::TooLarge)?;
        Ok(match kept {
            Some(Kept::Whole) => Kept::TooLarge,
            _ => Kept::Lost,
        })
    }
}

/// Puts the last part of an answer away and keeps all of it; its chunks, or `None` if there is no
/// room for it.
fn put_away<S: SharedData>(
    shared: &mut S,
    store: Store,
    claim: &mut Claim,
    rest: &[u8],
    until: Until,
) -> Result<Option<Vec<u8>>, S::Error> {
    let has_room = rest.is_empty() || store.append(shared, claim, rest, until)?;
    if !has_room || !store.keep_body(shared, claim, until.expires_ms)? {
        return Ok(None);
    }
    Ok(claim.chunks.as_ref().map(|chunks| chunks.encode()))
}

/// Ends the claim with this state; `None` if there is no room for it.
fn settle<S: SharedData>(
    shared: &mut S,
    store: Store,
    claim: &mut Claim,
    until: Until,
    state: State,
) -> Result<Option<Kept>, S::Error> {
    let expires_ms = until.expires_ms;
    let end = Settlement::Keep { state, expires_ms };
    Ok(match store.settle(shared, claim, until.now_ms, &end)? {
        Outcome::Done(true) => Some(Kept::Whole),
        Outcome::Full | Outcome::ShareSpent => None,
        Outcome::Done(false) | Outcome::Contended | Outcome::Unreadable => {
            store.forget_body(shared, claim)?;
            Some(Kept::Lost)
        }
    })
}
