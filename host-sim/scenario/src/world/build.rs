//! How a world comes into being.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use host_sim_host::config::Bootstrap;
use host_sim_host::io::Now;
use host_sim_host::{Process, Worker as Thread};

use super::{WALL_START, World};
use crate::agenda::Agenda;
use crate::random::Random;
use crate::setup::{Setup, SetupError, modules};
use crate::site::Site;
use crate::trace::Trace;
use crate::turns::Turns;
use crate::visit::Visits;

impl World {
    /// Carries out what the threads want after a start or an update, the main thread's first.
    pub(super) fn carry_out_in_order(&mut self) {
        let main = self.setup.threads;
        std::iter::once(main)
            .chain(0..main)
            .for_each(|thread| self.carry_out(&[thread]));
    }

    /// Starts the threads of a configuration.
    pub(super) fn build(
        yaml: &str,
        names: &BTreeMap<SocketAddr, String>,
        setup: &Setup,
    ) -> Result<World, SetupError> {
        let config = host_sim_envoy::read(yaml).map_err(SetupError::Read)?;
        check_modules(&config)?;
        let sites = addresses(&config).into_iter();
        let sites = sites.map(|address| Site::named(names, address)).collect();
        let process = Process::new(config, setup.environment.clone(), setup.seed);
        let start = Now {
            monotonic: Duration::ZERO,
            wall: WALL_START,
        };
        if setup.threads == 0 {
            return Err(SetupError::NoThread);
        }
        let turns = Arc::new(Turns::new(setup.threads + 1));
        let vms = modules(setup, &turns)?;
        // As in Envoy the main thread comes first, and tries out what the others are to have.
        let main = Thread::start_main(process.clone(), setup.threads, Arc::clone(&vms), start);
        let main = main.map_err(SetupError::Start)?;
        let mut threads = Vec::new();
        for index in 0..setup.threads {
            let thread = Thread::start(process.clone(), index, Arc::clone(&vms), start);
            threads.push(thread.map_err(SetupError::Start)?);
        }
        threads.push(main);
        let mut world = World {
            process,
            setup: setup.clone(),
            threads,
            sites,
            clients: Vec::new(),
            streams: BTreeMap::new(),
            attempts: BTreeMap::new(),
            visits: Visits::default(),
            connections: 0,
            agenda: Agenda::default(),
            random: Random::new(setup.seed),
            turns,
            overlaps: setup.overlaps,
            now: Duration::ZERO,
            wall: WALL_START,
            happenings: 0,
            response_bytes: 0,
            access_log: Vec::new(),
            log: Vec::new(),
            trace: Trace::new(setup.threads),
            updates: Vec::new(),
        };
        world.carry_out_in_order();
        Ok(world)
    }
}

/// Says which module is missing before a thread fails on it.
pub(super) fn check_modules(config: &Bootstrap) -> Result<(), SetupError> {
    let downstream = config
        .listeners
        .iter()
        .flat_map(|listener| &listener.http.filters);
    let upstream = config
        .clusters
        .values()
        .flat_map(|cluster| &cluster.upstream_filters);
    let paths = downstream
        .chain(upstream)
        .map(|plugin| PathBuf::from(&plugin.vm.code_path));
    match paths.into_iter().find(|path| !path.exists()) {
        Some(path) => Err(SetupError::Module(path)),
        None => Ok(()),
    }
}

/// All members of all clusters, each once.
pub(super) fn addresses(config: &Bootstrap) -> Vec<SocketAddr> {
    let mut addresses: Vec<SocketAddr> = config
        .clusters
        .values()
        .flat_map(|cluster| cluster.endpoints.iter().copied())
        .collect();
    addresses.sort();
    addresses.dedup();
    addresses
}

/// Address → id of the workers of a `gateway.json`.
pub(crate) fn worker_names(gateway_json: &str) -> BTreeMap<SocketAddr, String> {
    let document: serde_json::Value = serde_json::from_str(gateway_json).unwrap_or_default();
    let workers = document["workers"].as_array().cloned().unwrap_or_default();
    let named = workers.iter().filter_map(|worker| {
        Some((
            worker["address"].as_str()?.parse().ok()?,
            worker["id"].as_str()?.to_owned(),
        ))
    });
    named.collect()
}
