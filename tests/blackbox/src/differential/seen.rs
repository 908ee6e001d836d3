//! What a run showed, in a form that both engines can share.

use std::fmt;
use std::time::{Duration, Instant};

use mock_worker::{Request, Seen as Arrived};

use super::client::Client;
use super::lines;
use super::normal::Normal;
use crate::client::{Connection, Response, request};
use crate::world::World;

/// Longest wait for the end of all streams, where some never end.
const PATIENCE: Duration = Duration::from_millis(1500);
/// So long nobody wrote anything: nobody will.
const QUIET: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(10);
/// Part of the name of every metric that scripts define.
const METRICS: &str = "scripted";

/// What was seen from outside, normalised.
#[derive(Debug)]
pub struct Seen {
    client: Vec<String>,
    guests: Vec<String>,
    workers: Vec<String>,
    access_log: Vec<String>,
    metrics: Vec<String>,
    starts: Vec<String>,
    /// What VMs said that never had a stream.
    pub idle: Vec<Vec<String>>,
    /// The client's responses, as they came.
    pub responses: Vec<Response>,
}

impl Seen {
    pub(super) fn collect(world: &World, client: Client<'_>, with_starts: bool) -> Self {
        let normal = Normal::of(world);
        settle(world, client.logged);
        let lines = lines::read(&world.output());
        let all = |lines: Vec<String>| lines.iter().map(|line| normal.line(line)).collect();
        Self {
            client: all(client.transcript),
            guests: all(lines.serving),
            workers: all(arrivals(world)),
            access_log: all(access_log(world)),
            metrics: metrics(world),
            starts: if with_starts {
                starts(&lines.idle)
            } else {
                Vec::new()
            },
            idle: lines.idle,
            responses: client.responses,
        }
    }

    /// What is compared, by name.
    pub(super) fn sections(&self) -> [(&'static str, &[String]); 6] {
        [
            ("client", &self.client),
            ("guests", &self.guests),
            ("workers", &self.workers),
            ("access log", &self.access_log),
            ("metrics", &self.metrics),
            ("starts", &self.starts),
        ]
    }

    /// The statuses of all responses that came whole.
    #[must_use]
    pub fn statuses(&self) -> Vec<u16> {
        self.responses
            .iter()
            .map(|response| response.status)
            .collect()
    }

    /// What each step answered whose text begins like this: status, then what came with it.
    #[must_use]
    pub fn answers(&self, step: &str) -> Vec<&str> {
        self.guests
            .iter()
            .filter_map(|line| {
                let (_, step_and_answer) = line.split_once(":   ")?;
                let rest = step_and_answer.strip_prefix(step)?;
                rest.split_once(" = ").map(|(_, answer)| answer)
            })
            .collect()
    }

    /// The callbacks of a plugin's streams, in order: `request_headers(2, 5, 1)`. A root context's plugin is `(name)`.
    #[must_use]
    pub fn callbacks(&self, plugin: &str) -> Vec<&str> {
        let prefix = format!("{plugin}: ");
        self.guests
            .iter()
            .filter_map(|line| {
                let (_, line) = line.split_once(' ')?;
                let text = line.strip_prefix(&prefix)?;
                (!text.starts_with(' ') && text.ends_with(')')).then_some(text)
            })
            .collect()
    }

    /// The names of all callbacks of streams, in order, with the plugin's: `a request_headers`.
    #[must_use]
    pub fn order(&self) -> Vec<String> {
        self.guests
            .iter()
            .filter_map(|line| {
                let (_, line) = line.split_once(' ')?;
                let (plugin, text) = line.split_once(": ")?;
                let (callback, _) = text.split_once('(')?;
                (!text.starts_with(' ') && !plugin.starts_with('(') && text.ends_with(')'))
                    .then(|| format!("{plugin} {callback}"))
            })
            .collect()
    }

    /// All lines of guests that had streams.
    #[must_use]
    pub fn guests(&self) -> &[String] {
        &self.guests
    }

    /// What workers got, a line a fact.
    #[must_use]
    pub fn workers(&self) -> &[String] {
        &self.workers
    }

    /// What the client saw, a line a fact.
    #[must_use]
    pub fn client(&self) -> &[String] {
        &self.client
    }

    /// The access log.
    #[must_use]
    pub fn access_log(&self) -> &[String] {
        &self.access_log
    }

    /// The metrics of scripts, in Prometheus's form.
    #[must_use]
    pub fn metrics(&self) -> &[String] {
        &self.metrics
    }

    /// How often a guest's line has this text.
    #[must_use]
    pub fn said(&self, text: &str) -> usize {
        self.guests
            .iter()
            .filter(|line| line.contains(text))
            .count()
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, lines) in self.sections() {
            writeln!(f, "== {name} ==\n{}", lines.join("\n"))?;
        }
        writeln!(f, "== VMs without streams ==\n{:#?}", self.idle)
    }
}

