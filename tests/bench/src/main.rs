#![doc = include_str!("../README.md")]

mod config;
mod cpu;
mod envoy;
mod ext_proc;
mod gateway;
mod load;
mod measure;
mod report;
mod upstream;
mod variants;

use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use envoy::Envoy;
use load::Connections;
use measure::{Bench, Plan, Regime};
use report::{Memory, Report};
use variants::{Variant, Variants, name};

/// Why there are no figures.
type Failure = Box<dyn Error + Send + Sync>;

const FULL: Plan = Plan {
    rounds: 9,
    burst: Duration::from_millis(350),
};
/// For a look in between.
const QUICK: Plan = Plan {
    rounds: 3,
    burst: Duration::from_millis(200),
};

/// Load before memory is read.
const MEMORY_LOAD: Duration = Duration::from_secs(1);

/// Load for a profiler.
const PROFILE: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        [ext_proc::ARGUMENT] => runtime().and_then(|runtime| runtime.block_on(ext_proc::serve())),
        [] => Stage::set().and_then(|stage| stage.measure(FULL)),
        ["--quick"] => Stage::set().and_then(|stage| stage.measure(QUICK)),
        ["--profile", variant] => Stage::set().and_then(|stage| stage.profile(variant)),
        _ => Err("there is --quick, --profile VARIANT, and nothing else".into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What every Envoy of a run has in common.
struct Stage {
    machine: String,
    program: PathBuf,
    envoy_core: usize,
    folder: tempfile::TempDir,
    server: Server,
    variants: Vec<Variant>,
    clusters: Vec<serde_json::Value>,
}

impl Stage {
    /// Looks whether all is there, and starts upstream and ext_proc server.
    fn set() -> Result<Self, Failure> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .canonicalize()?;
        let modules = root.join("envoy/modules");
        let program = std::env::var_os("DRAGOMAN_ENVOY")
            .map_or_else(|| root.join(".tools/envoy"), PathBuf::from);
        is_there(&program, "run scripts/install-envoy")?;
        for module in variants::needed(&modules) {
            is_there(&module, "run scripts/build-filters --guests")?;
        }
        let machine = cpu::machine();
        let [envoy_core, other_core] = cpu::two_cores()?;
        // Before there is a second thread or process, so that all of them stay there.
        cpu::pin(std::process::id(), other_core)?;
        let folder = tempfile::tempdir()?;
        let upstream: [SocketAddr; 2] = upstream::serve()?;
        let (server, processor) = ext_proc::start()?;
        let server = Server(server);
        let Variants { all, clusters } =
            variants::all(&upstream, processor, &modules, folder.path())?;
        Ok(Self {
            machine,
            program,
            envoy_core,
            folder,
            server,
            variants: all,
            clusters,
        })
    }

    /// Measures everything and prints the report.
    fn measure(self, plan: Plan) -> Result<(), Failure> {
        let memory = Memory {
            bare: self.resident_mb(name::BARE)?,
            chain: self.resident_mb(name::CHAIN)?,
        };
        let (envoy, ports) = self.start(&self.variants.iter().collect::<Vec<_>>())?;
        let bench = Bench {
            variants: &self.variants,
            ports: &ports,
            envoy: envoy.pid(),
            server: self.server.0.id(),
        };
        let samples = runtime()?.block_on(bench.run(plan));
        let samples = samples.map_err(|error| format!("{error}\n{}", envoy.last_words()))?;
        println!("{}", self.machine);
        println!(
            "Processor time of Envoy a request; medians of {} rounds with bursts of {} ms",
            plan.rounds,
            plan.burst.as_millis()
        );
        print!("{}", Report::new(&self.variants, &samples).text(&memory));
        Ok(())
    }

    /// Puts load on one variant alone, for whoever wants to look into Envoy meanwhile.
    fn profile(self, variant: &str) -> Result<(), Failure> {
        let (envoy, load) = self.alone(variant)?;
        let (pid, seconds) = (envoy.pid(), PROFILE.as_secs());
        println!("Envoy is process {pid}, busy for {seconds} s");
        let before = cpu::time_ns(pid)?;
        let requests = load.run(PROFILE)?;
        let spent = cpu::time_ns(pid)? - before;
        println!(
            "{:.1} µs a request",
            spent as f64 / 1000.0 / requests as f64
        );
        Ok(())
    }

    /// Resident memory of an Envoy with this variant alone, after some load.
    fn resident_mb(&self, variant: &str) -> Result<f64, Failure> {
        let (envoy, load) = self.alone(variant)?;
        load.run(MEMORY_LOAD)?;
        cpu::resident_mb(envoy.pid())
    }

    fn alone(&self, name: &str) -> Result<(Envoy, Load), Failure> {
        let named = |variant: &&Variant| variant.name == name;
        let variant = self.variants.iter().find(named);
        let variant = variant.ok_or_else(|| format!("there is no variant `{name}`"))?;
        let (envoy, ports) = self.start(&[variant])?;
        let request = Regime::A.request(variant);
        Ok((
            envoy,
            Load {
                at: SocketAddr::from(([127, 0, 0, 1], ports[0])),
                request,
            },
        ))
    }

    /// An Envoy with these variants, and their ports in the same order.
    fn start(&self, variants: &[&Variant]) -> Result<(Envoy, Vec<u16>), Failure> {
        let mut ports = envoy::free_ports(variants.len() + 1)?;
        let admin = ports.pop().ok_or("no port")?;
        let listeners = variants.iter().zip(&ports).enumerate();
        let listeners = listeners
            .map(|(index, (variant, port))| {
                config::at_port(variant.listener.clone(), &format!("v{index}"), *port)
            })
            .collect();
        // Only the clusters that are asked for: a module in one of the others would count.
        let used = serde_json::to_string(&listeners)?;
        let is_used = |cluster: &&serde_json::Value| used.contains(&format!("{}", cluster["name"]));
        let clusters = self.clusters.iter().filter(is_used).cloned().collect();
        let bootstrap = config::bootstrap(admin, listeners, clusters);
        let last = *ports.last().ok_or("no variant")?;
        let folder = self.folder.path();
        let envoy = Envoy::start(&self.program, self.envoy_core, folder, &bootstrap, last)?;
        Ok((envoy, ports))
    }
}

/// Requests for one listener.
struct Load {
    at: SocketAddr,
    request: Vec<u8>,
}

impl Load {
    /// As in regime A; how many were answered.
    fn run(&self, length: Duration) -> Result<u64, Failure> {
        runtime()?.block_on(async {
            let number = Regime::A.connections();
            let mut connections = Connections::open(self.at, &self.request, number).await?;
            connections.burst(length).await
        })
    }
}

fn is_there(file: &Path, remedy: &str) -> Result<(), Failure> {
    match file.is_file() {
        true => Ok(()),
        false => Err(format!("{} is missing: {remedy}", file.display()).into()),
    }
}

/// The ext_proc server; ends with this value.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        // Nothing is left to do about a server that cannot be ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One thread, since one core is all there is.
fn runtime() -> Result<Runtime, Failure> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}
