//! Every black-box test, in one binary: a file per topic in `tests/all/`.

#[path = "all/access_log.rs"]
mod access_log;
#[path = "all/auth/mod.rs"]
mod auth;
#[path = "all/bodies.rs"]
mod bodies;
#[path = "all/body_limit.rs"]
mod body_limit;
#[path = "all/broken.rs"]
mod broken;
#[path = "all/broken_streams.rs"]
mod broken_streams;
#[path = "all/chat.rs"]
mod chat;
#[path = "all/checked.rs"]
mod checked;
#[path = "all/clients.rs"]
mod clients;
#[path = "all/credentials.rs"]
mod credentials;
#[path = "all/demo.rs"]
mod demo;
#[path = "all/differential/mod.rs"]
mod differential;
#[path = "all/failover.rs"]
mod failover;
#[path = "all/given_up.rs"]
mod given_up;
#[path = "all/health.rs"]
mod health;
#[path = "all/idempotency/mod.rs"]
mod idempotency;
#[path = "all/incomplete_chain.rs"]
mod incomplete_chain;
#[path = "all/internal_headers.rs"]
mod internal_headers;
#[path = "all/many_streams.rs"]
mod many_streams;
#[path = "all/mechanisms/mod.rs"]
mod mechanisms;
#[path = "all/order.rs"]
mod order;
#[path = "all/paths.rs"]
mod paths;
#[path = "all/rate_limit/mod.rs"]
mod rate_limit;
#[path = "all/reload.rs"]
mod reload;
#[path = "all/rewrite.rs"]
mod rewrite;
#[path = "all/rows/mod.rs"]
mod rows;
#[path = "all/same_answer.rs"]
mod same_answer;
#[path = "all/selection/mod.rs"]
mod selection;
#[path = "all/shipped.rs"]
mod shipped;
#[path = "all/stats.rs"]
mod stats;
#[path = "all/streaming.rs"]
mod streaming;
#[path = "all/support.rs"]
mod support;
#[path = "all/time_limits.rs"]
mod time_limits;
#[path = "all/tokens.rs"]
mod tokens;
#[path = "all/trap_policies.rs"]
mod trap_policies;
#[path = "all/trapped_vms.rs"]
mod trapped_vms;
#[path = "all/traps.rs"]
mod traps;
