//! What goes on between host and guests, seen from outside: a [`Watcher`] is shown every callback and every
//! host call before and after. Neither the engine nor the modules know of it, and without a watcher
//! nothing is wrapped.

mod calls;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::{
    BufferKind, Call, CodeId, ContextId, HostCalls, LoadError, MapKind, Refusal, Trap, Vm,
    VmFactory,
};
use crate::config::VmConfig;
use crate::io::{Headers, StreamId, UpstreamId};

pub use calls::Asked;
use calls::Watching;

/// Whose call it is, and when.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whose {
    /// Time since the start of the process.
    pub at: Duration,
    /// Commands of this step that the guests before have brought about: [`crate::Worker::take_commands`] gives
    /// that many before those that follow from this call.
    pub queued: usize,
    /// Number of the worker thread.
    pub thread: usize,
    /// Name of the module's file without `.wasm`.
    pub module: String,
    /// Name of the plugin; empty while a VM starts.
    pub plugin: String,
    /// The context that is meant now, 0 while a VM starts.
    pub context: ContextId,
    /// The client's request, unless the context is a root or serves a callout.
    pub stream: Option<StreamId>,
    /// The attempt, in a filter of a cluster.
    pub attempt: Option<UpstreamId>,
}

/// What a guest got for a host call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered<'a> {
    /// A status that is no success, or the guest's end.
    Refused(&'a Refusal),
    /// It is done, and there is nothing to hand back.
    Nothing,
    /// A number: a size, a token, the id or value of a metric, nanoseconds since 1970.
    Number(u64),
    /// Length and flags of a buffer.
    Numbers(u32, u32),
    /// Bytes.
    Bytes(&'a [u8]),
    /// The value of shared data with its version, or the text of a status with its code.
    BytesAndNumber(&'a [u8], u32),
    /// A header map.
    Pairs(&'a Headers),
    /// Time since the start of the process.
    Time(Duration),
    /// Lines of the environment.
    Lines(&'a [String]),
}

/// Is shown what happens, on the thread on which it happens. Every method does nothing unless it is written.
pub trait Watcher: Send + Sync + fmt::Debug {
    /// The start functions of a VM are about to run.
    fn starts(&self, _whose: &Whose) {}

    /// They have run.
    fn started(&self, _whose: &Whose, _result: Result<(), &Trap>, _instructions: u64) {}

    /// A callback is about to run; those that the guest does not export never come.
    fn called(&self, _whose: &Whose, _call: &Call, _view: &mut View<'_>) {}

    /// A host call is about to be carried out. It may block: then the thread stands still here.
    fn asks(&self, _whose: &Whose, _asked: &Asked<'_>) {}

    /// A host call was carried out; the guest does not run on yet.
    fn answered(&self, _whose: &Whose, _asked: &Asked<'_>, _answered: &Answered<'_>) {}

    /// A callback is over. What the guest asked for and gets afterwards (a reply, a resume) has not
    /// happened yet. `instructions` as in [`Vm::instructions`].
    fn returned(
        &self,
        _whose: &Whose,
        _call: &Call,
        _answer: Result<u32, &Trap>,
        _instructions: u64,
        _view: &mut View<'_>,
    ) {
    }
}

/// What the guest of a callback could read now.
pub struct View<'a>(&'a mut dyn HostCalls);

impl View<'_> {
    /// A header map; empty when it is not at hand.
    #[must_use]
    pub fn pairs(&mut self, map: MapKind) -> Headers {
        self.0.get_header_map_pairs(map).unwrap_or_default()
    }

    /// The bytes of a buffer; none when it is not at hand.
    #[must_use]
    pub fn bytes(&mut self, buffer: BufferKind) -> Vec<u8> {
        self.0
            .get_buffer_bytes(buffer, 0, u32::MAX)
            .unwrap_or_default()
    }
}

/// Several watchers, shown everything one after the other.
#[derive(Clone, Debug, Default)]
pub struct Watchers(pub Vec<Arc<dyn Watcher>>);

impl Watcher for Watchers {
    fn starts(&self, whose: &Whose) {
        self.0.iter().for_each(|watcher| watcher.starts(whose));
    }

    fn started(&self, whose: &Whose, result: Result<(), &Trap>, instructions: u64) {
        for watcher in &self.0 {
            watcher.started(whose, result, instructions);
        }
    }

    fn called(&self, whose: &Whose, call: &Call, view: &mut View<'_>) {
        for watcher in &self.0 {
            watcher.called(whose, call, view);
        }
    }

    fn asks(&self, whose: &Whose, asked: &Asked<'_>) {
        for watcher in &self.0 {
            watcher.asks(whose, asked);
        }
    }

    fn answered(&self, whose: &Whose, asked: &Asked<'_>, answered: &Answered<'_>) {
        for watcher in &self.0 {
            watcher.answered(whose, asked, answered);
        }
    }

    fn returned(
        &self,
        whose: &Whose,
        call: &Call,
        answer: Result<u32, &Trap>,
        instructions: u64,
        view: &mut View<'_>,
    ) {
        for watcher in &self.0 {
            watcher.returned(whose, call, answer, instructions, view);
        }
    }
}

/// Makes the same guests, watched.
#[must_use]
pub fn watched(factory: Arc<dyn VmFactory>, watcher: Arc<dyn Watcher>) -> Arc<dyn VmFactory> {
    Arc::new(Factory { factory, watcher })
}

struct Factory {
    factory: Arc<dyn VmFactory>,
    watcher: Arc<dyn Watcher>,
}

impl VmFactory for Factory {
    fn instantiate(&self, vm: &VmConfig) -> Result<Box<dyn Vm>, LoadError> {
        Ok(self.watched(self.factory.instantiate(vm)?))
    }

    fn code(&self, vm: &VmConfig) -> Result<CodeId, LoadError> {
        self.factory.code(vm)
    }

    fn instantiate_code(&self, vm: &VmConfig, code: CodeId) -> Result<Box<dyn Vm>, LoadError> {
        Ok(self.watched(self.factory.instantiate_code(vm, code)?))
    }
}

impl Factory {
    fn watched(&self, vm: Box<dyn Vm>) -> Box<dyn Vm> {
        Box::new(Guest {
            vm,
            watcher: Arc::clone(&self.watcher),
        })
    }
}

struct Guest {
    vm: Box<dyn Vm>,
    watcher: Arc<dyn Watcher>,
}

impl Vm for Guest {
    fn start(&mut self, host: &mut dyn HostCalls) -> Result<(), Trap> {
        let whose = host.whose();
        self.watcher.starts(&whose);
        let result = self.vm.start(&mut Watching::new(host, &*self.watcher));
        let shown = result.as_ref().copied();
        self.watcher.started(&whose, shown, self.vm.instructions());
        result
    }

    fn call(&mut self, host: &mut dyn HostCalls, call: &Call) -> Result<u32, Trap> {
        if !self.vm.exports(call) {
            return self.vm.call(host, call);
        }
        let whose = host.whose();
        self.watcher.called(&whose, call, &mut View(host));
        let answer = self.vm.call(&mut Watching::new(host, &*self.watcher), call);
        self.watcher.returned(
            &whose,
            call,
            answer.as_ref().copied(),
            self.vm.instructions(),
            &mut View(host),
        );
        answer
    }

    fn exports(&self, call: &Call) -> bool {
        self.vm.exports(call)
    }

    fn instructions(&self) -> u64 {
        self.vm.instructions()
    }
}
