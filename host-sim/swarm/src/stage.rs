//! Carries out a plan, and keeps what clients, workers and logs show of it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use host_sim_scenario::{
    Change, End, Faults, Request, RequestId, Response, Setup, SetupError, Visit, World,
};
use serde_json::Value;

use crate::body;
use crate::flights::{Flight, Flights};
use crate::gateway::{document, environment};
use crate::plan::{Caller, Plan, Planted, RequestPlan, What};

/// After the last fault a request may go on for as long as Envoy lets a stream be silent (600 s); who waits longer hangs.
const PATIENCE: Duration = Duration::from_secs(700);
/// Steps in which the clock runs while somebody waits.
const STEP: Duration = Duration::from_secs(2);
/// Between the steps of recovery.
const BREATH: Duration = Duration::from_millis(150);
/// Most requests at a time that recovery sends to one endpoint; caps of plans are small.
const CROWD: u64 = 8;

/// What one request of the plan came to.
#[derive(Clone, Debug)]
pub struct Seen {
    /// What was planned.
    pub plan: RequestPlan,
    /// When its head was sent.
    pub sent: Option<Duration>,
    /// What the client got.
    pub response: Response,
    /// The workers it was tried at, those that refused the connection too.
    pub attempts: Vec<String>,
    /// The same from their beginning to their end.
    pub flights: Vec<Flight>,
    /// What arrived at workers.
    pub visits: Vec<Visit>,
    /// Its lines in the access log: those of the request, not of attempts.
    pub lines: Vec<Value>,
}

/// What a request after the end of all faults came to.
#[derive(Clone, Debug)]
pub struct Recovered {
    /// Model.
    pub model: String,
    /// Thread.
    pub thread: usize,
    /// What the client got.
    pub response: Response,
}

/// A run, seen from outside.
#[derive(Debug)]
pub struct Observed<'a> {
    /// What was planned.
    pub plan: &'a Plan,
    /// Each request of the plan.
    pub seen: Vec<Seen>,
    /// All that arrived at workers, oldest first, callouts and recovery too.
    pub visits: Vec<Visit>,
    /// Bytes that arrived at workers behind the end of a request: worker, bytes.
    pub surplus: Vec<(String, Vec<u8>)>,
    /// Lines of the process's own log: time, level, text.
    pub log: Vec<(Duration, String, String)>,
    /// Attempts at workers, in the order in which they began, those of recovery too.
    pub flights: Vec<Flight>,
    /// Requests after the end of all faults.
    pub recovered: Vec<Recovered>,
    /// Hash of the whole trace.
    pub trace_hash: u64,
    /// The end of the trace, to be read.
    pub trace: String,
}

/// Carries out a plan with the modules of this folder, which has the folders `hooked` and `careless` beside them.
///
/// # Errors
/// The modules are missing or refuse the plan's configuration.
pub fn run<'a>(plan: &'a Plan, modules: &Path) -> Result<Observed<'a>, SetupError> {
    let flights = Arc::new(Flights::default());
    let setup = Setup {
        threads: plan.threads.max(1),
        seed: plan.seed,
        environment: environment(plan),
        modules: folder(plan, modules),
        onlookers: vec![flights.clone()],
        ..Setup::default()
    };
    let mut world = World::new(&document(plan, 0), &setup)?;
    let requests = plan.requests.iter();
    let ids: Vec<RequestId> = requests
        .map(|request| world.request(body::request(plan, request)))
        .collect();
    let heal = schedule(plan, &mut world);
    for (edition, at_ms) in plan.updates_ms.iter().enumerate() {
        world.run_until(Duration::from_millis(*at_ms));
        world.update(&document(plan, edition + 1))?;
    }
    world.run_until(heal);
    let deadline = heal + PATIENCE;
    while world.now() < deadline && ids.iter().any(|id| is_waiting(&world, *id)) {
        world.run_until(world.now() + STEP);
    }
    let recovered = if ids.iter().any(|id| is_waiting(&world, *id)) {
        Vec::new()
    } else {
        recover(plan, &mut world)
    };
    Ok(observed(plan, &mut world, &ids, flights.list(), recovered))
}

fn folder(plan: &Plan, modules: &Path) -> PathBuf {
    if plan.planted == Some(Planted::NoCompare) {
        return modules.join("careless");
    }
    if plan.requests.iter().any(|request| request.trap.is_some()) {
        return modules.join("hooked");
    }
    modules.to_owned()
}

fn is_waiting(world: &World, id: RequestId) -> bool {
    world.response(id).end == End::Pending
}

