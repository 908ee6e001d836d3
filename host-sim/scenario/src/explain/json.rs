//! A story as JSON, for programs. Fields are added over time and keep their meaning.

use serde_json::{Value, json};

use super::story::{Callback, Step, Story, What};

/// The whole story.
#[must_use]
pub fn json(story: &Story) -> Value {
    let attempts = story.attempts.iter().map(|attempt| {
        json!({
            "worker": attempt.worker,
            "address": attempt.address.to_string(),
            "cluster": attempt.cluster,
            "at_us": micros(attempt.began),
            "outcome": attempt.outcome,
        })
    });
    let filters = story.sums().into_iter().map(|(filter, sum)| {
        json!({
            "filter": filter,
            "callbacks": sum.callbacks,
            "host_calls": sum.calls,
            "instructions": sum.instructions,
        })
    });
    let shared = story
        .shared()
        .into_iter()
        .map(|(key, filters)| json!({"key": key, "filters": filters}));
    let log = story
        .access_log
        .iter()
        .map(|(file, line)| json!({"file": file, "line": line}));
    json!({
        "outcome": story.outcome(),
        "setting": story.setting,
        "steps": story.steps.iter().map(step).collect::<Vec<_>>(),
        "attempts": attempts.collect::<Vec<_>>(),
        "shared_data": shared.collect::<Vec<_>>(),
        "filters": filters.collect::<Vec<_>>(),
        "response": {
            "status": story.status,
            "end": story.end,
            "headers": story.headers,
            "body": story.body,
        },
        "access_log": log.collect::<Vec<_>>(),
    })
}

fn step(step: &Step) -> Value {
    let at = micros(step.at);
    match &step.what {
        What::World { who, text } => json!({"at_us": at, "who": who, "text": text}),
        What::Callback(callback) => json!({"at_us": at, "callback": of_callback(callback)}),
    }
}

fn of_callback(callback: &Callback) -> Value {
    let calls = callback.calls.iter().map(|call| {
        json!({
            "name": call.name,
            "arguments": call.arguments,
            "answer": call.answer,
            "changes_shared_data": call.shares,
        })
    });
    json!({
        "filter": callback.filter,
        "attempt": callback.attempt,
        "name": callback.name,
        "arguments": callback.arguments,
        "host_calls": calls.collect::<Vec<_>>(),
        "changes": callback.changes,
        "decision": callback.decision,
        "instructions": callback.instructions,
    })
}

/// Times of a run are below half a million years.
fn micros(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
