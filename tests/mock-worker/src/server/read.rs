//! Reading requests: strict, so that what another server might misread is seen as such.

use std::io::{self, Read};

use crate::message::{Headers, Request, header};

/// More than any head that a gateway lets through.
const MAX_HEAD_BYTES: usize = 2 * 1024 * 1024;
/// More than a filter can set at once.
const MAX_HEADERS: usize = 2048;
/// More than any body that a gateway lets through.
const MAX_BODY_BYTES: usize = 256 * 1024 * 1024;
const PIECE_BYTES: usize = 64 * 1024;

/// What the next bytes of a connection are.
pub(super) enum Next {
    Request(Request),
    Cut(Request),
    Unparsable(Vec<u8>),
    /// The peer left between requests.
    Closed,
}

/// Bytes that are read and not yet used.
#[derive(Default)]
pub(super) struct Buffer(Vec<u8>);

enum Framing {
    None,
    Length(usize),
    Chunked,
}

impl Buffer {
    /// Reads on; false at the end of the stream or when the connection broke.
    pub(super) fn fill(&mut self, from: &mut impl Read) -> bool {
        let mut piece = vec![0; PIECE_BYTES];
        loop {
            match from.read(&mut piece) {
                Ok(0) => return false,
                Ok(count) => {
                    self.0.extend_from_slice(&piece[..count]);
                    return true;
                }
                Err(problem) if problem.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    pub(super) fn next(&mut self, from: &mut impl Read, mut go_on: impl FnMut()) -> Next {
        let (mut request, framing) = loop {
            match head(&self.0) {
                Ok(Some((request, framing, length))) => {
                    self.0.drain(..length);
                    break (request, framing);
                }
                Ok(None) if self.0.len() <= MAX_HEAD_BYTES => {
                    if self.fill(from) {
                        continue;
                    }
                    let rest = std::mem::take(&mut self.0);
                    return if rest.is_empty() {
                        Next::Closed
                    } else {
                        Next::Unparsable(rest)
                    };
                }
                _ => return Next::Unparsable(std::mem::take(&mut self.0)),
            }
        };
        if request
            .header("expect")
            .is_some_and(|value| value.eq_ignore_ascii_case(b"100-continue"))
        {
            go_on();
        }
        let complete = match framing {
            Framing::None => true,
            Framing::Length(length) => {
                let complete = self.want(from, length);
                let end = length.min(self.0.len());
                request.body = self.0.drain(..end).collect();
                complete
            }
            Framing::Chunked => self.chunks(from, &mut request).is_some(),
        };
        if complete {
            Next::Request(request)
        } else {
            Next::Cut(request)
        }
    }

    fn want(&mut self, from: &mut impl Read, length: usize) -> bool {
        while self.0.len() < length {
            if !self.fill(from) {
                return false;
            }
        }
        true
    }

    /// Chunks and trailers of `request`; `None` if they end early or are no chunks.
    fn chunks(&mut self, from: &mut impl Read, request: &mut Request) -> Option<()> {
        loop {
            let line = self.line(from)?;
            let digits = line.split(|byte| *byte == b';').next()?.trim_ascii();
            let size = usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            if size > MAX_BODY_BYTES {
                return None;
            }
            if size == 0 {
                return self.trailers(from, &mut request.trailers);
            }
            let whole = self.want(from, size);
            let end = size.min(self.0.len());
            request.body.extend(self.0.drain(..end));
            if !whole || !self.line(from)?.is_empty() {
                return None;
            }
        }
    }

    fn trailers(&mut self, from: &mut impl Read, trailers: &mut Headers) -> Option<()> {
        loop {
            let line = self.line(from)?;
            if line.is_empty() {
                return Some(());
            }
            let colon = line.iter().position(|byte| *byte == b':')?;
            let (name, value) = line.split_at(colon);
            trailers.push((name.to_vec(), value.get(1..)?.trim_ascii().to_vec()));
            if trailers.len() > MAX_HEADERS {
                return None;
            }
        }
    }

    fn line(&mut self, from: &mut impl Read) -> Option<Vec<u8>> {
        loop {
            if let Some(end) = self.0.windows(2).position(|pair| pair == b"\r\n") {
                let line = self.0.drain(..end).collect();
                self.0.drain(..2);
                return Some(line);
            }
            if self.0.len() > MAX_HEAD_BYTES || !self.fill(from) {
                return None;
            }
        }
    }
}

/// The head at the start of `bytes` and its length; `None` if it is not all there.
fn head(bytes: &[u8]) -> Result<Option<(Request, Framing, usize)>, httparse::Error> {
    let mut lines = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut lines);
    let httparse::Status::Complete(length) = parsed.parse(bytes)? else {
        return Ok(None);
    };
    let request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        target: parsed.path.unwrap_or_default().to_owned(),
        headers: parsed
            .headers
            .iter()
            .map(|line| (line.name.as_bytes().to_vec(), line.value.to_vec()))
            .collect(),
        body: Vec::new(),
        trailers: Vec::new(),
    };
    let framing = framing(&request).ok_or(httparse::Error::HeaderValue)?;
    Ok(Some((request, framing, length)))
}

/// `None` where two readers could disagree.
fn framing(request: &Request) -> Option<Framing> {
    let count = |name: &str| {
        request
            .headers
            .iter()
            .filter(|(key, _)| key.eq_ignore_ascii_case(name.as_bytes()))
            .count()
    };
    match (
        header(&request.headers, "content-length"),
        header(&request.headers, "transfer-encoding"),
    ) {
        (None, None) => Some(Framing::None),
        (Some(length), None) if count("content-length") == 1 => {
            let length = std::str::from_utf8(length).ok()?;
            let digits = !length.is_empty() && length.bytes().all(|byte| byte.is_ascii_digit());
            let length = length
                .parse()
                .ok()
                .filter(|length| digits && *length <= MAX_BODY_BYTES)?;
            Some(Framing::Length(length))
        }
        (None, Some(coding))
            if count("transfer-encoding") == 1 && coding.eq_ignore_ascii_case(b"chunked") =>
        {
            Some(Framing::Chunked)
        }
        _ => None,
    }
}
