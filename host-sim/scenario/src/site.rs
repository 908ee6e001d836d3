//! The workers behind the gateway.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use mock_worker::{Faults, Settings, Worker};

/// Something that changes in a worker over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// These faults from now on.
    Faults(Faults),
    /// Refuse connections and break off the open ones, or stop doing so.
    Refuse(bool),
    /// Answers that are held go on.
    Release,
    /// `/readyz` says no.
    Drain(bool),
    /// Connections are neither taken nor refused: the connect time-out runs.
    Vanish(bool),
    /// Connections take this long.
    ConnectDelay(Duration),
}

/// One address of the configuration with its worker.
#[derive(Debug)]
pub struct Site {
    pub name: String,
    pub address: SocketAddr,
    pub worker: Worker,
    pub vanished: bool,
    pub connect_delay: Duration,
}

impl Site {
    /// A healthy worker that answers with `name`.
    pub fn new(name: String, address: SocketAddr) -> Self {
        let settings = Settings {
            id: name.clone(),
            ..Settings::default()
        };
        Site {
            name,
            address,
            worker: Worker::new(settings),
            vanished: false,
            connect_delay: Duration::ZERO,
        }
    }

    /// One that is known by its id, if it has one.
    pub fn named(names: &BTreeMap<SocketAddr, String>, address: SocketAddr) -> Self {
        let name = names.get(&address).cloned();
        Site::new(name.unwrap_or_else(|| address.to_string()), address)
    }

    /// Carries out a change; whether open connections break.
    pub fn apply(&mut self, change: Change) -> bool {
        match change {
            Change::Faults(faults) => self.worker.set_faults(faults),
            Change::Refuse(refuse) => {
                self.worker.set_refusing(refuse);
                return refuse;
            }
            Change::Release => self.worker.release(),
            Change::Drain(drain) => self.worker.set_draining(drain),
            Change::Vanish(vanished) => self.vanished = vanished,
            Change::ConnectDelay(delay) => self.connect_delay = delay,
        }
        false
    }
}
