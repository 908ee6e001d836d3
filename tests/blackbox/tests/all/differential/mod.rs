//! Envoy and host-sim side by side: the same guest, YAML and requests; see `README.md`.

mod grpc;
mod http2;
mod maps;
mod table;
