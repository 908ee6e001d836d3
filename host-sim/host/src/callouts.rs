//! Callouts: requests of guests. They have no filters of their own but run the router, and with it
//! the target cluster's upstream filters. They belong to the root context.

use std::sync::Arc;

use crate::abi::{Answer, Call, HttpCall, Status};
use crate::chain::{Chain, Piece};
use crate::config::{ClusterChoice, Forward, RetryPolicy};
use crate::engine::Engine;
use crate::grpc::status;
use crate::headers;
use crate::inline::{self, Side};
use crate::io::Headers;
use crate::stream::{Stream, StreamKey};

/// Envoy's `http.async_response_buffer_limit`.
const RESPONSE_LIMIT_BYTES: usize = 32 * 1024 * 1024;
/// Tokens of a VM go in steps of four.
const TOKEN_STEP: u32 = 4;
/// `proxy_get_status` after a callout that broke.
const BROKEN_CONNECTION: u32 = 11;

/// How a callout ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Answered,
    Broke,
    /// The answer has more bytes than may be kept.
    TooLarge,
}

impl End {
    /// What `proxy_get_status` gives afterwards, as seen in Envoy.
    fn status(self) -> (u32, Vec<u8>) {
        match self {
            End::Answered => (0, Vec::new()),
            End::Broke | End::TooLarge => (BROKEN_CONNECTION, b"reset".to_vec()),
        }
    }
}

/// One callout under way.
#[derive(Debug)]
pub(crate) struct Callout {
    vm: usize,
    generation: u32,
    plugin: usize,
    token: u32,
    /// Still inside the guest's call: what ends it now is a failure of that call.
    sending: bool,
    headers: Headers,
    body: Vec<u8>,
    trailers: Option<Headers>,
}

/// What the guest can read while it is told.
#[derive(Clone, Debug)]
pub(crate) struct CalloutAnswer {
    /// `None` when the call broke.
    pub(crate) headers: Option<Headers>,
    pub(crate) body: Vec<u8>,
    pub(crate) trailers: Option<Headers>,
}

impl Engine {
    /// Begins a callout and gives its token.
    pub(crate) fn begin_callout(
        &mut self,
        vm: usize,
        plugin: usize,
        mut call: HttpCall,
    ) -> Answer<u32> {
        // A list that makes a new map has no place for them.
        call.headers.retain(|(name, _)| !name.is_empty());
        let cluster = String::from_utf8(call.cluster).map_err(|_| Status::BadArgument)?;
        let complete = [":method", ":path", ":authority"]
            .iter()
            .all(|name| headers::get(&call.headers, name.as_bytes()).is_some());
        let version = self.versions.current();
        if !complete || !version.config.clusters.contains_key(&cluster) {
            return Err(Status::BadArgument.into());
        }
        self.vms[vm].next_token += TOKEN_STEP;
        let (token, generation) = (self.vms[vm].next_token, self.vms[vm].generation);
        self.numbers.callout += 1;
        let number = self.numbers.callout;
        let key = StreamKey::Callout(number);
        let mut request = inline::joined(Side::Request, call.headers);
        if !call.body.is_empty() {
            headers::set(
                &mut request,
                b"content-length",
                call.body.len().to_string().as_bytes(),
            );
        }
        headers::set(&mut request, b"x-envoy-internal", b"true");
        if headers::get(&request, b":scheme").is_none() {
            headers::set(&mut request, b":scheme", b"http");
        }
        let chain = Chain::new(Vec::new(), u64::MAX, u64::MAX);
        let mut stream = Stream::new(None, version, request, chain, self.now);
        stream.request_complete = true;
        stream.router.replay_limit_bytes = u64::MAX;
        self.streams.insert(key, stream);
        let callout = Callout {
            vm,
            generation,
            plugin,
            token,
            sending: true,
            headers: Vec::new(),
            body: Vec::new(),
            trailers: None,
        };
        self.callouts.insert(number, callout);
        let timeout = (!call.timeout.is_zero()).then_some(call.timeout);
        let forward = Forward {
            cluster: ClusterChoice::Named(cluster),
            timeout,
            idle_timeout: None,
            retry: RetryPolicy::default(),
        };
        self.count_http(key, "rq_total");
        self.begin_forward(key, Arc::new(forward), call.body.is_empty());
        if !call.body.is_empty() {
            self.route_data(key, Piece::Fresh(call.body), true);
        }
        match self.callouts.get_mut(&number) {
            Some(callout) => callout.sending = false,
            None => return Err(Status::InternalFailure.into()),
        }
        Ok(token)
    }

