//! One run, as data: what is deployed, what clients send, what goes wrong. A plan can be written to a file, read
//! back and made smaller; together with the modules it says the whole run.

use mock_worker::Faults;
use serde::{Deserialize, Serialize};

/// A whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Decides what comes first of what happens at one moment.
    pub seed: u64,
    /// Worker threads of the gateway, 1 to 4.
    pub threads: usize,
    /// What is deployed.
    pub topology: Topology,
    /// What clients send, by time.
    pub requests: Vec<RequestPlan>,
    /// What becomes of workers.
    pub faults: Vec<FaultPlan>,
    /// Jumps of the wall clock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jumps: Vec<Jump>,
    /// Times in ms at which the gateway is given its configuration anew, a little changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub updates_ms: Vec<u64>,
    /// How long after the last request all workers are made well.
    pub heal_after_ms: u64,
    /// A fault of the gateway itself that the checks must find; for the canary.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planted: Option<Planted>,
}

impl Plan {
    /// Whether keys are held whose request has an unknown end.
    #[must_use]
    pub fn holds_unknown(&self) -> bool {
        let rules = self.topology.idempotency.as_ref();
        rules.is_some_and(|rules| rules.hold)
    }
}

/// What `gateway.json` is made of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// Workers, named `w1`, `w2`, ...
    pub workers: Vec<WorkerPlan>,
    /// Public models.
    pub endpoints: Vec<EndpointPlan>,
    /// Tenants; none switches authentication off.
    pub tenants: Vec<TenantPlan>,
    /// API keys.
    pub keys: Vec<KeyPlan>,
    /// Limits of callers.
    pub limits: Vec<LimitPlan>,
    /// Whether idempotency keys are served, and how.
    pub idempotency: Option<IdempotencyPlan>,
    /// Whether circuits open.
    pub circuit: Option<CircuitPlan>,
    /// Seconds between two checks of a worker.
    pub health_s: Option<u64>,
    /// Largest body of a request.
    pub max_body_bytes: usize,
    /// Bodies of one key under way on one thread.
    pub max_uploads: u64,
}

/// A worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerPlan {
    /// Its name.
    pub id: String,
    /// Its cluster.
    pub cluster: String,
    /// The header that carries its credential, if it wants one.
    pub credential: Option<String>,
    /// Requests at a time.
    pub max_in_flight: Option<u64>,
}

/// A public model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointPlan {
    /// What clients call it.
    pub slug: String,
    /// `failover`, `weighted` or `round-robin`.
    pub mode: String,
    /// To the first byte of one attempt.
    pub timeout_ms: u64,
    /// Attempts of one request.
    pub max_attempts: usize,
    /// Whose it is, if not everybody's.
    pub tenant: Option<String>,
    /// Who serves it.
    pub targets: Vec<TargetPlan>,
}

/// A worker of an endpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetPlan {
    /// Its id.
    pub worker: String,
    /// Its share under `weighted`.
    pub weight: u64,
    /// Whether it is used.
    pub enabled: bool,
}

/// A tenant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TenantPlan {
    /// Its name.
    pub id: String,
    /// Whether its requests are refused.
    pub suspended: bool,
}

/// An API key; clients show `key_secret` of its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyPlan {
    /// Its name.
    pub id: String,
    /// Whose.
    pub tenant: String,
    /// Application of the tenant.
    pub app: String,
    /// Models it may use; all if there is no list.
    pub models: Option<Vec<String>>,
}

/// A token bucket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitPlan {
    /// `tenant`, `app` or `key`.
    pub by: String,
    /// Tokens that come back in a thousand seconds.
    pub per_1000_s: u64,
    /// Tokens of a full bucket.
    pub burst: u64,
}

/// Idempotency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdempotencyPlan {
    /// How long an answer is kept.
    pub ttl_s: u64,
    /// How long a lost request holds its key.
    pub lease_s: u64,
    /// Largest answer that is kept.
    pub max_response_bytes: u64,
    /// Whether a key whose request has an unknown end is held.
    pub hold: bool,
}

