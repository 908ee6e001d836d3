//! The host as a filter's phases see it: small traits, every failure a value.

use std::fmt;
use std::time::Duration;

/// A host call that did not do what was asked. In a request phase it ends as 500
/// `internal_error`, so that nothing goes on half done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostError {
    /// The call, for the log.
    pub call: &'static str,
    /// The status the host gave.
    pub status: u32,
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: status {}", self.call, self.status)
    }
}

impl std::error::Error for HostError {}

/// Result of a host call.
pub type HostResult<T> = Result<T, HostError>;

/// Which headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Map {
    /// Of the request.
    Request,
    /// Of the response.
    Response,
    /// Of the answer to a callout.
    Callout,
}

/// Which body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Of the request.
    Request,
    /// Of the response.
    Response,
    /// Of the answer to a callout.
    Callout,
}

/// Header lines: lower-case names, values as raw bytes.
pub type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// First value of a header among these lines; `name` is lower case.
#[must_use]
pub fn first_value<'a>(lines: &'a Pairs, name: &str) -> Option<&'a [u8]> {
    let (_, value) = lines.iter().find(|(key, _)| key == name.as_bytes())?;
    Some(value)
}

/// `:status` of the lines of a response; `None` if there is none, or it is no number.
#[must_use]
pub fn status(lines: &Pairs) -> Option<u16> {
    std::str::from_utf8(first_value(lines, ":status")?)
        .ok()?
        .parse()
        .ok()
}

/// Reading and writing headers.
pub trait Headers {
    /// All lines. About the price of two single reads, whatever their number.
    ///
    /// # Errors
    /// When the host has no such headers now.
    fn pairs(&mut self, map: Map) -> HostResult<Pairs>;
    /// First value of a header.
    ///
    /// # Errors
    /// When the host has no such headers now.
    fn header(&mut self, map: Map, name: &str) -> HostResult<Option<Vec<u8>>>;
    /// Sets a header to one value, whatever it was.
    ///
    /// # Errors
    /// When the headers have already left.
    fn set_header(&mut self, map: Map, name: &str, value: &[u8]) -> HostResult<()>;
    /// Removes all lines of a header; one that is not there is no error. The name is bytes,
    /// because clients choose the names that are removed.
    ///
    /// # Errors
    /// When the headers have already left.
    fn remove_header(&mut self, map: Map, name: &[u8]) -> HostResult<()>;
}

/// Reading and writing what the host holds of a body.
pub trait Body {
    /// Up to `length` bytes from `start`; empty past the end.
    ///
    /// # Errors
    /// When there is no such buffer now.
    fn body(&mut self, buffer: Buffer, start: usize, length: usize) -> HostResult<Vec<u8>>;
    /// Replaces the first `length` bytes.
    ///
    /// # Errors
    /// When there is no such buffer now.
    fn replace_prefix(&mut self, buffer: Buffer, length: usize, bytes: &[u8]) -> HostResult<()>;
}

/// The properties of the stream.
pub trait Bus {
    /// What a filter published under this name.
    ///
    /// # Errors
    /// When the host fails; an absent property is `None`.
    fn property(&mut self, path: &[&str]) -> HostResult<Option<Vec<u8>>>;
    /// Makes a value visible to later filters and to the access log.
    ///
    /// # Errors
    /// When there is no stream to attach it to.
    fn publish(&mut self, name: &str, value: &[u8]) -> HostResult<()>;
}

/// A compare-and-swap token of shared data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cas(pub u32);

impl Cas {
    /// Never the token of a live value: setting with it succeeds only where the key is absent.
    pub const ABSENT: Self = Self(u32::MAX);
    /// Sets the key whatever its token: for the only writer of a key.
    pub const ANY: Self = Self(0);
}

/// Data shared by all threads and modules.
pub trait Shared {
    /// Value and token; an absent key is `None`.
    ///
    /// # Errors
    /// When the host fails.
    fn shared(&mut self, key: &str) -> HostResult<Option<(Vec<u8>, Cas)>>;
    /// Sets the key if its token still is `cas`. `false`: somebody else was faster.
    ///
    /// # Errors
    /// When the host fails.
    fn swap_shared(&mut self, key: &str, value: &[u8], cas: Cas) -> HostResult<bool>;
}

/// Whole milliseconds, as shared data has times.
#[must_use]
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Time and chance.
pub trait Clock {
    /// Since 1970. May jump.
    fn wall(&mut self) -> Duration;
    /// Since some moment in the past, the same for all threads of the process. Never goes back.
    fn monotonic(&mut self) -> Duration;
    /// 64 random bits.
    fn random(&mut self) -> u64;
}

/// What a number that everybody can see is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows.
    Counter = 0,
    /// Goes up and down.
    Gauge = 1,
    /// Many values, of which the distribution is shown.
    Histogram = 2,
}

/// A metric that was defined, in this module and thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric(pub u32);

/// Numbers that the host shows to whoever asks for its statistics. One of a name is the same for
/// all threads and modules.
pub trait Metrics {
    /// Defines a metric; of one that is there the same comes back. Labels follow the name, as in
    /// `polls;outcome=failed`.
    ///
    /// # Errors
    /// When there is one of another kind.
    fn define_metric(&mut self, kind: MetricKind, name: &str) -> HostResult<Metric>;
    /// Sets a gauge, adds a value to a histogram.
    ///
    /// # Errors
    /// When there is no such metric.
    fn record_metric(&mut self, metric: Metric, value: u64) -> HostResult<()>;
    /// Adds to a counter, or to a gauge.
    ///
    /// # Errors
    /// When there is no such metric, or nothing is added to a counter.
    fn increment_metric(&mut self, metric: Metric, by: i64) -> HostResult<()>;
}

/// What only [`crate::Stream`] asks of a host.
pub trait Control {
    /// Answers the request here.
    fn reply(&mut self, status: u16, headers: &[(&str, &[u8])], body: &[u8]);
    /// Lets a paused request go on.
    fn resume(&mut self);
    /// Sends a callout; its answer comes with the returned token.
    ///
    /// # Errors
    /// When it could not be sent; then no answer will come.
    fn dispatch(&mut self, callout: &crate::Callout) -> HostResult<u32>;
    /// Writes to the host's log.
    fn log(&mut self, level: Level, text: &str);
}

/// Level of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For debugging.
    Debug = 1,
    /// Of interest.
    Info = 2,
    /// Odd, but dealt with.
    Warn = 3,
    /// Something did not work.
    Error = 4,
}

/// All of it.
pub trait Host: Headers + Body + Bus + Shared + Clock + Metrics + Control {}
impl<T: Headers + Body + Bus + Shared + Clock + Metrics + Control> Host for T {}
