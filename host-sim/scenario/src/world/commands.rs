//! What the worker threads want from the world.

use host_sim_host::io::{Command, Headers, ResetReason, StreamId};

use super::{End, Item, LOG_LIMIT, LogLine, RequestId, World};
use crate::attempt::Attempt;
use crate::client::Response;

impl World {
    pub(super) fn obey(&mut self, thread: usize, command: Command) {
        let now = self.now;
        match command {
            Command::SendHeaders {
                stream,
                headers,
                end_stream,
            } => {
                self.with_response(thread, stream, |response| {
                    start(response, headers);
                    response.started = Some(now);
                    if end_stream {
                        response.end = End::Complete(now);
                    }
                });
            }
            Command::SendData {
                stream,
                data,
                end_stream,
            } => {
                self.response_bytes += data.len() as u64;
                self.with_response(thread, stream, |response| {
                    if !data.is_empty() {
                        response.pieces.push((now, data));
                    }
                    if end_stream {
                        response.end = End::Complete(now);
                    }
                });
            }
            Command::SendTrailers {
                stream,
                trailers: _,
            } => {
                self.with_response(thread, stream, |response| response.end = End::Complete(now));
            }
            Command::ResetStream { stream } => {
                self.with_response(thread, stream, |response| response.end = End::Broken(now));
            }
            Command::OpenUpstream {
                upstream,
                stream,
                address,
                connect_timeout,
                http2,
                ..
            } => {
                let client = stream.and_then(|stream| self.streams.get(&(thread, stream)));
                let client = client.copied();
                self.open((thread, upstream), client, address, connect_timeout);
                if let Some(attempt) = self.attempts.get_mut(&(thread, upstream))
                    && http2.is_some()
                {
                    attempt.speak_http2();
                }
            }
            Command::SendUpstreamHeaders {
                upstream,
                headers,
                end_stream,
            } => {
                if let Some(attempt) = self.attempts.get_mut(&(thread, upstream)) {
                    attempt.headers(headers, end_stream);
                    self.arrive((thread, upstream));
                }
            }
            Command::SendUpstreamData {
                upstream,
                data,
                end_stream,
            } => {
                if let Some(attempt) = self.attempts.get_mut(&(thread, upstream)) {
                    attempt.data(&data, end_stream);
                    self.arrive((thread, upstream));
                }
            }
            Command::SendUpstreamTrailers { upstream, trailers } => {
                if let Some(attempt) = self.attempts.get_mut(&(thread, upstream)) {
                    attempt.trailers(trailers);
                    self.arrive((thread, upstream));
                }
            }
            Command::CancelUpstream { upstream } => self.end_attempt((thread, upstream)),
            Command::Resolve { lookup, name } => {
                let known = self.sites.iter().filter(|site| site.name == name);
                let addresses = known.map(|site| site.address.ip()).collect();
                self.plan(now, Item::Resolved(thread, lookup, addresses));
            }
            Command::Wake { thread } if thread < self.threads.len() => {
                self.plan(now, Item::Wake(thread));
            }
            Command::Wake { .. } => {}
            Command::AccessLog { stream, path, line } => {
                let request = stream.and_then(|stream| self.streams.get(&(thread, stream)));
                let line = LogLine {
                    at: now,
                    log: path,
                    text: line,
                    request: request.copied(),
                };
                keep(&mut self.access_log, line);
            }
            Command::Log { level, text } => keep(
                &mut self.log,
                LogLine {
                    at: now,
                    log: level.to_owned(),
                    text,
                    request: None,
                },
            ),
        }
    }

    fn open(
        &mut self,
        key: super::Key,
        client: Option<RequestId>,
        address: std::net::SocketAddr,
        limit: std::time::Duration,
    ) {
        let refused =
            || ResetReason::ConnectFailure("delayed connect error: Connection refused".to_owned());
        self.connections += 1;
        let site = self.sites.iter().position(|site| site.address == address);
        let (time, result) = match site.map(|index| &self.sites[index]) {
            None => (std::time::Duration::ZERO, Err(refused())),
            Some(site) if site.vanished || site.connect_delay > limit => {
                (limit, Err(ResetReason::ConnectTimeout))
            }
            Some(site) if site.worker.refusing() => (site.connect_delay, Err(refused())),
            Some(site) => (site.connect_delay, Ok(())),
        };
        if let (Some(RequestId(index)), Some(site)) = (client, site) {
            self.clients[index].attempts.push(site);
        }
        let attempt = Attempt::new(site.unwrap_or_default(), client, self.connections);
        self.attempts.insert(key, attempt);
        self.plan(self.now + time, Item::Connect(key, result));
    }

    fn with_response(&mut self, thread: usize, stream: StreamId, act: impl FnOnce(&mut Response)) {
        let Some(RequestId(index)) = self.streams.get(&(thread, stream)).copied() else {
            return;
        };
        let response = &mut self.clients[index].response;
        // Whoever left or has all of it hears no more.
        if response.end == End::Pending {
            act(response);
        }
    }
}

fn start(response: &mut Response, headers: Headers) {
    for (name, value) in headers {
        if name == b":status" {
            response.status = std::str::from_utf8(&value)
                .ok()
                .and_then(|text| text.parse().ok())
                .unwrap_or_default();
        } else {
            response.headers.push((name, value));
        }
    }
}

/// A log of a run without end keeps its first lines: they say how it began.
fn keep(log: &mut Vec<LogLine>, line: LogLine) {
    if log.len() < LOG_LIMIT {
        log.push(line);
    }
}
