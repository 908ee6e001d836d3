//! How a request goes on.

use std::borrow::Cow;
use std::time::Duration;

use dragoman_contract::{Code, Dialect, ErrorBody};

/// What a filter says after it saw the request headers.
#[derive(Debug)]
pub enum HeadersFlow {
    /// On to the next filter.
    Continue,
    /// Hold the request until its body is complete, then call
    /// [`Filter::on_request_body`](crate::Filter::on_request_body).
    MoreBody {
        /// Longest body in bytes; a longer one is answered with
        /// [`Filter::on_body_too_large`](crate::Filter::on_body_too_large).
        limit_bytes: u32,
    },
    /// Hold the request until the callout is answered.
    Await(Callout),
    /// Answer here.
    Reply(Reply),
}

/// What a filter says when nothing more can come: a pause without something to wait for cannot be
/// said.
#[derive(Debug)]
pub enum Flow {
    /// On to the next filter.
    Continue,
    /// Hold the request until the callout is answered.
    Await(Callout),
    /// Answer here.
    Reply(Reply),
}

impl From<Flow> for HeadersFlow {
    fn from(flow: Flow) -> Self {
        match flow {
            Flow::Continue => Self::Continue,
            Flow::Await(callout) => Self::Await(callout),
            Flow::Reply(reply) => Self::Reply(reply),
        }
    }
}

/// A request of the gateway's own to a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callout {
    /// Envoy cluster.
    pub cluster: String,
    /// With `:method`, `:path` and `:authority`.
    pub headers: Vec<(String, String)>,
    /// Body, may be empty.
    pub body: Vec<u8>,
    /// How long to wait; a time-out is answered with 504.
    pub timeout: Duration,
}

/// An answer of the gateway's own.
#[derive(Debug, PartialEq, Eq)]
pub struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(Cow<'static, str>, Vec<u8>)>,
    pub(crate) content: Content,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Bytes(Vec<u8>),
    Error {
        code: Code,
        message: Option<String>,
        param: Option<String>,
    },
}

impl Reply {
    /// An answer as it was given before, byte for byte.
    #[must_use]
    pub fn stored(status: u16, headers: Vec<(String, Vec<u8>)>, body: Vec<u8>) -> Self {
        let headers = headers
            .into_iter()
            .map(|(name, value)| (Cow::Owned(name), value))
            .collect();
        Self {
            status,
            headers,
            content: Content::Bytes(body),
        }
    }

    /// A JSON document.
    #[must_use]
    pub fn json(status: u16, body: Vec<u8>) -> Self {
        Self {
            status,
            headers: vec![json_type()],
            content: Content::Bytes(body),
        }
    }

    /// The gateway itself is up.
    #[must_use]
    pub fn healthy() -> Self {
        Self::json(200, br#"{"status":"ok"}"#.to_vec())
    }

    /// A row of the error table, in the shape that the client's API has, by the path of the request.
    /// `Retry-After` comes with the codes that have one, `x-should-retry: false` with conflicts that
    /// no retry resolves.
    #[must_use]
    pub fn error(code: Code) -> Self {
        let content = Content::Error {
            code,
            message: None,
            param: None,
        };
        let reply = Self {
            status: code.status(),
            headers: vec![json_type()],
            content,
        };
        let reply = match code.retry_after_s() {
            Some(seconds) => reply.retry_after_s(seconds),
            None => reply,
        };
        if code.is_worth_a_retry() {
            reply
        } else {
            // What the SDKs of OpenAI and Anthropic look at before they try again.
            reply.header("x-should-retry", "false")
        }
    }

    /// A body over the limit. Names the limit, so that the client knows what would pass.
    #[must_use]
    pub fn too_large(limit_bytes: u32) -> Self {
        Self::error(Code::RequestTooLarge)
            .message(format!("the body is larger than {limit_bytes} bytes"))
    }

    /// Adds a header, or replaces it.
    #[must_use]
    pub fn header(mut self, name: &'static str, value: impl Into<Vec<u8>>) -> Self {
        self.headers.retain(|(other, _)| other != name);
        self.headers.push((Cow::Borrowed(name), value.into()));
        self
    }

    /// Says when to try again, in seconds.
    #[must_use]
    pub fn retry_after_s(self, seconds: u32) -> Self {
        self.header("retry-after", seconds.to_string())
    }

    /// Says more than the table's message. It must hold no secret and nothing of the prompt.
    #[must_use]
    pub fn message(mut self, text: impl Into<String>) -> Self {
        if let Content::Error { message, .. } = &mut self.content {
            *message = Some(text.into());
        }
        self
    }

    /// Names the field of the request that is at fault.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>) -> Self {
        if let Content::Error { param, .. } = &mut self.content {
            *param = Some(name.into());
        }
        self
    }

    /// The code, if this is an error.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        match &self.content {
            Content::Error { code, .. } => Some(*code),
            Content::Bytes(_) => None,
        }
    }

    pub(crate) fn body(&self, request_id: &str, dialect: Dialect) -> Cow<'_, [u8]> {
        match &self.content {
            Content::Bytes(bytes) => Cow::Borrowed(bytes),
            Content::Error {
                code,
                message,
                param,
            } => {
                let error = ErrorBody {
                    code: *code,
                    message: message.as_deref(),
                    param: param.as_deref(),
                    request_id,
                };
                Cow::Owned(error.to_json(dialect).into_bytes())
            }
        }
    }
}

fn json_type() -> (Cow<'static, str>, Vec<u8>) {
    (Cow::Borrowed("content-type"), b"application/json".to_vec())
}
