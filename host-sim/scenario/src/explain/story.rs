//! What is told of one request.

use std::net::SocketAddr;
use std::time::Duration;

/// One request from its head to the end of its answer.
#[derive(Clone, Debug, Default)]
pub struct Story {
    /// What was set up for it, a line each.
    pub setting: Vec<String>,
    /// All that happened, in order.
    pub steps: Vec<Step>,
    /// The attempts in order.
    pub attempts: Vec<Attempt>,
    /// Status that the client got, 0 for none.
    pub status: u16,
    /// How the answer ended.
    pub end: String,
    /// Lines of its head.
    pub headers: Vec<String>,
    /// Its body; bytes that are no text are replaced.
    pub body: String,
    /// Lines of access logs: file and line.
    pub access_log: Vec<(String, String)>,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct Step {
    /// Since the head of the request came in.
    pub at: Duration,
    /// What.
    pub what: What,
}

/// What a step is.
#[derive(Clone, Debug)]
pub enum What {
    /// Between client, gateway and worker.
    World {
        /// `client`, `worker` or `gateway`.
        who: &'static str,
        /// What it does.
        text: String,
    },
    /// A filter runs.
    Callback(Callback),
}

/// A callback with all that it asked for.
#[derive(Clone, Debug)]
pub struct Callback {
    /// Name of the module.
    pub filter: String,
    /// Number of the attempt, in a filter of a cluster.
    pub attempt: Option<usize>,
    /// Without `proxy_on_`.
    pub name: String,
    /// Its arguments as words.
    pub arguments: String,
    /// In order.
    pub calls: Vec<Asking>,
    /// Lines of heads and bodies that are others now, each with `-` or `+` in front.
    pub changes: Vec<String>,
    /// What follows from its answer; empty where nothing can.
    pub decision: String,
    /// Instructions.
    pub instructions: u64,
}

/// A host call.
#[derive(Clone, Debug)]
pub struct Asking {
    /// The import without `proxy_`.
    pub name: &'static str,
    /// What it was given.
    pub arguments: String,
    /// What it gave back; empty for a plain success.
    pub answer: String,
    /// Whether it changed what all threads share.
    pub shares: bool,
}

/// An attempt and its outcome.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Name of the worker, or its address.
    pub worker: String,
    /// Where it listens.
    pub address: SocketAddr,
    /// Name of the cluster.
    pub cluster: String,
    /// When it began.
    pub began: Duration,
    /// How it ended, as far as it is known.
    pub outcome: String,
}

/// What one filter did, all in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Callbacks that ran.
    pub callbacks: usize,
    /// Calls of the host.
    pub calls: usize,
    /// Instructions.
    pub instructions: u64,
}

impl Story {
    /// The callbacks in order.
    pub fn callbacks(&self) -> impl Iterator<Item = &Callback> {
        self.steps.iter().filter_map(|step| match &step.what {
            What::Callback(callback) => Some(callback),
            What::World { .. } => None,
        })
    }

    /// By filter, in the order in which they first ran.
    #[must_use]
    pub fn sums(&self) -> Vec<(&str, Sum)> {
        let mut sums: Vec<(&str, Sum)> = Vec::new();
        for callback in self.callbacks() {
            let place = sums
                .iter()
                .position(|(filter, _)| *filter == callback.filter);
            let place = place.unwrap_or_else(|| {
                sums.push((&callback.filter, Sum::default()));
                sums.len() - 1
            });
            if let Some((_, sum)) = sums.get_mut(place) {
                sum.callbacks += 1;
                sum.calls += callback.calls.len();
                sum.instructions += callback.instructions;
            }
        }
        sums
    }

    /// Puts `***` in the place of these values, wherever they stand.
    pub(super) fn hide(&mut self, secrets: &[String]) {
        let hide = |text: &mut String| {
            for secret in secrets {
                if text.contains(secret.as_str()) {
                    *text = text.replace(secret.as_str(), "***");
                }
            }
        };
        for step in &mut self.steps {
            match &mut step.what {
                What::World { text, .. } => hide(text),
                What::Callback(callback) => {
                    callback.changes.iter_mut().for_each(hide);
                    for call in &mut callback.calls {
                        hide(&mut call.arguments);
                        hide(&mut call.answer);
                    }
                }
            }
        }
        self.headers.iter_mut().for_each(hide);
        hide(&mut self.body);
        self.access_log.iter_mut().for_each(|(_, line)| hide(line));
    }

    /// Keys of shared data that the request changed, each with the filters that did it, in order.
    #[must_use]
    pub fn shared(&self) -> Vec<(&str, Vec<&str>)> {
        let mut changed: Vec<(&str, Vec<&str>)> = Vec::new();
        for callback in self.callbacks() {
            for call in callback.calls.iter().filter(|call| call.shares) {
                let key = call.arguments.split(", ").next().unwrap_or_default();
                let place = changed.iter().position(|(known, _)| *known == key);
                let place = place.unwrap_or_else(|| {
                    changed.push((key, Vec::new()));
                    changed.len() - 1
                });
                if let Some((_, filters)) = changed.get_mut(place)
                    && !filters.contains(&callback.filter.as_str())
                {
                    filters.push(&callback.filter);
                }
            }
        }
        changed
    }

    /// In one sentence: what the client got, and from whom.
    #[must_use]
    pub fn outcome(&self) -> String {
        let replied = self
            .callbacks()
            .find(|callback| callback.decision.starts_with("answers"));
        let own = format!("answered {}", self.status);
        let who = match (replied, self.attempts.as_slice()) {
            (Some(callback), _) => format!(
                "the filter {}, which {}",
                callback.filter, callback.decision
            ),
            (None, []) => "the gateway itself, no worker was asked".to_owned(),
            (None, [.., last]) if last.outcome.starts_with(&own) => {
                format!("{} at attempt {}", last.worker, self.attempts.len())
            }
            (None, attempts) => format!("the gateway itself after attempt {}", attempts.len()),
        };
        format!("{} from {who}, {}", self.status, self.end)
    }
}
