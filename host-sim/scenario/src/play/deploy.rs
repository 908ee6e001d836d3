//! Puts up what a scenario describes.

use std::sync::Arc;
use std::time::Duration;

use host_sim_host::abi::watch::Watcher;
use mock_worker::{Settings, Worker};

use super::{Failure, Surroundings, stopped};
use crate::file::{Behaviour, Edit, Gateway, Scenario};
use crate::record::Record;
use crate::setup::Setup;
use crate::site::Change;
use crate::world::World;

/// Stands for the folder of the modules in what an edit writes.
const MODULES: &str = "${modules}";

/// Starts the gateway.
pub fn deploy(
    scenario: &Scenario,
    seed: u64,
    surroundings: &Surroundings,
    record: Option<&Arc<Record>>,
) -> Result<World, Failure> {
    let mut modules = surroundings.modules.clone();
    modules.extend(&scenario.modules);
    let setup = Setup {
        threads: scenario.threads,
        seed,
        overlaps: true,
        environment: scenario.environment.clone(),
        modules,
        cache: surroundings.cache.clone(),
        watchers: record
            .map(|record| Arc::clone(record) as Arc<dyn Watcher>)
            .into_iter()
            .collect(),
        onlookers: Vec::new(),
    };
    let mut missed = None;
    let mut edit = |yaml: &str| edited(yaml, &scenario.edits, &setup, &mut missed);
    let file = |path: &str| {
        let path = surroundings.folder.join(path);
        std::fs::read_to_string(&path).map_err(|error| {
            stopped(
                1,
                "gateway",
                format!("cannot read {}: {error}", path.display()),
            )
        })
    };
    let world = match &scenario.gateway {
        Gateway::Inline(json) => World::edited(json, &setup, &mut edit),
        Gateway::Json(path) => World::edited(&file(path)?, &setup, &mut edit),
        Gateway::Envoy(path) => World::from_envoy(&edit(&file(path)?), &setup),
    };
    if let Some(line) = missed {
        return Err(stopped(
            line,
            "edit",
            "the text to replace stands nowhere in envoy.yaml (see host-sim render)",
        ));
    }
    let mut world = world.map_err(|error| stopped(1, "gateway", error.to_string()))?;
    for update in &scenario.updates {
        let json = match &update.gateway {
            Gateway::Inline(json) => json.clone(),
            Gateway::Json(path) | Gateway::Envoy(path) => file(path)?,
        };
        world.update_at(update.at, json);
    }
    if let Some(record) = record {
        world.record(Arc::clone(record));
    }
    Ok(world)
}

fn edited(yaml: &str, edits: &[Edit], setup: &Setup, missed: &mut Option<usize>) -> String {
    let mut yaml = yaml.to_owned();
    for edit in edits {
        if !yaml.contains(&edit.replace) {
            missed.get_or_insert(edit.line);
        }
        let with = edit
            .with
            .replace(MODULES, &setup.modules.display().to_string());
        yaml = yaml.replace(&edit.replace, &with);
    }
    yaml
}

/// Workers, what becomes of them, and the wall clock.
pub fn set_the_scene(scenario: &Scenario, world: &mut World) {
    for (name, plan) in &scenario.workers {
        *world.worker(name) = Worker::new(Settings {
            id: name.clone(),
            models: plan.models.clone(),
            key: plan.key.clone(),
        });
        for (at, behaviour) in &plan.behaviours {
            for change in changes(behaviour) {
                if at.is_zero() {
                    world.change_now(name, change);
                } else {
                    world.change_first(*at, name, change);
                }
            }
        }
    }
    if let Some(start) = scenario.start {
        world.set_wall(start);
    }
    for (at, wall) in &scenario.jumps {
        world.set_wall_at(*at, *wall);
    }
}

fn changes(behaviour: &Behaviour) -> Vec<Change> {
    let faults = behaviour.faults.clone().map(Change::Faults);
    let connect: Option<Duration> = behaviour.connect_delay;
    let states = [
        behaviour.down.map(Change::Refuse),
        behaviour.vanished.map(Change::Vanish),
        behaviour.draining.map(Change::Drain),
        connect.map(Change::ConnectDelay),
        behaviour.release.then_some(Change::Release),
    ];
    faults
        .into_iter()
        .chain(states.into_iter().flatten())
        .collect()
}