/// What each VM said until its last plugin was configured, one VM after the other.
fn starts(idle: &[Vec<String>]) -> Vec<String> {
    const LATER: [&str; 4] = [
        ": tick(",
        ": http_call_response(",
        ": queue_ready(",
        ": grpc_",
    ];
    let mut lines = Vec::new();
    for vm in idle {
        lines.push("a VM:".to_owned());
        let at_start = |line: &&String| !LATER.iter().any(|later| line.contains(later));
        lines.extend(vm.iter().take_while(at_start).cloned());
    }
    lines
}

/// Waits until every stream of a guest has ended, the log is quiet and the access log has all its lines.
fn settle(world: &World, logged: usize) {
    let until = Instant::now() + PATIENCE;
    let (mut before, mut since) = (0, Instant::now());
    while Instant::now() < until {
        let output = world.output();
        if output.len() != before {
            (before, since) = (output.len(), Instant::now());
        }
        let open = output.matches(" context_create(").count()
            > output.matches(" delete(").count() + roots(&output);
        let lines = world.log().lines();
        let requests = lines.iter().filter(|line| line["log"] == "request").count();
        if since.elapsed() >= QUIET && !open && requests >= logged {
            return;
        }
        std::thread::sleep(PAUSE);
    }
}

fn roots(output: &str) -> usize {
    let root = |line: &&str| line.contains(" context_create(") && line.ends_with(", 0)");
    output.lines().filter(root).count()
}

fn access_log(world: &World) -> Vec<String> {
    world
        .log()
        .lines()
        .iter()
        .map(ToString::to_string)
        .collect()
}

fn arrivals(world: &World) -> Vec<String> {
    let mut lines = Vec::new();
    for (id, worker) in &world.workers {
        for recorded in worker.recorded() {
            match recorded.seen {
                Arrived::Request(request) => arrival(&mut lines, &format!("{id} got"), &request),
                Arrived::Cut(request) => {
                    arrival(&mut lines, &format!("{id} got a part of"), &request)
                }
                Arrived::Unparsable(bytes) => {
                    lines.push(format!("{id} got no request: {}", bytes.escape_ascii()));
                }
            }
        }
    }
    lines
}

fn arrival(lines: &mut Vec<String>, what: &str, request: &Request) {
    lines.push(format!("{what} {} {}", request.method, request.target));
    for (name, value) in &request.headers {
        lines.push(format!(
            "  {}: {}",
            name.escape_ascii(),
            value.escape_ascii()
        ));
    }
    lines.push(format!("  {:?}", request.body.escape_ascii().to_string()));
    for (name, value) in &request.trailers {
        lines.push(format!(
            "  trailer {}: {}",
            name.escape_ascii(),
            value.escape_ascii()
        ));
    }
}

fn metrics(world: &World) -> Vec<String> {
    let page = Connection::open(world.admin())
        .send(request(
            "GET",
            "/stats/prometheus",
            &["connection: close"],
            b"",
        ))
        .response();
    let mut lines: Vec<_> = page
        .text()
        .lines()
        .filter(|line| line.contains(METRICS))
        .map(str::to_owned)
        .collect();
    lines.sort();
    lines
}
