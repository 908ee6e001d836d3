//! Envoy and host-sim side by side: the same guest, YAML and requests; see `README.md`.

mod attempts;
mod attributes;
mod bodies;
mod callouts;
mod data;
mod first_abi;
mod foreign;
mod grpc;
mod http2;
mod loading;
mod maps;
mod names;
mod pauses;
mod properties;
mod queues;
mod replies;
mod sdks;
mod starts;
mod table;
mod traps;
