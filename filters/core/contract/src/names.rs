//! Names of headers and properties, and of the one key of shared data that has no record.

/// Ordered candidate addresses, read by Envoy's `override_host` policy; each retry takes the next.
pub const ENDPOINT_LIST: &str = "x-gateway-destination-endpoint";
/// Name of the cluster of the next attempt, read by the route's cluster matcher.
pub const CLUSTER: &str = "x-dragoman-cluster";
/// Set to `1` by `select`; only requests that carry it match the route to the workers.
pub const ROUTED: &str = "x-dragoman-routed";
/// Marks a callout of `poll`; its value is the process's probe token.
pub const PROBE: &str = "x-dragoman-probe";
/// Key of the probe token in shared data: 16 random bytes as hex that `poll` makes once, so that
/// nobody else can have `attempt` present a worker's credential.
pub const PROBE_TOKEN_KEY: &str = "dragoman/1/probe_token";

/// Cluster of the control plane that hands out keys. The configuration keeps its beginning from
/// workers.
pub const CONTROL_CLUSTER: &str = "dragoman-control";

/// The cluster of an issuer that publishes its keys, by its id.
#[must_use]
pub fn issuer_cluster(id: &str) -> String {
    format!("dragoman-issuer-{id}")
}

/// Every internal header starts with this.
pub const INTERNAL_PREFIX: &str = "x-dragoman-";
/// Envoy's own control headers start with this; a client may set none of them.
pub const ENVOY_PREFIX: &str = "x-envoy-";
/// With it a client says that two requests are one.
pub const IDEMPOTENCY_KEY: &str = "idempotency-key";
/// With it a client says who waits for its request: `interactive`, `background` or `batch`, which is
/// `background`.
pub const WORK_CLASS: &str = "x-work-class";
/// Default name of the response header that names the worker (requirement S0-59).
pub const BACKEND_HEADER: &str = "x-aisuite-backend";

/// Request headers that carry a client's credential. None goes further than the filter that reads
/// it, and none reaches a worker.
pub const CLIENT_CREDENTIALS: &[&str] = &[
    "authorization",
    "x-api-key",
    "api-key",
    "proxy-authorization",
];

/// Attribute with the role of the listener, which its metadata name; [`INTERNAL_ROLE`] or anything
/// else.
pub const LISTENER_ROLE: [&str; 5] = [
    "xds",
    "listener_metadata",
    "filter_metadata",
    "dragoman",
    "role",
];
/// Role of a listener for callers inside of the network's boundary.
pub const INTERNAL_ROLE: &str = "internal";

/// Envoy's retry and time-out headers, set by `select`.
pub mod envoy {
    /// Number of retries after the first attempt.
    pub const MAX_RETRIES: &str = "x-envoy-max-retries";
    /// Which failures are retried.
    pub const RETRY_ON: &str = "x-envoy-retry-on";
    /// Which statuses are retried.
    pub const RETRIABLE_STATUS_CODES: &str = "x-envoy-retriable-status-codes";
    /// Time to the first byte of one attempt, in milliseconds.
    pub const PER_TRY_TIMEOUT_MS: &str = "x-envoy-upstream-rq-per-try-timeout-ms";
}

/// Properties on the bus. Single-segment names only: others cannot be read back.
pub mod property {
    /// [`crate::RequestRecord`], written by `alias`.
    pub const REQUEST: &str = "dragoman.request";
    /// [`crate::Plan`], written by `select`.
    pub const PLAN: &str = "dragoman.plan";
    /// Outcome of each attempt as `worker=outcome,...`, for the access log; written by `attempt`.
    pub const ATTEMPTS: &str = "dragoman.attempts";
    /// Public model name of the request, for the access log; written by `alias`.
    pub const ENDPOINT: &str = "dragoman.endpoint";
    /// Version of the endpoint, for the access log; written by `alias`.
    pub const VERSION: &str = "dragoman.version";
    /// How the workers of the request were chosen, for the access log; written by `select`.
    pub const ROUTE: &str = "dragoman.route";
    /// Id of the worker of the latest attempt, for the access log; written by `attempt`.
    pub const WORKER: &str = "dragoman.worker";
    /// Code of the error reply a filter sent, for the access log; written by the sdk.
    pub const ERROR: &str = "dragoman.error";
    /// [`crate::Identity`], written by `auth`.
    pub const IDENTITY: &str = "dragoman.identity";
    /// Tenant of the caller, for the access log; written by `auth`.
    pub const TENANT: &str = "dragoman.tenant";
    /// Application of the caller, for the access log; written by `auth`.
    pub const APP: &str = "dragoman.app";
    /// Id of the caller's API key, for the access log; written by `auth`.
    pub const KEY: &str = "dragoman.key";
    /// Generation of the caller's API key, for the access log; written by `auth` where it is known.
    pub const KEY_VERSION: &str = "dragoman.key_version";
    /// Why `auth` refused, more exactly than the client is told, for the access log.
    pub const REFUSAL: &str = "dragoman.refusal";
    /// What became of the idempotency key (`claimed`, `replayed`, ...), for the access log; written
    /// by `idempotency`.
    pub const IDEMPOTENCY: &str = "dragoman.idempotency";
    /// Tokens of the prompt as the worker counted them, for the access log; written by `attempt`.
    pub const INPUT_TOKENS: &str = "dragoman.input_tokens";
    /// Tokens of the answer as the worker counted them, for the access log; written by `attempt`.
    pub const OUTPUT_TOKENS: &str = "dragoman.output_tokens";
}

/// Whether a header is for the gateway alone: clients may not set it, workers may not see or answer it.
///
/// `name` is lower case, as Envoy delivers it.
#[must_use]
pub fn is_internal(name: &[u8]) -> bool {
    name.starts_with(INTERNAL_PREFIX.as_bytes()) || name == ENDPOINT_LIST.as_bytes()
}

/// Whether a client may not set a header: the internal ones and Envoy's control headers.
///
/// `name` is lower case, as Envoy delivers it. An underscore counts as a hyphen, because many
/// servers read `x_dragoman_a` and `x-dragoman-a` as one name.
#[must_use]
pub fn is_reserved(name: &[u8]) -> bool {
    let same = |(byte, of_name): (&u8, &u8)| byte == of_name || (*byte == b'-' && *of_name == b'_');
    let begins =
        |prefix: &str| prefix.len() <= name.len() && prefix.as_bytes().iter().zip(name).all(same);
    begins(INTERNAL_PREFIX)
        || begins(ENVOY_PREFIX)
        || (name.len() == ENDPOINT_LIST.len() && begins(ENDPOINT_LIST))
}

#[cfg(test)]
mod tests {
    #[cfg(target_arch = "wasm32")]
    use wasm_bindgen_test::wasm_bindgen_test as test;

    use super::*;

    #[test]
    fn clients_may_not_set_what_belongs_to_the_gateway_or_to_envoy() {
        let table: [(&str, bool); 14] = [
            ("x-dragoman-routed", true),
            ("x-dragoman-", true),
            ("x_dragoman_routed", true),
            ("x-dragoman_cluster", true),
            ("x-envoy-max-retries", true),
            ("x_envoy-internal", true),
            ("x-gateway-destination-endpoint", true),
            ("x_gateway_destination_endpoint", true),
            ("x-gateway-destination-endpoints", false),
            ("x-dragoman", false),
            ("x-envoyer", false),
            ("authorization", false),
            ("x", false),
            ("", false),
        ];
        for (name, reserved) in table {
            assert_eq!(is_reserved(name.as_bytes()), reserved, "{name}");
        }
    }
}