/// Puts faults, jumps and the end of all faults on the agenda; when the last of them is over.
fn schedule(plan: &Plan, world: &mut World) -> Duration {
    let known: Vec<String> = world.worker_names().map(str::to_owned).collect();
    let mut last_ms = 0;
    for fault in plan
        .faults
        .iter()
        .filter(|fault| known.contains(&fault.worker))
    {
        let at = Duration::from_millis(fault.at_ms);
        last_ms = last_ms.max(fault.at_ms);
        let change = match &fault.what {
            What::Faults(faults) => Change::Faults(faults.clone()),
            What::Dead(dead) => Change::Refuse(*dead),
            What::Vanished(vanished) => Change::Vanish(*vanished),
            What::ConnectDelayMs(delay) => Change::ConnectDelay(Duration::from_millis(*delay)),
            What::Draining(draining) => Change::Drain(*draining),
        };
        world.change(at, &fault.worker, change);
    }
    for jump in &plan.jumps {
        world.set_wall_at(
            Duration::from_millis(jump.at_ms),
            Duration::from_secs(jump.to_s),
        );
        last_ms = last_ms.max(jump.at_ms);
    }
    let sent = plan.requests.iter().map(|request| request.at_ms);
    last_ms = sent
        .chain(plan.updates_ms.iter().copied())
        .fold(last_ms, u64::max);
    let breath = Duration::from_millis(1);
    // Not at the moment of the last fault: what comes first of one moment is drawn.
    let heal = Duration::from_millis(last_ms + plan.heal_after_ms) + breath;
    for worker in known {
        world.change(heal, &worker, Change::Faults(Faults::default()));
        world.change(heal, &worker, Change::Vanish(false));
        world.change(heal, &worker, Change::ConnectDelay(Duration::ZERO));
        world.change(heal, &worker, Change::Drain(false));
        // What a dead or silent worker still holds breaks off here.
        world.change(heal, &worker, Change::Refuse(true));
        world.change(heal + breath, &worker, Change::Refuse(false));
    }
    heal + 2 * breath
}

/// Lets time pass until nothing of the faults is left by the documents of the filters, then asks every endpoint.
fn recover(plan: &Plan, world: &mut World) -> Vec<Recovered> {
    let asked: Vec<(String, Caller)> = plan
        .topology
        .endpoints
        .iter()
        .filter_map(|endpoint| Some((endpoint.slug.clone(), user_of(plan, endpoint)?)))
        .collect();
    let ask = |model: &str, caller: &Caller, thread: usize, number: u64| RequestPlan {
        thread,
        path: "/v1/chat/completions".to_owned(),
        model: model.to_owned(),
        caller: caller.clone(),
        prompt: 1_000_000 + number,
        ..RequestPlan::default()
    };
    let mut number = 0;
    let mut send = |world: &mut World, model: &str, caller: &Caller, thread: usize| {
        number += 1;
        let mut sent = ask(model, caller, thread, number);
        sent.at_ms = u64::try_from(world.now().as_millis()).unwrap_or(u64::MAX) + 1;
        let request: Request = body::request(plan, &sent);
        world.request(request)
    };
    // VMs that trapped come back with the next request on their thread, and not before.
    for thread in 0..plan.threads {
        world.run_until(world.now() + BREATH);
        for (model, caller) in asked.iter().take(1) {
            send(world, model, caller, thread);
        }
    }
    world.run_until(world.now() + quiet(plan));
    // One trial for each circuit that is still open.
    for place in 0..=plan.topology.workers.len() {
        for (model, caller) in &asked {
            send(world, model, caller, place);
            world.run_until(world.now() + BREATH);
        }
    }
    world.run_until(world.now() + refill(plan));
    let mut recovered = Vec::new();
    for (place, (model, caller)) in asked.iter().enumerate() {
        let thread = place % plan.threads.max(1);
        for _ in 0..room(plan, model) {
            recovered.push((model.clone(), thread, send(world, model, caller, thread)));
        }
        world.run_until(world.now() + refill(plan));
    }
    let recovered = recovered.into_iter();
    recovered
        .map(|(model, thread, id)| Recovered {
            model,
            thread,
            response: world.response(id).clone(),
        })
        .collect()
}

