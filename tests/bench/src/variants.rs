//! What is measured: each variant is a listener of the one Envoy.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use dragoman_contract::names;
use serde_json::Value;

use crate::Failure;
use crate::config::{self, Hop, PLAIN};
use crate::gateway::{CHAIN, Features, Gateway, REFUSED, Route};

/// Cluster of the upstream behind an empty module.
const EMPTY: &str = "empty";

/// One way through Envoy.
pub struct Variant {
    /// What it is called in the report.
    pub name: String,
    /// Its listener, without name and address.
    pub listener: Value,
    /// Headers of its requests besides those of every client.
    pub headers: Vec<(String, String)>,
    /// Whether it asks the ext_proc server.
    pub is_hop: bool,
    /// Whether a large prompt is measured too.
    pub with_large: bool,
}

/// All variants and the clusters they need.
pub struct Variants {
    /// In the order of the report.
    pub all: Vec<Variant>,
    /// Shared by all of them.
    pub clusters: Vec<Value>,
}

/// Names in the report.
pub mod name {
    /// Envoy without any filter.
    pub const BARE: &str = "bare Envoy";
    /// Its own HTTP settings, access log, error table; no module.
    pub const FRAME: &str = "envoy.yaml without modules";
    /// Also finds worker and cluster by headers, and is ready for another attempt.
    pub const ROUTED: &str = "- and routed and retried";
    /// As many as the chain has, in its places.
    pub const EMPTY: &str = "seven empty modules";
    /// The filters of the chain up to this one.
    pub fn up_to(filter: &str) -> String {
        format!("chain up to {filter}")
    }
    /// All of them.
    pub const CHAIN: &str = "whole chain";
    /// A single one.
    pub fn alone(filter: &str) -> String {
        format!("{filter} alone")
    }
    /// The hop that reads the body and nothing else.
    pub const BODY_HOP: &str = "ext_proc, body only";
    /// The hop as it is unless one asks for less.
    pub const HOP: &str = "ext_proc, headers and body";
}

/// Writes the variants; copies of the empty module go into `folder`.
pub fn all(
    upstream: &[SocketAddr],
    processor: u16,
    modules: &Path,
    folder: &Path,
) -> Result<Variants, Failure> {
    let full = Gateway::render(Features::All, upstream, modules)?;
    let open = Gateway::render(Features::None, upstream, modules)?;
    let empty = empty_modules(modules, folder, CHAIN.len())?;
    let (empty_before, empty_after) = empty.split_at(CHAIN.len() - 1);

    let mut all = vec![
        variant(name::BARE, config::listener(&[], PLAIN)).large(),
        variant(name::FRAME, full.listener(&[], Route::Plain)?).large(),
        variant(name::ROUTED, full.listener(&[], Route::Selected)?).headers(selected(upstream)),
        variant(name::EMPTY, config::listener(empty_before, EMPTY)).large(),
        variant(
            &name::alone("auth"),
            full.listener(&["auth"], Route::Plain)?,
        ),
        variant(
            &name::alone("alias"),
            open.listener(&["alias"], Route::Plain)?,
        )
        .large(),
    ];
    for length in 1..=CHAIN.len() {
        let filters = &CHAIN[..length];
        let last = CHAIN[length - 1];
        let route = match last {
            "select" | "attempt" => Route::Selected,
            _ => Route::Plain,
        };
        let listener = full.listener(filters, route)?;
        all.push(match last {
            "attempt" => variant(name::CHAIN, listener).large(),
            _ => variant(&name::up_to(last), listener),
        });
    }
    for (name, hop) in [(name::BODY_HOP, Hop::Body), (name::HOP, Hop::All)] {
        let listener = config::listener(&[config::ext_proc(hop)], PLAIN);
        all.push(variant(name, listener).hop().large());
    }

    let mut clusters = vec![
        config::cluster(PLAIN, upstream, &[]),
        config::cluster(EMPTY, upstream, empty_after),
        config::cluster(REFUSED, &[], &[]),
        config::processor(processor),
    ];
    clusters.extend(full.clusters());
    Ok(Variants { all, clusters })
}

/// The modules that must be there, with the one that does nothing.
pub fn needed(modules: &Path) -> Vec<PathBuf> {
    let file = |name: &&str| modules.join(format!("{name}.wasm"));
    let mut needed: Vec<PathBuf> = CHAIN.iter().map(file).collect();
    needed.push(empty_module(modules));
    needed
}

fn empty_module(modules: &Path) -> PathBuf {
    modules.join("guests/idle.wasm")
}

/// What `select` tells Envoy in headers.
fn selected(upstream: &[SocketAddr]) -> Vec<(String, String)> {
    let addresses: Vec<String> = upstream.iter().map(SocketAddr::to_string).collect();
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    vec![
        header(names::ROUTED, "1"),
        header(names::CLUSTER, "workers"),
        header(names::ENDPOINT_LIST, &addresses.join(",")),
    ]
}

/// Copies of the empty module that differ in a section nobody reads: V8 compiles equal bytes once
/// and would run all of them from the same machine code, which no chain of real modules does.
fn empty_modules(modules: &Path, folder: &Path, number: usize) -> Result<Vec<Value>, Failure> {
    let module = fs::read(empty_module(modules))?;
    let mut copies = Vec::new();
    for copy in 0..number {
        let name = format!("empty{copy}");
        let length = u8::try_from(name.len())?;
        let mut bytes = module.clone();
        // A custom section: kind 0, length of all of it, length of the name, the name.
        bytes.extend([0, length + 1, length]);
        bytes.extend(name.as_bytes());
        let file = folder.join(format!("{name}.wasm"));
        fs::write(&file, bytes)?;
        copies.push(config::module(&name, &file.to_string_lossy()));
    }
    Ok(copies)
}

fn variant(name: &str, listener: Value) -> Variant {
    Variant {
        name: name.to_owned(),
        listener,
        headers: Vec::new(),
        is_hop: false,
        with_large: false,
    }
}

impl Variant {
    fn headers(self, headers: Vec<(String, String)>) -> Self {
        Self { headers, ..self }
    }

    fn large(self) -> Self {
        Self {
            with_large: true,
            ..self
        }
    }

    fn hop(self) -> Self {
        Self {
            is_hop: true,
            ..self
        }
    }
}
