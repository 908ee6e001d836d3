//! What a healthy worker answers.

mod anthropic;
mod grpc;
mod openai;
mod other;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::message::Request;

/// An answer before any fault.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
}

/// How the body is sent.
pub(crate) enum Body {
    /// With a `content-length`.
    Whole(Vec<u8>),
    /// Chunked, a chunk an event.
    Events(Vec<Vec<u8>>),
    /// Of gRPC: piece by piece, with trailers at the end.
    Messages {
        messages: Vec<Vec<u8>>,
        trailers: Vec<(String, String)>,
    },
}

/// The fields that matter here. Everything else is skipped unread, whatever its range.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    model: Option<Value>,
    stream: Option<bool>,
    stream_options: Option<StreamOptions>,
    input: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StreamOptions {
    include_usage: Option<bool>,
}

/// What an API answer is made of.
struct Call<'a> {
    worker: &'a str,
    model: String,
    stream: bool,
    include_usage: bool,
    prompt_tokens: usize,
    inputs: usize,
    /// What the request's `x-mock-tag` says: the last word of the answer, so that a test sees whose answer it is.
    tag: Option<String>,
}

impl Reply {
    pub(crate) fn new(status: u16, content_type: &str, body: Body) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), content_type.to_owned())],
            body,
        }
    }

    pub(crate) fn json(status: u16, value: &Value) -> Self {
        Self::new(
            status,
            "application/json",
            Body::Whole(value.to_string().into_bytes()),
        )
    }

    fn events(events: Vec<String>) -> Self {
        Self::new(
            200,
            "text/event-stream; charset=utf-8",
            Body::Events(events.into_iter().map(String::into_bytes).collect()),
        )
    }
}

/// An error as vLLM words it.
pub(crate) fn error(status: u16, message: &str) -> Reply {
    let kind = match status {
        400 => "BadRequestError",
        401 => "AuthenticationError",
        404 => "NotFoundError",
        _ => "InternalServerError",
    };
    Reply::json(
        status,
        &json!({"error": {"message": message, "type": kind, "param": null, "code": status}}),
    )
}

/// Answers a request to one of the model APIs; `None` if the path is none of them.
///
/// `models` are the names this worker serves; empty: every name.
pub(crate) fn answer(worker: &str, models: &[String], request: &Request) -> Option<Reply> {
    if let Some(reply) = grpc::answer(request) {
        return Some(reply);
    }
    let serve = match request.path() {
        "/v1/chat/completions" => openai::chat,
        "/v1/completions" => openai::completions,
        "/v1/responses" => openai::responses,
        "/v1/messages" => anthropic::messages,
        "/v1/embeddings" => other::embeddings,
        "/v1/images/generations" => other::images,
        "/v1/audio/speech" => other::speech,
        _ => return None,
    };
    if request.method != "POST" {
        return Some(Reply::json(405, &json!({"detail": "Method Not Allowed"})));
    }
    Some(match call(worker, models, request) {
        Ok(call) => serve(&call),
        Err(refusal) => refusal,
    })
}

fn call<'a>(worker: &'a str, models: &[String], request: &Request) -> Result<Call<'a>, Reply> {
    let fields: Fields = serde_json::from_slice(&request.body)
        .map_err(|problem| error(400, &format!("JSON decode error: {problem}")))?;
    let model = match fields.model {
        Some(Value::String(model)) => model,
        Some(_) => return Err(error(400, "model: Input should be a valid string")),
        None => models.first().cloned().unwrap_or_else(|| worker.to_owned()),
    };
    if !models.is_empty() && !models.contains(&model) {
        return Err(error(404, &format!("The model `{model}` does not exist.")));
    }
    Ok(Call {
        worker,
        model,
        stream: fields.stream.unwrap_or(false),
        include_usage: fields
            .stream_options
            .and_then(|options| options.include_usage)
            .unwrap_or(false),
        prompt_tokens: request.body.len().div_ceil(4),
        tag: request
            .header("x-mock-tag")
            .map(|tag| String::from_utf8_lossy(tag).into_owned()),
        inputs: fields
            .input
            .and_then(|input| input.as_array().map(Vec::len))
            .unwrap_or(1),
    })
}

impl Call<'_> {
    /// What every text answer says, a token an item.
    fn tokens(&self) -> Vec<String> {
        let words = [
            "hello".to_owned(),
            " from".to_owned(),
            format!(" {}", self.worker),
        ];
        let tag = self.tag.as_ref().map(|tag| format!(" {tag}"));
        words.into_iter().chain(tag).collect()
    }

    fn text(&self) -> String {
        self.tokens().concat()
    }
}
