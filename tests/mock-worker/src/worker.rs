//! The state of one worker, and which part of it answers a request.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::json;

use crate::api::{self, Body, Reply, error};
use crate::apply::script;
use crate::control;
use crate::faults::Faults;
use crate::message::{Recorded, Request, Seen, Step};

/// Most requests remembered; the oldest go first. Enough for any test, bounded for long runs.
const MAX_RECORDED: usize = 1000;

/// What a worker is.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Appears in every answer: "hello from w1".
    pub id: String,
    /// Names it serves; any other is a 404, as with vLLM. Empty: every name.
    pub models: Vec<String>,
    /// `authorization: Bearer` value that `/v1/` asks for, if any.
    pub key: Option<String>,
}

/// One worker. Requests in, scripts out.
#[derive(Debug, Default)]
pub struct Worker {
    settings: Settings,
    faults: Faults,
    draining: bool,
    refusing: bool,
    refusal: Option<Duration>,
    running: usize,
    releases: u64,
    recorded: VecDeque<Recorded>,
    lost: u64,
}

impl Worker {
    /// A healthy worker.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            ..Self::default()
        }
    }

    /// The answer to a whole request; it is recorded unless it is for `/_mock/`.
    pub fn answer(&mut self, connection: u64, request: Request) -> Vec<Step> {
        if request.path().starts_with("/_mock/") {
            return script(control::answer(self, &request), &Faults::default());
        }
        let faults = self.take_faults(&request);
        let mut reply = self.healthy(&request);
        if self.draining {
            reply
                .headers
                .push(("connection".to_owned(), "close".to_owned()));
        }
        self.running += usize::from(request.method == "POST");
        self.record(Recorded {
            connection,
            seen: Seen::Request(request),
        });
        script(reply, &faults)
    }

    /// The answer to a request of this method is over, one way or another.
    pub fn finished(&mut self, method: &str) {
        self.running = self.running.saturating_sub(usize::from(method == "POST"));
    }

    /// Remembers what arrived.
    pub fn record(&mut self, recorded: Recorded) {
        if self.recorded.len() == MAX_RECORDED {
            self.recorded.pop_front();
            self.lost += 1;
        }
        self.recorded.push_back(recorded);
    }

    /// What arrived, oldest first.
    pub fn recorded(&self) -> impl Iterator<Item = &Recorded> {
        self.recorded.iter()
    }

    /// How many records had to go because nobody took them in time.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Hands over what arrived, oldest first, and forgets it.
    pub fn take(&mut self) -> Vec<Recorded> {
        self.recorded.drain(..).collect()
    }

    /// Forgets what arrived.
    pub fn forget(&mut self) {
        self.recorded.clear();
    }

    /// Replaces the faults.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// The faults, as far as they are not used up.
    #[must_use]
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Whether `/readyz` says 503 and answers close their connection. Requests are still served.
    pub fn set_draining(&mut self, draining: bool) {
        self.draining = draining;
    }

    /// Whether connections are to be refused and those open broken off.
    pub fn set_refusing(&mut self, refusing: bool) {
        self.refusing = refusing;
        self.refusal = None;
    }

    /// Refuse connections for this long. Whoever drives the worker asks [`Worker::refusal`] and
    /// ends it: the worker has no clock.
    pub fn refuse_for(&mut self, time: Duration) {
        self.refusing = true;
        self.refusal = Some(time);
    }

    /// How long the current refusal is to last, if it has an end.
    #[must_use]
    pub fn refusal(&self) -> Option<Duration> {
        self.refusal
    }

    /// As set.
    #[must_use]
    pub fn refusing(&self) -> bool {
        self.refusing
    }

    /// Lets every answer that is held now go on.
    pub fn release(&mut self) {
        self.releases += 1;
    }

    /// How often [`Worker::release`] was called: a held answer goes on when this number grows.
    #[must_use]
    pub fn releases(&self) -> u64 {
        self.releases
    }

    fn take_faults(&mut self, request: &Request) -> Faults {
        if !self.faults.hit(&request.method, request.path()) {
            return Faults::default();
        }
        let faults = self.faults.clone();
        if let Some(times) = &mut self.faults.times {
            *times -= 1;
        }
        faults
    }

    fn healthy(&self, request: &Request) -> Reply {
        let get = request.method == "GET";
        match request.path() {
            path if path.starts_with("/v1/") && !self.admits(request) => error(401, "Unauthorized"),
            "/v1/models" if get => self.models(),
            "/readyz" | "/health" if get && self.draining => plain(503, "draining\n"),
            "/readyz" | "/health" if get => plain(200, "ok\n"),
            "/metrics" if get => plain(200, &self.metrics()),
            _ => api::answer(&self.settings.id, &self.settings.models, request)
                .unwrap_or_else(|| Reply::json(404, &json!({"detail": "Not Found"}))),
        }
    }

    fn admits(&self, request: &Request) -> bool {
        self.settings.key.as_ref().is_none_or(|key| {
            request
                .header("authorization")
                .and_then(|value| value.strip_prefix(b"Bearer "))
                == Some(key.as_bytes())
        })
    }

    fn names(&self) -> &[String] {
        match self.settings.models.as_slice() {
            [] => std::slice::from_ref(&self.settings.id),
            models => models,
        }
    }

    fn models(&self) -> Reply {
        let data: Vec<_> = self
            .names()
            .iter()
            .map(|id| json!({"id": id, "object": "model", "created": 0, "owned_by": "mock", "root": id, "max_model_len": 32768}))
            .collect();
        Reply::json(200, &json!({"object": "list", "data": data}))
    }

    /// vLLM's names, old and new.
    fn metrics(&self) -> String {
        let mut text = String::new();
        for (name, value) in [
            ("vllm:num_requests_running", self.running.to_string()),
            ("vllm:num_requests_waiting", "0".to_owned()),
            ("vllm:gpu_cache_usage_perc", "0.0".to_owned()),
            ("vllm:kv_cache_usage_perc", "0.0".to_owned()),
        ] {
            text.push_str(&format!(
                "# HELP {name} As vLLM reports it.\n# TYPE {name} gauge\n"
            ));
            for model in self.names() {
                text.push_str(&format!(
                    "{name}{{engine=\"0\",model_name=\"{model}\"}} {value}\n"
                ));
            }
        }
        text
    }
}

fn plain(status: u16, text: &str) -> Reply {
    Reply::new(
        status,
        "text/plain; charset=utf-8",
        Body::Whole(text.as_bytes().to_vec()),
    )
}
