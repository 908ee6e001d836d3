//! What clients send, and what a worker is to get of it.

use host_sim_scenario::Request;
use std::time::Duration;

use crate::gateway::{key_secret, served_name};
use crate::plan::{Broken, Caller, Plan, RequestPlan};

/// Name of the header that the mock worker repeats in its answer.
pub const TAG_HEADER: &str = "x-mock-tag";

/// Marks prompt and answer: whose it is, and which.
#[must_use]
pub fn tag(plan: &Plan, request: &RequestPlan) -> String {
    let tenant = caller_key(plan, &request.caller).map_or("open", |key| key.tenant.as_str());
    format!("<tag {tenant} {} {}>", request.model, request.prompt)
}

/// The configured key that a caller shows, if there is exactly one.
#[must_use]
pub fn caller_key<'a>(plan: &'a Plan, caller: &Caller) -> Option<&'a crate::plan::KeyPlan> {
    match caller {
        Caller::Key(id) | Caller::XApiKey(id) => {
            plan.topology.keys.iter().find(|key| key.id == *id)
        }
        Caller::Nobody | Caller::Unknown | Caller::Two(_) => None,
    }
}

/// The body; with the name of the worker as that worker is to get it.
#[must_use]
pub fn body(plan: &Plan, request: &RequestPlan, worker: Option<&str>) -> Vec<u8> {
    let model = match worker {
        Some(worker) => served_name(&request.model, worker),
        None => request.model.clone(),
    };
    let mut text = tag(plan, request);
    let length = match request.broken {
        Some(Broken::TooLong) => plan.topology.max_body_bytes,
        _ => request.bytes,
    };
    text.extend(('a'..='z').cycle().take(length));
    let stream = match (request.broken, request.stream) {
        (Some(Broken::StreamNoFlag), _) => "\"yes\"",
        (_, true) => "true",
        (_, false) => "false",
    };
    let model = match request.broken {
        Some(Broken::NoModel) => String::new(),
        Some(Broken::TwoModels) => format!(r#""model": "{model}", "mod\u0065l": "{model}", "#),
        _ => format!(r#""model": "{model}", "#),
    };
    let end = if request.broken == Some(Broken::NotJson) {
        "]"
    } else {
        "}"
    };
    format!(
        r#"{{"stream": {stream}, {model}"max_tokens": 16, "seed": 9007199254740993, "input": "x", "messages": [{{"role": "user", "content": "{text}"}}]{end}"#
    )
    .into_bytes()
}

/// The request as its client sends it.
#[must_use]
pub fn request(plan: &Plan, request: &RequestPlan) -> Request {
    let mut sent = if request.path.starts_with("GET ") {
        Request::get(request.path.trim_start_matches("GET "))
    } else {
        Request::post(&request.path, body(plan, request, None)).cut(&request.cuts)
    };
    sent = sent
        .at(Duration::from_millis(request.at_ms))
        .on_thread(request.thread)
        .pause(Duration::from_millis(request.pause_ms))
        .header(TAG_HEADER, &tag(plan, request));
    sent = match &request.caller {
        Caller::Nobody => sent,
        Caller::Key(id) => sent.header("authorization", &format!("Bearer {}", key_secret(id))),
        Caller::XApiKey(id) => sent.header("x-api-key", &key_secret(id)),
        Caller::Unknown => sent.header("authorization", "Bearer sk-client-of-nobody"),
        Caller::Two(id) => sent
            .header("authorization", &format!("Bearer {}", key_secret(id)))
            .header("x-api-key", "sk-client-of-another"),
    };
    if request.broken == Some(Broken::Compressed) {
        sent = sent.header("content-encoding", "gzip");
    }
    if let Some(key) = &request.key {
        sent = sent.header("idempotency-key", key);
    }
    if let Some(module) = &request.trap {
        sent = sent.header("x-test-trap", module);
    }
    for (name, value) in &request.hostile {
        sent = sent.header(name, value);
    }
    if request.chunked {
        sent = sent.chunked();
    }
    if request.unfinished {
        sent = sent.unfinished();
    }
    match request.leaves_after_ms {
        Some(patience) => sent.leaves_after(Duration::from_millis(patience)),
        None => sent,
    }
}
