//! Writes down what happens to one request: callbacks as a watcher, events and commands as an onlooker.

mod world;

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use host_sim_host::abi::watch::{Answered, Asked, View, Watcher, Whose};
use host_sim_host::abi::{Call, LocalResponse, StreamKind, Trap};
use host_sim_host::io::{StreamId, UpstreamId};

use super::changes::Snapshot;
use super::story::{Asking, Attempt, Callback, Step, What};
use super::words;

/// Most steps that are written down: a stream of some thousand events through seven filters.
const STEPS_LIMIT: usize = 50_000;

/// The one worker thread. What the main thread does meanwhile is no part of a request, and may come in the midst of a callback.
const WORKER: usize = 0;

/// One of [`crate::Setup::watchers`] and of [`crate::Setup::onlookers`].
#[derive(Debug, Default)]
pub(super) struct Recorder(Mutex<Record>);

#[derive(Debug, Default)]
struct Record {
    /// The next request is the one.
    armed: bool,
    stream: Option<StreamId>,
    began: Duration,
    steps: Vec<Placed>,
    /// Callbacks that run now, the innermost last.
    under_way: Vec<Option<UnderWay>>,
    /// Callouts of the request, by module, protocol and token.
    callouts: BTreeSet<(String, Over, u64)>,
    attempts: Vec<Attempt>,
    /// Place of an attempt by its number in the thread.
    upstreams: BTreeMap<UpstreamId, usize>,
    /// Ids of workers.
    names: BTreeMap<SocketAddr, String>,
    /// Where the present step of the world begins, and how many of its commands came.
    step_begins: usize,
    commands: usize,
    access_log: Vec<(String, String)>,
}

/// Protocols of callouts: each has tokens of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Over {
    Http,
    Grpc,
}

/// A step, and behind how many commands of its round it came.
#[derive(Debug)]
struct Placed {
    behind: usize,
    step: Step,
}

/// A callback of the request.
#[derive(Debug)]
struct UnderWay {
    step: usize,
    before: Snapshot,
    /// What it asked for and gets when it has returned.
    asked_for: Option<String>,
}

/// All that was written down.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) steps: Vec<Step>,
    pub(super) attempts: Vec<Attempt>,
    pub(super) access_log: Vec<(String, String)>,
}

impl Recorder {
    pub(super) fn new(names: BTreeMap<SocketAddr, String>) -> Recorder {
        Recorder(Mutex::new(Record {
            names,
            ..Record::default()
        }))
    }

    /// The next request is written down.
    pub(super) fn arm(&self) {
        self.record().armed = true;
    }

