//! The requests that are measured, through the whole chain with everything switched on.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mock_worker::Faults;
use serde_json::{Value, json};

use super::instructions::{InstructionCounts, Purpose};
use super::table::Table;
use super::tokens;
use crate::{Ended, Request, Setup, World};

const KEY: &str = "sk-bench";
/// SHA-256 of the key.
const KEY_SHA256: &str = "c00397de4384b5bbaf14c02fe1ec7020d28d1eeab6a722c576c84b6678c41c29";

/// Bytes of the long prompt: some 50,000 tokens.
const LONG_PROMPT_BYTES: usize = 220 * 1024;

/// Pieces in which a body arrives: what Envoy reads from a connection at once.
const PIECE_BYTES: usize = 16 * 1024;

/// When requests begin: every worker has been probed once.
const SETTLED: Duration = Duration::from_secs(2);

/// How long nobody asks, for the cost of the background.
const IDLE: Duration = Duration::from_secs(10);

/// One request that is measured, after another of its kind: what is kept per VM is there then.
struct Case {
    name: &'static str,
    status: u16,
    /// Changes the gateway.
    gateway: fn(&mut Value),
    /// Changes the workers before each request.
    workers: fn(&mut World),
    /// The n-th of its kind.
    request: fn(usize) -> Request,
}

const PLAIN: Case = Case {
    name: "chat",
    status: 200,
    gateway: |_| {},
    workers: |_| {},
    request: |_| chat(&body(false, "hello there")),
};

/// With an issuer of tokens beside the key.
const WITH_ISSUER: Case = Case {
    gateway: |gateway| gateway["auth"]["issuers"] = tokens::issuers(),
    ..PLAIN
};

const CASES: [Case; 18] = [
    PLAIN,
    Case {
        name: "streamed chat",
        request: |_| chat(&body(true, "hello there")),
        ..PLAIN
    },
    Case {
        name: "220 KB prompt",
        request: |_| long_chat(),
        ..PLAIN
    },
    Case {
        name: "refused key",
        status: 401,
        request: |_| post(&body(false, "hello there")).header("authorization", "Bearer sk-unknown"),
        ..PLAIN
    },
    Case {
        name: "HS256 token, first time",
        request: |n| shown(tokens::HS256.get(n).copied()),
        ..WITH_ISSUER
    },
    Case {
        name: "HS256 token, known",
        request: |_| shown(tokens::HS256.first().copied()),
        ..WITH_ISSUER
    },
    Case {
        name: "ES256 token, first time",
        request: |n| shown(tokens::ES256.get(n).copied()),
        ..WITH_ISSUER
    },
    Case {
        name: "ES256 token, known",
        request: |_| shown(tokens::ES256.first().copied()),
        ..WITH_ISSUER
    },
    Case {
        name: "badly signed ES256 token again",
        status: 401,
        request: |_| shown(Some(tokens::FORGED)),
        ..WITH_ISSUER
    },
    Case {
        name: "limit reached",
        status: 429,
        gateway: |gateway| gateway["limits"][0]["rate"] = json!({"per_second": 1, "burst": 1}),
        ..PLAIN
    },
    Case {
        name: "answer kept for an idempotency key",
        request: |n| {
            chat(&body(false, "hello there")).header("idempotency-key", &format!("key-{n}"))
        },
        ..PLAIN
    },
    Case {
        name: "replay by idempotency key",
        request: |_| chat(&body(false, "hello there")).header("idempotency-key", "key"),
        ..PLAIN
    },
    Case {
        name: "failover to a second worker",
        workers: |world| world.worker("w1").set_faults(Faults::status(503).times(1)),
        ..PLAIN
    },
    Case {
        name: "chat, 3 workers",
        gateway: |gateway| serve_by(gateway, 3),
        ..PLAIN
    },
    Case {
        name: "chat, 10 workers",
        gateway: |gateway| serve_by(gateway, 10),
        ..PLAIN
    },
    Case {
        name: "chat, 100 workers",
        gateway: |gateway| serve_by(gateway, 100),
        ..PLAIN
    },
    Case {
        name: "chat, 1000 workers",
        gateway: |gateway| serve_by(gateway, 1000),
        ..PLAIN
    },
    Case {
        name: "models list",
        request: |_| authorized(Request::get("/v1/models")),
        ..PLAIN
    },
];

