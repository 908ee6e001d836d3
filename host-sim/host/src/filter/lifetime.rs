//! The life of a filter's context: made with the request or for `on_log`, gone after `on_done`.

use super::{Deferred, Failed};
use crate::abi::Call;
use crate::chain::ChainKey;
use crate::config::FailurePolicy;
use crate::engine::Engine;
use crate::guests::Owner;

impl Engine {
    pub(super) fn make_context(&mut self, key: ChainKey, index: usize) -> Result<(), Failed> {
        let Some(filter) = self.filter(key, index) else {
            return Ok(());
        };
        if filter.absent || filter.context.is_some() {
            return Ok(());
        }
        let plugin = filter.plugin;
        if self.is_dead(key, index) {
            return Err(Failed);
        }
        let (vm, root) = (self.plugins[plugin].vm, self.plugins[plugin].root);
        let context = self.vms[vm].new_context(Owner::Filter {
            chain: key,
            filter: index,
        });
        if let Some(filter) = self.filter(key, index) {
            filter.context = Some(context);
        }
        let made = self.call_guest(
            vm,
            context,
            &Call::ContextCreate {
                context,
                parent: root,
            },
        );
        made.map(|_| ())
    }

    /// `on_log`; a context that saw no request is made for it.
    pub(crate) fn filter_log(&mut self, key: ChainKey, index: usize) {
        let Some(filter) = self.filter(key, index) else {
            return;
        };
        filter.logging = true;
        if filter.absent || self.is_dead(key, index) || self.make_context(key, index).is_err() {
            return;
        }
        let context = self.filter(key, index).and_then(|filter| filter.context);
        if let (Some(vm), Some(context)) = (self.vm_of(key, index), context) {
            let _ = self.call_guest(vm, context, &Call::Log { context });
            self.allow_no_action(vm, "proxy_on_log");
            self.run_deferred_ends(vm);
        }
        if let Some(filter) = self.filter(key, index) {
            filter.logging = false;
        }
    }

    /// `on_done` and `on_delete`; the guest's answer does not matter for a stream.
    pub(crate) fn filter_done(&mut self, key: ChainKey, index: usize) {
        let Some(context) = self.filter(key, index).and_then(|filter| filter.context) else {
            return;
        };
        let Some(vm) = self.vm_of(key, index) else {
            return;
        };
        if !self.is_dead(key, index) {
            let _ = self.call_guest(vm, context, &Call::Done { context });
            self.allow_no_action(vm, "proxy_on_done");
            if !self.is_dead(key, index) {
                let _ = self.call_guest(vm, context, &Call::Delete { context });
                self.allow_no_action(vm, "proxy_on_delete");
            }
            self.run_deferred_ends(vm);
            self.vms[vm].forget(context);
        }
        if let Some(filter) = self.filter(key, index) {
            filter.context = None;
        }
    }

    /// A stream that ends can be neither answered nor resumed; a guest that tries is stopped.
    fn allow_no_action(&mut self, vm: usize, callback: &str) {
        let of_stream = |(_, action): &(_, Deferred)| !matches!(action, Deferred::Grpc { .. });
        if self.vms[vm].deferred.iter().any(of_stream) {
            let text = format!(
                "{callback} answered, resumed or closed a stream that ends: Envoy itself crashes here"
            );
            self.fail_vm(vm, &text);
        }
    }

    /// The filter's VM has failed, or is a later one than it began with.
    pub(super) fn is_dead(&mut self, key: ChainKey, index: usize) -> bool {
        let Some(filter) = self.filter(key, index) else {
            return true;
        };
        let (plugin, generation) = (filter.plugin, filter.generation);
        let vm = &self.vms[self.plugins[plugin].vm];
        vm.failed || vm.generation != generation
    }

    pub(super) fn policy_of(&mut self, key: ChainKey, index: usize) -> Option<FailurePolicy> {
        let plugin = self.filter(key, index)?.plugin;
        Some(self.plugins[plugin].config.failure_policy)
    }

    pub(super) fn vm_of(&mut self, key: ChainKey, index: usize) -> Option<usize> {
        let plugin = self.filter(key, index)?.plugin;
        Some(self.plugins[plugin].vm)
    }
}
