//! Events and commands of the request, each put where it belongs between the callbacks of its step.

use std::time::Duration;

use host_sim_host::io::{Command, Event, Headers, UpstreamId};

use super::{Placed, Record, Recorder, WORKER};
use crate::explain::changes::line;
use crate::explain::story::{Attempt, Step, What};
use crate::onlook::Onlooker;

impl Onlooker for Recorder {
    fn event(&self, at: Duration, thread: usize, event: &Event) {
        if thread != WORKER {
            return;
        }
        let mut record = self.record();
        record.step_begins = record.steps.len();
        record.commands = 0;
        if let (Event::RequestHeaders { stream, .. }, true) = (event, record.armed) {
            record.armed = false;
            record.stream = Some(*stream);
            record.began = at;
        }
        let Some((who, text)) = record.event(at, event) else {
            return;
        };
        record.push(at, 0, What::World { who, text });
        // Commands of the step come behind what brought it about.
        record.step_begins = record.steps.len();
    }

    fn timers(&self, _at: Duration, thread: usize) {
        if thread != WORKER {
            return;
        }
        let mut record = self.record();
        record.step_begins = record.steps.len();
        record.commands = 0;
    }

    fn command(&self, at: Duration, thread: usize, command: &Command) {
        if thread != WORKER {
            return;
        }
        let mut record = self.record();
        let number = record.commands;
        record.commands += 1;
        let Some(text) = record.command(at, command) else {
            return;
        };
        // It came before the callbacks that found it already there.
        let begins = record.step_begins.min(record.steps.len());
        let later = record.steps.iter().skip(begins);
        let place = begins + later.take_while(|placed| placed.behind <= number).count();
        let at = at.saturating_sub(record.began);
        let what = What::World {
            who: "gateway",
            text,
        };
        let step = Step { at, what };
        record.steps.insert(
            place,
            Placed {
                behind: number,
                step,
            },
        );
    }
}

impl Record {
    fn event(&mut self, at: Duration, event: &Event) -> Option<(&'static str, String)> {
        let end = |end: &bool| if *end { ", the end" } else { "" };
        let mine = |stream| self.stream == Some(stream);
        Some(match event {
            Event::RequestHeaders {
                stream,
                headers,
                end_stream,
                ..
            } if mine(*stream) => ("client", format!("{}{}", head(headers), end(end_stream))),
            Event::RequestData {
                stream,
                data,
                end_stream,
            } if mine(*stream) => (
                "client",
                format!("sends {} bytes{}", data.len(), end(end_stream)),
            ),
            Event::RequestTrailers { stream, .. } if mine(*stream) => {
                ("client", "sends trailers, the end".to_owned())
            }
            Event::RequestReset { stream } if mine(*stream) => ("client", "leaves".to_owned()),
            Event::UpstreamConnected { upstream } => {
                self.outcome(*upstream, "connected".to_owned())?;
                ("worker", format!("{} is connected", self.name(*upstream)?))
            }
            Event::ResponseHeaders {
                upstream,
                headers,
                end_stream,
            } => {
                let status = status(headers);
                let after = self.since(*upstream, at)?;
                self.outcome(*upstream, format!("answered {status} after {after}"))?;
                let (name, lines) = (self.name(*upstream)?, headers.len() - 1);
                (
                    "worker",
                    format!("{name} answers {status}, {lines} lines{}", end(end_stream)),
                )
            }
            Event::ResponseData {
                upstream,
                data,
                end_stream,
            } => {
                let name = self.name(*upstream)?;
                (
                    "worker",
                    format!("{name} sends {} bytes{}", data.len(), end(end_stream)),
                )
            }
            Event::ResponseTrailers { upstream, .. } => (
                "worker",
                format!("{} sends trailers, the end", self.name(*upstream)?),
            ),
            Event::UpstreamReset { upstream, reason } => {
                let after = self.since(*upstream, at)?;
                self.outcome(*upstream, format!("broke after {after}: {reason:?}"))?;
                (
                    "worker",
                    format!("{} breaks: {reason:?}", self.name(*upstream)?),
                )
            }
            _ => return None,
        })
    }

