//! Takes another configuration over while the gateway serves.
//!
//! Read, compile, take new addresses, configure on every thread; only when all of that went well
//! do new requests go by it. A step that fails leaves everything as it was.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use host_sim_host::config::{Bootstrap, Http1, Listener};
use host_sim_host::{Process, Update, VmFactory};
use tokio::sync::mpsc::Receiver;
use tokio::sync::{Semaphore, oneshot};

use crate::clock::Clock;
use crate::counts::Names;
use crate::listen::{Acceptor, bind, listen};
use crate::logs::Logs;
use crate::orders::{Order, Threads};
use crate::source::{Loaded, Source, plugins};
use crate::watch::{INTERVAL, Watch};

/// What somebody wants of the one who reloads.
pub enum Wish {
    /// Another configuration.
    Reload(Reload),
    /// No more connections: the listeners are closed; kept connections go on.
    Drain,
}

/// Somebody wants a reload: why, and where the outcome goes.
pub struct Reload {
    /// For the log: `a signal`, `envoy.yaml changed`.
    pub why: String,
    /// Gets a sentence for the user.
    pub answer: Option<oneshot::Sender<Result<String, String>>>,
}

/// Reloads that may wait; more than one is as good as one.
pub const WISHES: usize = 16;

/// What is served now and what was refused last, for the admin address.
#[derive(Clone, Debug)]
pub struct Status {
    /// From 1, one more with each configuration that was taken over.
    pub version: u64,
    /// When it was, since 1970.
    pub taken_at: Duration,
    /// The `envoy.yaml`.
    pub yaml: Arc<str>,
    /// Configurations that were refused.
    pub refused: u64,
    /// When the last one was, and why.
    pub last_refused: Option<(Duration, String)>,
}

/// A [`Status`] that the admin address reads.
#[derive(Debug)]
pub struct Board(Mutex<Status>);

impl Board {
    /// The first configuration.
    #[must_use]
    pub fn new(yaml: &str, at: Duration) -> Self {
        Board(Mutex::new(Status {
            version: 1,
            taken_at: at,
            yaml: yaml.into(),
            refused: 0,
            last_refused: None,
        }))
    }

