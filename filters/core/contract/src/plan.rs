//! The plan of a request: `select` → `attempt`.

use crate::wire::{Reader, Writer};

/// One attempt that may be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// Envoy cluster.
    pub cluster: &'a str,
    /// `ip:port` of the worker, as Envoy prints it in `upstream.address`.
    pub address: &'a str,
    /// Id of the worker.
    pub worker: &'a str,
    /// What the worker calls the model.
    pub served_model_name: &'a str,
}

/// Who may be tried, in order (`dragoman.plan`), and what each attempt needs to know of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan<'a> {
    /// As in [`RequestRecord`](crate::RequestRecord).
    pub body_len: u32,
    /// As in [`RequestRecord`](crate::RequestRecord).
    pub model_start: u32,
    /// As in [`RequestRecord`](crate::RequestRecord).
    pub model_end: u32,
    /// Time to the first byte of one attempt, in milliseconds.
    pub timeout_ms: u32,
    /// Ticket of the trial that the first candidate's circuit waits for, if this request is one.
    pub trial: Option<u32>,
    /// Who claimed the place at the first candidate that this request gets; `None`: it has no cap.
    pub claim: Option<u64>,
    /// At most [`MAX_CANDIDATES`](crate::records::MAX_CANDIDATES), each (cluster, address) once.
    pub candidates: Vec<Candidate<'a>>,
}

impl<'a> Plan<'a> {
    /// The plan as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.u32(self.body_len)
            .u32(self.model_start)
            .u32(self.model_end)
            .u32(self.timeout_ms)
            .option_u32(self.trial)
            .u64(self.claim.unwrap_or(0));
        out.u8(u8::try_from(self.candidates.len()).unwrap_or(u8::MAX));
        for candidate in self.candidates.iter().take(usize::from(u8::MAX)) {
            out.str(candidate.cluster).str(candidate.address);
            out.str(candidate.worker).str(candidate.served_model_name);
        }
        out.finish()
    }

    /// The plan in these bytes, if they are one.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut input = Reader::new(bytes)?;
        let mut plan = Self {
            body_len: input.u32()?,
            model_start: input.u32()?,
            model_end: input.u32()?,
            timeout_ms: input.u32()?,
            trial: input.option_u32()?,
            claim: Some(input.u64()?).filter(|claim| *claim != 0),
            candidates: Vec::new(),
        };
        for _ in 0..input.u8()? {
            plan.candidates.push(Candidate {
                cluster: input.str()?,
                address: input.str()?,
                worker: input.str()?,
                served_model_name: input.str()?,
            });
        }
        input.end()?;
        Some(plan)
    }
}
