//! A configuration that takes the place of another while requests are under way.
//!
//! The driver plans it once for the process, then prepares it on every worker; only when all
//! have said yes is it committed on all of them and in the process.

use std::net::SocketAddr;
use std::sync::Arc;

use crate::config::Bootstrap;

/// A configuration with the numbers of its entrances.
#[derive(Clone, Debug)]
pub struct Update {
    /// The new configuration.
    pub config: Arc<Bootstrap>,
    /// Number of the entrance of each listener, in the order of the configuration. An address keeps
    /// its number for the life of the process: that is how kept connections find their listener.
    pub listeners: Vec<usize>,
    /// Numbers whose addresses are to be listened on from now on.
    pub opened: Vec<usize>,
    /// Numbers whose addresses are not to be listened on any more. They are served as before until
    /// [`crate::Worker::close_entrance`].
    pub closed: Vec<usize>,
}

/// Numbers of the addresses that were ever listened on; as many as there are different ones.
#[derive(Debug, Default)]
pub(crate) struct Entrances {
    addresses: Vec<SocketAddr>,
    open: Vec<usize>,
}

impl Entrances {
    pub(crate) fn new(config: &Bootstrap) -> Self {
        let mut entrances = Entrances::default();
        for listener in &config.listeners {
            entrances.open.push(entrances.addresses.len());
            entrances.addresses.push(listener.address);
        }
        entrances
    }

    pub(crate) fn present(&self, config: Arc<Bootstrap>) -> Update {
        Update {
            config,
            listeners: self.open.clone(),
            opened: self.open.clone(),
            closed: Vec::new(),
        }
    }

    /// Numbers for a configuration; the present one stays as it is.
    pub(crate) fn plan(&mut self, config: Arc<Bootstrap>) -> Update {
        let mut listeners: Vec<usize> = Vec::new();
        for listener in &config.listeners {
            let known = self
                .addresses
                .iter()
                .enumerate()
                .position(|(number, address)| {
                    *address == listener.address && !listeners.contains(&number)
                });
            listeners.push(known.unwrap_or_else(|| {
                self.addresses.push(listener.address);
                self.addresses.len() - 1
            }));
        }
        let missing = |these: &[usize], in_these: &[usize]| -> Vec<usize> {
            let missing = these.iter().filter(|number| !in_these.contains(number));
            missing.copied().collect()
        };
        Update {
            opened: missing(&listeners, &self.open),
            closed: missing(&self.open, &listeners),
            listeners,
            config,
        }
    }

    pub(crate) fn is_open(&self, number: usize) -> bool {
        self.open.contains(&number)
    }

    pub(crate) fn commit(&mut self, update: &Update) {
        self.open.clone_from(&update.listeners);
    }
}
