//! Responses as they came.

use std::fmt;

use serde_json::Value;

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With its last chunk, or the number of bytes it had promised.
    Complete,
    /// The connection ended before that.
    BrokenOff,
}

/// The head of a response.
#[derive(Clone, Debug)]
pub struct Head {
    /// Status.
    pub status: u16,
    /// Names in lower case, values as they came.
    pub headers: Vec<(String, Vec<u8>)>,
}

/// A whole response.
#[derive(Clone)]
pub struct Response {
    /// Status.
    pub status: u16,
    /// Names in lower case, values as they came.
    pub headers: Vec<(String, Vec<u8>)>,
    /// Without chunk framing.
    pub body: Vec<u8>,
    /// How it ended.
    pub end: End,
}

/// What is left to read of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Chunks until an empty one.
    Chunks,
    /// This many bytes.
    Bytes(usize),
    /// Everything until the connection ends.
    UntilClose,
}

pub(crate) fn parse_head(bytes: &[u8]) -> Head {
    let mut lines = bytes
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let first = String::from_utf8_lossy(lines.next().unwrap_or_default()).into_owned();
    let status = first
        .strip_prefix("HTTP/1.")
        .and_then(|rest| rest.get(2..5))
        .and_then(|status| status.parse().ok())
        .unwrap_or_else(|| panic!("{first:?} is no status line"));
    let headers = lines
        .filter(|line| !line.is_empty())
        .map(|line| {
            let colon = line
                .iter()
                .position(|byte| *byte == b':')
                .unwrap_or(line.len());
            let (name, value) = line.split_at(colon);
            let value = value.get(1..).unwrap_or_default().trim_ascii();
            (
                String::from_utf8_lossy(name).to_ascii_lowercase(),
                value.to_vec(),
            )
        })
        .collect();
    Head { status, headers }
}

impl Head {
    /// The first header of that lower-case name, as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        header(&self.headers, name)
    }

    /// How its body is framed.
    #[must_use]
    pub fn rest(&self) -> Rest {
        if self.header("transfer-encoding").is_some() {
            return Rest::Chunks;
        }
        match self
            .header("content-length")
            .and_then(|length| length.parse().ok())
        {
            Some(length) => Rest::Bytes(length),
            None if matches!(self.status, 204 | 304) => Rest::Bytes(0),
            None => Rest::UntilClose,
        }
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} ({:?})", self.status, self.end)?;
        for (name, value) in &self.headers {
            writeln!(f, "{name}: {}", String::from_utf8_lossy(value))?;
        }
        write!(f, "\n{}", self.text())
    }
}

impl Response {
    /// The first header of that lower-case name, as text.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        header(&self.headers, name)
    }

    /// The body as text, odd bytes replaced.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// When it is none.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|problem| panic!("{problem} in {:?}", self.text()))
    }

    /// `error.code` of the body; empty if there is none.
    #[must_use]
    pub fn error_code(&self) -> String {
        serde_json::from_slice::<Value>(&self.body)
            .ok()
            .and_then(|body| body["error"]["code"].as_str().map(str::to_owned))
            .unwrap_or_default()
    }

    /// Status and `error.code`, for comparing both at once.
    #[must_use]
    pub fn outcome(&self) -> (u16, String) {
        (self.status, self.error_code())
    }

    /// `choices[0].message.content` of a chat.
    ///
    /// # Panics
    /// When the body is no chat.
    #[must_use]
    pub fn content(&self) -> String {
        let content = self.json()["choices"][0]["message"]["content"]
            .as_str()
            .map(str::to_owned);
        content.unwrap_or_else(|| panic!("no chat: {} {:?}", self.status, self.text()))
    }
}

fn header(headers: &[(String, Vec<u8>)], name: &str) -> Option<String> {
    headers
        .iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| String::from_utf8_lossy(value).into_owned())
}
