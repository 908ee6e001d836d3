//! What is known of one target of an endpoint when a request asks for it.

use dragoman_circuit::Admission;
use dragoman_contract::Class;

/// One target, and its worker as this thread sees it now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// `dragoman_contract::load::worker_hash` of the worker's id: the same on every gateway.
    pub worker: u64,
    /// Share in the weighted strategies; 0: none.
    pub weight: u32,
    /// It serves the next version: only callers of the canary slice get it.
    pub canary: bool,
    /// It says that it takes requests, or nothing is known against it.
    pub ready: bool,
    /// It has the model, or may have it.
    pub warm: bool,
    /// What its circuit says.
    pub admission: Admission,
    /// The tenant may use it: it is not reserved for others, and it is where the tenant's data may be.
    pub permitted: bool,
    /// Work classes it takes.
    pub classes: Classes,
    /// Longest prompt and answer together, in tokens; `None`: not known.
    pub context_tokens: Option<u32>,
    /// It can call tools.
    pub tools: bool,
    /// Requests in flight, over all threads.
    pub in_flight: u32,
    /// Most requests in flight; `None`: no cap.
    pub cap: Option<u32>,
    /// Recent time to the first byte of an answer, in milliseconds; `None`: not known.
    pub latency_ms: Option<f32>,
    /// Recent time of a whole request, in milliseconds; `None`: not known.
    pub completion_ms: Option<f32>,
}

/// A set of work classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classes(u8);

impl Classes {
    /// Every class.
    pub const ALL: Self = Self(u8::MAX);
    /// No class.
    pub const NONE: Self = Self(0);

    /// The set with one more.
    #[must_use]
    pub const fn with(self, class: Class) -> Self {
        Self(self.0 | 1 << class as u8)
    }

    /// Whether the class is in it.
    #[must_use]
    pub const fn has(self, class: Class) -> bool {
        self.0 & (1 << class as u8) != 0
    }
}

impl Candidate {
    /// A candidate that nothing is known of and nothing speaks against.
    #[must_use]
    pub const fn unknown(worker: u64) -> Self {
        Self {
            worker,
            weight: 1,
            canary: false,
            ready: true,
            warm: true,
            admission: Admission::Closed,
            permitted: true,
            classes: Classes::ALL,
            context_tokens: None,
            tools: true,
            in_flight: 0,
            cap: None,
            latency_ms: None,
            completion_ms: None,
        }
    }

    /// How many requests of a class it may have in flight before another of that class is refused;
    /// `None`: any number.
    #[must_use]
    pub fn room(&self, class: Class, background_percent: u32) -> Option<u32> {
        let cap = self.cap?;
        Some(match class {
            Class::Interactive => cap,
            Class::Background => share(cap, background_percent),
        })
    }
}

/// A part of a cap, at least one request: a class that is taken at all must be able to run.
fn share(cap: u32, percent: u32) -> u32 {
    let part = u64::from(cap) * u64::from(percent) / 100;
    u32::try_from(part).unwrap_or(cap).clamp(1, cap.max(1))
}
