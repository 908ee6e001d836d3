//! What a request costs each filter: the calls between host and guest, compared with the committed
//! table `filters/host_calls.tsv`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host_sim_scenario::{HostCallCounts, HostCalls, Request, Setup, World};
use serde_json::json;

/// In the order of the chain.
const FILTERS: [&str; 7] = [
    "poll",
    "auth",
    "alias",
    "idempotency",
    "rate_limit",
    "select",
    "attempt",
];

const HEADER: &str = "request\tfilter\tbytes_back\tother\tcallbacks\tnames\n";

const KEY: &str = "sk-host-calls";
/// SHA-256 of the key.
const KEY_SHA256: &str = "3464973b03c262f92e665f0057018e3a0e1b76c4d348cac56d65f64fdee1b463";

const CHAT: &str = r#"{"model": "chat", "messages": [{"role": "user", "content": "hello there"}]}"#;
const STREAMED_CHAT: &str = r#"{"model": "chat", "stream": true, "messages": [{"role": "user", "content": "hello there"}]}"#;

#[test]
fn each_filter_asks_of_its_host_what_the_table_says() {
    let counts = Arc::new(HostCallCounts::default());
    let mut world = world(&counts);
    let mut found = HEADER.to_owned();
    for (name, body) in [("chat", CHAT), ("streamed chat", STREAMED_CHAT)] {
        // What is kept per VM is there after the first one.
        answer(&mut world, body);
        let _ = counts.take();
        answer(&mut world, body);
        write_rows(&mut found, name, &counts.take());
    }
    compare_or_update(&found);
}

/// Everything switched on, nothing in the way of a request.
fn world(counts: &Arc<HostCallCounts>) -> World {
    let gateway = json!({
        "version": 1,
        "auth": {"keys": [{"id": "k1", "sha256": KEY_SHA256, "tenant": "team", "app": "app"}]},
        "tenants": [{"id": "team"}],
        "limits": [{"name": "requests", "by": ["key"], "rate": {"per_second": 1000, "burst": 1000}}],
        "idempotency": {},
        "health": {},
        "circuit": {},
        "endpoints": [{
            "name": "chat",
            "targets": [
                {"worker": "w1", "served_model_name": "large"},
                {"worker": "w2", "served_model_name": "large"},
            ],
        }],
        "workers": [
            {"id": "w1", "address": "127.0.0.1:9101", "max_in_flight": 100},
            {"id": "w2", "address": "127.0.0.1:9102", "max_in_flight": 100},
        ],
    });
    let setup = Setup {
        watchers: vec![Arc::clone(counts) as _],
        ..Setup::default()
    };
    World::new(&gateway.to_string(), &setup).unwrap_or_else(|problem| panic!("{problem}"))
}

fn answer(world: &mut World, body: &str) {
    let request = Request::post("/v1/chat/completions", body)
        .header("authorization", &format!("Bearer {KEY}"));
    let response = world.answer(request);
    assert_eq!(response.status, 200, "{}", response.text());
}

fn write_rows(table: &mut String, request: &str, counts: &BTreeMap<String, HostCalls>) {
    let unknown: Vec<_> = counts
        .keys()
        .filter(|module| !FILTERS.contains(&module.as_str()))
        .collect();
    assert!(unknown.is_empty(), "not in the table: {unknown:?}");
    for filter in FILTERS {
        let calls = counts.get(filter).cloned().unwrap_or_default();
        let kinds = [&calls.bytes_back, &calls.other, &calls.callbacks];
        let [bytes_back, other, callbacks] = kinds.map(|calls| calls.values().sum::<u32>());
        let names = kinds.map(named).join(" | ");
        writeln!(
            table,
            "{request}\t{filter}\t{bytes_back}\t{other}\t{callbacks}\t{names}"
        )
        .unwrap();
    }
}

fn named(calls: &BTreeMap<&'static str, u32>) -> String {
    if calls.is_empty() {
        return "none".to_owned();
    }
    let named = calls.iter().map(|(name, times)| match times {
        1 => (*name).to_owned(),
        times => format!("{times} {name}"),
    });
    named.collect::<Vec<_>>().join(", ")
}

fn compare_or_update(found: &str) {
    let path = table();
    if std::env::var_os("UPDATE_HOST_CALLS").is_some() {
        std::fs::write(&path, found).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let gone = committed
        .lines()
        .filter(|line| !found.lines().any(|other| other == *line));
    let new = found
        .lines()
        .filter(|line| !committed.lines().any(|other| other == *line));
    let gone = gone.map(|line| format!("- {line}\n"));
    let difference: String = gone.chain(new.map(|line| format!("+ {line}\n"))).collect();
    assert!(
        committed == found,
        "filters ask other things of their host than {} says:\n{difference}\
         If that is as it should be: UPDATE_HOST_CALLS=1 cargo test -p host-sim-scenario --test host_calls",
        path.display()
    );
}

fn table() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../filters/host_calls.tsv")
}
