//! Another configuration while host-sim serves. Envoy has no such thing for static files.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use blackbox::client::{Piece, Rest};
use blackbox::world::request;
use blackbox::{At, Connection, End, Engine, Faults, How, World};

/// Streams that are under way during all reloads.
const STREAMS: usize = 300;
/// Clients that ask again and again, each on its kept connection.
const CLIENTS: usize = 8;
const RELOADS: usize = 10;

const QUICK: &str = r#"{"model":"quick","messages":[]}"#;
const HELD: &str = r#"{"model":"held","stream":true,"messages":[]}"#;

fn chat(body: &str) -> Vec<u8> {
    let headers = ["content-type: application/json"];
    request("POST", "/v1/chat/completions", &headers, body.as_bytes())
}

/// An endpoint for streams, one for quick answers, and one that tells documents apart.
fn world() -> World {
    World::on(Engine::HostSim)
        .worker("w1")
        .worker("w2")
        .endpoint("held", &[("w1", "m")])
        .endpoint("quick", &[("w2", "m")])
        .endpoint("spare-0", &[("w2", "m")])
        .concurrency(2)
        .log_level("info")
        .argument("--no-watch")
        .start()
}

fn yaml(world: &World) -> String {
    std::fs::read_to_string(world.folder().join("envoy.yaml")).expect("the file is there")
}

fn write(world: &World, yaml: &str) {
    std::fs::write(world.folder().join("envoy.yaml"), yaml).expect("the folder can be written");
}

fn ask(world: &World, method: &str, path: &str) -> (u16, String) {
    let bytes = request(method, path, &[], b"");
    let response = Connection::open(world.admin()).send(bytes).response();
    (response.status, response.text())
}

/// Serves `yaml` from now on, or says why not.
fn reload(world: &World, yaml: &str) -> (u16, String) {
    write(world, yaml);
    ask(world, "POST", "/reload")
}

fn models(world: &World) -> String {
    world.get("/v1/models").text()
}

#[test]
fn no_request_is_lost_while_configurations_come_and_bad_ones_are_refused() {
    let world = world();
    world.fail("w1", Faults::interrupt(At::Events(1), How::Hold));
    let first = yaml(&world);
    let mut streams: Vec<_> = (0..STREAMS)
        .map(|_| {
            let mut connection = world.connect();
            connection.send(chat(HELD));
            connection
        })
        .collect();
    let mut rests: Vec<_> = streams.iter_mut().map(begun).collect();

    let (stop, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut connection = world.connect();
                while !stop.load(Ordering::Relaxed) {
                    let response = connection.send(chat(QUICK)).response();
                    assert_eq!(response.status, 200, "{}", response.text());
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for number in 1..=RELOADS {
            wait_for_more(&answered);
            if number % 3 == 0 {
                let (status, reason) = reload(&world, &bad(&first, number));
                assert_eq!(status, 400, "{reason}");
            } else {
                let next = first.replace("spare-0", &format!("spare-{number}"));
                let (status, text) = reload(&world, &next);
                assert_eq!(status, 200, "{text}");
                assert!(models(&world).contains(&format!("spare-{number}")));
            }
        }
        wait_for_more(&answered);
        stop.store(true, Ordering::Relaxed);
    });
    world.worker("w1").release();

    for (connection, rest) in streams.iter_mut().zip(&mut rests) {
        let (body, end) = connection.to_end(rest);
        assert_eq!(end, End::Complete);
        assert!(String::from_utf8_lossy(&body).contains("[DONE]"));
    }
}

/// Head and first event of a stream have come.
fn begun(connection: &mut Connection) -> Rest {
    let head = connection.head();
    assert_eq!(head.status, 200);
    let mut rest = head.rest();
    let Piece::Data(_) = connection.piece(&mut rest) else {
        panic!("the stream ended at once");
    };
    rest
}

