//! Scenarios with the shipped modules, which `scripts/build-filters` puts into `envoy/modules`.

#[path = "all/bench.rs"]
mod bench;
#[path = "all/deployment.rs"]
mod deployment;
#[path = "all/determinism.rs"]
mod determinism;
#[path = "all/existence.rs"]
mod existence;
#[path = "all/explain.rs"]
mod explain;
#[path = "all/faults.rs"]
mod faults;
#[path = "all/grpc.rs"]
mod grpc;
#[path = "all/idempotency.rs"]
mod idempotency;
#[path = "all/key_table.rs"]
mod key_table;
#[path = "all/main_thread.rs"]
mod main_thread;
#[path = "all/names.rs"]
mod names;
#[path = "all/overlaps.rs"]
mod overlaps;
#[path = "all/rate_limit.rs"]
mod rate_limit;
#[path = "all/shares.rs"]
mod shares;
#[path = "all/streams.rs"]
mod streams;
#[path = "all/traps.rs"]
mod traps;
#[path = "all/updates.rs"]
mod updates;
#[path = "all/uploads.rs"]
mod uploads;
