//! What the product stands on in Envoy: if one of these stops holding, the product breaks.
//!
//! Small guests (`tests/guests`) show the host's behaviour by itself, in configurations of their
//! own; where the shipped filters rely on it, they are shown in the rendered configuration too.

mod addresses;
mod attempts;
mod body_limits;
mod bus;
mod callouts;
mod clusters;
mod ends;
mod headers_flag;
mod outcomes;
mod own_errors;
mod shared_data;
mod traps;
mod waiting;
