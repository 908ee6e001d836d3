//! The checks of all workers.

use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_config::{Health as Settings, Worker};
use dragoman_contract::{Health, names};
use dragoman_sdk::host::{Cas, Clock, Level, Shared};
use dragoman_sdk::{Callout, CalloutResponse, HostResult, Root};
use dragoman_slots::{Swap, swap};

use crate::models;
use crate::probe::{Check, Pending, Question, is_ready, next};

/// A worker to ask.
#[derive(Debug)]
struct Asked {
    id: String,
    cluster: String,
    /// As Envoy prints it.
    address: String,
    state: Check,
}

/// All workers to ask.
#[derive(Debug)]
pub(crate) struct Workers {
    workers: Vec<Asked>,
    interval: Duration,
    timeout: Duration,
    ready_path: String,
    models_path: String,
    /// Callouts that were sent and not answered: at most one per worker, since the next one waits
    /// for it.
    pending: BTreeMap<u32, Pending>,
}

impl Workers {
    pub(crate) fn new(settings: Settings, workers: Vec<Worker>) -> Self {
        let asked = |worker: Worker| Asked {
            id: worker.id,
            cluster: worker.cluster,
            address: worker.address.to_string(),
            state: Check::default(),
        };
        Self {
            workers: workers.into_iter().map(asked).collect(),
            interval: Duration::from_secs(u64::from(settings.check_seconds)),
            timeout: Duration::from_millis(u64::from(settings.timeout_ms)),
            ready_path: settings.ready_path,
            models_path: settings.models_path,
            pending: BTreeMap::new(),
        }
    }

    /// Asks those that it is time to ask.
    pub(crate) fn tick(&mut self, cx: &mut Root<'_>, now: Duration) -> HostResult<()> {
        let token = probe_token(cx)?;
        for index in 0..self.workers.len() {
            let Some(worker) = self.workers.get(index) else {
                continue;
            };
            let due = worker.state.due.is_none_or(|due| due <= now);
            if due && !worker.state.asking {
                self.ask(cx, index, Question::Ready, &token)?;
            }
        }
        Ok(())
    }

    /// An answer that may be to one of the workers' questions.
    pub(crate) fn answered(
        &mut self,
        cx: &mut Root<'_>,
        token: u32,
        response: &CalloutResponse,
    ) -> HostResult<()> {
        let Some(Pending { worker, question }) = self.pending.remove(&token) else {
            return Ok(());
        };
        match question {
            Question::Ready => {
                let ready = is_ready(response.status());
                self.found(cx, worker, ready, response.status())?;
                if ready {
                    let token = probe_token(cx)?;
                    self.ask(cx, worker, Question::Models, &token)?;
                }
                Ok(())
            }
            Question::Models => self.listed(cx, worker, response),
        }
    }

    fn ask(
        &mut self,
        cx: &mut Root<'_>,
        index: usize,
        question: Question,
        token: &str,
    ) -> HostResult<()> {
        let (now, random) = (cx.monotonic(), cx.random());
        let Some(worker) = self.workers.get_mut(index) else {
            return Ok(());
        };
        if question == Question::Ready {
            worker.state.due = Some(next(now, self.interval, random));
        }
        let path = match question {
            Question::Ready => &self.ready_path,
            Question::Models => &self.models_path,
        };
        let callout = callout(worker, path, token, self.timeout);
        match cx.dispatch(&callout) {
            Ok(sent) => {
                worker.state.asking = true;
                self.pending.insert(
                    sent,
                    Pending {
                        worker: index,
                        question,
                    },
                );
                Ok(())
            }
            // Envoy has no member for the address, or is at a limit of its own.
            Err(_) if question == Question::Ready => self.found(cx, index, false, None),
            Err(_) => Ok(()),
        }
    }

    fn found(
        &mut self,
        cx: &mut Root<'_>,
        index: usize,
        ready: bool,
        status: Option<u16>,
    ) -> HostResult<()> {
        let Some(worker) = self.workers.get_mut(index) else {
            return Ok(());
        };
        worker.state.asking = false;
        let before = worker.state.ready.replace(ready);
        if before != Some(ready) {
            let status = status.map_or_else(|| "no answer".to_owned(), |status| status.to_string());
            let (level, word) = if ready {
                (Level::Info, "ready")
            } else {
                (Level::Warn, "not ready")
            };
            cx.log(level, &format!("worker {}: {word} ({status})", worker.id));
        }
        self.publish(cx, index)
    }

    fn listed(
        &mut self,
        cx: &mut Root<'_>,
        index: usize,
        response: &CalloutResponse,
    ) -> HostResult<()> {
        let Some(worker) = self.workers.get_mut(index) else {
            return Ok(());
        };
        worker.state.asking = false;
        if response.status() == Some(200) {
            // An answer that cannot be read leaves the list as it was.
            if let Some(ids) = models::ids(&response.body) {
                worker.state.models = Some(ids);
            }
        }
        self.publish(cx, index)
    }

    fn publish(&self, cx: &mut Root<'_>, index: usize) -> HostResult<()> {
        let Some(worker) = self.workers.get(index) else {
            return Ok(());
        };
        let models = worker.state.models.as_ref();
        let record = Health {
            ready: worker.state.ready.unwrap_or(false),
            models: models.map(|models| models.iter().map(String::as_str).collect()),
            checked: cx.monotonic(),
        };
        // The holder of the lease is the only writer.
        cx.swap_shared(&Health::key(&worker.id), &record.encode(), Cas::ANY)
            .map(|_| ())
    }
}

fn callout(worker: &Asked, path: &str, token: &str, timeout: Duration) -> Callout {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    Callout {
        cluster: worker.cluster.clone(),
        headers: vec![
            header(":method", "GET"),
            header(":path", path),
            header(":authority", &worker.address),
            header(names::ENDPOINT_LIST, &worker.address),
            header(names::PROBE, token),
        ],
        body: Vec::new(),
        timeout,
    }
}

/// The token that marks callouts of this process, made by whoever is first. Empty, which `attempt`
/// takes for none, where every race for it is lost.
fn probe_token(cx: &mut Root<'_>) -> HostResult<String> {
    let own = format!("{:016x}{:016x}", cx.random(), cx.random());
    let agreed = swap(cx, names::PROBE_TOKEN_KEY, |token| {
        if token.is_empty() {
            Swap::Write(own.clone().into_bytes(), own.clone())
        } else {
            Swap::Keep(String::from_utf8_lossy(token).into_owned())
        }
    })?;
    Ok(agreed.unwrap_or_default())
}
