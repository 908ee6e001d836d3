//! A host for tests: one request, held in memory.
//!
//! It keeps the rules that matter to a filter: request headers are gone after the filter let them
//! go, an absent key of shared data can be created with any token, a reply ends the request.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use crate::flow::Callout;
use crate::host::{
    Body, Buffer, Bus, Cas, Clock, Control, Headers, HostError, HostResult, Level, Map, Metric,
    MetricKind, Metrics, Pairs, Shared, first_value,
};
use crate::{Action, CalloutResponse, Environment, Filter, Plugin, Root, Stream};

const BAD_ARGUMENT: u32 = 2;

/// Shared data of a fake process: key → (value, token).
pub type SharedMap = Rc<RefCell<BTreeMap<String, (Vec<u8>, u32)>>>;

/// What a filter answered by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replied {
    /// Status.
    pub status: u16,
    /// Header lines.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Body.
    pub body: Vec<u8>,
}

impl Replied {
    /// First value of a header, as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        let (_, value) = self.headers.iter().find(|(key, _)| key == name)?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    /// The body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// Everything the host knows of one request.
#[derive(Default)]
pub struct FakeHost {
    /// Request headers; `None` once they have left.
    pub request: Option<Pairs>,
    /// Response headers, if there are any.
    pub response: Option<Pairs>,
    /// What is held of the request body.
    pub body: Vec<u8>,
    /// The chunk of the response at hand.
    pub chunk: Vec<u8>,
    /// Published properties and attributes; path segments joined with `.`.
    pub properties: BTreeMap<String, Vec<u8>>,
    /// Shared data.
    pub shared: SharedMap,
    /// So many of the next swaps come too late: somebody else is faster.
    pub late_swaps: u32,
    /// Time.
    pub now: Duration,
    /// Random numbers to come; then zeros.
    pub random: VecDeque<u64>,
    /// The filter's own answer.
    pub replied: Option<Replied>,
    /// Callouts sent.
    pub callouts: Vec<Callout>,
    /// Refuse to send callouts.
    pub refuse_callouts: bool,
    /// Times the request was resumed.
    pub resumed: usize,
    /// Log lines.
    pub logged: Vec<String>,
    /// Metrics in the order in which they were defined: name, kind and value, of a histogram the
    /// sum.
    pub metrics: Vec<(String, MetricKind, u64)>,
}

fn absent(call: &'static str) -> HostError {
    HostError {
        call,
        status: BAD_ARGUMENT,
    }
}

impl FakeHost {
    /// A request with these header lines.
    #[must_use]
    pub fn new(headers: &[(&str, &str)]) -> Self {
        Self {
            request: Some(lines(headers)),
            ..Self::default()
        }
    }

    fn map(&mut self, map: Map, call: &'static str) -> HostResult<&mut Pairs> {
        match map {
            Map::Request => self.request.as_mut(),
            Map::Response => self.response.as_mut(),
            Map::Callout => None,
        }
        .ok_or_else(|| absent(call))
    }

    /// First value of a request header, as text.
    #[must_use]
    pub fn request_header(&self, name: &str) -> Option<String> {
        find(self.request.as_ref()?, name)
    }

    /// First value of a response header, as text.
    #[must_use]
    pub fn response_header(&self, name: &str) -> Option<String> {
        find(self.response.as_ref()?, name)
    }
}

/// The phase of a start, a tick or a service's callout on a fake host.
pub fn root(host: &mut FakeHost) -> Root<'_> {
    Root { host }
}

/// Header lines from text.
#[must_use]
pub fn lines(headers: &[(&str, &str)]) -> Pairs {
    headers
        .iter()
        .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
        .collect()
}

fn find(pairs: &Pairs, name: &str) -> Option<String> {
    let value = first_value(pairs, name)?;
    Some(String::from_utf8_lossy(value).into_owned())
}

impl Headers for FakeHost {
    fn pairs(&mut self, map: Map) -> HostResult<Pairs> {
        self.map(map, "pairs").map(|pairs| pairs.clone())
    }

    fn header(&mut self, map: Map, name: &str) -> HostResult<Option<Vec<u8>>> {
        let pairs = self.map(map, "header")?;
        Ok(first_value(pairs, name).map(<[u8]>::to_vec))
    }