/// Some answers of the present configuration.
fn wait_for_more(answered: &AtomicUsize) {
    let before = answered.load(Ordering::Relaxed);
    let patience = Instant::now() + Duration::from_secs(20);
    while answered.load(Ordering::Relaxed) < before + 2 * CLIENTS {
        assert!(Instant::now() < patience, "the clients are not answered");
        std::thread::yield_now();
    }
}

/// A document that the filters refuse, a field without a model, a module that is not there.
fn bad(yaml: &str, number: usize) -> String {
    match number {
        3 => yaml.replace("\"version\": 1", "\"version\": 99"),
        6 => yaml.replace(
            "stat_prefix: public",
            "stat_prefix: public\n          tracing: {}",
        ),
        _ => yaml.replace("select.wasm", "nothing.wasm"),
    }
}

#[test]
fn what_was_refused_and_why_is_in_the_log_and_in_the_dump() {
    let world = world();
    let first = yaml(&world);

    let (status, reason) = reload(&world, &bad(&first, 3));

    assert_eq!(status, 400);
    assert!(reason.contains("version"), "{reason}");
    let (_, dump) = ask(&world, "GET", "/config_dump");
    let dump: serde_json::Value = serde_json::from_str(&dump).expect("JSON");
    assert_eq!(dump["host_sim"]["version"], 1);
    let last = &dump["host_sim"]["last_refused"]["reason"];
    assert!(
        last.as_str().is_some_and(|last| reason.contains(last)),
        "{last}"
    );
    assert!(
        world
            .output()
            .contains("[error] POST /reload: the new configuration is refused, version 1 stays: ")
    );
    assert!(models(&world).contains("spare-0"));
}

#[test]
fn a_changed_file_is_noticed_by_itself() {
    let world = World::on(Engine::HostSim)
        .worker("w1")
        .endpoint("spare-0", &[("w1", "m")])
        .start();
    write(&world, &yaml(&world).replace("spare-0", "spare-1"));

    let patience = Instant::now() + Duration::from_secs(20);
    while !models(&world).contains("spare-1") {
        assert!(Instant::now() < patience, "{}", world.output());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_moved_listener_is_bound_before_the_old_one_ends_and_kept_connections_end_in_good_order() {
    let world = world();
    let first = yaml(&world);
    let moved = blackbox::ports::Port::reserve();
    let (old, new) = (world.address().port(), moved.address.port());
    let mut kept = world.connect();
    assert_eq!(kept.send(chat(QUICK)).response().status, 200);

    let (status, text) = reload(
        &world,
        &first.replace(&format!("port_value: {old}"), &format!("port_value: {new}")),
    );

    assert_eq!(status, 200, "{text}");
    let mut fresh = Connection::open(moved.address);
    assert_eq!(fresh.send(chat(QUICK)).response().status, 200);
    assert!(std::net::TcpStream::connect(world.address()).is_err());
    let last = kept.send(chat(QUICK)).response();
    assert_eq!(last.status, 200);
    assert_eq!(last.header("connection").as_deref(), Some("close"));
    assert!(kept.is_closed());
}

#[test]
fn what_filters_keep_for_all_threads_outlives_a_reload() {
    let world = World::on(Engine::HostSim)
        .worker("w1")
        .endpoint("quick", &[("w1", "m")])
        .endpoint("spare-0", &[("w1", "m")])
        .with("idempotency", serde_json::json!({"ttl_s": 60}))
        .argument("--no-watch")
        .start();
    let ask = || {
        let headers = ["content-type: application/json", "idempotency-key: k"];
        world.request("POST", "/v1/chat/completions", &headers, QUICK.as_bytes())
    };
    assert_eq!(ask().status, 200);

    let (status, text) = reload(&world, &yaml(&world).replace("spare-0", "spare-1"));

    assert_eq!(status, 200, "{text}");
    assert_eq!(ask().status, 200);
    assert_eq!(world.hits(), [1]);
}
