//! Callbacks that run inside of the guest's own call: those of a gRPC stream that fails or moves at once, and the answer to
//! a name that needs no asking. Whoever runs the guest asks for them (`HostCalls::next_nested`).

use std::collections::VecDeque;

use crate::abi::{Answer, Call, ContextId, Refusal};
use crate::filter::Deferred;
use crate::host_calls::Guest;
use crate::io::Headers;

/// What a guest can read while it is told of something.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    pub(crate) initial: Option<Headers>,
    pub(crate) message: Option<Vec<u8>>,
    pub(crate) trailing: Option<Headers>,
}

/// A callback that is to run inside of the guest's own call.
#[derive(Clone, Debug)]
pub(crate) struct Nested {
    pub(crate) call: Call,
    pub(crate) root: ContextId,
    pub(crate) told: Told,
    /// The end of another token waited already.
    pub(crate) behind_an_end: bool,
}

/// What such a callback interrupts.
#[derive(Clone, Debug)]
struct Interrupted {
    behind_an_end: bool,
    told: Told,
    current: ContextId,
    effective: Option<ContextId>,
}

/// Those of one VM.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    /// They came while the guest was in a call of its own, and are to run before that returns.
    waiting: VecDeque<Nested>,
    /// What they interrupt while they run.
    interrupted: Vec<Interrupted>,
}

impl Nesting {
    pub(crate) fn wait(&mut self, nested: Nested) {
        self.waiting.push_back(nested);
    }
}

impl Guest<'_> {
    /// The next callback that is to run before the guest's own call returns.
    pub(crate) fn begin_nested(&mut self) -> Option<Call> {
        let slot = &mut self.engine.vms[self.vm];
        let Nested {
            call,
            root,
            told,
            behind_an_end,
        } = slot.nesting.waiting.pop_front()?;
        slot.nesting.interrupted.push(Interrupted {
            behind_an_end,
            told: std::mem::replace(&mut slot.told, told),
            current: std::mem::replace(&mut self.current, root),
            effective: slot.effective.take(),
        });
        Some(call)
    }

    /// That callback has returned. What it asked for is carried out now, inside of the outer call.
    pub(crate) fn end_nested(&mut self) -> Answer<()> {
        let slot = &mut self.engine.vms[self.vm];
        let Some(interrupted) = slot.nesting.interrupted.pop() else {
            return Ok(());
        };
        slot.told = interrupted.told;
        slot.effective = interrupted.effective;
        self.current = interrupted.current;
        if interrupted.behind_an_end {
            let text = "a gRPC stream that fails at once, while the guest has to be told of the end of another: \
                        here Envoy's thread hangs for ever";
            return Err(Refusal::Stop(text.to_owned()));
        }
        let (ends, others) = std::mem::take(&mut slot.deferred)
            .into_iter()
            .partition(is_end);
        slot.deferred = others;
        self.engine.run_deferred_of_root(self.vm);
        self.engine.vms[self.vm]
            .deferred
            .extend::<VecDeque<_>>(ends);
        Ok(())
    }
}

/// Whether this tells of the end of a call or stream.
pub(crate) fn is_end((_, action): &(ContextId, Deferred)) -> bool {
    matches!(action, Deferred::Grpc { .. })
}
