//! A configuration on real sockets, from its file to its end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use host_sim_host::{Process, VmFactory};
use host_sim_vm::Modules;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::{Notify, Semaphore};

use crate::admin::{self, Admin};
use crate::clock::Clock;
use crate::listen::{bind, listen};
use crate::logs::{Level, Logs, Threshold};
use crate::reload::{Board, Reloader, WISHES, Wish};
use crate::source::{Loaded, Source};
use crate::start::Start;

/// How to serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// What to serve.
    pub source: Source,
    /// Worker threads, 1 to [`CONCURRENCY_LIMIT`]; `None`: one a core.
    pub concurrency: Option<usize>,
    /// File that gets the admin address once it is bound.
    pub admin_address_path: Option<PathBuf>,
    /// All random numbers come from it; `None`: another one at each start.
    pub seed: Option<u64>,
    /// Compiled modules are kept here.
    pub cache_dir: Option<PathBuf>,
    /// Which lines of the log are shown.
    pub log_level: Level,
    /// Takes the place of the files of all access logs.
    pub access_log: Option<String>,
    /// Reload by itself when the file or a module changes.
    pub watch: bool,
    /// How long kept connections of a listener that a reload took away may go on.
    pub drain_time: Duration,
}

/// Envoy's `--drain-time-s`.
pub const DEFAULT_DRAIN_TIME: Duration = Duration::from_secs(600);

/// Most worker threads: each compiles and holds its own VMs.
pub const CONCURRENCY_LIMIT: usize = 64;

/// Most connections of clients at a time; more wait in the system's queue until one ends. With
/// two buffers of a quarter of a megabyte each the worst case stays near five gigabytes, and a
/// thread can still look at all of them.
pub const CONNECTION_LIMIT: usize = 10_000;

/// As of a Rust program that panics.
const FAULT_EXIT_CODE: i32 = 101;

/// Files that may be open: two sockets a request and some for the rest.
const OPEN_FILES: u64 = 2 * CONNECTION_LIMIT as u64 + 1024;

/// Serves until a signal or `/quitquitquit`.
///
/// # Errors
/// A sentence for the user: the file, an address or a module cannot be used.
pub fn serve(options: &Options) -> Result<(), String> {
    let clock = Clock::start();
    let loaded = options.source.load(options.access_log.as_deref())?;
    raise_open_files();
    end_with_any_thread();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| format!("cannot start the main thread: {error}"))?;
    runtime.block_on(run(options, loaded, clock))
}

/// A fault in the simulator ends the process, as a crash of Envoy would: a gateway that lost one of
/// its threads or requests without a word would send whoever looks for the fault the wrong way.
fn end_with_any_thread() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::exit(FAULT_EXIT_CODE);
    }));
}

/// Raises the process's limit of open files as far as needed and allowed; too few show as refused
/// connections.
pub fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit
        .maximum
        .map_or(OPEN_FILES, |maximum| maximum.min(OPEN_FILES));
    if limit.current.is_some_and(|current| current < wanted) {
        let _ = setrlimit(
            Resource::Nofile,
            Rlimit {
                current: Some(wanted),
                maximum: limit.maximum,
            },
        );
    }
}

async fn run(options: &Options, loaded: Loaded, clock: Clock) -> Result<(), String> {
    let stop = Stop::listen()?;
    let Loaded { config, yaml } = loaded;
    let mut sockets = Vec::new();
    for (number, listener) in config.listeners.iter().enumerate() {
        sockets.push((number, bind(listener.address)?));
    }
    let admin_listener = config
        .admin
        .map(|address| listen(bind(address)?))
        .transpose()?;
    if let Some(path) = &options.admin_address_path {
        write_admin_address(path, admin_listener.as_ref())?;
    }
    let concurrency = options.concurrency.unwrap_or_else(default_concurrency);
    let process = Process::new(
        config,
        std::env::vars().collect(),
        options.seed.unwrap_or_else(random_seed),
    );
    let threshold = Threshold::new(options.log_level);
    let (wishes, wished) = channel(WISHES);
    process.set_log_level(options.log_level as u32);
    let admin = Arc::new(Admin {
        process: process.clone(),
        clock,
        concurrency,
        ready: false.into(),
        failing: false.into(),
        places: Arc::new(Semaphore::new(CONNECTION_LIMIT)),
        quit: Notify::new(),
        board: Arc::new(Board::new(&yaml, clock.now().wall)),
        source: options.source.path().to_owned(),
        wishes: wishes.clone(),
        drain_time: options.drain_time,
        threshold: threshold.clone(),
    });
    if let Some(listener) = admin_listener {
        tokio::spawn(admin::serve(admin.clone(), listener));
    }
    let serving = async {
        let modules = Modules::new(options.cache_dir.clone()).map_err(|error| error.to_string())?;
        let modules: Arc<dyn VmFactory> = Arc::new(modules);
        let start = Start {
            process: process.clone(),
            modules: modules.clone(),
            clock,
            threshold: threshold.clone(),
            name: options.source.path().display().to_string(),
        };
        let threads = start.threads(concurrency).await?;
        let mut reloader = Reloader {
            source: options.source.clone(),
            access_log: options.access_log.clone(),
            process: process.clone(),
            modules,
            threads,
            places: admin.places.clone(),
            drain_time: options.drain_time,
            board: admin.board.clone(),
            logs: Logs::new(threshold),
            clock,
            wanted: Vec::new(),
            stops: BTreeMap::new(),
        };
        reloader.open(&process.present(), sockets)?;
        admin.ready.store(true, Ordering::Release);
        tokio::spawn(reload_at_hangup(wishes)?);
        reloader.run(wished, options.watch).await;
        Ok(())
    };
    tokio::select! {
        failed = serving => failed,
        () = stop.wait() => Ok(()),
        () = admin.quit.notified() => {
            // The answer to the request that asked for it goes out first.
            tokio::time::sleep(Duration::from_millis(50)).await;
            Ok(())
        }
    }
}

/// SIGHUP asks for a reload.
fn reload_at_hangup(wishes: Sender<Wish>) -> Result<impl Future<Output = ()>, String> {
    let mut hangup = signal(SignalKind::hangup())
        .map_err(|error| format!("cannot listen for signals: {error}"))?;
    Ok(async move {
        while hangup.recv().await.is_some() {
            // Enough of them wait already: one reload serves all.
            let _ = wishes.try_send(Wish::of("SIGHUP".to_owned()));
        }
    })
}

/// Ctrl-C and SIGTERM.
struct Stop {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

impl Stop {
    fn listen() -> Result<Stop, String> {
        let listen =
            |kind| signal(kind).map_err(|error| format!("cannot listen for signals: {error}"));
        Ok(Stop {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    async fn wait(mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

fn write_admin_address(path: &Path, listener: Option<&TcpListener>) -> Result<(), String> {
    let address = listener.and_then(|listener| listener.local_addr().ok());
    let address = address.ok_or("--admin-address-path: the configuration has no admin address")?;
    std::fs::write(path, address.to_string())
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn default_concurrency() -> usize {
    std::thread::available_parallelism()
        .map_or(1, usize::from)
        .min(CONCURRENCY_LIMIT)
}

/// Another one at each start; nothing secret comes of it.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish()
}
