//! Which request is to be explained, and in front of what.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use host_sim_host::config::{Bootstrap, Plugin};
use serde_json::{Value, json};

use crate::setup::yaml_of;
use crate::{Request, Setup, SetupError};

/// The key that is added for the request.
const KEY: &str = "sk-trace";
/// SHA-256 of the key.
const KEY_SHA256: &str = "89cb081943f9c46708e39141867557849e668211ab53153584d8c2fe1466c049";

/// Headers with which callers say who they are.
const CREDENTIALS: [&str; 4] = [
    "authorization",
    "x-api-key",
    "api-key",
    "proxy-authorization",
];

/// Shortest value that is hidden: `Bearer` alone, or a letter, would hide parts of words.
const SECRET_LENGTH: usize = 4;

/// A configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gateway {
    /// Text of a `gateway.json`.
    Json(String),
    /// Text of an `envoy.yaml`.
    Envoy(String),
}

/// How a worker answers an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// With this status; 200 is a usual answer.
    Status(u16),
    /// The connection breaks before a byte of the answer.
    Reset,
    /// The connection breaks within the answer.
    Cut,
    /// Never.
    Hang,
}

/// A word that names no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerError;

/// A request; what is `None` is chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Method; without it `POST` with a body, else `GET`.
    pub method: Option<String>,
    /// Path; without it a chat.
    pub path: Option<String>,
    /// Names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// Body; a chat has one for the first endpoint.
    pub body: Option<Vec<u8>>,
}

/// All that a story depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The configuration.
    pub gateway: Gateway,
    /// Folder of the modules; an `envoy.yaml` names its own.
    pub modules: PathBuf,
    /// Folder that keeps compiled modules.
    pub cache: Option<PathBuf>,
    /// The request.
    pub sent: Sent,
    /// How often it is sent; the last one is explained.
    pub times: NonZeroU32,
    /// The workers' answers, an attempt each; the last one holds for all that follow.
    pub answers: Vec<Answer>,
    /// How long a worker takes for its head, and between the events of a stream.
    pub worker_delay: Duration,
    /// Source of all random numbers.
    pub seed: u64,
}

/// Why nothing can be explained.
#[derive(Clone, Debug)]
pub enum QuestionError {
    /// There is no such gateway.
    Setup(SetupError),
    /// The request waits for ever.
    Stuck,
}

impl fmt::Display for QuestionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QuestionError::Setup(error) => error.fmt(f),
            QuestionError::Stuck => f.write_str(
                "the request is never answered: nothing limits its time, and nothing that could end it is to happen",
            ),
        }
    }
}

impl std::error::Error for QuestionError {}

impl Default for Answer {
    fn default() -> Self {
        Answer::Status(200)
    }
}

impl fmt::Display for AnswerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("must be a status from 200 to 599, reset, cut or hang")
    }
}

impl std::error::Error for AnswerError {}

impl FromStr for Answer {
    type Err = AnswerError;

    fn from_str(text: &str) -> Result<Self, AnswerError> {
        Ok(match text {
            "reset" => Answer::Reset,
            "cut" => Answer::Cut,
            "hang" => Answer::Hang,
            text => match text.parse() {
                Ok(status @ 200..=599) => Answer::Status(status),
                _ => return Err(AnswerError),
            },
        })
    }
}

/// What is needed to ask.
pub(super) struct Prepared {
    pub(super) gateway: Gateway,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) sent: Sent,
    /// What was chosen, a line each.
    pub(super) setting: Vec<String>,
    /// Never to be shown.
    pub(super) secrets: Vec<String>,
}