/// Circuits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CircuitPlan {
    /// Failures in a row.
    pub threshold: u64,
    /// How long it stays open.
    pub cooldown_s: u64,
}

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RequestPlan {
    /// When its head is sent.
    pub at_ms: u64,
    /// Worker thread that serves it.
    #[serde(skip_serializing_if = "is_plain")]
    pub thread: usize,
    /// Path of the API.
    pub path: String,
    /// The model it asks for.
    pub model: String,
    /// Who asks.
    pub caller: Caller,
    /// Its idempotency key.
    #[serde(skip_serializing_if = "is_plain")]
    pub key: Option<String>,
    /// Number of the prompt: equal numbers make equal bodies.
    pub prompt: u64,
    /// Bytes of the prompt.
    #[serde(skip_serializing_if = "is_plain")]
    pub bytes: usize,
    /// Whether the answer is to be streamed.
    #[serde(skip_serializing_if = "is_plain")]
    pub stream: bool,
    /// What is wrong with the body.
    #[serde(skip_serializing_if = "is_plain")]
    pub broken: Option<Broken>,
    /// Places where the body is cut.
    #[serde(skip_serializing_if = "is_plain")]
    pub cuts: Vec<usize>,
    /// Time between its pieces.
    #[serde(skip_serializing_if = "is_plain")]
    pub pause_ms: u64,
    /// Without `content-length`.
    #[serde(skip_serializing_if = "is_plain")]
    pub chunked: bool,
    /// Its end never comes.
    #[serde(skip_serializing_if = "is_plain")]
    pub unfinished: bool,
    /// When the client leaves, counted from the head.
    #[serde(skip_serializing_if = "is_plain")]
    pub leaves_after_ms: Option<u64>,
    /// Module whose VM traps at this request.
    #[serde(skip_serializing_if = "is_plain")]
    pub trap: Option<String>,
    /// Headers that a client may not set.
    #[serde(skip_serializing_if = "is_plain")]
    pub hostile: Vec<(String, String)>,
}

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Caller {
    /// Nobody says.
    #[default]
    Nobody,
    /// The key of this id.
    Key(String),
    /// The same key as `x-api-key`.
    XApiKey(String),
    /// A key that nobody has.
    Unknown,
    /// Two different keys.
    Two(String),
}

/// A body that is refused.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Broken {
    /// Not JSON.
    NotJson,
    /// Without a model.
    NoModel,
    /// `model` is given twice.
    TwoModels,
    /// `stream` is no flag.
    StreamNoFlag,
    /// Longer than the gateway accepts.
    TooLong,
    /// Of no kind that it reads.
    Compressed,
}

/// Something becomes of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultPlan {
    /// When.
    pub at_ms: u64,
    /// Of whom.
    pub worker: String,
    /// What.
    pub what: What,
}

/// What becomes of a worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum What {
    /// Its answers are like this.
    Faults(Faults),
    /// Dead: connections are refused, open ones break; or back.
    Dead(bool),
    /// Connections are neither taken nor refused, or are again.
    Vanished(bool),
    /// Connections take this long.
    ConnectDelayMs(u64),
    /// Not ready, or ready again.
    Draining(bool),
}

/// A jump of the wall clock.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jump {
    /// When.
    pub at_ms: u64,
    /// Where to, in seconds since 1970.
    pub to_s: u64,
}

/// A fault of the gateway that must be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Planted {
    /// One worker gets another's credential.
    WrongCredential,
    /// The limits in force are larger than those that were promised.
    LooseLimits,
    /// The caps in force are larger than those that were promised.
    LooseCaps,
    /// A key whose request has an unknown end is not held, though that was promised.
    ForgetsUnknown,
    /// Modules that change shared data without comparing: updates of other threads get lost.
    NoCompare,
}

/// Whether a field need not be written.
fn is_plain<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
