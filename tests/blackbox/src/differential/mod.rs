//! The same guest, the same YAML and the same requests on Envoy and on host-sim: everything that can be seen must be equal.
//!
//! ```ignore
//! let seen = Case::new()
//!     .filter(scripted("a", "request_body: get_header_map_value 0 :path"))
//!     .run(|client| drop(client.post("/x", "body")));
//! assert_eq!(seen.answers("get_header_map_value 0 :path"), ["2"]);
//! ```
//!
//! What is compared: the client's answers, what each worker got, the guests' log lines, the access log, the guests' metrics. What
//! cannot be equal (ids, dates, ports) is replaced first, see `normal.rs`.

mod client;
mod compare;
mod lines;
mod normal;
mod seen;

use std::thread;

use mock_worker::{Faults, Settings};

use crate::builder::{Places, WorldBuilder};
use crate::engine::Engine;
use crate::plugin::Plugin;
use crate::raw::{Choice, Raw};
use crate::world::World;

pub use client::{Client, Talk};
pub use seen::Seen;

/// Environment variable that makes a test show what was seen, for who writes one.
const SHOW: &str = "DRAGOMAN_SHOW_SEEN";

/// Changes the rest of the YAML.
type Shape = Box<dyn Fn(Raw<'_>) -> Raw<'_> + Send + Sync>;

/// One comparison: a configuration, which [`Case::run`] gives requests.
pub struct Case {
    filters: Vec<Plugin>,
    clusters: Vec<Cluster>,
    faults: Vec<(String, Faults)>,
    shapes: Vec<Shape>,
    log_level: &'static str,
    concurrency: u32,
    starts: bool,
}

struct Cluster {
    name: String,
    workers: Vec<String>,
    choice: Choice,
    attempt: Vec<Plugin>,
}

impl Default for Case {
    fn default() -> Self {
        Self::new()
    }
}

impl Case {
    /// Worker `w1` in the cluster `workers`, to which everything goes; no filters.
    #[must_use]
    pub fn new() -> Self {
        Self {
            filters: Vec::new(),
            clusters: vec![Cluster {
                name: "workers".to_owned(),
                workers: vec!["w1".to_owned()],
                choice: Choice::RoundRobin,
                attempt: Vec::new(),
            }],
            faults: Vec::new(),
            shapes: Vec::new(),
            log_level: "info",
            concurrency: 1,
            starts: false,
        }
    }

    /// The next filter of the listener.
    #[must_use]
    pub fn filter(mut self, plugin: Plugin) -> Self {
        self.filters.push(plugin);
        self
    }

    /// The next filter of the cluster that was added last, for each attempt.
    #[must_use]
    pub fn attempt(mut self, plugin: Plugin) -> Self {
        if let Some(cluster) = self.clusters.last_mut() {
            cluster.attempt.push(plugin);
        }
        self
    }

    /// One more worker in the cluster that was added last.
    #[must_use]
    pub fn worker(mut self, id: &str) -> Self {
        if let Some(cluster) = self.clusters.last_mut() {
            cluster.workers.push(id.to_owned());
        }
        self
    }

    /// The cluster that was added last takes the addresses in `x-gateway-destination-endpoint`.
    #[must_use]
    pub fn in_order(mut self) -> Self {
        if let Some(cluster) = self.clusters.last_mut() {
            cluster.choice = Choice::InOrder;
        }
        self
    }

    /// One more cluster with these workers.
    #[must_use]
    pub fn cluster(mut self, name: &str, workers: &[&str]) -> Self {
        self.clusters.push(Cluster {
            name: name.to_owned(),
            workers: workers.iter().map(|&id| id.to_owned()).collect(),
            choice: Choice::RoundRobin,
            attempt: Vec::new(),
        });
        self
    }

    /// Faults of a worker, from the start.
    #[must_use]
    pub fn fault(mut self, worker: &str, faults: Faults) -> Self {
        self.faults.push((worker.to_owned(), faults));
        self
    }

    /// A worker answers every request with these bytes and closes.
    #[must_use]
    pub fn answers(self, worker: &str, bytes: &str) -> Self {
        let faults = Faults {
            garbage: Some(bytes.to_owned()),
            ..Faults::default()
        };
        self.fault(worker, faults)
    }

    /// Changes the rest of the YAML.
    #[must_use]
    pub fn shape(mut self, shape: impl Fn(Raw<'_>) -> Raw<'_> + Send + Sync + 'static) -> Self {
        self.shapes.push(Box::new(shape));
        self
    }

    /// The action of the only route.
    #[must_use]
    pub fn route(self, route: serde_json::Value) -> Self {
        self.shape(move |raw| raw.route(route.clone()))
    }

    /// Lines of the engines' logs below this level are dropped; `info` if not set.
    #[must_use]
    pub fn log_level(self, log_level: &'static str) -> Self {
        Self { log_level, ..self }
    }

    /// Compares also how the VMs start that never have a stream: those of trials, and the main thread's.
    #[must_use]
    pub fn with_starts(self) -> Self {
        Self {
            starts: true,
            ..self
        }
    }

    /// Worker threads; 1 if not set. With more of them only what does not depend on the thread can be compared.
    #[must_use]
    pub fn concurrency(self, concurrency: u32) -> Self {
        Self {
            concurrency,
            ..self
        }
    }

    /// Runs the requests on both engines; what was seen, on both alike.
    ///
    /// # Panics
    /// When something differs, or does not start.
    #[must_use]
    pub fn run(self, requests: impl Fn(&mut Client<'_>) + Sync) -> Seen {
        let on = |engine: Engine| engine.is_here().then(|| self.seen(engine, &requests));
        let (envoy, host_sim) = thread::scope(|scope| {
            let envoy = scope.spawn(|| on(Engine::Envoy));
            let host_sim = on(Engine::HostSim);
            (joined(envoy.join()), host_sim)
        });
        let host_sim = host_sim.expect("host-sim is always here");
        if std::env::var_os(SHOW).is_some() {
            eprintln!("{}", envoy.as_ref().unwrap_or(&host_sim));
        }
        let Some(envoy) = envoy else {
            return host_sim;
        };
        compare::assert_same(&envoy, &host_sim);
        envoy
    }

    /// Starts both engines, which are to refuse the configuration; what each wrote, Envoy first.
    ///
    /// # Panics
    /// When one of them starts.
    #[must_use]
    pub fn refused(self) -> Vec<String> {
        [Engine::Envoy, Engine::HostSim]
            .into_iter()
            .filter(|engine| engine.is_here())
            .map(|engine| {
                self.builder(engine)
                    .refused_yaml(|places| self.yaml(places))
            })
            .collect()
    }

    fn builder(&self, engine: Engine) -> WorldBuilder {
        let mut builder = World::on(engine)
            .log_level(self.log_level)
            .concurrency(self.concurrency);
        for cluster in &self.clusters {
            for worker in &cluster.workers {
                let settings = Settings {
                    id: worker.clone(),
                    ..Settings::default()
                };
                builder = builder.worker_with(&cluster.name, settings, None);
            }
        }
        builder
    }

    fn yaml(&self, places: &Places<'_>) -> String {
        let mut raw = Raw::new(places);
        for plugin in &self.filters {
            raw = raw.filter(plugin);
        }
        for cluster in &self.clusters {
            let workers: Vec<&str> = cluster.workers.iter().map(String::as_str).collect();
            raw = raw.cluster(&cluster.name, cluster.choice, &workers, &cluster.attempt);
        }
        self.shapes.iter().fold(raw, |raw, shape| shape(raw)).yaml()
    }

    fn seen(&self, engine: Engine, requests: &(impl Fn(&mut Client<'_>) + Sync)) -> Seen {
        let world = self.builder(engine).start_yaml(|places| self.yaml(places));
        for (worker, faults) in &self.faults {
            world.fail(worker, faults.clone());
        }
        let mut client = Client::new(&world);
        requests(&mut client);
        Seen::collect(&world, client, self.starts)
    }
}

fn joined<T>(result: thread::Result<T>) -> T {
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}
