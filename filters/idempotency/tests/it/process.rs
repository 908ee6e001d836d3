//! One thread of a gateway with its shared data, and the requests on it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use dragoman_contract::{ApiKind, Class, Identity, RequestRecord};
use dragoman_idempotency::Idempotency;
use dragoman_sdk::fake::{Exchange, FakeHost, Replied, SharedMap, root};
use dragoman_sdk::{Action, Filter, Plugin};

pub type Life = Exchange<<Idempotency as Plugin>::Filter>;

/// The section most tests use.
pub const SECTION: &str = r#"{"ttl_s": 86400, "max_response_bytes": 200000, "lease_s": 60}"#;
pub const HOLD: &str = r#"{"lease_s": 60, "on_unknown": "hold"}"#;
/// A small answer of a worker.
pub const ANSWER: &[u8] = b"{\"id\":\"1\"}";

pub struct Process {
    pub plugin: Rc<Idempotency>,
    pub shared: SharedMap,
    pub now: Cell<Duration>,
    random: Cell<u64>,
}

/// A request to come.
#[derive(Clone)]
pub struct Asking<'a> {
    pub keys: Vec<&'a str>,
    pub path: &'a str,
    pub api: ApiKind,
    pub body_sha256: Option<[u8; 32]>,
    /// Tenant and application.
    pub caller: Option<(&'a str, &'a str)>,
}

/// A chat with this key.
pub fn chat(key: &str) -> Asking<'_> {
    Asking {
        keys: vec![key],
        path: "/v1/chat/completions",
        api: ApiKind::Chat,
        body_sha256: Some([1; 32]),
        caller: None,
    }
}

impl<'a> Asking<'a> {
    pub fn body(self, byte: u8) -> Self {
        Self {
            body_sha256: Some([byte; 32]),
            ..self
        }
    }

    pub fn caller(self, tenant: &'a str, app: &'a str) -> Self {
        Self {
            caller: Some((tenant, app)),
            ..self
        }
    }
}

impl Process {
    pub fn new(section: &str) -> Self {
        Self::with_auth("off", section)
    }

    pub fn with_auth(mode: &str, section: &str) -> Self {
        let document = format!(
            r#"{{"version": 1, "auth": {{"mode": "{mode}"}}, "workers": [], "endpoints": [], "idempotency": {section}}}"#
        );
        Self::of(&document)
    }

    pub fn of(document: &str) -> Self {
        let plugin = Idempotency::configure(document.as_bytes(), &BTreeMap::new()).unwrap();
        Self {
            plugin: Rc::new(plugin),
            shared: SharedMap::default(),
            now: Cell::new(Duration::from_secs(1000)),
            random: Cell::new(1),
        }
    }

    /// Another thread of the same gateway.
    pub fn another_thread(&self, section: &str) -> Self {
        let mut other = Self::new(section);
        other.shared = Rc::clone(&self.shared);
        other.now = self.now.clone();
        other.random = Cell::new(self.random.get() + 1_000_000);
        other
    }

    pub fn wait(&self, time: Duration) {
        self.now.set(self.now.get() + time);
    }

    /// The timer fires.
    pub fn tick(&self) {
        let mut host = FakeHost {
            shared: Rc::clone(&self.shared),
            now: self.now.get(),
            ..FakeHost::default()
        };
        self.plugin.on_tick(&mut root(&mut host)).unwrap();
    }

    /// A request whose head is about to arrive.
    pub fn life(&self, asking: &Asking<'_>) -> Life {
        let mut headers = vec![
            (":method", "POST"),
            (":path", asking.path),
            ("x-request-id", "r1"),
        ];
        headers.extend(asking.keys.iter().map(|key| ("idempotency-key", *key)));
        let mut host = FakeHost::new(&headers);
        host.shared = Rc::clone(&self.shared);
        host.now = self.now.get();
        for _ in 0..8 {
            self.random.set(self.random.get() + 1);
            host.random.push_back(self.random.get());
        }
        let properties = &mut host.properties;
        properties.insert("dragoman.request".to_owned(), record(asking).encode());
        if let Some((tenant, app)) = asking.caller {
            let identity = Identity {
                key: "k1",
                tenant,
                app,
                key_models: None,
                tenant_models: None,
                ..Identity::default()
            };
            properties.insert("dragoman.identity".to_owned(), identity.encode());
        }
        Exchange::new(&self.plugin, host)
    }

