//! The host's side of the ABI: what one guest may ask while it is in a call.

mod buffers;
mod contexts;
mod foreign;
mod maps;
mod queues;

use std::path::Path;
use std::time::Duration;

use crate::abi::watch::Whose;
use crate::abi::{
    Answer, BufferKind, Call, ContextId, GrpcTarget, HostCalls, HttpCall, LocalResponse, MapKind,
    MetricKind, Status, StreamKind,
};
use crate::chain::{BodyAt, ChainKey, Direction};
use crate::engine::Engine;
use crate::filter::Deferred;
use crate::grpc::Unary;
use crate::guests::{Life, Owner};
use crate::headers;
use crate::inline::{self, Side};
use crate::io::Headers;
use crate::stream::StreamKey;

pub(crate) use buffers::CallData;

/// Low bits of a metric's id name its kind.
const METRIC_KIND_BITS: u32 = 2;

/// One guest in a call.
pub(crate) struct Guest<'a> {
    pub(crate) engine: &'a mut Engine,
    pub(crate) vm: usize,
    /// Context of the call; 0 while the VM starts.
    pub(crate) current: ContextId,
}

impl<'a> Guest<'a> {
    pub(crate) fn new(engine: &'a mut Engine, vm: usize, current: ContextId) -> Self {
        Guest {
            engine,
            vm,
            current,
        }
    }

    fn metric(&self, id: u32) -> Result<(MetricKind, String), Status> {
        MetricKind::from_number(id % (1 << METRIC_KIND_BITS)).ok_or(Status::BadArgument)?;
        self.engine.vms[self.vm]
            .metrics
            .get(&id)
            .cloned()
            .ok_or(Status::NotFound)
    }

    fn defer(&mut self, action: Deferred) {
        let context = self.context();
        self.engine.vms[self.vm]
            .deferred
            .push_back((context, action));
    }
}

