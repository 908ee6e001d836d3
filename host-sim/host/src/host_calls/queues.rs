//! Shared queues, from a guest's call to the call of another guest.

use std::sync::Arc;

use super::Guest;
use crate::abi::{Answer, Call, Status};
use crate::engine::Engine;
use crate::guests::Life;
use crate::io::Command;
use crate::shared_queues::{Full, Listener, QUEUED_BYTES_LIMIT, QUEUED_VALUES_LIMIT};

impl Guest<'_> {
    pub(super) fn register_queue(&mut self, name: &[u8]) -> Answer<u32> {
        let plugin = self.plugin().ok_or(Status::InternalFailure)?;
        let listener = Listener {
            thread: self.engine.index,
            plugin: Arc::clone(&self.engine.plugins[plugin].config),
        };
        let vm_id = &self.engine.vms[self.vm].config.vm_id;
        let mut queues = self.engine.process.shared_queues();
        Ok(queues.register(vm_id, name, listener))
    }

    pub(super) fn resolve_queue(&mut self, vm_id: &[u8], name: &[u8]) -> Answer<u32> {
        let own = self.engine.vms[self.vm].config.vm_id.clone();
        let vm_id = if vm_id.is_empty() {
            own
        } else {
            String::from_utf8(vm_id.to_vec()).map_err(|_| Status::NotFound)?
        };
        Ok(self.engine.process.shared_queues().resolve(&vm_id, name)?)
    }

    pub(super) fn enqueue(&mut self, token: u32, value: &[u8]) -> Answer<()> {
        let put = self.engine.process.shared_queues().enqueue(token, value)?;
        match put {
            Ok(thread) => {
                self.engine.commands.push(Command::Wake { thread });
                Ok(())
            }
            Err(Full) => {
                let text = format!(
                    "shared queues hold {QUEUED_VALUES_LIMIT} values or {QUEUED_BYTES_LIMIT} bytes, which is all they may in host-sim: nothing more is put in until something is taken out; Envoy goes on until the memory ends"
                );
                self.engine.log_once("error", text);
                Err(Status::InternalFailure.into())
            }
        }
    }
}

impl Engine {
    /// Tells guests of this thread what was put into queues that they were the last to register.
    pub(crate) fn woken(&mut self) {
        let process = Arc::clone(&self.process);
        let wakes = process.shared_queues().take_wakes(self.index);
        for wake in wakes {
            let same = |slot: &crate::guests::PluginSlot| {
                slot.life == Life::Live && slot.config == wake.plugin
            };
            let Some(plugin) = self.plugins.iter().position(same) else {
                continue;
            };
            let (vm, root) = (self.plugins[plugin].vm, self.plugins[plugin].root);
            let call = Call::QueueReady {
                root,
                token: wake.token,
            };
            if !self.vms[vm].failed && self.call_guest(vm, root, &call).is_ok() {
                self.run_deferred_of_root(vm);
            }
        }
    }
}
