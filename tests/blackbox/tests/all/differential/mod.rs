//! Envoy and host-sim side by side: the same guest, YAML and requests; see `README.md`.

mod foreign;
mod grpc;
mod http2;
mod loading;
mod maps;
mod queues;
mod sdks;
mod table;
