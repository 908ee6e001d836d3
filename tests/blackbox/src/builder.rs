//! What a test wants, and its start.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use host_sim_envoy::{RenderOptions, render};
use mock_worker::{MockWorker, Settings};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::document::Document;
use crate::engine::Engine;
use crate::gateway::{Gateway, Launch};
use crate::guest::Guest;
use crate::log::AccessLog;
use crate::ports::Port;
use crate::secrets::Secrets;
use crate::shell::modules;
use crate::world::World;

/// Changes the YAML before the gateway starts.
type Edit = Box<dyn FnOnce(String, &Places<'_>) -> String>;

/// What to start.
pub struct WorldBuilder {
    engine: Engine,
    workers: Vec<WorkerSpec>,
    document: Document,
    edits: Vec<Edit>,
    environment: Vec<(String, String)>,
    secrets: Secrets,
    arguments: Vec<String>,
    concurrency: u32,
    log_level: String,
    trappable: bool,
    internal: Option<Port>,
}

struct WorkerSpec {
    cluster: String,
    settings: Settings,
    fields: Value,
}

/// What a YAML of a test's own needs to know.
pub struct Places<'a> {
    /// Where the gateway listens.
    pub listen: SocketAddr,
    /// Where its admin endpoints listen.
    pub admin: SocketAddr,
    /// File of the access log.
    pub access_log: &'a Path,
    /// The test's folder, for files that the gateway reads.
    pub folder: &'a Path,
    /// Worker ids and addresses.
    pub workers: Vec<(String, SocketAddr)>,
}

impl Places<'_> {
    /// The address of a worker.
    ///
    /// # Panics
    /// When there is no such worker.
    #[must_use]
    pub fn worker(&self, id: &str) -> SocketAddr {
        self.workers
            .iter()
            .find(|(name, _)| name == id)
            .map(|(_, address)| *address)
            .expect("a worker of this world")
    }
}

impl WorldBuilder {
    pub(crate) fn new(engine: Engine) -> Self {
        Self {
            engine,
            workers: Vec::new(),
            document: Document::default(),
            edits: Vec::new(),
            environment: Vec::new(),
            secrets: Secrets::default(),
            arguments: Vec::new(),
            concurrency: 1,
            log_level: "warning".to_owned(),
            trappable: false,
            internal: None,
        }
    }

    /// Adds a worker to cluster `workers`.
    #[must_use]
    pub fn worker(self, id: &str) -> Self {
        self.worker_in("workers", id)
    }

    /// Adds a worker to a cluster.
    #[must_use]
    pub fn worker_in(self, cluster: &str, id: &str) -> Self {
        self.worker_with(
            cluster,
            Settings {
                id: id.to_owned(),
                ..Settings::default()
            },
            None,
        )
    }

    /// Adds a worker that asks for a key, which the gateway has in the environment.
    #[must_use]
    pub fn worker_with_key(self, id: &str, variable: &str, key: &str) -> Self {
        let settings = Settings {
            id: id.to_owned(),
            key: Some(key.to_owned()),
            ..Settings::default()
        };
        self.worker_with("workers", settings, Some(variable))
            .environment(variable, key)
    }

    /// Adds a worker; `credential` names the gateway's environment variable with its key.
    #[must_use]
    pub fn worker_with(
        mut self,
        cluster: &str,
        settings: Settings,
        credential: Option<&str>,
    ) -> Self {
        self.workers.push(WorkerSpec {
            cluster: cluster.to_owned(),
            settings,
            fields: match credential {
                Some(variable) => json!({"credential": {"env": variable}}),
                None => json!({}),
            },
        });
        self
    }

    /// Caps the requests in flight at the worker that was added last.
    #[must_use]
    pub fn capped(self, max_in_flight: u32) -> Self {
        self.that("max_in_flight", json!(max_in_flight))
    }

