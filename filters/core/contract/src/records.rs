//! What is known of a request: `alias` → `idempotency`, `rate_limit`, `select`.

use crate::paths::ApiKind;
use crate::wire::{Reader, Writer};

/// Most candidates of one request. A request is tried at most this often, and the plan stays
/// within about 4 KB.
pub const MAX_CANDIDATES: usize = 16;
/// Most targets of an endpoint; `config` refuses more.
pub const MAX_TARGETS: usize = 64;

/// Statuses of a worker for which the next candidate is tried: too many requests, bad gateway,
/// unavailable, gateway time-out.
pub const RETRIABLE_STATUSES: [u16; 4] = [429, 502, 503, 504];

/// How the candidates of an endpoint are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    /// In the order of the document, the next one only after a failure.
    Failover = 1,
    /// At random in proportion to the weights.
    Weighted = 2,
    /// Each in turn, over all threads of the gateway.
    RoundRobin = 3,
}

impl Mode {
    fn from_wire(byte: u8) -> Option<Self> {
        [Self::Failover, Self::Weighted, Self::RoundRobin]
            .into_iter()
            .find(|mode| *mode as u8 == byte)
    }
}

/// One way to serve an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// Id of the worker.
    pub worker: &'a str,
    /// What the worker calls the model.
    pub served_model_name: &'a str,
    /// Share under [`Mode::Weighted`].
    pub weight: u32,
}

/// What `alias` found out about a request (`dragoman.request`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestRecord<'a> {
    /// Kind of API.
    pub api: ApiKind,
    /// Whether the client asked for a stream of events.
    pub stream: bool,
    /// Length of the body in bytes.
    pub body_len: u32,
    /// Where the JSON string that names the model begins in the body, its opening quote included.
    pub model_start: u32,
    /// First byte after that string's closing quote.
    pub model_end: u32,
    /// Limit on generated tokens that the client gave, 0 where it gave none.
    pub max_tokens: u32,
    /// Public model name.
    pub endpoint: &'a str,
    /// Version of the endpoint.
    pub version: &'a str,
    /// Order of the targets.
    pub mode: Mode,
    /// Most attempts in all.
    pub max_attempts: u8,
    /// Time to the first byte of one attempt, in milliseconds.
    pub timeout_ms: u32,
    /// SHA-256 of the body, where the request has an idempotency key.
    pub body_sha256: Option<[u8; 32]>,
    /// Enabled targets, in the order of the document.
    pub targets: Vec<Target<'a>>,
}

impl<'a> RequestRecord<'a> {
    /// The record as bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.u8(self.api as u8).u8(u8::from(self.stream));
        out.u32(self.body_len)
            .u32(self.model_start)
            .u32(self.model_end)
            .u32(self.max_tokens);
        out.str(self.endpoint).str(self.version);
        out.u8(self.mode as u8)
            .u8(self.max_attempts)
            .u32(self.timeout_ms);
        out.u8(u8::from(self.body_sha256.is_some()));
        out.bytes(&self.body_sha256.unwrap_or_default());
        out.u16(u16::try_from(self.targets.len()).unwrap_or(u16::MAX));
        for target in self.targets.iter().take(usize::from(u16::MAX)) {
            out.str(target.worker)
                .str(target.served_model_name)
                .u32(target.weight);
        }
        out.finish()
    }

    /// The record in these bytes, if they are one.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut input = Reader::new(bytes)?;
        let mut record = Self {
            api: ApiKind::from_wire(input.u8()?)?,
            stream: input.u8()? != 0,
            body_len: input.u32()?,
            model_start: input.u32()?,
            model_end: input.u32()?,
            max_tokens: input.u32()?,
            endpoint: input.str()?,
            version: input.str()?,
            mode: Mode::from_wire(input.u8()?)?,
            max_attempts: input.u8()?,
            timeout_ms: input.u32()?,
            body_sha256: input.sha256()?,
            targets: Vec::new(),
        };
        for _ in 0..input.u16()? {
            let (worker, served_model_name) = (input.str()?, input.str()?);
            record.targets.push(Target {
                worker,
                served_model_name,
                weight: input.u32()?,
            });
        }
        input.end()?;
        Some(record)
    }
}
