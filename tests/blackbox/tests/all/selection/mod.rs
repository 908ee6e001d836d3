//! Which worker a request gets, by what is configured and what is known of the workers.

mod canary;
mod caps;
mod classes;
mod permissions;
mod strategies;

use std::time::Duration;

use blackbox::world::request;
use blackbox::{Connection, Engine, Response, World, WorldBuilder};
use serde_json::{Value, json};

use crate::support::CHAT;

/// Longest wait for a worker to hear of a request.
const PATIENCE: Duration = Duration::from_secs(20);
const WORKERS: [&str; 3] = ["w1", "w2", "w3"];

/// The key of an application of `team-a`.
fn key_of(app: &str) -> String {
    format!("sk-selection-{app}-5b0c1d")
}

/// `chat` is served by these workers, in this order, with these fields; these applications of `team-a`
/// may call.
fn serving(world: WorldBuilder, workers: &[&str], apps: &[String], fields: Value) -> WorldBuilder {
    let targets: Vec<_> = workers.iter().map(|worker| (*worker, "m")).collect();
    world
        .endpoint_with("chat", &targets, fields)
        .document(|document| {
            let document = document.tenant("team-a", json!({}));
            apps.iter().fold(document, |document, app| {
                document.key(app, &key_of(app), "team-a", json!({"app": app}))
            })
        })
}

/// Three workers, for one application.
fn three(engine: Engine, fields: Value) -> World {
    let world = WORKERS
        .iter()
        .fold(World::on(engine), |world, worker| world.worker(worker));
    serving(world, &WORKERS, &apps(1), fields).start()
}

fn apps(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("app-{number}")).collect()
}

/// The bytes of a chat of an application, with more header lines.
fn chat_of(app: &str, lines: &[&str], body: &str) -> Vec<u8> {
    let credential = format!("authorization: Bearer {}", key_of(app));
    let lines = [&[credential.as_str()], lines].concat();
    request("POST", "/v1/chat/completions", &lines, body.as_bytes())
}

fn ask(world: &World, app: &str, lines: &[&str]) -> Response {
    world.connect().send(chat_of(app, lines, CHAT)).response()
}

/// The worker that answered.
fn served_by(response: &Response) -> String {
    assert_eq!(response.status, 200, "{response:?}");
    response.header("x-aisuite-backend").unwrap_or_default()
}

/// What the access log says of the choice.
fn route(world: &World, response: &Response) -> String {
    let id = response
        .header("x-request-id")
        .expect("every answer has an id");
    let line = world.log().request(&id);
    line["route"].as_str().unwrap_or_default().to_owned()
}

/// Sends a chat to workers that answer nothing until they are told to, and waits until one has it.
fn hold(world: &World, app: &str, lines: &[&str]) -> Connection {
    let all = |world: &World| world.hits().iter().sum::<usize>();
    let before = all(world);
    let mut connection = world.connect();
    connection.send(chat_of(app, lines, CHAT));
    let started = std::time::Instant::now();
    while all(world) == before {
        assert!(started.elapsed() < PATIENCE, "no worker was asked");
        std::thread::sleep(Duration::from_millis(5));
    }
    connection
}