    pub(crate) fn callout_headers(&mut self, key: StreamKey, head: Headers, end: bool) {
        if let Some(number) = self.exchange_of(key) {
            return self.grpc_headers(number, head, end);
        }
        if let Some(callout) = self.callout(key) {
            callout.headers = head;
        }
        if end {
            self.callout_complete(key, End::Answered);
        }
    }

    pub(crate) fn callout_data(&mut self, key: StreamKey, data: &[u8], end: bool) {
        if let Some(number) = self.exchange_of(key) {
            return self.grpc_data(number, data, end);
        }
        let Some(callout) = self.callout(key) else {
            return;
        };
        if callout.body.len() + data.len() > RESPONSE_LIMIT_BYTES {
            return self.callout_complete(key, End::TooLarge);
        }
        callout.body.extend_from_slice(data);
        if end {
            self.callout_complete(key, End::Answered);
        }
    }

    pub(crate) fn callout_trailers(&mut self, key: StreamKey, trailers: Headers) {
        if let Some(number) = self.exchange_of(key) {
            return self.grpc_trailers(number, trailers);
        }
        if let Some(callout) = self.callout(key) {
            callout.trailers = Some(trailers);
        }
        self.callout_complete(key, End::Answered);
    }

    pub(crate) fn callout_broke(&mut self, key: StreamKey) {
        if let Some(number) = self.exchange_of(key) {
            return self.grpc_error(number, status::INTERNAL);
        }
        self.callout_complete(key, End::Broke);
    }

    /// The root context that waits for these is ending.
    pub(crate) fn drop_callouts(&mut self, plugin: usize) {
        let numbers: Vec<u64> = self
            .callouts
            .iter()
            .filter(|(_, callout)| callout.plugin == plugin)
            .map(|(number, _)| *number)
            .collect();
        for number in numbers {
            self.finish_stream(StreamKey::Callout(number));
            self.callouts.remove(&number);
        }
        self.end_exchanges(|ear| ear.plugin == plugin);
        self.drop_lookups(|lookup| lookup.plugin == plugin);
    }

    /// The number of a callout that speaks gRPC.
    fn exchange_of(&self, key: StreamKey) -> Option<u64> {
        let StreamKey::Callout(number) = key else {
            return None;
        };
        self.exchanges.contains_key(&number).then_some(number)
    }

    fn callout(&mut self, key: StreamKey) -> Option<&mut Callout> {
        let StreamKey::Callout(number) = key else {
            return None;
        };
        self.callouts.get_mut(&number)
    }

    /// Ends a callout and tells its root context, unless that is gone or still in the call that began it.
    fn callout_complete(&mut self, key: StreamKey, end: End) {
        let StreamKey::Callout(number) = key else {
            return;
        };
        self.finish_stream(key);
        let Some(callout) = self.callouts.remove(&number) else {
            return;
        };
        let slot = &mut self.vms[callout.vm];
        if callout.sending || slot.failed || slot.generation != callout.generation {
            return;
        }
        slot.status = end.status();
        let answer = if end == End::Answered {
            CalloutAnswer {
                headers: Some(callout.headers),
                body: callout.body,
                trailers: callout.trailers,
            }
        } else {
            CalloutAnswer {
                headers: None,
                body: Vec::new(),
                trailers: None,
            }
        };
        let count =
            |lines: Option<&Headers>| u32::try_from(lines.map_or(0, Vec::len)).unwrap_or(u32::MAX);
        let root = self.plugins[callout.plugin].root;
        let call = Call::HttpCallResponse {
            root,
            token: callout.token,
            headers: count(answer.headers.as_ref()),
            body_size: u32::try_from(answer.body.len()).unwrap_or(u32::MAX),
            trailers: count(answer.trailers.as_ref()),
        };
        self.vms[callout.vm].callout_answer = Some(answer);
        let told = self.call_guest(callout.vm, root, &call);
        self.vms[callout.vm].callout_answer = None;
        if told.is_ok() {
            self.run_deferred_of_root(callout.vm);
        }
    }
}