/// Somebody who may use an endpoint that can be served at all.
fn user_of(plan: &Plan, endpoint: &crate::plan::EndpointPlan) -> Option<Caller> {
    let weighted = endpoint.mode == "weighted";
    let mut targets = endpoint.targets.iter();
    targets.find(|target| target.enabled && (!weighted || target.weight > 0))?;
    if plan.topology.tenants.is_empty() {
        return endpoint.tenant.is_none().then_some(Caller::Nobody);
    }
    let is_active = |id: &str| {
        let mut tenants = plan.topology.tenants.iter();
        tenants.any(|tenant| tenant.id == id && !tenant.suspended)
    };
    let mut keys = plan.topology.keys.iter();
    let key = keys.find(|key| {
        let of_tenant = endpoint.tenant.as_ref().is_none_or(|id| *id == key.tenant);
        let allowed = key
            .models
            .as_ref()
            .is_none_or(|models| models.contains(&endpoint.slug));
        of_tenant && allowed && is_active(&key.tenant)
    })?;
    Some(Caller::Key(key.id.clone()))
}

/// By then the seats of lost VMs are empty (10 s), circuits have cooled down, lost trials have ended, and every worker was checked.
fn quiet(plan: &Plan) -> Duration {
    let timeouts = plan
        .topology
        .endpoints
        .iter()
        .map(|endpoint| endpoint.timeout_ms);
    let lease_s = plan.topology.circuit.as_ref().map_or(0, |circuit| {
        2 * circuit.cooldown_s + timeouts.max().unwrap_or_default() / 1000
    });
    let checks_s = plan.topology.health_s.map_or(0, |seconds| 3 * seconds + 4);
    Duration::from_secs(13 + lease_s + checks_s)
}

/// By then every bucket is full.
fn refill(plan: &Plan) -> Duration {
    let limits = plan.topology.limits.iter();
    let slowest_ms = limits
        .map(|limit| limit.burst * 1_000_000 / limit.per_1000_s.max(1))
        .max();
    Duration::from_millis(slowest_ms.unwrap_or_default() + 1000)
}

/// How many requests an endpoint must take at a time: none of them may be refused for what is not in flight any more.
fn room(plan: &Plan, model: &str) -> u64 {
    let endpoint = plan
        .topology
        .endpoints
        .iter()
        .find(|endpoint| endpoint.slug == model);
    let Some(endpoint) = endpoint else { return 0 };
    let cap_of = |id: &str| {
        let worker = plan.topology.workers.iter().find(|worker| worker.id == id);
        worker.map_or(0, |worker| worker.max_in_flight.unwrap_or(CROWD))
    };
    let weighted = endpoint.mode == "weighted";
    let used = endpoint
        .targets
        .iter()
        .filter(|target| target.enabled && (!weighted || target.weight > 0));
    let caps: u64 = used.map(|target| cap_of(&target.worker)).sum();
    let bursts = plan.topology.limits.iter().map(|limit| limit.burst);
    let uploads = plan.topology.max_uploads.max(1);
    bursts.fold(caps.min(CROWD).min(uploads), u64::min)
}

fn observed<'a>(
    plan: &'a Plan,
    world: &mut World,
    ids: &[RequestId],
    flights: Vec<Flight>,
    recovered: Vec<Recovered>,
) -> Observed<'a> {
    let line = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let lines: Vec<(Option<RequestId>, Value)> = world
        .access_log()
        .iter()
        .map(|entry| (entry.request, line(&entry.text)))
        .filter(|(_, line)| line.get("log").and_then(Value::as_str) == Some("request"))
        .collect();
    let seen = plan.requests.iter().zip(ids).map(|(planned, id)| Seen {
        plan: planned.clone(),
        sent: world.sent(*id),
        response: world.response(*id).clone(),
        attempts: world.attempts(*id).into_iter().map(str::to_owned).collect(),
        flights: flights
            .iter()
            .filter(|flight| flight.request == world.stream(*id))
            .cloned()
            .collect(),
        visits: world
            .visits()
            .iter()
            .filter(|visit| visit.client == Some(*id))
            .cloned()
            .collect(),
        lines: lines
            .iter()
            .filter(|(of, _)| *of == Some(*id))
            .map(|(_, line)| line.clone())
            .collect(),
    });
    let seen = seen.collect();
    let workers: Vec<String> = world.worker_names().map(str::to_owned).collect();
    let mut surplus = Vec::new();
    for worker in workers {
        for recorded in world.received(&worker) {
            if let host_sim_scenario::Seen::Unparsable(bytes) = &recorded.seen {
                surplus.push((worker.clone(), bytes.clone()));
            }
        }
    }
    let log = world.log().iter();
    Observed {
        plan,
        seen,
        visits: world.visits().to_vec(),
        surplus,
        log: log
            .map(|line| (line.at, line.log.clone(), line.text.clone()))
            .collect(),
        flights,
        recovered,
        trace_hash: world.trace_hash(),
        trace: world.trace(),
    }
}
