//! One attempt at a worker: what arrives there, and the script that answers it.

use std::collections::VecDeque;
use std::time::Duration;

use host_sim_host::io::{Event, Headers, ResetReason, UpstreamId};
use mock_worker::{Recorded, Request, Seen, Step, header};

use crate::client::RequestId;

/// One connection to a worker with one request.
#[derive(Debug)]
pub struct Attempt {
    pub site: usize,
    /// Whose request it serves; `None` for a callout.
    pub client: Option<RequestId>,
    pub connection: u64,
    pub connected: bool,
    /// Over HTTP/2 nothing says where a body ends.
    http2: bool,
    request: Option<Request>,
    request_complete: bool,
    /// It was given to the worker.
    pub answered: bool,
    script: VecDeque<Step>,
    head_sent: bool,
    /// Body bytes that a `content-length` of the answer still promises.
    promised: Option<u64>,
    /// Waits for a release after this many.
    held: Option<u64>,
}

/// What the next step of a script brings.
#[derive(Debug)]
pub enum Played {
    /// An event; more steps follow.
    Event(Event),
    /// The last event of this attempt.
    Last(Event),
    /// Nothing for this long.
    Wait(Duration),
    /// Nothing until something else happens.
    Silence,
}

impl Attempt {
    /// Not connected yet.
    pub fn new(site: usize, client: Option<RequestId>, connection: u64) -> Self {
        Attempt {
            site,
            client,
            connection,
            connected: false,
            http2: false,
            request: None,
            request_complete: false,
            answered: false,
            script: VecDeque::new(),
            head_sent: false,
            promised: None,
            held: None,
        }
    }

    /// The worker is spoken to over HTTP/2.
    pub fn speak_http2(&mut self) {
        self.http2 = true;
    }

    /// The head of the request.
    pub fn headers(&mut self, headers: Headers, end_stream: bool) {
        let text = |name: &str| {
            let value = header(&headers, name).unwrap_or_default();
            String::from_utf8_lossy(value).into_owned()
        };
        let (method, target, authority) = (text(":method"), text(":path"), text(":authority"));
        let mut fields = vec![(b"host".to_vec(), authority.into_bytes())];
        fields.extend(
            headers
                .into_iter()
                .filter(|(name, _)| !name.starts_with(b":")),
        );
        self.request = Some(Request {
            method,
            target,
            headers: fields,
            body: Vec::new(),
            trailers: Vec::new(),
        });
        self.request_complete = end_stream;
    }

    /// A piece of the body.
    pub fn data(&mut self, data: &[u8], end_stream: bool) {
        if let Some(request) = &mut self.request {
            request.body.extend_from_slice(data);
        }
        self.request_complete |= end_stream;
    }

    /// Trailers end the request; only HTTP/2 carries them here.
    pub fn trailers(&mut self, trailers: Headers) {
        if let Some(request) = self.request.as_mut().filter(|_| self.http2) {
            request.trailers = trailers;
        }
        self.request_complete = true;
    }

    /// The whole request as it stands on the wire, once it is there: a `content-length` cuts the body, and what is behind
    /// it is not part of the request.
    pub fn take_request(&mut self) -> Option<(Request, Option<Recorded>)> {
        if !self.connected || self.answered || !self.request_complete {
            return None;
        }
        let mut request = self.request.clone()?;
        let length = request.header("content-length").and_then(number);
        let length = length
            .and_then(|length| usize::try_from(length).ok())
            .unwrap_or(request.body.len());
        if length > request.body.len() {
            // A worker waits for the rest, which never comes.
            return None;
        }
        let rest = request.body.split_off(length);
        let connection = self.connection;
        let surplus = (!rest.is_empty()).then_some(Recorded {
            connection,
            seen: Seen::Unparsable(rest),
        });
        self.answered = true;
        Some((request, surplus))
    }

    /// What a worker saw of a request that broke off.
    pub fn cut(&self) -> Option<Recorded> {
        let request = self
            .request
            .clone()
            .filter(|_| self.connected && !self.answered)?;
        Some(Recorded {
            connection: self.connection,
            seen: Seen::Cut(request),
        })
    }

    /// The method, for the worker's count of running requests.
    pub fn method(&self) -> &str {
        self.request
            .as_ref()
            .map(|request| request.method.as_str())
            .unwrap_or_default()
    }

    /// How the worker answers.
    pub fn start(&mut self, script: Vec<Step>) {
        self.script = script.into();
    }

    /// Plays one step. `releases`: how often the worker's held answers were released.
    pub fn play(&mut self, upstream: UpstreamId, releases: u64) -> Played {
        if let Some(seen) = self.held {
            if releases == seen {
                return Played::Silence;
            }
            self.held = None;
        }
        match self.script.pop_front() {
            None | Some(Step::Stall) => Played::Silence,
            Some(Step::Wait(time)) => Played::Wait(time),
            Some(Step::Hold) => {
                self.held = Some(releases);
                Played::Silence
            }
            Some(Step::Head { status, headers }) => self.head(upstream, status, headers),
            Some(Step::Data(data)) => self.body(upstream, data),
            Some(Step::Trailers(trailers)) => {
                Played::Last(Event::ResponseTrailers { upstream, trailers })
            }
            Some(Step::End) => Played::Last(Event::ResponseData {
                upstream,
                data: Vec::new(),
                end_stream: true,
            }),
            Some(Step::Raw(_)) => Played::Last(Event::UpstreamReset {
                upstream,
                reason: ResetReason::ProtocolError,
            }),
            Some(Step::Close | Step::Reset) => Played::Last(self.broken(upstream)),
        }
    }

    /// How it looks when the connection ends here: an answer that was begun counts as a broken message.
    pub fn broken(&self, upstream: UpstreamId) -> Event {
        let reason = if self.head_sent && !self.http2 {
            ResetReason::ProtocolError
        } else {
            ResetReason::ConnectionTermination
        };
        Event::UpstreamReset { upstream, reason }
    }

    fn head(&mut self, upstream: UpstreamId, status: u16, lines: Headers) -> Played {
        self.head_sent = true;
        let mut headers = vec![(b":status".to_vec(), status.to_string().into_bytes())];
        headers.extend(
            lines
                .into_iter()
                .map(|(name, value)| (name.to_ascii_lowercase(), value)),
        );
        self.promised = header(&headers, "content-length").and_then(number);
        let without_body =
            self.method() == "HEAD" || matches!(status, 204 | 304) || self.promised == Some(0);
        if self.promised.is_none() && !without_body && !self.http2 {
            headers.push((b"transfer-encoding".to_vec(), b"chunked".to_vec()));
        }
        let event = Event::ResponseHeaders {
            upstream,
            headers,
            end_stream: without_body,
        };
        if without_body {
            Played::Last(event)
        } else {
            Played::Event(event)
        }
    }

    fn body(&mut self, upstream: UpstreamId, data: Vec<u8>) -> Played {
        let end_stream = match &mut self.promised {
            None => false,
            Some(promised) => {
                *promised = promised.saturating_sub(data.len() as u64);
                *promised == 0
            }
        };
        let event = Event::ResponseData {
            upstream,
            data,
            end_stream,
        };
        if end_stream {
            Played::Last(event)
        } else {
            Played::Event(event)
        }
    }
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}