impl Question {
    /// Fills in what was left open.
    pub(super) fn prepare(&self) -> Result<Prepared, QuestionError> {
        let mut setting = Vec::new();
        let mut sent = self.sent.clone();
        let secrets = sent.secrets();
        let gateway = match &self.gateway {
            Gateway::Json(document) if !sent.says_who_asks() => match with_key(document) {
                Some((document, tenant)) => {
                    let header = ("authorization".to_owned(), format!("Bearer {KEY}"));
                    sent.headers.push(header);
                    setting.push(format!(
                        "caller: tenant {tenant}, with the key {KEY} that is there for this trace only"
                    ));
                    Gateway::Json(document)
                }
                None => self.gateway.clone(),
            },
            _ => self.gateway.clone(),
        };
        let setup = Setup {
            modules: self.modules.clone(),
            ..Setup::default()
        };
        let yaml = match &gateway {
            Gateway::Json(document) => yaml_of(document, &setup).map_err(QuestionError::Setup)?,
            Gateway::Envoy(yaml) => yaml.clone(),
        };
        let config = host_sim_envoy::read(&yaml)
            .map_err(|problems| QuestionError::Setup(SetupError::Read(problems)))?;
        if sent.path.is_none() && sent.body.is_none() {
            sent.body = Some(chat(&config));
        }
        Ok(Prepared {
            gateway,
            environment: environment(&config),
            sent,
            setting,
            secrets,
        })
    }
}

impl Sent {
    pub(super) fn request(&self) -> Request {
        let path = self.path.as_deref().unwrap_or("/v1/chat/completions");
        let has_type = self.headers.iter().any(|(name, _)| name == "content-type");
        let mut request = match &self.body {
            Some(body) if has_type => Request::with_body(path, body.clone()),
            Some(body) => Request::post(path, body.clone()),
            None => Request::get(path),
        };
        if let Some(method) = &self.method {
            request = request.method(method);
        }
        let headers = self.headers.iter();
        headers.fold(request, |request, (name, value)| {
            request.header(name, value)
        })
    }

    fn says_who_asks(&self) -> bool {
        let mut names = self.headers.iter().map(|(name, _)| name.as_str());
        names.any(|name| CREDENTIALS.contains(&name))
    }

    /// Values of the headers that say who asks, without their scheme.
    fn secrets(&self) -> Vec<String> {
        let credentials = self.headers.iter();
        let credentials = credentials.filter(|(name, _)| CREDENTIALS.contains(&name.as_str()));
        let secrets = credentials.map(|(_, value)| {
            let bare = value.rsplit(' ').next().unwrap_or_default();
            bare.to_owned()
        });
        secrets
            .filter(|secret| secret.len() >= SECRET_LENGTH)
            .collect()
    }
}

/// The document with one more key, of its first tenant, if it knows callers at all.
fn with_key(document: &str) -> Option<(String, String)> {
    let mut document: Value = serde_json::from_str(document).ok()?;
    let tenant = document["tenants"][0]["id"].as_str()?.to_owned();
    let auth = document.get_mut("auth")?.as_object_mut()?;
    if auth.get("mode").and_then(Value::as_str) == Some("off") {
        return None;
    }
    let keys = auth.entry("keys").or_insert_with(|| json!([]));
    keys.as_array_mut()?.push(json!({
        "id": "trace",
        "sha256": KEY_SHA256,
        "tenant": tenant,
        "app": "trace",
    }));
    Some((document.to_string(), tenant))
}

/// All plugins of a configuration.
fn plugins(config: &Bootstrap) -> impl Iterator<Item = &Plugin> {
    let listeners = config.listeners.iter();
    let downstream = listeners.flat_map(|listener| &listener.http.filters);
    let upstream = config
        .clusters
        .values()
        .flat_map(|cluster| &cluster.upstream_filters);
    downstream.chain(upstream).map(|plugin| &**plugin)
}

/// A chat for the first endpoint that the filters' configuration names.
fn chat(config: &Bootstrap) -> Vec<u8> {
    let named = plugins(config).find_map(|plugin| {
        let document: Value = serde_json::from_slice(&plugin.configuration).ok()?;
        Some(document["endpoints"][0]["name"].as_str()?.to_owned())
    });
    let model = named.unwrap_or_else(|| "chat".to_owned());
    let chat = json!({"model": model, "messages": [{"role": "user", "content": "hello"}]});
    chat.to_string().into_bytes()
}

/// Variables that the modules read, each with a value that says whose it is. The real ones are never read: a
/// story is to be shown around.
fn environment(config: &Bootstrap) -> BTreeMap<String, String> {
    let names = plugins(config).flat_map(|plugin| &plugin.vm.host_env_keys);
    names
        .map(|name| (name.clone(), format!("value-of-{name}")))
        .collect()
}