    fn set_header(&mut self, map: Map, name: &str, value: &[u8]) -> HostResult<()> {
        let pairs = self.map(map, "set_header")?;
        pairs.retain(|(key, _)| key != name.as_bytes());
        pairs.push((name.as_bytes().to_vec(), value.to_vec()));
        Ok(())
    }

    fn remove_header(&mut self, map: Map, name: &[u8]) -> HostResult<()> {
        self.map(map, "remove_header")?
            .retain(|(key, _)| key != name);
        Ok(())
    }
}

impl Body for FakeHost {
    fn body(&mut self, buffer: Buffer, start: usize, length: usize) -> HostResult<Vec<u8>> {
        let held = match buffer {
            Buffer::Request => &self.body,
            Buffer::Response => &self.chunk,
            Buffer::Callout => return Err(absent("body")),
        };
        let start = start.min(held.len());
        let end = start.saturating_add(length).min(held.len());
        Ok(held.get(start..end).unwrap_or_default().to_vec())
    }

    fn replace_prefix(&mut self, buffer: Buffer, length: usize, bytes: &[u8]) -> HostResult<()> {
        if buffer != Buffer::Request {
            return Err(absent("replace_prefix"));
        }
        self.body
            .splice(..length.min(self.body.len()), bytes.iter().copied());
        Ok(())
    }
}

impl Bus for FakeHost {
    fn property(&mut self, path: &[&str]) -> HostResult<Option<Vec<u8>>> {
        Ok(self.properties.get(&path.join(".")).cloned())
    }

    fn publish(&mut self, name: &str, value: &[u8]) -> HostResult<()> {
        self.properties.insert(name.to_owned(), value.to_vec());
        Ok(())
    }
}

impl Shared for FakeHost {
    fn shared(&mut self, key: &str) -> HostResult<Option<(Vec<u8>, Cas)>> {
        Ok(self
            .shared
            .borrow()
            .get(key)
            .map(|(value, cas)| (value.clone(), Cas(*cas))))
    }

    fn swap_shared(&mut self, key: &str, value: &[u8], cas: Cas) -> HostResult<bool> {
        if cas != Cas::ANY && self.late_swaps > 0 {
            self.late_swaps -= 1;
            return Ok(false);
        }
        let mut map = self.shared.borrow_mut();
        let next = map.values().map(|(_, cas)| *cas).max().unwrap_or(0) + 1;
        match map.get(key) {
            Some((_, current)) if cas != Cas::ANY && *current != cas.0 => Ok(false),
            _ => {
                map.insert(key.to_owned(), (value.to_vec(), next));
                Ok(true)
            }
        }
    }
}

impl Clock for FakeHost {
    fn wall(&mut self) -> Duration {
        self.now
    }

    fn monotonic(&mut self) -> Duration {
        self.now
    }

    fn random(&mut self) -> u64 {
        self.random.pop_front().unwrap_or(0)
    }
}

impl FakeHost {
    /// Value of a metric; `None` if nobody defined it.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<u64> {
        let (_, _, value) = self.metrics.iter().find(|(known, _, _)| known == name)?;
        Some(*value)
    }

    fn change_metric(
        &mut self,
        metric: Metric,
        call: &'static str,
        change: impl FnOnce(MetricKind, u64) -> u64,
    ) -> HostResult<()> {
        let index = usize::try_from(metric.0).unwrap_or(usize::MAX);
        let (_, kind, value) = self.metrics.get_mut(index).ok_or_else(|| absent(call))?;
        *value = change(*kind, *value);
        Ok(())
    }
}

impl Metrics for FakeHost {
    fn define_metric(&mut self, kind: MetricKind, name: &str) -> HostResult<Metric> {
        let known = self.metrics.iter().position(|(known, _, _)| known == name);
        let index = known.unwrap_or(self.metrics.len());
        match self.metrics.get(index) {
            Some((_, other, _)) if *other != kind => return Err(absent("define_metric")),
            Some(_) => {}
            None => self.metrics.push((name.to_owned(), kind, 0)),
        }
        Ok(Metric(u32::try_from(index).unwrap_or(u32::MAX)))
    }

