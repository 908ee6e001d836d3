//! What a request costs: processor time of the gateway and time of the client, beside asking the worker
//! itself, and beside Envoy bare and with the same filters. Prints figures and asserts nothing.
//!
//! ```sh
//! cargo run -p blackbox --example overhead             # host-sim as the tests use it
//! DRAGOMAN_HOST_SIM=target/release/host-sim cargo run -p blackbox --example overhead
//! ```

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use blackbox::world::request;
use blackbox::{Connection, Engine, World};

/// Connections that are kept busy.
const CONNECTIONS: usize = 8;
/// Requests on each that are measured, after a tenth of them as warm-up.
const REQUESTS: usize = 300;

fn main() {
    println!(
        "{CONNECTIONS} kept connections, {REQUESTS} chats each, one worker thread, access log on"
    );
    println!(
        "{:<28} {:>14} {:>16} {:>12}",
        "", "processor time", "median latency", "requests/s"
    );
    let world = filters(Engine::HostSim);
    let direct = measure(world.worker("w1").address(), None);
    print("worker, asked directly", &direct);
    print(
        "host-sim, whole chain",
        &measure(world.address(), Some(world.pid())),
    );
    drop(world);
    let world = bare(Engine::HostSim);
    print(
        "host-sim, no filter",
        &measure(world.address(), Some(world.pid())),
    );
    drop(world);
    let world = filters(Engine::Envoy);
    print(
        "Envoy, whole chain",
        &measure(world.address(), Some(world.pid())),
    );
    drop(world);
    let world = bare(Engine::Envoy);
    print(
        "Envoy, no filter",
        &measure(world.address(), Some(world.pid())),
    );
}

struct Figures {
    /// Of the gateway, a request; `None`: there is none.
    processor: Option<Duration>,
    latency: Duration,
    per_second: f64,
}

fn print(name: &str, figures: &Figures) {
    let processor = figures
        .processor
        .map_or("-".to_owned(), |time| format!("{} µs", time.as_micros()));
    println!(
        "{name:<28} {processor:>14} {:>13} µs {:>12.0}",
        figures.latency.as_micros(),
        figures.per_second
    );
}

fn filters(engine: Engine) -> World {
    World::on(engine)
        .worker("w1")
        .endpoint("chat", &[("w1", "large")])
        .start()
}

/// The same listener and cluster with a router alone.
fn bare(engine: Engine) -> World {
    World::on(engine).worker("w1").start_yaml(|places| {
        let (port, admin) = (places.listen.port(), places.admin.port());
        let worker = places.worker("w1").port();
        let log = places.access_log.display();
        format!(
            r#"
admin: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {admin}}}}}}}
static_resources:
  listeners:
  - name: public
    address: {{socket_address: {{address: 127.0.0.1, port_value: {port}}}}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: public
          access_log:
          - name: envoy.access_loggers.file
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog
              path: "{log}"
              log_format: {{json_format: {{code: "%RESPONSE_CODE%"}}}}
          route_config:
            virtual_hosts:
            - {{name: all, domains: ["*"], routes: [{{match: {{prefix: "/"}}, route: {{cluster: workers}}}}]}}
          http_filters:
          - name: envoy.filters.http.router
            typed_config: {{"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}
  clusters:
  - name: workers
    type: STATIC
    load_assignment:
      cluster_name: workers
      endpoints: [{{lb_endpoints: [{{endpoint: {{address: {{socket_address: {{address: 127.0.0.1, port_value: {worker}}}}}}}}}]}}]
"#
        )
    })
}

fn measure(address: SocketAddr, gateway: Option<u32>) -> Figures {
    rounds(address, REQUESTS / 10);
    let (before, began) = (gateway.map(processor_time), Instant::now());
    let mut latencies = rounds(address, REQUESTS);
    let took = began.elapsed();
    let used = gateway.map(processor_time).zip(before);
    latencies.sort();
    let count = latencies.len().max(1);
    Figures {
        processor: used.map(|(after, before)| (after - before) / u32::try_from(count).unwrap_or(1)),
        latency: latencies.get(count / 2).copied().unwrap_or_default(),
        per_second: count as f64 / took.as_secs_f64(),
    }
}

/// Time of each request.
fn rounds(address: SocketAddr, requests: usize) -> Vec<Duration> {
    let body =
        br#"{"model":"chat","messages":[{"role":"user","content":"How far is it to the moon?"}]}"#;
    let bytes = request(
        "POST",
        "/v1/chat/completions",
        &["content-type: application/json"],
        body,
    );
    let one = || {
        let mut connection = Connection::open(address);
        let ask = |_| {
            let began = Instant::now();
            let response = connection.send(&bytes).response();
            assert_eq!(response.status, 200, "{}", response.text());
            began.elapsed()
        };
        (0..requests).map(ask).collect::<Vec<_>>()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS).map(|_| scope.spawn(one)).collect();
        let times = threads.into_iter().map(|thread| thread.join());
        times.flat_map(|times| times.expect("no panic")).collect()
    })
}

/// Of all threads of a process so far.
fn processor_time(pid: u32) -> Duration {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).expect("it runs");
    let time = |task: std::io::Result<std::fs::DirEntry>| {
        let path = task.ok()?.path().join("schedstat");
        let text = std::fs::read_to_string(path).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    Duration::from_nanos(tasks.filter_map(time).sum())
}
