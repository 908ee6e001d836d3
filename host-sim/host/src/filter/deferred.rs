//! What guests ask for during a call and get once it has returned, in order.

use super::Outcome;
use crate::abi::LocalResponse;
use crate::chain::{BodyAt, ChainKey, Direction, Iteration};
use crate::engine::Engine;
use crate::grpc::Notice;
use crate::guests::Owner;
use crate::local_reply::Reply;

/// What a guest asked for and gets as soon as its call has returned, in order.
#[derive(Clone, Debug)]
pub(crate) enum Deferred {
    Reply(LocalResponse),
    Continue(Direction),
    Close,
    /// Not asked for: a call or stream has ended while the guest was in a call of its own.
    Grpc {
        token: u32,
        notice: Notice,
    },
}

/// The callback that has just returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Returned {
    pub(super) chain: ChainKey,
    pub(super) filter: usize,
    pub(super) direction: Direction,
}

impl Engine {
    /// Carries out what the guest asked for; its answer counts as a stop if it replied, and as
    /// Continue if it resumed the very callback it was in.
    pub(super) fn run_deferred(
        &mut self,
        vm: usize,
        own: Option<Returned>,
        answer: u32,
    ) -> Outcome {
        let mut outcome = Outcome::Answer(answer);
        let mut replied = Vec::new();
        for (context, action) in std::mem::take(&mut self.vms[vm].deferred) {
            if let Deferred::Grpc { token, notice } = action {
                self.deliver_to(vm, context, token, notice);
                continue;
            }
            if replied.contains(&context) {
                let text = "a guest answered a request and went on with it: Envoy would send it to a worker all the same";
                self.log("critical", text.to_owned());
                continue;
            }
            let owner = self.vms[vm].contexts.get(&context).copied();
            let Some(Owner::Filter { chain, filter }) = owner else {
                continue;
            };
            let is_own = own.is_some_and(|own| (own.chain, own.filter) == (chain, filter));
            match action {
                Deferred::Reply(response) => {
                    replied.push(context);
                    if is_own {
                        outcome = Outcome::Stop;
                    }
                    self.reply_of(chain, Reply::of_guest(response));
                }
                Deferred::Continue(direction)
                    if own
                        == Some(Returned {
                            chain,
                            filter,
                            direction,
                        }) =>
                {
                    let text = "a guest resumed a stream inside the callback that paused it";
                    self.log("warning", text.to_owned());
                    outcome = Outcome::Answer(0);
                }
                Deferred::Continue(direction) => self.resume_filter(chain, direction, filter),
                Deferred::Grpc { .. } => {}
                Deferred::Close => {
                    if is_own {
                        outcome = Outcome::Stop;
                    }
                    self.close_of(chain, "wasm_close_stream");
                }
            }
        }
        outcome
    }

    /// What a root context's call left behind.
    pub(crate) fn run_deferred_of_root(&mut self, vm: usize) {
        let _ = self.run_deferred(vm, None, 0);
    }

    fn resume_filter(&mut self, key: ChainKey, direction: Direction, index: usize) {
        let Some(filter) = self.filter(key, index) else {
            return;
        };
        filter.decode.headers_at_hand = false;
        filter.decode.trailers_at_hand = false;
        filter.decode.body = BodyAt::Nowhere;
        let side = filter.side(direction);
        side.buffering = false;
        if side.iteration == Iteration::Going {
            return self.log(
                "warning",
                "a guest resumed a stream that is not paused".to_owned(),
            );
        }
        self.resume(key, direction, index);
    }
}