    pub(super) fn take(&self) -> Recorded {
        let record = std::mem::take(&mut *self.record());
        Recorded {
            steps: record.steps.into_iter().map(|placed| placed.step).collect(),
            attempts: record.attempts,
            access_log: record.access_log,
        }
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Record {
    /// Writes a step down behind those that are there.
    fn push(&mut self, at: Duration, behind: usize, what: What) {
        if self.steps.len() < STEPS_LIMIT {
            let at = at.saturating_sub(self.began);
            let step = Step { at, what };
            self.steps.push(Placed { behind, step });
        }
    }

    /// The callback that runs now, if it is of the request.
    fn running(&mut self) -> Option<(&mut UnderWay, &mut Callback)> {
        let under_way = self.under_way.last_mut()?.as_mut()?;
        let placed = self.steps.get_mut(under_way.step)?;
        match &mut placed.step.what {
            What::Callback(callback) => Some((under_way, callback)),
            What::World { .. } => None,
        }
    }

    /// Whether a callback is about the request: it runs in its stream, or answers its callout.
    fn is_mine(&self, whose: &Whose, call: &Call) -> bool {
        if self.stream.is_none() || self.steps.len() >= STEPS_LIMIT {
            return false;
        }
        let (over, token) = match *call {
            Call::HttpCallResponse { token, .. } => (Over::Http, token),
            Call::GrpcReceiveInitialMetadata { token, .. }
            | Call::GrpcReceive { token, .. }
            | Call::GrpcReceiveTrailingMetadata { token, .. }
            | Call::GrpcClose { token, .. } => (Over::Grpc, token),
            _ => return whose.stream == self.stream,
        };
        let key = (whose.module.clone(), over, u64::from(token));
        self.callouts.contains(&key)
    }
}

impl Watcher for Recorder {
    fn called(&self, whose: &Whose, call: &Call, view: &mut View<'_>) {
        if whose.thread != WORKER {
            return;
        }
        let mut record = self.record();
        if !record.is_mine(whose, call) {
            record.under_way.push(None);
            return;
        }
        let attempt = whose
            .attempt
            .and_then(|id| record.upstreams.get(&id).copied());
        // The attempt's own command is still to come: it is the next one.
        let attempt = whose
            .attempt
            .map(|_| attempt.unwrap_or(record.attempts.len()) + 1);
        let callback = Callback {
            filter: whose.module.clone(),
            attempt,
            name: call.export().trim_start_matches("proxy_on_").to_owned(),
            arguments: words::told(call),
            calls: Vec::new(),
            changes: Vec::new(),
            decision: String::new(),
            instructions: 0,
        };
        let step = record.steps.len();
        record.push(whose.at, whose.queued, What::Callback(callback));
        let before = Snapshot::take(view);
        record.under_way.push(Some(UnderWay {
            step,
            before,
            asked_for: None,
        }));
    }

    fn answered(&self, whose: &Whose, asked: &Asked<'_>, answered: &Answered<'_>) {
        if whose.thread != WORKER {
            return;
        }
        let mut record = self.record();
        let Some((under_way, callback)) = record.running() else {
            return;
        };
        let refused = matches!(answered, Answered::Refused(_));
        callback.calls.push(Asking {
            name: asked.name(),
            arguments: words::arguments(asked),
            answer: words::answer(answered),
            shares: matches!(asked, Asked::SetSharedData { .. }) && !refused,
        });
        if let (false, Some(action)) = (refused, action(asked)) {
            under_way.asked_for = Some(action);
        }
        let over = match asked {
            Asked::HttpCall { .. } => Over::Http,
            Asked::GrpcCall { .. } | Asked::GrpcStream { .. } => Over::Grpc,
            _ => return,
        };
        if let Answered::Number(token) = answered {
            record.callouts.insert((whose.module.clone(), over, *token));
        }
    }

    fn returned(
        &self,
        whose: &Whose,
        call: &Call,
        answer: Result<u32, &Trap>,
        instructions: u64,
        view: &mut View<'_>,
    ) {
        if whose.thread != WORKER {
            return;
        }
        let mut record = self.record();
        let after = record.running().is_some().then(|| Snapshot::take(view));
        if let (Some((under_way, callback)), Some(after)) = (record.running(), after) {
            callback.changes = under_way.before.changes(&after);
            callback.instructions = instructions;
            callback.decision = match under_way.asked_for.take() {
                Some(action) if answer.is_ok() => action,
                _ => words::decision(call, answer),
            };
        }
        record.under_way.pop();
    }
}

/// What a guest gets as soon as its callback is over.
fn action(asked: &Asked<'_>) -> Option<String> {
    match asked {
        Asked::SendLocalResponse { response } => Some(reply(response)),
        Asked::ContinueStream { stream } => Some(match stream {
            StreamKind::Request => "resumes the request".to_owned(),
            StreamKind::Response => "resumes the response".to_owned(),
            StreamKind::Downstream | StreamKind::Upstream => return None,
        }),
        Asked::CloseStream { .. } => Some("breaks the stream off".to_owned()),
        _ => None,
    }
}

fn reply(response: &LocalResponse) -> String {
    let details = String::from_utf8_lossy(&response.details);
    if details.is_empty() {
        format!("answers {}", response.status)
    } else {
        format!("answers {} ({details})", response.status)
    }
}