    /// As it is now.
    #[must_use]
    pub fn status(&self) -> Status {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Status> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Everything that a reload touches.
pub struct Reloader {
    /// Where the configuration comes from.
    pub source: Source,
    /// Takes the place of all access logs' files.
    pub access_log: Option<String>,
    /// Of the worker threads.
    pub process: Arc<Process>,
    /// Compiled modules.
    pub modules: Arc<dyn VmFactory>,
    /// The worker threads.
    pub threads: Threads,
    /// Places for connections.
    pub places: Arc<Semaphore>,
    /// How long kept connections of a listener that is gone may go on.
    pub drain_time: Duration,
    /// What the admin address shows.
    pub board: Arc<Board>,
    /// The simulator's own lines.
    pub logs: Logs,
    /// For their times.
    pub clock: Clock,
    /// Modules that the configuration that was read last names.
    pub wanted: Vec<PathBuf>,
    /// Whoever stops an accepting task, by number of the entrance.
    pub stops: BTreeMap<usize, oneshot::Sender<()>>,
}

impl Reloader {
    /// Lets clients in at the entrances of a configuration.
    ///
    /// # Errors
    /// A sentence for the user.
    pub fn open(
        &mut self,
        update: &Update,
        sockets: Vec<(usize, tokio::net::TcpSocket)>,
    ) -> Result<(), String> {
        for (number, socket) in sockets {
            let acceptor = Acceptor {
                number,
                close: listener_of(update, number)
                    .map(|listener| listener.http.delayed_close_timeout)
                    .unwrap_or_default(),
                http1: listener_of(update, number)
                    .map_or(Http1::CLIENTS, |listener| listener.http.http1),
                names: listener_of(update, number)
                    .map(|listener| Arc::new(Names::of(listener)))
                    .unwrap_or_default(),
                threads: self.threads.clone(),
                places: self.places.clone(),
            };
            let (stop, stopped) = oneshot::channel();
            tokio::spawn(acceptor.run(listen(socket)?, stopped));
            self.stops.insert(number, stop);
        }
        Ok(())
    }

    /// Reloads on wishes, and by itself when a file has changed, as long as the process lives.
    pub async fn run(mut self, mut wishes: Receiver<Wish>, watches: bool) {
        let mut watch = Watch::default();
        watch.take(self.files(&self.process.config()));
        loop {
            let wish = tokio::select! {
                wish = wishes.recv() => wish,
                () = tokio::time::sleep(INTERVAL), if watches => {
                    let changed = watch.changed();
                    (!changed.is_empty()).then(|| Wish::of(format!("{} changed", names(&changed))))
                }
            };
            let Reload { why, answer } = match wish {
                None => continue,
                Some(Wish::Drain) => {
                    self.drain();
                    continue;
                }
                Some(Wish::Reload(reload)) => reload,
            };
            // Before it is read: what changes while it is read is taken up next.
            watch.take(self.files(&self.process.config()));
            let outcome = self.reload().await;
            watch.keep(self.files(&self.process.config()));
            self.tell(&why, &outcome);
            if let Some(answer) = answer {
                let _ = answer.send(outcome);
            }
        }
    }

    /// The file of the configuration and the modules it names, also those that a refused one named:
    /// it is tried again when they change.
    fn files(&self, config: &Bootstrap) -> Vec<PathBuf> {
        let source = self.source.path().to_owned();
        let wanted = self.wanted.iter().cloned();
        std::iter::once(source)
            .chain(wanted)
            .chain(modules(config))
            .collect()
    }

    fn tell(&self, why: &str, outcome: &Result<String, String>) {
        let now = self.clock.now().wall;
        match outcome {
            Ok(text) => self.logs.log(now, "info", &format!("{why}: {text}")),
            Err(reason) => {
                let mut status = self.board.lock();
                status.refused += 1;
                status.last_refused = Some((now, reason.clone()));
                let text = format!(
                    "{why}: the new configuration is refused, version {} stays: {}",
                    status.version,
                    reason.replace('\n', "; ")
                );
                self.logs.log(now, "error", &text);
            }
        }
    }

    async fn reload(&mut self) -> Result<String, String> {
        let Loaded { config, yaml } = self.load().await?;
        if config.admin != self.process.config().admin {
            let text = "the admin address stays as it was until the next start";
            self.logs.log(self.clock.now().wall, "warning", text);
        }
        let name = self.source.path().display().to_string();
        let update = Arc::new(self.process.plan(config));
        let mut sockets = Vec::new();
        for number in &update.opened {
            if let Some(listener) = listener_of(&update, *number) {
                sockets.push((*number, bind(listener.address)?));
            }
        }
        let ready = self.threads.prepare(&update).await;
        ready.map_err(|reason| format!("{name}: {reason}"))?;
        self.process.commit(&update);
        self.threads.commit(&update).await;
        self.open(&update, sockets)?;
        for number in &update.closed {
            self.close(*number);
        }
        let mut status = self.board.lock();
        status.version += 1;
        status.taken_at = self.clock.now().wall;
        status.yaml = yaml.into();
        Ok(format!("version {} of {name} is served", status.version))
    }

    /// Reads and compiles away from the main thread, which answers on the admin address meanwhile.
    async fn load(&mut self) -> Result<Loaded, String> {
        let (source, access_log) = (self.source.clone(), self.access_log.clone());
        let loaded = aside(move || source.load(access_log.as_deref())).await?;
        self.wanted = modules(&loaded.config).collect();
        let (factory, name) = (self.modules.clone(), self.source.path().to_owned());
        aside(move || {
            for plugin in plugins(&loaded.config) {
                let code = factory.code(&plugin.vm);
                code.map_err(|error| format!("{}: cannot load {error}", name.display()))?;
            }
            Ok(loaded)
        })
        .await
    }

    fn drain(&mut self) {
        for (_, stop) in std::mem::take(&mut self.stops) {
            let _ = stop.send(());
        }
        let text = "the listeners are closed: no more connections, kept ones go on";
        self.logs.log(self.clock.now().wall, "info", text);
    }

    /// Stops accepting; kept connections go on for the drain time.
    fn close(&mut self, number: usize) {
        if let Some(stop) = self.stops.remove(&number) {
            let _ = stop.send(());
        }
        let (threads, process) = (self.threads.clone(), self.process.clone());
        let drain_time = self.drain_time;
        tokio::spawn(async move {
            tokio::time::sleep(drain_time).await;
            // It may be back by then.
            if !process.is_open(number) {
                threads.all(|| Order::CloseEntrance(number));
            }
        });
    }
}

fn listener_of(update: &Update, number: usize) -> Option<&Listener> {
    let index = update.listeners.iter().position(|open| *open == number)?;
    update.config.listeners.get(index)
}

/// Modules that a configuration names.
fn modules(config: &Bootstrap) -> impl Iterator<Item = PathBuf> {
    plugins(config).map(|plugin| PathBuf::from(&plugin.vm.code_path))
}

async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, String> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(format!("reading the configuration failed: {error}")))
}

fn names(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    names.join(", ")
}

impl Wish {
    /// A reload whose outcome only the log tells.
    #[must_use]
    pub fn of(why: String) -> Wish {
        Wish::Reload(Reload { why, answer: None })
    }
}
