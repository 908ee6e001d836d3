//! The beginning of a call or stream.

use std::sync::Arc;
use std::time::Duration;

use super::frames::{Deframer, framed};
use super::head;
use super::service::{Service, Target};
use super::status::UNAVAILABLE;
use super::tell::Ear;
use super::{CALL, Exchange, Held, Notice, STREAM, TOKEN_STEP};
use crate::abi::{Answer, GrpcTarget, Refusal, Status};
use crate::chain::Chain;
use crate::config::{ClusterChoice, Forward};
use crate::engine::Engine;
use crate::filter::Deferred;
use crate::io::Headers;
use crate::stream::{Stream, StreamKey};

/// What a call has and a stream has not.
pub(crate) struct Unary<'a> {
    pub(crate) message: &'a [u8],
    /// Zero is none, but the worker is told of it all the same.
    pub(crate) timeout: Duration,
}

impl Engine {
    /// Begins a call, or a stream if there is no message, and gives its token. What goes wrong at once
    /// is an InternalFailure, and yet the guest will be told of the end of a token that it never got.
    pub(crate) fn begin_grpc(
        &mut self,
        vm: usize,
        plugin: usize,
        target: GrpcTarget,
        unary: Option<Unary<'_>>,
    ) -> Answer<u32> {
        let version = self.versions.current();
        let clusters = &version.config.clusters;
        let service = Service::read(&target.service, |name| clusters.contains_key(name))
            .ok_or(Status::ParseFailure)?;
        match service.target {
            Some(Target::Envoy) => {}
            Some(Target::Google) => {
                self.log_once("error", "google_grpc: not modelled by host-sim".to_owned());
                return Err(Status::InternalFailure.into());
            }
            None => {
                let text = "a gRPC service without envoy_grpc.cluster_name: here Envoy itself ends";
                return Err(Refusal::Stop(text.to_owned()));
            }
        }
        let token = self.next_grpc_token(vm, unary.is_some());
        let path = [b"/", &*target.service_name, b"/", &*target.method_name].concat();
        let timeout = unary.as_ref().map(|unary| unary.timeout);
        let head = head::request(&service, path, timeout, &target.initial_metadata)
            .ok_or(Status::BadArgument)?;
        if !clusters.contains_key(&service.cluster) {
            self.defer_grpc_close(
                vm,
                plugin,
                token,
                UNAVAILABLE,
                b"Cluster not available".to_vec(),
            );
            return Err(Status::InternalFailure.into());
        }
        let number = self.new_exchange(vm, plugin, token, service.message_limit_bytes, head);
        let forward = Forward {
            cluster: ClusterChoice::Named(service.cluster),
            timeout: timeout.filter(|timeout| !timeout.is_zero()),
            idle_timeout: None,
            retry: service.retry,
        };
        self.begin_forward(StreamKey::Callout(number), Arc::new(forward), false);
        if let Some(unary) = unary {
            self.send(number, framed(unary.message), true);
        }
        if !self.exchanges.contains_key(&number) {
            self.vms[vm].grpc.held.remove(&token);
            return Err(Status::InternalFailure.into());
        }
        Ok(token)
    }

    fn next_grpc_token(&mut self, vm: usize, unary: bool) -> u32 {
        let tokens = &mut self.vms[vm].grpc;
        let next = if unary {
            &mut tokens.next_call
        } else {
            &mut tokens.next_stream
        };
        let token = *next;
        debug_assert!(matches!(token % TOKEN_STEP, CALL | STREAM));
        *next = token.wrapping_add(TOKEN_STEP);
        token
    }

    /// A request of the engine's that belongs to a token.
    fn new_exchange(
        &mut self,
        vm: usize,
        plugin: usize,
        token: u32,
        message_limit_bytes: Option<u64>,
        head: Headers,
    ) -> u64 {
        self.numbers.callout += 1;
        let number = self.numbers.callout;
        let chain = Chain::new(Vec::new(), u64::MAX, u64::MAX);
        let version = self.versions.current();
        let mut stream = Stream::new(None, version, head, chain, self.now);
        stream.request_complete = true;
        stream.router.replay_limit_bytes = u64::MAX;
        self.streams.insert(StreamKey::Callout(number), stream);
        let generation = self.vms[vm].generation;
        self.exchanges.insert(
            number,
            Exchange {
                ear: Ear {
                    vm,
                    generation,
                    plugin,
                    token,
                },
                deframer: Deframer::new(message_limit_bytes),
                message: None,
                sent_all: false,
            },
        );
        let held = Held {
            plugin,
            number,
            guest_closed: false,
            worker_closed: false,
        };
        self.vms[vm].grpc.held.insert(token, held);
        number
    }

    /// The end of a token that the guest learns of once its call has returned.
    fn defer_grpc_close(
        &mut self,
        vm: usize,
        plugin: usize,
        token: u32,
        status: u32,
        message: Vec<u8>,
    ) {
        let root = self.plugins[plugin].root;
        let notice = Notice::Close { status, message };
        self.vms[vm]
            .deferred
            .push_back((root, Deferred::Grpc { token, notice }));
    }
}
