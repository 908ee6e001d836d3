//! Callouts over gRPC. Like all callouts they run the router and the target cluster's upstream filters,
//! and belong to the root context. A call has one message each way, a stream any number.
//!
//! The guest keeps a token until it has closed its side and the worker the other one; what is between
//! them is a request of the engine.

mod begin;
mod events;
mod frames;
mod head;
mod protobuf;
mod service;
pub(crate) mod status;
mod tell;

use std::collections::BTreeMap;

use crate::abi::{Answer, Status};
use crate::chain::Piece;
use crate::engine::Engine;
use crate::stream::StreamKey;

pub(crate) use begin::Unary;
use frames::{Deframer, framed};
use tell::Ear;
pub(crate) use tell::Notice;

/// Tokens of a VM go in steps of four; the rest of a token says what it names.
const TOKEN_STEP: u32 = 4;
const CALL: u32 = 1;
const STREAM: u32 = 2;

/// One request over gRPC that is under way.
#[derive(Debug)]
pub(crate) struct Exchange {
    ear: Ear,
    deframer: Deframer,
    /// Of a call: the message that came last.
    message: Option<Vec<u8>>,
    /// Nothing more is sent.
    sent_all: bool,
}

/// What a VM keeps of its calls and streams.
#[derive(Debug)]
pub(crate) struct Tokens {
    next_call: u32,
    next_stream: u32,
    held: BTreeMap<u32, Held>,
}

/// A token a guest may use.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// Tokens are only good in the root context that got them.
    plugin: usize,
    number: u64,
    guest_closed: bool,
    worker_closed: bool,
}

impl Default for Tokens {
    fn default() -> Self {
        Tokens {
            next_call: CALL + TOKEN_STEP,
            next_stream: STREAM + TOKEN_STEP,
            held: BTreeMap::new(),
        }
    }
}

fn kind(token: u32) -> u32 {
    token % TOKEN_STEP
}

impl Engine {
    /// One more message of a stream.
    pub(crate) fn grpc_send(
        &mut self,
        vm: usize,
        plugin: usize,
        token: u32,
        message: &[u8],
        end: bool,
    ) -> Answer<()> {
        if kind(token) != STREAM {
            return Err(Status::BadArgument.into());
        }
        let held = self.held(vm, plugin, token)?;
        self.send(held.number, framed(message), end);
        Ok(())
    }

    /// The guest's side of a stream ends; a call is given up.
    pub(crate) fn grpc_close(&mut self, vm: usize, plugin: usize, token: u32) -> Answer<()> {
        if kind(token) != STREAM {
            return self.grpc_cancel(vm, plugin, token);
        }
        let held = self.held(vm, plugin, token)?;
        self.send(held.number, Vec::new(), true);
        if let Some(held) = self.vms[vm].grpc.held.get_mut(&token) {
            held.guest_closed = true;
        }
        self.let_go(vm, token);
        Ok(())
    }

    /// A call or stream is given up: nothing of it is heard any more.
    pub(crate) fn grpc_cancel(&mut self, vm: usize, plugin: usize, token: u32) -> Answer<()> {
        if !matches!(kind(token), CALL | STREAM) {
            return Err(Status::BadArgument.into());
        }
        let held = self.held(vm, plugin, token)?;
        self.vms[vm].grpc.held.remove(&token);
        self.end_exchange(held.number);
        Ok(())
    }

    /// Ends the calls and streams of root contexts that are going.
    pub(crate) fn end_exchanges(&mut self, of: impl Fn(&Ear) -> bool) {
        let numbers: Vec<u64> = self
            .exchanges
            .iter()
            .filter(|(_, exchange)| of(&exchange.ear))
            .map(|(number, _)| *number)
            .collect();
        for number in numbers {
            self.end_exchange(number);
        }
    }

    fn end_exchange(&mut self, number: u64) {
        if self.exchanges.remove(&number).is_some() {
            self.finish_stream(StreamKey::Callout(number));
        }
    }

    fn held(&self, vm: usize, plugin: usize, token: u32) -> Result<Held, Status> {
        let held = self.vms[vm].grpc.held.get(&token);
        let held = held.filter(|held| held.plugin == plugin);
        held.copied().ok_or(Status::NotFound)
    }

    /// A token whose both sides have closed is forgotten.
    fn let_go(&mut self, vm: usize, token: u32) {
        let held = &mut self.vms[vm].grpc.held;
        if held
            .get(&token)
            .is_some_and(|held| held.guest_closed && held.worker_closed)
        {
            held.remove(&token);
        }
    }

    /// Sends, unless the worker has ended the request or the guest had.
    fn send(&mut self, number: u64, data: Vec<u8>, end: bool) {
        let Some(exchange) = self.exchanges.get_mut(&number) else {
            return;
        };
        if exchange.sent_all {
            return;
        }
        exchange.sent_all = end;
        self.route_data(StreamKey::Callout(number), Piece::Fresh(data), end);
    }
}
