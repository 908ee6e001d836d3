//! Whose call it is: the context that is meant, and the plugin, stream and filter it belongs to.

use super::Guest;
use crate::abi::ContextId;
use crate::chain::{ChainKey, Filter};
use crate::guests::Owner;

impl Guest<'_> {
    pub(super) fn context(&self) -> ContextId {
        let slot = &self.engine.vms[self.vm];
        // One that is gone meanwhile is meant no more.
        let effective = slot.effective.filter(|it| slot.contexts.contains_key(it));
        effective.unwrap_or(self.current)
    }

    pub(super) fn owner(&self) -> Option<Owner> {
        self.engine.vms[self.vm]
            .contexts
            .get(&self.context())
            .copied()
    }

    /// Index of the plugin of the context.
    pub(crate) fn plugin(&mut self) -> Option<usize> {
        match self.owner()? {
            Owner::Root(plugin) => Some(plugin),
            Owner::Filter { chain, filter } => self
                .engine
                .filter(chain, filter)
                .map(|filter| filter.plugin),
        }
    }

    /// The chain of the context's stream and the filter in it.
    pub(crate) fn place(&self) -> Option<(ChainKey, usize)> {
        match self.owner()? {
            Owner::Root(_) => None,
            Owner::Filter { chain, filter } => Some((chain, filter)),
        }
    }

    pub(crate) fn filter(&mut self) -> Option<&mut Filter> {
        let (chain, index) = self.place()?;
        self.engine.filter(chain, index)
    }

    /// Whether `on_log` is running, where all heads can be read and none changed.
    pub(crate) fn logging(&mut self) -> bool {
        self.filter().is_some_and(|filter| filter.logging)
    }
}