impl HostCalls for Guest<'_> {
    fn log(&mut self, level: u32, text: &[u8]) -> Answer<()> {
        let level = match level {
            0 => "trace",
            1 => "debug",
            2 => "info",
            3 => "warning",
            4 => "error",
            5 => "critical",
            _ => return Err(Status::BadArgument.into()),
        };
        let text = String::from_utf8_lossy(text).into_owned();
        self.engine.vms[self.vm].note(&text);
        let stream = self.place().is_some();
        let mut prefix = Vec::new();
        if let Some(plugin) = self.plugin() {
            let config = &self.engine.plugins[plugin].config;
            // A root context is not named, and a VM that starts has no names at all.
            prefix.extend(stream.then(|| config.name.clone()));
            prefix.push(config.root_id.clone());
            prefix.push(config.vm.vm_id.clone());
        }
        prefix.retain(|part| !part.is_empty());
        self.engine
            .log(level, format!("wasm log {}: {text}", prefix.join(" ")));
        Ok(())
    }

    fn get_log_level(&mut self) -> u32 {
        self.engine.process.log_level()
    }

    fn get_status(&mut self) -> (u32, Vec<u8>) {
        self.engine.vms[self.vm].status.clone()
    }

    fn get_property(&mut self, path: &[u8]) -> Answer<Vec<u8>> {
        self.property(path)
    }

    fn set_property(&mut self, path: &[u8], value: &[u8]) -> Answer<()> {
        self.set_guest_property(path, value)
    }

    fn get_header_map_pairs(&mut self, map: MapKind) -> Answer<Headers> {
        Ok(self.readable(map).cloned().unwrap_or_default())
    }

    fn set_header_map_pairs(&mut self, map: MapKind, pairs: Headers) -> Answer<()> {
        let headers = self.writable(map)?;
        headers.clear();
        for (name, value) in pairs {
            inline::add(headers, side_of(map), &name, &value);
        }
        self.changed(map);
        Ok(())
    }

    fn get_header_map_value(&mut self, map: MapKind, name: &[u8]) -> Answer<Vec<u8>> {
        let absent = if self.logging() {
            Status::NotFound
        } else {
            Status::BadArgument
        };
        let headers = self.readable(map).ok_or(absent)?;
        let value = headers::get(headers, &name.to_ascii_lowercase()).ok_or(Status::NotFound)?;
        Ok(value.to_vec())
    }

    fn add_header_map_value(&mut self, map: MapKind, name: &[u8], value: &[u8]) -> Answer<()> {
        inline::add(self.writable(map)?, side_of(map), name, value);
        self.changed(map);
        Ok(())
    }

    fn replace_header_map_value(&mut self, map: MapKind, name: &[u8], value: &[u8]) -> Answer<()> {
        headers::replace(self.writable(map)?, name, value);
        self.changed(map);
        Ok(())
    }

    fn remove_header_map_value(&mut self, map: MapKind, name: &[u8]) -> Answer<()> {
        headers::remove(self.writable(map)?, name);
        self.changed(map);
        Ok(())
    }

    fn get_header_map_size(&mut self, map: MapKind) -> Answer<u32> {
        let headers = self.changeable(map).ok_or(Status::BadArgument)?;
        Ok(u32::try_from(headers::byte_size(headers)).unwrap_or(u32::MAX))
    }

    fn get_buffer_bytes(&mut self, buffer: BufferKind, start: u32, length: u32) -> Answer<Vec<u8>> {
        let bytes = self.bytes(buffer)?;
        // Envoy adds the two with 64 bits: no length is too long.
        let end = u64::from(start) + u64::from(length);
        let end = usize::try_from(end).unwrap_or(usize::MAX).min(bytes.len());
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        Ok(bytes.get(start..end).unwrap_or_default().to_vec())
    }

    fn get_buffer_status(&mut self, buffer: BufferKind) -> Answer<(u32, u32)> {
        let length = self.bytes(buffer)?.len();
        Ok((u32::try_from(length).unwrap_or(u32::MAX), 0))
    }

    fn set_buffer_bytes(
        &mut self,
        buffer: BufferKind,
        start: u32,
        length: u32,
        data: &[u8],
    ) -> Answer<()> {
        self.bytes(buffer)?;
        let bytes = self.buffer(buffer).ok_or(Status::BadArgument)?;
        let start = usize::try_from(start).unwrap_or(usize::MAX);
        let length = usize::try_from(length)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        if start == 0 {
            bytes.splice(..length, data.iter().copied());
        } else if start >= bytes.len() {
            bytes.extend_from_slice(data);
        } else {
            return Err(Status::BadArgument.into());
        }
        Ok(())
    }

    fn get_configuration(&mut self) -> Answer<Vec<u8>> {
        let slot = &self.engine.vms[self.vm];
        Ok(match slot.configuring {
            Some(plugin) => self.engine.plugins[plugin].config.configuration.clone(),
            None => slot.config.configuration.clone(),
        })
    }

    fn get_shared_data(&mut self, key: &[u8]) -> Answer<(Vec<u8>, u32)> {
        let vm_id = &self.engine.vms[self.vm].config.vm_id;
        Ok(self.engine.process.shared_data().get(vm_id, key)?)
    }

    fn set_shared_data(&mut self, key: &[u8], value: &[u8], cas: u32) -> Answer<()> {
        let vm_id = &self.engine.vms[self.vm].config.vm_id;
        Ok(self
            .engine
            .process
            .shared_data()
            .set(vm_id, key, value, cas)?)
    }

    fn register_shared_queue(&mut self, name: &[u8]) -> Answer<u32> {
        self.register_queue(name)
    }

    fn resolve_shared_queue(&mut self, vm_id: &[u8], name: &[u8]) -> Answer<u32> {
        self.resolve_queue(vm_id, name)
    }

    fn dequeue_shared_queue(&mut self, token: u32) -> Answer<Vec<u8>> {
        Ok(self.engine.process.shared_queues().dequeue(token)?)
    }

    fn enqueue_shared_queue(&mut self, token: u32, value: &[u8]) -> Answer<()> {
        self.enqueue(token, value)
    }

    fn define_metric(&mut self, kind: MetricKind, name: &[u8]) -> Answer<u32> {
        let name = String::from_utf8_lossy(name).into_owned();
        self.engine.process.metrics().define(kind, &name);
        let slot = &mut self.engine.vms[self.vm];
        let defined = slot.metrics_defined.entry(kind).or_default();
        *defined += 1;
        let id = (*defined << METRIC_KIND_BITS) | kind as u32;
        slot.metrics.insert(id, (kind, name));
        Ok(id)
    }

    fn increment_metric(&mut self, id: u32, offset: i64) -> Answer<()> {
        let (kind, name) = self.metric(id)?;
        Ok(self
            .engine
            .process
            .metrics()
            .increment(kind, &name, offset)?)
    }

    fn record_metric(&mut self, id: u32, value: u64) -> Answer<()> {
        let (kind, name) = self.metric(id)?;
        Ok(self.engine.process.metrics().record(kind, &name, value)?)
    }

    fn get_metric(&mut self, id: u32) -> Answer<u64> {
        let (kind, name) = self.metric(id)?;
        Ok(self.engine.process.metrics().get(kind, &name)?)
    }

    fn http_call(&mut self, call: HttpCall) -> Answer<u32> {
        let plugin = self.plugin().ok_or(Status::BadArgument)?;
        self.engine.begin_callout(self.vm, plugin, call)
    }

    fn grpc_call(&mut self, message: &[u8], timeout: Duration, target: GrpcTarget) -> Answer<u32> {
        let plugin = self.plugin().ok_or(Status::BadArgument)?;
        let unary = Some(Unary { message, timeout });
        self.engine.begin_grpc(self.vm, plugin, target, unary)
    }

    fn grpc_stream(&mut self, target: GrpcTarget) -> Answer<u32> {
        let plugin = self.plugin().ok_or(Status::BadArgument)?;
        self.engine.begin_grpc(self.vm, plugin, target, None)
    }

    fn grpc_send(&mut self, token: u32, message: &[u8], end_of_stream: bool) -> Answer<()> {
        let plugin = self.plugin().ok_or(Status::BadArgument)?;
        self.engine
            .grpc_send(self.vm, plugin, token, message, end_of_stream)
    }

    fn grpc_close(&mut self, token: u32) -> Answer<()> {
        let plugin = self.plugin().ok_or(Status::BadArgument)?;
        self.engine.grpc_close(self.vm, plugin, token)
    }

    fn grpc_cancel(&mut self, token: u32) -> Answer<()> {
        let plugin = self.plugin().ok_or(Status::BadArgument)?;
        self.engine.grpc_cancel(self.vm, plugin, token)
    }

    fn next_nested(&mut self) -> Option<Call> {
        self.begin_nested()
    }

    fn nested_done(&mut self) -> Answer<()> {
        self.end_nested()
    }

    fn send_local_response(&mut self, response: LocalResponse) -> Answer<()> {
        if self.place().is_some() {
            self.defer(Deferred::Reply(response));
        }
        Ok(())
    }

    fn continue_stream(&mut self, stream: StreamKind) -> Answer<()> {
        let direction = match stream {
            StreamKind::Request => Direction::Decode,
            StreamKind::Response => Direction::Encode,
            StreamKind::Downstream => return Ok(()),
            StreamKind::Upstream => return Err(Status::Unimplemented.into()),
        };
        if let Some(filter) = self.filter() {
            // From here on the guest has nothing of the request at hand, whichever way it resumes.
            filter.decode.headers_at_hand = false;
            filter.decode.trailers_at_hand = false;
            // A body that is held back stays until the stream has gone on.
            if filter.decode.body == BodyAt::Piece {
                filter.decode.body = BodyAt::Nowhere;
            }
            self.defer(Deferred::Continue(direction));
        }
        Ok(())
    }

    fn close_stream(&mut self, stream: StreamKind) -> Answer<()> {
        if matches!(stream, StreamKind::Request | StreamKind::Response) && self.place().is_some() {
            self.defer(Deferred::Close);
        }
        Ok(())
    }

    fn clear_route_cache(&mut self) -> Answer<()> {
        self.forget_route();
        Ok(())
    }

    fn set_tick_period_milliseconds(&mut self, period_ms: u32) -> Answer<()> {
        let plugin = self.plugin().ok_or(Status::BadArgument)?;
        self.engine
            .set_tick(plugin, Duration::from_millis(period_ms.into()));
        Ok(())
    }

    fn get_current_time_nanoseconds(&mut self) -> u64 {
        u64::try_from(self.engine.now.wall.as_nanos()).unwrap_or(u64::MAX)
    }

    fn set_effective_context(&mut self, context: ContextId) -> Answer<()> {
        let slot = &mut self.engine.vms[self.vm];
        if context != 0 && !slot.contexts.contains_key(&context) {
            return Err(Status::BadArgument.into());
        }
        slot.effective = (context != 0).then_some(context);
        Ok(())
    }

    fn done(&mut self) -> Answer<()> {
        match self.owner() {
            Some(Owner::Root(plugin)) if self.engine.plugins[plugin].life == Life::Ending => {
                self.engine.root_is_done(plugin);
                Ok(())
            }
            _ => Err(Status::NotFound.into()),
        }
    }

    fn resolve_dns(&mut self, name: &[u8]) -> Answer<u32> {
        let plugin = self.plugin().ok_or(Status::BadArgument)?;
        self.engine.look_up(self.vm, plugin, name)
    }

    fn call_foreign_function(&mut self, name: &[u8], argument: &[u8]) -> Answer<Vec<u8>> {
        self.foreign(name, argument)
    }

    fn knows_foreign_function(&mut self, name: &[u8]) -> bool {
        Self::knows_foreign(name)
    }

    fn whose(&mut self) -> Whose {
        let plugin = self.plugin();
        let plugin = plugin.map(|plugin| self.engine.plugins[plugin].config.name.clone());
        let chain = self.place().map(|(chain, _)| chain);
        let stream = chain.and_then(|chain| self.engine.stream_of(chain));
        let module = Path::new(&self.engine.vms[self.vm].config.code_path).file_stem();
        Whose {
            at: self.engine.now.monotonic,
            queued: self.engine.commands.len(),
            thread: self.engine.index,
            module: module.unwrap_or_default().to_string_lossy().into_owned(),
            plugin: plugin.unwrap_or_default(),
            context: self.context(),
            stream: match stream {
                Some(StreamKey::Client(stream)) => Some(stream),
                Some(StreamKey::Callout(_)) | None => None,
            },
            attempt: match chain {
                Some(ChainKey::Attempt(attempt)) => Some(attempt),
                Some(ChainKey::Stream(_)) | None => None,
            },
        }
    }

    fn host_log(&mut self, level: &'static str, text: &str) {
        self.engine.vms[self.vm].note(text);
        self.engine.log(level, text.to_owned());
    }

    fn allocator_failed(&mut self, reason: &str) {
        self.engine.kill(self.vm, &format!("malloc: {reason}"));
    }

    fn exit(&mut self, code: u32) {
        let text = format!("proc_exit({code}): Envoy ends nothing here, the guest goes on");
        self.engine.log_once("warning", text);
    }

    fn write(&mut self, fd: u32, text: &[u8]) {
        if text.is_empty() {
            return;
        }
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        let level = if fd == 1 { 2 } else { 4 };
        // Both levels are known: there is nothing to refuse.
        let _ = self.log(level, text);
    }

    fn monotonic(&mut self) -> Duration {
        self.engine.now.monotonic
    }

    fn random(&mut self, out: &mut [u8]) {
        self.engine.random.fill(out);
    }

    fn environment(&mut self) -> Vec<String> {
        let config = &self.engine.vms[self.vm].config;
        let host = self.engine.process.environment();
        let host = config
            .host_env_keys
            .iter()
            .filter_map(|key| host.get_key_value(key));
        config
            .env
            .iter()
            .chain(host)
            .map(|(key, value)| format!("{key}={value}"))
            .collect()
    }
}

/// Which names a map keeps in one line.
fn side_of(map: MapKind) -> Side {
    match map {
        MapKind::RequestHeaders => Side::Request,
        MapKind::ResponseHeaders => Side::Response,
        _ => Side::Neither,
    }
}