/// One endpoint with so many targets, of which the one with the fewest requests is asked.
fn serve_by(gateway: &mut Value, workers: u16) {
    let names = (0..workers).map(|number| (number, format!("w{number}")));
    let (workers, targets): (Vec<_>, Vec<_>) = names
        .map(|(number, name)| {
            let address = format!("127.0.0.1:{}", 20_000 + number);
            let worker = json!({"id": name, "address": address, "max_in_flight": 64});
            (
                worker,
                json!({"worker": name, "served_model_name": "model"}),
            )
        })
        .unzip();
    gateway["workers"] = json!(workers);
    gateway["endpoints"] = json!([{
        "name": "chat", "mode": "least-connections", "max_attempts": 2, "targets": targets,
    }]);
}

/// Measures all requests with the modules of a folder; `cache` is a folder that keeps compiled ones.
///
/// # Errors
/// A sentence: the modules cannot be used, or a request did not end as it must.
pub fn measure(modules: &Path, cache: Option<PathBuf>) -> Result<Table, String> {
    let setup = Setup {
        modules: modules.to_owned(),
        cache,
        ..Setup::default()
    };
    let mut table = Table::default();
    for case in &CASES {
        let (mut world, counts) = world(&setup, case.gateway)?;
        if case.name == PLAIN.name {
            table.add("start of a thread", &counts.take(Purpose::Start));
        }
        world.run_until(SETTLED);
        if case.name == PLAIN.name {
            counts.take(Purpose::Background);
            world.run_until(SETTLED + IDLE);
            table.add("ten idle seconds", &counts.take(Purpose::Background));
        }
        // The limit is for the second request.
        let statuses = if case.status == 429 {
            [200, 429]
        } else {
            [case.status; 2]
        };
        for (n, status) in statuses.into_iter().enumerate() {
            counts.take(Purpose::Stream);
            (case.workers)(&mut world);
            answer(&mut world, case, n, status)?;
        }
        table.add(case.name, &counts.take(Purpose::Stream));
    }
    Ok(table)
}

/// Everything switched on, nothing in the way of a request.
fn world(setup: &Setup, change: fn(&mut Value)) -> Result<(World, Arc<InstructionCounts>), String> {
    let mut gateway = json!({
        "version": 1,
        "auth": {"keys": [{"id": "k1", "sha256": KEY_SHA256, "tenant": "team", "app": "app"}]},
        "tenants": [{"id": "team"}],
        "limits": [{"name": "requests", "by": ["key"], "rate": {"per_second": 1000, "burst": 1000}}],
        "idempotency": {},
        "health": {"health_check_seconds": 1},
        "circuit": {},
        "endpoints": [{
            "name": "chat",
            "mode": "failover",
            "max_attempts": 2,
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
    change(&mut gateway);
    let counts = Arc::new(InstructionCounts::default());
    let setup = Setup {
        watchers: vec![counts.clone()],
        environment: BTreeMap::from([(
            tokens::SECRET_VARIABLE.to_owned(),
            tokens::SECRET.to_owned(),
        )]),
        ..setup.clone()
    };
    let world = World::new(&gateway.to_string(), &setup).map_err(|error| error.to_string())?;
    Ok((world, counts))
}

fn answer(world: &mut World, case: &Case, n: usize, expected: u16) -> Result<(), String> {
    let id = world.request((case.request)(n));
    let ended = world.run();
    let response = world.response(id);
    if ended == Ended::Idle && response.status == expected && response.is_complete() {
        return Ok(());
    }
    Err(format!(
        "request {:?} should be answered with {expected}; it got {} ({:?}): {}",
        case.name,
        response.status,
        response.end,
        response.text()
    ))
}

fn body(stream: bool, prompt: &str) -> String {
    let stream = if stream { r#""stream": true, "# } else { "" };
    format!(
        r#"{{"model": "chat", {stream}"messages": [{{"role": "user", "content": "{prompt}"}}]}}"#
    )
}

fn post(body: &str) -> Request {
    Request::post("/v1/chat/completions", body)
}

/// A chat with this credential.
fn shown(token: Option<&str>) -> Request {
    let line = format!("Bearer {}", token.unwrap_or_default());
    post(&body(false, "hello there")).header("authorization", &line)
}

fn authorized(request: Request) -> Request {
    request.header("authorization", &format!("Bearer {KEY}"))
}

fn chat(body: &str) -> Request {
    authorized(post(body))
}

fn long_chat() -> Request {
    let mut prompt = String::with_capacity(LONG_PROMPT_BYTES);
    let mut number = 0;
    while prompt.len() < LONG_PROMPT_BYTES {
        number += 1;
        // Writing to a string cannot fail. Escapes as in source code that a prompt quotes.
        let _ = write!(prompt, r#"Line {number} says \"hello\" again.\n"#);
    }
    let body = body(false, &prompt);
    let cuts: Vec<usize> = (PIECE_BYTES..body.len()).step_by(PIECE_BYTES).collect();
    chat(&body).cut(&cuts)
}