    /// Sets a field of the worker that was added last.
    #[must_use]
    pub fn that(mut self, field: &str, value: Value) -> Self {
        if let Some(worker) = self.workers.last_mut() {
            worker.fields[field] = value;
        }
        self
    }

    /// Adds an endpoint of mode `failover` whose targets are `(worker, served model name)`.
    #[must_use]
    pub fn endpoint(mut self, name: &str, targets: &[(&str, &str)]) -> Self {
        self.document = self.document.endpoint(name, targets);
        self
    }

    /// The same with other fields of the endpoint.
    #[must_use]
    pub fn endpoint_with(mut self, name: &str, targets: &[(&str, &str)], fields: Value) -> Self {
        self.document = self.document.endpoint_with(name, targets, fields);
        self
    }

    /// Adds to the document what this builder has no word for, such as tenants and keys.
    #[must_use]
    pub fn document(mut self, edit: impl FnOnce(Document) -> Document) -> Self {
        self.document = edit(self.document);
        self
    }

    /// Sets a field of the document's top level.
    #[must_use]
    pub fn with(mut self, field: &str, value: Value) -> Self {
        self.document = self.document.with(field, value);
        self
    }

    /// Changes the rendered YAML.
    #[must_use]
    pub fn edit_yaml(self, edit: impl FnOnce(String) -> String + 'static) -> Self {
        self.edit_yaml_with(|yaml, _| edit(yaml))
    }

