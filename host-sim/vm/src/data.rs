//! What a wasmtime store keeps for its guest.

use std::ptr::NonNull;

use host_sim_host::abi::HostCalls;
use wasmtime::{Memory, StoreLimits, TypedFunc};

use crate::abi::Version;

/// State of one guest beside its memory.
pub(crate) struct Data {
    host: HostPointer,
    pub(crate) phase: Phase,
    pub(crate) limits: StoreLimits,
    /// Which ABI the guest speaks.
    pub(crate) version: Version,
    /// The one memory of the module, whatever its name; `None` if it has none.
    pub(crate) memory: Option<Memory>,
    /// `malloc` or `proxy_on_memory_allocate`.
    pub(crate) allocate: Option<TypedFunc<u32, u32>>,
}

/// What a guest may call now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    /// It allocates inside a host call: logging, `fd_write`, the time, a sleep that does not sleep.
    Allocating,
    /// Its start functions run: logging and most of WASI.
    Starting,
    /// Everything.
    Running,
}

/// The host of the call that is under way, and nothing between calls.
struct HostPointer(Option<NonNull<dyn HostCalls>>);

// SAFETY: the pointer is there only while `Data::lend` runs, which stays on its thread; whenever the
// store can be sent to another thread it is `None`.
unsafe impl Send for HostPointer {}

impl Data {
    pub(crate) fn new(limits: StoreLimits, version: Version) -> Self {
        Data {
            host: HostPointer(None),
            phase: Phase::Starting,
            limits,
            version,
            memory: None,
            allocate: None,
        }
    }

    /// A guest that calls what its phase does not allow is stopped.
    pub(crate) fn check(&self, phase: Phase) -> wasmtime::Result<()> {
        if self.phase < phase {
            return Err(wasmtime::Error::msg(
                "restricted_callback: not allowed while the guest starts or allocates",
            ));
        }
        Ok(())
    }

    /// Remembers the host for the duration of one call; [`Data::take_back`] must follow.
    pub(crate) fn lend(&mut self, host: &mut dyn HostCalls) {
        // SAFETY: this only forgets the lifetime. Every use is in `Data::host`, which sees `None`
        // again as soon as the call is over.
        let host = unsafe {
            std::mem::transmute::<NonNull<dyn HostCalls + '_>, NonNull<dyn HostCalls + 'static>>(
                NonNull::from(host),
            )
        };
        self.host = HostPointer(Some(host));
    }

    pub(crate) fn take_back(&mut self) {
        self.host = HostPointer(None);
    }

    /// The host, while a call is under way.
    pub(crate) fn host(&mut self) -> Option<&mut (dyn HostCalls + 'static)> {
        // SAFETY: `lend` stored it from a unique reference that its caller keeps for the whole call
        // and does not touch meanwhile; the result borrows `self`, so there is one at a time. A host
        // call that runs another guest goes through another store.
        self.host.0.map(|mut host| unsafe { host.as_mut() })
    }
}
