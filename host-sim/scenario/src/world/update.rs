//! Another configuration amid traffic.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use host_sim_host::io::Now;

use super::World;
use super::build::{addresses, check_modules, worker_names};
use crate::setup::{SetupError, yaml_of};
use crate::site::Site;

impl World {
    /// Another `gateway.json` for the same deployment, from this moment on: new requests go by it,
    /// those under way end with the configuration they began with. A configuration that is refused
    /// changes nothing.
    ///
    /// # Errors
    /// The document or a module cannot be used, or a filter refuses its configuration.
    pub fn update(&mut self, gateway_json: &str) -> Result<(), SetupError> {
        let yaml = yaml_of(gateway_json, &self.setup)?;
        self.update_envoy(&yaml, &worker_names(gateway_json))
    }

    /// Another `envoy.yaml`; `names` are the ids of workers that are new.
    ///
    /// # Errors
    /// As [`World::update`].
    pub fn update_envoy(
        &mut self,
        yaml: &str,
        names: &BTreeMap<SocketAddr, String>,
    ) -> Result<(), SetupError> {
        let config = host_sim_envoy::read(yaml).map_err(SetupError::Read)?;
        check_modules(&config)?;
        let members = addresses(&config);
        let update = self.process.plan(config);
        let now = Now {
            monotonic: self.now,
            wall: self.wall + self.now,
        };
        let threads = &mut self.threads;
        // The main thread is the last, and tries out first.
        let ready = threads
            .iter_mut()
            .rev()
            .try_for_each(|thread| thread.prepare(&update, now));
        if ready.is_ok() {
            self.process.commit(&update);
        }
        for thread in threads.iter_mut() {
            if ready.is_ok() {
                thread.commit(&update, now);
                let closed = &update.closed;
                closed
                    .iter()
                    .for_each(|number| thread.close_entrance(*number, now));
            } else {
                thread.abandon(now);
            }
        }
        self.carry_out_in_order();
        ready.map_err(SetupError::Start)?;
        for address in members {
            if !self.sites.iter().any(|site| site.address == address) {
                self.sites.push(Site::named(names, address));
            }
        }
        Ok(())
    }
}
