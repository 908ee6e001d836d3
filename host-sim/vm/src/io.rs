//! Arguments and results of an import, in the memory of the guest that calls it.

use host_sim_host::abi::{Answer, HostCalls, Refusal, Status};
use wasmtime::{Caller, Extern, Memory, Val};

use crate::abi::Version;
use crate::data::{Data, Phase};

/// One import call.
pub(crate) struct Io<'a, 'b>(pub(crate) &'a mut Caller<'b, Data>);

/// Runs the body of an import that only a running guest may call: a status is the guest's to read, a
/// stop is a trap.
pub(crate) fn import(
    caller: Caller<'_, Data>,
    body: impl FnOnce(&mut Io<'_, '_>) -> Answer<()>,
) -> wasmtime::Result<u32> {
    import_in(caller, Phase::Running, body)
}

/// The same for an import that a guest may call as soon as it has come to `phase`.
pub(crate) fn import_in(
    mut caller: Caller<'_, Data>,
    phase: Phase,
    body: impl FnOnce(&mut Io<'_, '_>) -> Answer<()>,
) -> wasmtime::Result<u32> {
    caller.data().check(phase)?;
    match body(&mut Io(&mut caller)) {
        Ok(()) => Ok(0),
        Err(Refusal::Tell(status)) => Ok(status as u32),
        Err(Refusal::Stop(reason)) => Err(wasmtime::Error::msg(reason)),
    }
}

impl Io<'_, '_> {
    /// The host of the call under way.
    pub(crate) fn host(&mut self) -> Answer<&mut dyn HostCalls> {
        match self.0.data_mut().host() {
            Some(host) => Ok(host),
            None => Err(Refusal::Stop("called outside of any call".into())),
        }
    }

    /// Which ABI the guest speaks.
    pub(crate) fn version(&self) -> Version {
        self.0.data().version
    }

    fn memory(&mut self) -> Answer<Memory> {
        let memory = self.0.data().memory;
        memory.ok_or(Refusal::Tell(Status::InvalidMemoryAccess))
    }

    /// Bytes of the guest.
    pub(crate) fn bytes(&mut self, at: u32, length: u32) -> Answer<Vec<u8>> {
        let memory = self.memory()?;
        let start = at as usize;
        let end = start.saturating_add(length as usize);
        let bytes = memory
            .data(&*self.0)
            .get(start..end)
            .ok_or(Status::InvalidMemoryAccess)?;
        Ok(bytes.to_vec())
    }

    /// Writes into the guest's memory.
    pub(crate) fn put(&mut self, at: u32, bytes: &[u8]) -> Answer<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let memory = self.memory()?;
        memory
            .write(&mut *self.0, at as usize, bytes)
            .map_err(|_| Status::InvalidMemoryAccess.into())
    }

    pub(crate) fn put_u32(&mut self, at: u32, value: u32) -> Answer<()> {
        self.put(at, &value.to_le_bytes())
    }

    pub(crate) fn put_u64(&mut self, at: u32, value: u64) -> Answer<()> {
        self.put(at, &value.to_le_bytes())
    }

    pub(crate) fn get_u32(&mut self, at: u32) -> Answer<u32> {
        let bytes = self.bytes(at, 4)?;
        let bytes: [u8; 4] = bytes.try_into().map_err(|_| Status::InvalidMemoryAccess)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// Hands bytes over: the guest allocates room for them and gets pointer and length. No bytes are
    /// a null pointer.
    pub(crate) fn give(&mut self, bytes: &[u8], pointer_at: u32, length_at: u32) -> Answer<()> {
        let length = u32::try_from(bytes.len()).map_err(|_| Status::InvalidMemoryAccess)?;
        let pointer = if bytes.is_empty() {
            0
        } else {
            self.allocate(length)?
        };
        self.put(pointer, bytes)?;
        self.put_u32(pointer_at, pointer)?;
        self.put_u32(length_at, length)
    }

    /// Runs the guest's own callbacks that the call under way has brought about.
    pub(crate) fn run_nested(&mut self) -> Answer<()> {
        while let Some(call) = self.host()?.next_nested() {
            let callback = self.0.get_export(call.export()).and_then(Extern::into_func);
            if let Some(callback) = callback {
                let arguments: Vec<Val> = call
                    .arguments()
                    .into_iter()
                    .map(|value| Val::I32(value.cast_signed()))
                    .collect();
                // None of these callbacks answers.
                callback
                    .call(&mut *self.0, &arguments, &mut [])
                    .map_err(|error| Refusal::Stop(format!("{error:#}")))?;
            }
            self.host()?.nested_done()?;
        }
        Ok(())
    }

    /// The same for a guest that may pass null pointers for what it does not want.
    pub(crate) fn give_if_wanted(
        &mut self,
        bytes: &[u8],
        pointer_at: u32,
        length_at: u32,
    ) -> Answer<()> {
        let length = u32::try_from(bytes.len()).map_err(|_| Status::InvalidMemoryAccess)?;
        if pointer_at != 0 {
            let pointer = if bytes.is_empty() {
                0
            } else {
                self.allocate(length)?
            };
            self.put(pointer, bytes)?;
            self.put_u32(pointer_at, pointer)?;
        }
        if length_at != 0 {
            self.put_u32(length_at, length)?;
        }
        Ok(())
    }

    /// Room in the guest's memory. An allocator that traps kills the guest, but only once its call is
    /// over: until then it goes on with a status, as in Envoy.
    fn allocate(&mut self, length: u32) -> Answer<u32> {
        let data = self.0.data_mut();
        let allocate = data.allocate.clone().ok_or(Status::InternalFailure)?;
        let phase = std::mem::replace(&mut data.phase, Phase::Allocating);
        let result = allocate.call(&mut *self.0, length);
        self.0.data_mut().phase = phase;
        match result {
            Ok(0) => Err(Status::InvalidMemoryAccess.into()),
            Ok(pointer) => Ok(pointer),
            Err(error) => {
                self.host()?.allocator_failed(&format!("{error:#}"));
                Err(Status::InvalidMemoryAccess.into())
            }
        }
    }
}
