//! Envoy's foreign functions, as far as they are bytes in and bytes out. What they mean for a stream is
//! the business of `host_calls/foreign.rs`.
//!
//! Statuses are those of a running Envoy 1.40.

mod der;
mod keys;
mod objects;
mod signatures;
mod wire;
mod zlib;

pub(crate) use objects::{Object, make as make_object};
pub(crate) use signatures::{sign, verify_signature};
pub(crate) use wire::{Message, put, put_bytes};
pub(crate) use zlib::{compress, uncompress};

/// Names of all that Envoy has.
pub(crate) const NAMES: [&str; 10] = [
    "clear_route_cache",
    "compress",
    "declare_property",
    "expr_create",
    "expr_delete",
    "expr_evaluate",
    "set_envoy_filter_state",
    "sign",
    "uncompress",
    "verify_signature",
];
