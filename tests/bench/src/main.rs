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
use measure::{Bench, Plan};
use report::{Memory, Report};
use variants::{Variant, name};

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

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    let result = match argument.as_deref() {
        Some(ext_proc::ARGUMENT) => {
            runtime().and_then(|runtime| runtime.block_on(ext_proc::serve()))
        }
        Some("--quick") => bench(QUICK),
        None => bench(FULL),
        Some(other) => Err(format!("{other}: there is --quick and nothing else").into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bench(plan: Plan) -> Result<(), Failure> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let modules = root.join("envoy/modules");
    let program =
        std::env::var_os("DRAGOMAN_ENVOY").map_or_else(|| root.join(".tools/envoy"), PathBuf::from);
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
    let variants = variants::all(&upstream, processor, &modules, folder.path())?;
    let site = Site {
        program,
        envoy_core,
        folder: folder.path(),
        clusters: &variants.clusters,
    };

    let memory = Memory {
        bare: site.resident_mb(&variants.all, name::BARE)?,
        chain: site.resident_mb(&variants.all, name::CHAIN)?,
    };
    let (envoy, ports) = site.start(&variants.all.iter().collect::<Vec<_>>())?;
    let variants: Vec<(Variant, u16)> = variants.all.into_iter().zip(ports).collect();
    let bench = Bench {
        variants: &variants,
        envoy: envoy.pid(),
        server: server.0.id(),
    };
    let samples = runtime()?.block_on(bench.run(plan));
    let samples = samples.map_err(|error| format!("{error}\n{}", envoy.last_words()))?;

    println!("{machine}");
    println!(
        "Processor time of Envoy a request; medians of {} rounds with bursts of {} ms",
        plan.rounds,
        plan.burst.as_millis()
    );
    print!("{}", Report::new(&variants, &samples).text(&memory));
    Ok(())
}

fn is_there(file: &Path, remedy: &str) -> Result<(), Failure> {
    match file.is_file() {
        true => Ok(()),
        false => Err(format!("{} is missing: {remedy}", file.display()).into()),
    }
}

/// What every Envoy of a run has in common.
struct Site<'a> {
    program: PathBuf,
    envoy_core: usize,
    folder: &'a Path,
    clusters: &'a [serde_json::Value],
}

impl Site<'_> {
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
        let envoy = Envoy::start(
            &self.program,
            self.envoy_core,
            self.folder,
            &bootstrap,
            last,
        )?;
        Ok((envoy, ports))
    }

    /// Resident memory of an Envoy with this variant alone, after some load.
    fn resident_mb(&self, all: &[Variant], name: &str) -> Result<f64, Failure> {
        let variant = all
            .iter()
            .find(|variant| variant.name == name)
            .ok_or("no such variant")?;
        let (envoy, ports) = self.start(&[variant])?;
        let authorization = format!("Bearer {}", gateway::API_KEY);
        let request = load::chat(1000, &authorization, &variant.headers);
        let at = SocketAddr::from(([127, 0, 0, 1], ports[0]));
        runtime()?.block_on(async {
            let mut connections = Connections::open(at, &request, 16).await?;
            connections.burst(MEMORY_LOAD).await
        })?;
        cpu::resident_mb(envoy.pid())
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
