//! How a guest learns what came.
//!
//! A stream's metadata and messages are told at once, even to a guest that is in the very call that
//! brought them about: whoever runs the guest asks for them (`HostCalls::next_nested`). An end waits
//! until the guest's call has returned.

use super::{CALL, kind};
use crate::abi::{Call, ContextId};
use crate::engine::Engine;
use crate::filter::Deferred;
use crate::io::Headers;
use crate::nested::{Nested, Told, is_end};

/// Who hears of an exchange: its token in a root context of a VM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ear {
    pub(crate) vm: usize,
    pub(super) generation: u32,
    pub(crate) plugin: usize,
    pub(super) token: u32,
}

/// What there is to tell.
#[derive(Clone, Debug)]
pub(crate) enum Notice {
    Initial(Headers),
    Message(Vec<u8>),
    Trailing(Headers),
    Close { status: u32, message: Vec<u8> },
}

impl Notice {
    fn call(&self, root: ContextId, token: u32) -> Call {
        let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        match self {
            Notice::Initial(headers) => Call::GrpcReceiveInitialMetadata {
                root,
                token,
                count: number(headers.len()),
            },
            Notice::Message(message) => Call::GrpcReceive {
                root,
                token,
                size: number(message.len()),
            },
            Notice::Trailing(headers) => Call::GrpcReceiveTrailingMetadata {
                root,
                token,
                count: number(headers.len()),
            },
            Notice::Close { status, .. } => Call::GrpcClose {
                root,
                token,
                status: *status,
            },
        }
    }

    fn told(self) -> Told {
        let mut told = Told::default();
        match self {
            Notice::Initial(headers) => told.initial = Some(headers),
            Notice::Message(message) => told.message = Some(message),
            Notice::Trailing(headers) => told.trailing = Some(headers),
            Notice::Close { .. } => {}
        }
        told
    }
}

impl Engine {
    /// Tells the guest, unless it is gone or has given up the token.
    pub(super) fn tell(&mut self, ear: Ear, number: u64, notice: Notice) {
        let Ear {
            vm, plugin, token, ..
        } = ear;
        let root = self.plugins[plugin].root;
        let slot = &mut self.vms[vm];
        if slot.failed || slot.generation != ear.generation {
            return;
        }
        let held = slot.grpc.held.get_mut(&token);
        let Some(held) = held.filter(|held| held.number == number) else {
            return;
        };
        let closes = matches!(notice, Notice::Close { .. });
        held.worker_closed |= closes;
        if !slot.is_on_stack() {
            return self.deliver(vm, plugin, token, notice);
        }
        if closes || kind(token) == CALL {
            let action = Deferred::Grpc { token, notice };
            slot.deferred.push_back((root, action));
        } else {
            let behind_an_end = slot.deferred.iter().any(is_end);
            slot.nesting.wait(Nested {
                behind_an_end,
                call: notice.call(root, token),
                root,
                told: notice.told(),
            });
        }
    }

    /// Runs the callback; afterwards what is over is forgotten.
    pub(crate) fn deliver(&mut self, vm: usize, plugin: usize, token: u32, notice: Notice) {
        let root = self.plugins[plugin].root;
        let call = notice.call(root, token);
        let slot = &mut self.vms[vm];
        if let Notice::Close { status, message } = &notice {
            slot.status = (*status, message.clone());
        }
        slot.told = notice.told();
        let told = self.call_guest(vm, root, &call);
        let slot = &mut self.vms[vm];
        slot.told = Told::default();
        slot.status = (0, Vec::new());
        if kind(token) == CALL {
            slot.grpc.held.remove(&token);
        }
        self.let_go(vm, token);
        if told.is_ok() {
            self.run_deferred_of_root(vm);
        }
    }

    /// Of all that a guest asked for in a stream's last callbacks only this is carried out: it is
    /// told of the ends that came meanwhile.
    pub(crate) fn run_deferred_ends(&mut self, vm: usize) {
        for (context, action) in std::mem::take(&mut self.vms[vm].deferred) {
            if let Deferred::Grpc { token, notice } = action {
                self.deliver_to(vm, context, token, notice);
            }
        }
    }

    /// The same for whoever knows the root context.
    pub(crate) fn deliver_to(&mut self, vm: usize, root: ContextId, token: u32, notice: Notice) {
        let is_root = |slot: &crate::guests::PluginSlot| slot.vm == vm && slot.root == root;
        if let Some(plugin) = self.plugins.iter().position(is_root) {
            self.deliver(vm, plugin, token, notice);
        }
    }
}
