//! Attempts on the fake host.
#![allow(dead_code, reason = "each test file needs a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::rc::Rc;

use dragoman_attempt::Attempt;
use dragoman_contract::{Candidate, Plan};
use dragoman_sdk::fake::{Exchange, FakeHost};
use dragoman_sdk::{Filter, Plugin};

pub const CONFIG: &str = r#"{
  "version": 1, "endpoints": [], "auth": {"mode": "off"}, "circuit": {"threshold": 2, "cooldown_seconds": 30},
  "workers": [{"id": "w1", "cluster": "a", "address": "127.0.0.1:9101", "credential": {"env": "W1_KEY"}},
              {"id": "w2", "cluster": "b", "address": "127.0.0.1:9102", "credential": {"env": "W2_KEY", "header": "x-worker-key"}},
              {"id": "w3", "cluster": "b", "address": "127.0.0.1:9103"}]
}"#;
pub const BODY: &[u8] = br#"{"model":"chat","seed":9007199254740995}"#;

pub fn environment(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

pub fn attempt() -> Rc<Attempt> {
    let environment = environment(&[("W1_KEY", "first-secret"), ("W2_KEY", "two")]);
    Rc::new(Attempt::configure(CONFIG.as_bytes(), &environment).unwrap())
}

/// Three candidates for [`BODY`].
pub fn plan() -> Vec<u8> {
    let candidate = |cluster, address, worker, served_model_name| Candidate {
        cluster,
        address,
        worker,
        served_model_name,
    };
    let candidates = vec![
        candidate("a", "127.0.0.1:9101", "w1", "large-model"),
        candidate("b", "127.0.0.1:9102", "w2", "m"),
        candidate("b", "127.0.0.1:9103", "w3", "chat"),
    ];
    Plan {
        body_len: 40,
        model_start: 9,
        model_end: 15,
        timeout_ms: 1000,
        trial: None,
        claim: None,
        candidates,
    }
    .encode()
}

/// A host for an attempt at `address` in `cluster`, with the headers an earlier attempt left.
pub fn host(cluster: &str, address: &str) -> FakeHost {
    let mut host = FakeHost::new(&[
        (":authority", "gateway.example"),
        ("authorization", "Bearer of-the-client"),
        ("x-worker-key", "left-over"),
        ("x-api-key", "of-the-client"),
        (
            "x-gateway-destination-endpoint",
            "127.0.0.1:9101,127.0.0.1:9102",
        ),
        ("x-dragoman-cluster", "a"),
        ("x-dragoman-routed", "1"),
        ("accept-encoding", "gzip"),
        ("content-length", "40"),
        ("x-note", "stays"),
    ]);
    host.properties.insert("dragoman.plan".into(), plan());
    host.properties
        .insert("upstream.address".into(), address.into());
    host.properties
        .insert("xds.cluster_name".into(), cluster.into());
    host
}

pub fn at(cluster: &str, address: &str) -> Exchange<impl Filter> {
    Exchange::new(&attempt(), host(cluster, address))
}

/// The header lines that go to the worker.
pub fn names(host: &FakeHost) -> Vec<String> {
    let pairs = host.request.as_ref().unwrap();
    pairs
        .iter()
        .map(|(name, value)| {
            format!(
                "{}: {}",
                String::from_utf8_lossy(name),
                String::from_utf8_lossy(value)
            )
        })
        .collect()
}
