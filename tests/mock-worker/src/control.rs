//! `/_mock/`: faults, states and records over HTTP.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::Reply;
use crate::faults::Faults;
use crate::message::{Recorded, Request};
use crate::worker::Worker;

/// `PUT /_mock/state`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    draining: Option<bool>,
    /// Nobody could end a refusal over HTTP, so it ends by itself.
    refuse_for_ms: Option<u64>,
}

pub(crate) fn answer(worker: &mut Worker, request: &Request) -> Reply {
    match (request.method.as_str(), request.path()) {
        ("GET", "/_mock/faults") => Reply::json(200, &json!(worker.faults())),
        ("PUT", "/_mock/faults") => match serde_json::from_slice::<Faults>(&request.body) {
            Ok(faults) => {
                worker.set_faults(faults);
                done()
            }
            Err(problem) => refused(&problem),
        },
        ("DELETE", "/_mock/faults") => {
            worker.set_faults(Faults::default());
            worker.set_draining(false);
            done()
        }
        ("PUT", "/_mock/state") => match serde_json::from_slice::<State>(&request.body) {
            Ok(state) => {
                if let Some(on) = state.draining {
                    worker.set_draining(on);
                }
                if let Some(ms) = state.refuse_for_ms {
                    worker.refuse_for(Duration::from_millis(ms));
                }
                done()
            }
            Err(problem) => refused(&problem),
        },
        ("POST", "/_mock/release") => {
            worker.release();
            done()
        }
        ("GET", "/_mock/requests") => Reply::json(
            200,
            &Value::Array(worker.recorded().map(Recorded::to_json).collect()),
        ),
        ("DELETE", "/_mock/requests") => {
            worker.forget();
            done()
        }
        _ => Reply::json(404, &json!({"detail": "Not Found"})),
    }
}

fn done() -> Reply {
    Reply::json(200, &json!({}))
}

fn refused(problem: &serde_json::Error) -> Reply {
    Reply::json(400, &json!({"detail": problem.to_string()}))
}