    fn command(&mut self, at: Duration, command: &Command) -> Option<String> {
        let end = |end: &bool| if *end { ", the end" } else { "" };
        let mine = |stream| self.stream.is_some() && self.stream == Some(stream);
        Some(match command {
            Command::OpenUpstream {
                upstream,
                stream: Some(stream),
                cluster,
                address,
                ..
            } if mine(*stream) => {
                let name = self.names.get(address).cloned();
                let name = name.unwrap_or_else(|| address.to_string());
                self.upstreams.insert(*upstream, self.attempts.len());
                self.attempts.push(Attempt {
                    worker: name.clone(),
                    address: *address,
                    cluster: cluster.clone(),
                    began: at.saturating_sub(self.began),
                    outcome: "no connection yet".to_owned(),
                });
                let number = self.attempts.len();
                format!("attempt {number} goes to {name} ({address}, cluster {cluster})")
            }
            Command::SendUpstreamHeaders {
                upstream,
                headers,
                end_stream,
            } => {
                format!(
                    "to {}: {}{}",
                    self.name(*upstream)?,
                    head(headers),
                    end(end_stream)
                )
            }
            Command::SendUpstreamData {
                upstream,
                data,
                end_stream,
            } => {
                format!(
                    "to {}: {} bytes{}",
                    self.name(*upstream)?,
                    data.len(),
                    end(end_stream)
                )
            }
            Command::SendUpstreamTrailers { upstream, .. } => {
                format!("to {}: trailers, the end", self.name(*upstream)?)
            }
            Command::CancelUpstream { upstream } => {
                let outcome = self
                    .attempts
                    .get(*self.upstreams.get(upstream)?)?
                    .outcome
                    .clone();
                self.outcome(*upstream, format!("{outcome}, then given up"))?;
                format!("gives up the attempt at {}", self.name(*upstream)?)
            }
            Command::SendHeaders {
                stream,
                headers,
                end_stream,
            } if mine(*stream) => {
                let lines = headers.len() - 1;
                format!(
                    "to the client: {}, {lines} lines{}",
                    status(headers),
                    end(end_stream)
                )
            }
            Command::SendData {
                stream,
                data,
                end_stream,
            } if mine(*stream) => {
                format!("to the client: {} bytes{}", data.len(), end(end_stream))
            }
            Command::SendTrailers { stream, .. } if mine(*stream) => {
                "to the client: trailers, the end".to_owned()
            }
            Command::ResetStream { stream } if mine(*stream) => "breaks the answer off".to_owned(),
            Command::Log { level, text }
                if matches!(*level, "warning" | "error" | "critical") && self.stream.is_some() =>
            {
                format!("{level}: {text}")
            }
            Command::AccessLog { path, line, stream }
                if self.stream.is_some() && *stream == self.stream =>
            {
                self.access_log.push((path.clone(), line.clone()));
                return None;
            }
            _ => return None,
        })
    }

    fn name(&self, upstream: UpstreamId) -> Option<String> {
        let attempt = self.attempts.get(*self.upstreams.get(&upstream)?)?;
        Some(attempt.worker.clone())
    }

    fn since(&self, upstream: UpstreamId, at: Duration) -> Option<String> {
        let attempt = self.attempts.get(*self.upstreams.get(&upstream)?)?;
        let after = at.saturating_sub(self.began + attempt.began);
        Some(format!("{} µs", after.as_micros()))
    }

    fn outcome(&mut self, upstream: UpstreamId, outcome: String) -> Option<()> {
        let attempt = self.attempts.get_mut(*self.upstreams.get(&upstream)?)?;
        attempt.outcome = outcome;
        Some(())
    }
}

fn head(headers: &Headers) -> String {
    let value = |name: &str| {
        let found = headers.iter().find(|(key, _)| key == name.as_bytes());
        found
            .map(|(_, value)| String::from_utf8_lossy(value).into_owned())
            .unwrap_or_default()
    };
    format!(
        "{} {}, {} lines",
        value(":method"),
        value(":path"),
        headers.len()
    )
}

fn status(headers: &Headers) -> String {
    let status = headers
        .iter()
        .find(|(name, _)| name == b":status")
        .map(line);
    let status = status.unwrap_or_default();
    status.trim_start_matches(":status: ").to_owned()
}