    /// A request that is let through.
    pub fn runs(&self, asking: &Asking<'_>) -> Life {
        let mut life = self.life(asking);
        let action = life.headers(false);
        assert_eq!(life.host.replied, None);
        assert_eq!(action, Action::Continue);
        life
    }

    /// The answer to a request that is not let through.
    pub fn answered(&self, asking: &Asking<'_>) -> Replied {
        let mut life = self.life(asking);
        assert_eq!(life.headers(false), Action::Pause);
        life.done();
        life.host.replied.unwrap()
    }

    /// Status and code of a refusal.
    pub fn refused(&self, asking: &Asking<'_>) -> (u16, String) {
        let reply = self.answered(asking);
        let code = reply.text();
        let code = code.split("\"code\":\"").nth(1).unwrap_or_default();
        let code = code.split('"').next().unwrap_or_default();
        (reply.status, code.to_owned())
    }

    /// A request that a worker answered.
    pub fn has_answered(&self, asking: &Asking<'_>, body: &[u8]) {
        let mut life = self.runs(asking);
        life.works("w1");
        life.answers(&[(":status", "200")], &[body]);
        life.done();
    }
}

fn record<'a>(asking: &Asking<'_>) -> RequestRecord<'a> {
    RequestRecord {
        api: asking.api,
        stream: false,
        body_len: 10,
        model_start: 1,
        model_end: 2,
        max_tokens: 0,
        endpoint: "chat",
        version: "v1",
        tenant: "",
        app: "",
        class: Class::Interactive,
        tools: false,
        body_sha256: asking.body_sha256,
    }
}

/// What happens to a request further on.
pub trait Further {
    /// An attempt begins at this worker.
    fn works(&mut self, worker: &str);
    /// The attempts up to now end like this.
    fn tried(&mut self, trail: &str);
    /// A worker answers, to the end.
    fn answers(&mut self, headers: &[(&str, &str)], pieces: &[&[u8]]);
    /// A worker answers, and more is to come.
    fn begins(&mut self, headers: &[(&str, &str)]);
    /// A later filter answers.
    fn is_refused(&mut self, status: &str, code: &str);
    /// Envoy answers.
    fn fails(&mut self, status: &str, details: &str);
    /// The word in the access log.
    fn word(&self) -> String;
}

impl<F: Filter> Further for Exchange<F> {
    fn works(&mut self, worker: &str) {
        let properties = &mut self.host.properties;
        properties.insert("dragoman.worker".to_owned(), worker.into());
    }

    fn tried(&mut self, trail: &str) {
        let properties = &mut self.host.properties;
        properties.insert("dragoman.attempts".to_owned(), trail.into());
    }

    fn answers(&mut self, headers: &[(&str, &str)], pieces: &[&[u8]]) {
        self.begins(headers);
        for piece in pieces {
            self.response_data(piece, false);
        }
        self.response_data(b"", true);
    }

    fn begins(&mut self, headers: &[(&str, &str)]) {
        let details = b"via_upstream".to_vec();
        let properties = &mut self.host.properties;
        properties.insert("response.code_details".to_owned(), details);
        self.response(headers, false);
    }

    fn is_refused(&mut self, status: &str, code: &str) {
        let properties = &mut self.host.properties;
        properties.insert("dragoman.error".to_owned(), code.into());
        properties.insert("response.code_details".to_owned(), Vec::new());
        self.response(&[(":status", status)], false);
        self.response_data(b"{}", true);
        self.done();
    }

    fn fails(&mut self, status: &str, details: &str) {
        let properties = &mut self.host.properties;
        properties.insert("response.code_details".to_owned(), details.into());
        self.response(&[(":status", status)], false);
        self.response_data(b"{}", true);
        self.done();
    }

    fn word(&self) -> String {
        let word = self.host.properties.get("dragoman.idempotency");
        String::from_utf8(word.cloned().unwrap_or_default()).unwrap()
    }
}
