//! What a table of polled keys costs: a look-up the same whatever its size, an unchanged one nothing but the question.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use host_sim_host::abi::watch::{Answered, Asked, View, Watcher, Whose};
use host_sim_host::abi::{Call, Trap};
use host_sim_scenario::{Faults, Request, Setup, World};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::deployment::world;

const PATH: &str = "/v1/keys/resolved";
/// As many as the gateway takes.
const PAGE_KEYS: usize = 1024;
/// Keys that are looked up to find what one costs.
const SAMPLE: usize = 40;
const THREADS: usize = 4;
const POLL_SECONDS: u64 = 10;

/// What guests did, apart from requests by module and thread.
#[derive(Debug, Default)]
struct Costs(Mutex<Cost>);

#[derive(Clone, Debug, Default)]
struct Cost {
    /// Of `auth`, for requests.
    instructions: u64,
    shared_bytes: usize,
    /// Host calls that no request is the reason of.
    idle: BTreeMap<(String, usize), BTreeMap<&'static str, u32>>,
}

impl Costs {
    fn take(&self) -> Cost {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, note: impl FnOnce(&mut Cost)) {
        note(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Watcher for Costs {
    fn answered(&self, whose: &Whose, asked: &Asked<'_>, answered: &Answered<'_>) {
        self.note(|cost| {
            if whose.stream.is_none() {
                let calls = cost
                    .idle
                    .entry((whose.module.clone(), whose.thread))
                    .or_default();
                *calls.entry(asked.name()).or_default() += 1;
            } else if let Answered::BytesAndNumber(bytes, _) = answered
                && whose.module == "auth"
            {
                cost.shared_bytes += bytes.len();
            }
        });
    }

    fn returned(
        &self,
        whose: &Whose,
        _: &Call,
        _: Result<u32, &Trap>,
        instructions: u64,
        _: &mut View<'_>,
    ) {
        if whose.stream.is_some() && whose.module == "auth" {
            self.note(|cost| cost.instructions += instructions);
        }
    }
}

fn key(number: usize) -> String {
    format!("sk-table-{number:06}")
}

fn record(number: usize) -> Value {
    let digest = Sha256::digest(key(number).as_bytes());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let id = format!("k{number:06}");
    json!({"id": id, "sha256": digest, "tenant": "team", "app": "app", "models": ["chat", "chat-*"]})
}

/// The page with this number, from 0, of a table of so many keys.
fn page(number: usize, keys: usize) -> Faults {
    let first = number * PAGE_KEYS;
    let records: Vec<_> = (first..keys.min(first + PAGE_KEYS)).map(record).collect();
    let more = first + PAGE_KEYS < keys;
    let next = more.then(|| format!("{PATH}?page={}", number + 2));
    answer(
        200,
        json!({"version": 1, "keys": records, "next": next}).to_string(),
    )
}

/// Late by a millisecond, so that the next page can be put there meanwhile.
fn answer(status: u16, body: String) -> Faults {
    Faults {
        path: Some(PATH.to_owned()),
        status: Some(status),
        headers: BTreeMap::from([("etag".to_owned(), "\"1\"".to_owned())]),
        body: Some(body),
        delay_before_headers_ms: 1,
        ..Faults::default()
    }
}

/// A gateway that has read a table of so many keys.
fn with_table(keys: usize, setup: &Setup) -> World {
    let gateway = json!({
        "version": 1,
        "auth": {"key_store": {"address": "127.0.0.1:9201", "poll_seconds": POLL_SECONDS}},
        "tenants": [{"id": "team"}],
        "endpoints": [{"name": "chat", "targets": [{"worker": "w1"}]}],
        "workers": [
            {"id": "w1", "address": "127.0.0.1:9101"},
            {"id": "control", "cluster": "control", "address": "127.0.0.1:9201"},
        ],
    });
    let mut world = world(&gateway, setup);
    let pages = keys.div_ceil(PAGE_KEYS).max(1);
    for number in 0..pages {
        world.worker("control").set_faults(page(number, keys));
        while world.received("control").len() == number {
            world.run_until(world.now() + Duration::from_micros(500));
        }
    }
    // Nothing is new from now on.
    world
        .worker("control")
        .set_faults(answer(304, String::new()));
    world.run_until(world.now() + Duration::from_secs(5));
    assert_eq!(world.received("control").len(), pages, "read once");
    world
}

fn chat(key: &str) -> Request {
    Request::post("/v1/chat/completions", r#"{"model":"chat","messages":[]}"#)
        .header("authorization", &format!("Bearer {key}"))
}

/// Instructions of `auth` for one request with a key of the table, and the bytes that it read of it, on average.
fn look_up(keys: usize) -> (u64, usize) {
    let costs = Arc::new(Costs::default());
    let setup = Setup {
        watchers: vec![Arc::clone(&costs) as _],
        ..Setup::default()
    };
    let mut world = with_table(keys, &setup);
    let sample: Vec<_> = (0..SAMPLE)
        .map(|index| key(index * keys / SAMPLE))
        .collect();
    assert_eq!(world.answer(chat(&sample[0])).status, 200);
    let _ = costs.take();
    for key in &sample {
        assert_eq!(world.answer(chat(key)).status, 200, "{key} of {keys}");
    }
    let cost = costs.take();
    (
        cost.instructions / SAMPLE as u64,
        cost.shared_bytes / SAMPLE,
    )
}

/// Prints what it counted: `cargo test --test all key_table -- --nocapture`.
#[test]
fn a_look_up_costs_as_many_instructions_among_a_hundred_thousand_keys_as_among_forty() {
    let (few, _) = look_up(SAMPLE);
    for keys in [5_000, 100_000] {
        let (many, bytes) = look_up(keys);
        println!(
            "{SAMPLE} keys: {few} instructions of auth a request; {keys}: {many}, and {bytes} bytes read"
        );
        // A bucket has some keys more or less; nothing grows with the table.
        assert!(many.abs_diff(few) * 10 < few, "{many} instead of {few}");
        assert!(bytes < 4096, "one bucket is read: {bytes}");
    }
}

#[test]
fn an_unchanged_table_is_one_question_of_one_thread_and_nothing_to_all_others() {
    let costs = Arc::new(Costs::default());
    let watchers = vec![Arc::clone(&costs) as _];
    let setup = Setup {
        watchers,
        threads: THREADS,
        ..Setup::default()
    };
    let mut world = with_table(3_000, &setup);
    let (began, asked) = (world.now(), world.received("control").len());
    let _ = costs.take();

    world.run_until(began + Duration::from_secs(60));

    let asked = world.received("control").len() - asked;
    assert!((6..=9).contains(&asked), "asked {asked} times in a minute");
    let idle = costs.take().idle;
    let of = |module: &'static str| idle.iter().filter(move |((name, _), _)| name == module);
    assert_eq!(of("auth").count(), 0, "{idle:?}");
    let askers: Vec<_> = of("poll")
        .filter(|(_, calls)| calls.contains_key("http_call"))
        .collect();
    assert_eq!(askers.len(), 1, "{idle:?}");
    let (asker, calls) = askers[0];
    assert_eq!(
        calls["http_call"],
        u32::try_from(asked).expect("few"),
        "{calls:?}"
    );
    for (thread, calls) in of("poll").filter(|(thread, _)| *thread != asker) {
        // Is the lease still somebody's? That is asked with or without a table.
        let names: Vec<_> = calls.keys().copied().collect();
        assert_eq!(names, ["get_shared_data", "monotonic"], "{thread:?}");
    }
}
