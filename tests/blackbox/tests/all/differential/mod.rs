//! Envoy and host-sim side by side: the same guest, YAML and requests; see `README.md`.

mod maps;
mod table;
