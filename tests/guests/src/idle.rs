//! A filter that does nothing, to measure what an empty module costs.

use std::rc::Rc;

use dragoman_sdk::{Environment, Filter, Plugin};

/// The plugin. Takes no configuration.
pub struct Idle;

/// One request, which passes.
pub struct Pass;

impl Plugin for Idle {
    type Filter = Pass;

    fn configure(_: &[u8], _: &dyn Environment) -> Result<Self, String> {
        Ok(Self)
    }

    fn filter(self: &Rc<Self>) -> Pass {
        Pass
    }
}

impl Filter for Pass {}