    /// The same, knowing where everything is.
    #[must_use]
    pub fn edit_yaml_with(
        mut self,
        edit: impl FnOnce(String, &Places<'_>) -> String + 'static,
    ) -> Self {
        self.edits.push(Box::new(edit));
        self
    }

    /// Puts a guest into the rendered chain.
    #[must_use]
    pub fn guest(self, guest: Guest) -> Self {
        self.edit_yaml_with(move |yaml, places| guest.insert(&yaml, places.folder))
    }

    /// Replaces text of the rendered YAML that stands there once, for example a time-out that no
    /// test can wait for.
    #[must_use]
    pub fn replace_in_yaml(self, old: &'static str, new: &'static str) -> Self {
        self.edit_yaml(move |yaml| {
            assert_eq!(
                yaml.matches(old).count(),
                1,
                "{old} stands once in the YAML"
            );
            yaml.replace(old, new)
        })
    }

    /// Has the world look for this text too in what the gateway wrote when it is over, beside the
    /// keys of its document and the variables of its environment.
    #[must_use]
    pub fn secret(mut self, text: &str) -> Self {
        self.secrets.add(text);
        self
    }

    /// Sets an environment variable of the gateway, which is where secrets come from.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.secrets.add(value);
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds an argument of the gateway's program.
    #[must_use]
    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Number of worker threads of the gateway; 1 if not set.
    #[must_use]
    pub fn concurrency(mut self, threads: u32) -> Self {
        self.concurrency = threads;
        self
    }

    /// Which lines of the gateway's log are kept, by Envoy's names; `warning` if not set.
    #[must_use]
    pub fn log_level(mut self, level: &str) -> Self {
        level.clone_into(&mut self.log_level);
        self
    }

    /// Takes the filters that trap when a request names one of them in `x-test-trap`: `attempt`,
    /// `idempotency` or `poll`.
    #[must_use]
    pub fn trappable(mut self) -> Self {
        self.trappable = true;
        self
    }

    /// Has an internal listener beside the public one.
    #[must_use]
    pub fn internal_listener(mut self) -> Self {
        let port = Port::reserve();
        let listeners = serde_json::json!({"internal": port.address.to_string()});
        self.document = self.document.with("listeners", listeners);
        self.internal = Some(port);
        self
    }

    /// Starts everything with what the product renders of the document.
    ///
    /// # Panics
    /// When something does not start.
    #[must_use]
    pub fn start(self) -> World {
        let modules = if self.trappable {
            modules().join("hooked")
        } else {
            modules()
        };
        let document = self.document.clone();
        let described: Vec<_> = self
            .workers
            .iter()
            .map(|worker| (worker.cluster.clone(), worker.fields.clone()))
            .collect();
        self.start_yaml(move |places| {
            let mut document = document;
            for ((id, address), (cluster, fields)) in places.workers.iter().zip(described) {
                document = document.worker(id, &cluster, *address, fields);
            }
            let options = RenderOptions {
                listen: places.listen,
                admin: places.admin,
                modules: modules.display().to_string(),
                access_log: places.access_log.display().to_string(),
            };
            let text = serde_json::to_string_pretty(document.value())
                .expect("a JSON value can be written");
            render(&text, &options).unwrap_or_else(|problem| panic!("rendering {text}: {problem}"))
        })
    }

    /// Starts everything with a YAML of the test's own.
    ///
    /// # Panics
    /// When something does not start.
    #[must_use]
    pub fn start_yaml(mut self, yaml: impl FnOnce(&Places<'_>) -> String) -> World {
        let internal = self.internal.take();
        let keys = self.document.keys().clone();
        let mut secrets = std::mem::take(&mut self.secrets);
        secrets.extend(&keys);
        let prepared = self.prepare(yaml);
        World {
            gateway: Gateway::start(&prepared.launch()),
            workers: prepared.workers,
            log: AccessLog {
                path: prepared.access_log,
            },
            listen: prepared.listen,
            admin: prepared.admin,
            internal,
            folder: prepared.folder,
            secrets,
            keys,
        }
    }

    /// Starts a gateway that is to refuse its YAML; what it wrote before it ended.
    ///
    /// # Panics
    /// When it starts.
    #[must_use]
    pub fn refused_yaml(self, yaml: impl FnOnce(&Places<'_>) -> String) -> String {
        Gateway::refuse(&self.prepare(yaml).launch())
    }

    fn prepare(self, yaml: impl FnOnce(&Places<'_>) -> String) -> Prepared {
        let folder = tempfile::Builder::new()
            .prefix("blackbox-")
            .tempdir()
            .expect("a folder for the test");
        let (listen, admin) = (Port::reserve(), Port::reserve());
        let workers: Vec<_> = self
            .workers
            .into_iter()
            .map(|worker| {
                (
                    worker.settings.id.clone(),
                    MockWorker::start_free(worker.settings),
                )
            })
            .collect();
        let access_log = folder.path().join("access.log");
        let places = Places {
            listen: listen.address,
            admin: admin.address,
            access_log: &access_log,
            folder: folder.path(),
            workers: workers
                .iter()
                .map(|(id, worker)| (id.clone(), worker.address()))
                .collect(),
        };
        let yaml = self
            .edits
            .into_iter()
            .fold(yaml(&places), |yaml, edit| edit(yaml, &places));
        let config = folder.path().join("envoy.yaml");
        std::fs::write(&config, yaml).expect("the test's folder can be written");
        Prepared {
            engine: self.engine,
            config,
            access_log,
            workers,
            listen,
            admin,
            folder,
            concurrency: self.concurrency,
            environment: self.environment,
            arguments: self.arguments,
            log_level: self.log_level,
        }
    }
}

/// All that a gateway needs, before it starts.
struct Prepared {
    engine: Engine,
    config: PathBuf,
    access_log: PathBuf,
    workers: Vec<(String, MockWorker)>,
    listen: Port,
    admin: Port,
    folder: TempDir,
    concurrency: u32,
    environment: Vec<(String, String)>,
    arguments: Vec<String>,
    log_level: String,
}

impl Prepared {
    fn launch(&self) -> Launch<'_> {
        Launch {
            engine: self.engine,
            config: &self.config,
            folder: self.folder.path(),
            concurrency: self.concurrency,
            environment: &self.environment,
            arguments: &self.arguments,
            log_level: &self.log_level,
            listen: self.listen.address,
        }
    }
}
