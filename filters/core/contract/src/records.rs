//! What is known of a request: `alias` → `idempotency`, `rate_limit`, `select`.

use crate::identity::Class;
use crate::paths::ApiKind;
use crate::wire::{Reader, Writer};

/// Most candidates of one request. A request is tried at most this often, and the plan stays
/// within about 4 KB.
pub const MAX_CANDIDATES: usize = 16;
/// Most targets of an endpoint, as many as there may be workers; `config` refuses more.
pub const MAX_TARGETS: usize = 1024;

/// Statuses of a worker for which the next candidate is tried: too many requests, bad gateway,
/// unavailable, gateway time-out.
pub const RETRIABLE_STATUSES: [u16; 4] = [429, 502, 503, 504];

/// What `alias` found out about a request (`dragoman.request`). What the document says of the endpoint
/// is not in it: every filter has the document.
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
    /// Tenant of the caller; empty where nobody has to be known.
    pub tenant: &'a str,
    /// Application of the caller, likewise.
    pub app: &'a str,
    /// Who waits for the answer.
    pub class: Class,
    /// Whether the body offers tools to the model.
    pub tools: bool,
    /// SHA-256 of the body, where the request has an idempotency key.
    pub body_sha256: Option<[u8; 32]>,
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
        out.str(self.tenant).str(self.app);
        out.u8(self.class as u8).u8(u8::from(self.tools));
        out.u8(u8::from(self.body_sha256.is_some()));
        out.bytes(&self.body_sha256.unwrap_or_default());
        out.finish()
    }

    /// The record in these bytes, if they are one.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut input = Reader::new(bytes)?;
        let record = Self {
            api: ApiKind::from_wire(input.u8()?)?,
            stream: input.u8()? != 0,
            body_len: input.u32()?,
            model_start: input.u32()?,
            model_end: input.u32()?,
            max_tokens: input.u32()?,
            endpoint: input.str()?,
            version: input.str()?,
            tenant: input.str()?,
            app: input.str()?,
            class: Class::from_wire(input.u8()?)?,
            tools: input.u8()? != 0,
            body_sha256: input.sha256()?,
        };
        input.end()?;
        Some(record)
    }
}
