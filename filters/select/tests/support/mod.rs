//! Requests on their way into `select`.
#![allow(
    clippy::unwrap_used,
    dead_code,
    reason = "a test may panic, and not each file of tests uses everything"
)]

use std::collections::BTreeMap;
use std::rc::Rc;

use dragoman_contract::{ApiKind, Class, Plan, RequestRecord};
use dragoman_sdk::Plugin;
use dragoman_sdk::fake::{FakeHost, SharedMap};
use dragoman_select::Select;

pub fn select(config: &str) -> Rc<Select> {
    Rc::new(Select::configure(config.as_bytes(), &BTreeMap::new()).unwrap())
}

/// What `alias` says of a request for this endpoint.
pub fn record(endpoint: &str) -> RequestRecord<'_> {
    RequestRecord {
        api: ApiKind::Chat,
        stream: false,
        body_len: 20,
        model_start: 9,
        model_end: 12,
        max_tokens: 0,
        endpoint,
        version: "v1",
        tenant: "team-a",
        app: "chatbot",
        class: Class::Interactive,
        tools: false,
        body_sha256: None,
    }
}

/// A host that has this record, in a process with this shared data.
pub fn host(record: &RequestRecord<'_>, shared: &SharedMap) -> FakeHost {
    let mut host = FakeHost {
        shared: Rc::clone(shared),
        ..FakeHost::new(&[])
    };
    host.properties
        .insert("dragoman.request".into(), record.encode());
    host
}

/// The workers of the plan, in its order.
pub fn workers(plan: &Plan<'_>) -> Vec<String> {
    let candidates = plan.candidates.iter();
    candidates
        .map(|candidate| candidate.worker.to_owned())
        .collect()
}
