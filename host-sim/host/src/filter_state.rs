//! The filter state of a request: values that guests leave for one another and for the log, and
//! objects of Envoy's own that they made.

use std::collections::BTreeMap;

use crate::abi::Status;
use crate::foreign::Object;

/// How long a value is to last. The first two are the same here: as long as the request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Span {
    #[default]
    FilterChain,
    Request,
    Connection,
}

impl Span {
    /// By the number in a guest's message; a number of no meaning is the first.
    pub(crate) fn from_number(number: u64) -> Self {
        match number {
            1 => Span::Request,
            2 => Span::Connection,
            _ => Span::FilterChain,
        }
    }
}

/// What a guest has declared of a value before it is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Declared {
    /// It is set once.
    pub(crate) readonly: bool,
    pub(crate) span: Span,
}

/// All values of a request by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct FilterState(BTreeMap<Vec<u8>, Held>);

#[derive(Clone, Debug)]
struct Held {
    object: Object,
    declared: Declared,
}

impl FilterState {
    /// What outlives the request.
    pub(crate) fn of_connection(&self) -> FilterState {
        let lasts = |(_, held): &(&Vec<u8>, &Held)| held.declared.span == Span::Connection;
        let kept = self.0.iter().filter(lasts);
        FilterState(
            kept.map(|(name, held)| (name.clone(), held.clone()))
                .collect(),
        )
    }

    /// Sets a guest's value. What was declared counts for the first time alone.
    pub(crate) fn set(
        &mut self,
        path: &[u8],
        value: &[u8],
        declared: Declared,
    ) -> Result<(), Status> {
        let object = Object::Text(value.to_vec());
        match self.0.get_mut(&[b"wasm.", path].concat()) {
            Some(held) if held.declared.readonly => return Err(Status::BadArgument),
            Some(held) => held.object = object,
            None => {
                let name = [b"wasm.", path].concat();
                self.0.insert(name, Held { object, declared });
            }
        }
        Ok(())
    }

    /// Sets an object of Envoy's; says no if there is one with another span, which stays.
    pub(crate) fn set_object(&mut self, name: &str, object: Object, span: Span) -> bool {
        if let Some(held) = self.0.get_mut(name.as_bytes()) {
            if held.declared.span != span {
                return false;
            }
            held.object = object;
            return true;
        }
        let declared = Declared {
            readonly: false,
            span,
        };
        self.0.insert(name.into(), Held { object, declared });
        true
    }

    /// As the attribute `filter_state` gives it.
    pub(crate) fn attribute(&self, name: &[u8]) -> Option<Vec<u8>> {
        match &self.0.get(name)?.object {
            Object::Text(text) => Some(text.clone()),
            // A map without entries, on the wire.
            Object::Address(_) => Some(0_u32.to_le_bytes().to_vec()),
            Object::Opaque => None,
        }
    }

    /// As a log with `PLAIN` writes it.
    pub(crate) fn plain(&self, name: &[u8]) -> Option<Vec<u8>> {
        match &self.0.get(name)?.object {
            Object::Text(text) => Some(text.clone()),
            Object::Address(address) => Some(address.to_string().into_bytes()),
            Object::Opaque => None,
        }
    }
}
