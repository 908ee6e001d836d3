//! `envoy.yaml`, both ways: [`render`] writes it from `gateway.json`.

mod render;

pub use render::{RenderError, RenderOptions, render};