    fn record_metric(&mut self, metric: Metric, value: u64) -> HostResult<()> {
        self.change_metric(metric, "record_metric", |kind, old| match kind {
            MetricKind::Histogram => old.saturating_add(value),
            MetricKind::Counter | MetricKind::Gauge => value,
        })
    }

    fn increment_metric(&mut self, metric: Metric, by: i64) -> HostResult<()> {
        // As Envoy does it, where nothing is nothing to add either.
        let index = usize::try_from(metric.0).unwrap_or(usize::MAX);
        let kind = self.metrics.get(index).map(|(_, kind, _)| *kind);
        if kind == Some(MetricKind::Counter) && by <= 0 {
            return Err(absent("increment_metric"));
        }
        self.change_metric(metric, "increment_metric", |_, old| {
            old.saturating_add_signed(by)
        })
    }
}

impl Control for FakeHost {
    fn reply(&mut self, status: u16, headers: &[(&str, &[u8])], body: &[u8]) {
        let headers = headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.to_vec()))
            .collect();
        self.replied = Some(Replied {
            status,
            headers,
            body: body.to_vec(),
        });
    }

    fn resume(&mut self) {
        self.resumed += 1;
    }

    fn dispatch(&mut self, callout: &Callout) -> HostResult<u32> {
        if self.refuse_callouts {
            return Err(HostError {
                call: "dispatch",
                status: 10,
            });
        }
        self.callouts.push(callout.clone());
        Ok(u32::try_from(self.callouts.len()).unwrap_or(u32::MAX))
    }

    fn log(&mut self, _level: Level, text: &str) {
        self.logged.push(text.to_owned());
    }
}

impl Environment for BTreeMap<String, String> {
    fn variable(&self, name: &str) -> Option<String> {
        self.get(name).cloned()
    }
}

/// A request on its way through one filter on a [`FakeHost`].
pub struct Exchange<F> {
    /// The host.
    pub host: FakeHost,
    stream: Stream<F>,
}

impl<F: Filter> Exchange<F> {
    /// A request that has not begun.
    pub fn new<P: Plugin<Filter = F>>(plugin: &Rc<P>, host: FakeHost) -> Self {
        Self {
            host,
            stream: Stream::new(plugin.filter()),
        }
    }

    /// The head arrives.
    pub fn headers(&mut self, end_of_stream: bool) -> Action {
        self.stream
            .on_request_headers(&mut self.host, end_of_stream)
    }

    /// A piece of the body arrives, and is held as Envoy would hold it.
    pub fn data(&mut self, chunk: &[u8], end_of_stream: bool) -> Action {
        self.host.body.extend_from_slice(chunk);
        let size = self.host.body.len();
        self.stream
            .on_request_body(&mut self.host, size, end_of_stream)
    }

    /// Head and body, the body in one piece.
    pub fn request(&mut self, body: &[u8]) -> Action {
        match self.headers(false) {
            Action::Continue => Action::Continue,
            Action::Pause if self.host.replied.is_some() => Action::Pause,
            Action::Pause => self.data(body, true),
        }
    }

    /// Trailers end the request.
    pub fn trailers(&mut self) -> Action {
        self.stream.on_request_trailers(&mut self.host)
    }

    /// A callout is answered.
    pub fn callout(&mut self, response: CalloutResponse) {
        self.stream.on_callout(&mut self.host, response);
    }

    /// A response head arrives; the request headers have left by then.
    pub fn response(&mut self, headers: &[(&str, &str)], end_of_stream: bool) {
        self.host.request = None;
        self.host.response = Some(lines(headers));
        self.stream
            .on_response_headers(&mut self.host, end_of_stream);
    }

    /// A chunk of the response arrives.
    pub fn response_data(&mut self, chunk: &[u8], end_of_stream: bool) {
        self.host.chunk = chunk.to_vec();
        self.stream
            .on_response_body(&mut self.host, chunk.len(), end_of_stream);
    }

    /// The request is over.
    pub fn done(&mut self) {
        self.host.request = None;
        self.stream.on_log(&mut self.host);
        self.stream.on_done(&mut self.host);
    }
}
