#![doc = include_str!("../README.md")]

mod auth;
mod endpoint;
mod error;
mod form;
mod gateway;
mod grant;
mod health;
mod hosts;
mod idempotency;
mod issuer;
mod key;
mod key_page;
mod key_record;
mod key_set_source;
mod key_store;
mod limit;
mod raw;
mod read;
mod routing;
mod strategy;
mod tenant;
mod time;
mod unique;
mod worker;

pub use auth::{Auth, AuthMode, DEFAULT_UPLOADS, MAX_KEYS, MAX_UPLOADS};
pub use endpoint::{
    Endpoint, MAX_CONTEXT_TOKENS, MAX_ENDPOINT_NAME_BYTES, MAX_ENDPOINTS, MAX_TIMEOUT_MS,
    MAX_VERSION_BYTES, MAX_WEIGHT, Target,
};
pub use error::ConfigError;
pub use form::{MAX_ENV_NAME_BYTES, MAX_HEADER_NAME_BYTES, MAX_MODEL_NAME_BYTES, MAX_PATH_BYTES};
pub use gateway::{
    DEFAULT_BODY_LIMIT_BYTES, Gateway, MAX_BODY_LIMIT_BYTES, MAX_DOCUMENT_BYTES,
    MIN_BODY_LIMIT_BYTES, parse,
};
pub use grant::{Grant, MAX_APP_ID_BYTES};
pub use health::{Health, MAX_CHECK_TIMEOUT_MS, MAX_CIRCUIT_THRESHOLD, MAX_HEALTH_SECONDS};
pub use hosts::{Host, Hosts, MAX_HOST_BYTES, MAX_TENANT_HOSTS};
pub use idempotency::{
    Idempotency, MAX_LEASE_S, MAX_RESPONSE_BYTES, MAX_TTL_S, MIN_LEASE_S, MIN_RESPONSE_BYTES,
    MIN_TTL_S, OnUnknown,
};
pub use issuer::{
    Encoding, MAX_AUDIENCES, MAX_CLAIM_TEXT_BYTES, MAX_ISSUER_ID_BYTES, MAX_ISSUERS, MAX_LEEWAY_S,
    MAX_SECRETS, MAX_TOKEN_LIFETIME_S, Secret, TokenClaims, TokenIssuer,
};
pub use key::{ApiKey, MAX_GENERATION, MAX_KEY_ID_BYTES, MAX_LIVE_GENERATIONS};
pub use key_page::{KeyPage, MAX_PAGE_BYTES, MAX_PAGE_KEYS, PolledKey, key_page};
pub use key_set_source::{KeySetSource, MAX_OVERLAP_SECONDS, MAX_REFRESH_SECONDS};
pub use key_store::{KeyStore, MAX_POLL_SECONDS, MAX_POLL_TIMEOUT_MS};
pub use limit::{
    Dimension, Limit, MAX_BURST, MAX_LIMIT_NAME_BYTES, MAX_LIMITS, MAX_PER_SECOND, MAX_REFILL_S,
};
pub use routing::Routing;
pub use tenant::{MAX_REGION_BYTES, MAX_REGIONS, MAX_TENANT_ID_BYTES, MAX_TENANTS, Tenant};
pub use worker::{
    Credential, CredentialHeader, DEFAULT_CLUSTER, MAX_IN_FLIGHT, MAX_WORKER_ID_BYTES, MAX_WORKERS,
    RESERVED_CLUSTER_PREFIX, RESERVED_CLUSTERS, Worker,
};
