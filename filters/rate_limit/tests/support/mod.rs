//! Callers of a gateway with limits.
#![allow(dead_code, reason = "each test file needs a part of it")]

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use dragoman_contract::Identity;
use dragoman_rate_limit::RateLimit;
use dragoman_sdk::fake::{Exchange, FakeHost, Replied, SharedMap};
use dragoman_sdk::{Filter, Plugin};

/// 2 at once and then 1 a second, for each application.
pub const PER_APP: &str =
    r#"{"name": "per-app", "by": ["app"], "rate": {"per_second": 1, "burst": 2}}"#;

pub const ALICE: Caller = Caller {
    tenant: "team-a",
    app: "chatbot",
    key: "k-alice",
};

#[derive(Clone, Copy, Debug)]
pub struct Caller {
    pub tenant: &'static str,
    pub app: &'static str,
    pub key: &'static str,
}

pub fn configured(limits: &str) -> Rc<RateLimit> {
    let text = format!(
        r#"{{"version": 1, "workers": [], "endpoints": [], "limits": [{limits}],
             "tenants": [], "auth": {{"mode": "on", "keys": []}}}}"#
    );
    Rc::new(RateLimit::configure(text.as_bytes(), &BTreeMap::new()).unwrap())
}

/// A process with one thread, and its time.
pub struct Gateway {
    pub plugin: Rc<RateLimit>,
    pub shared: SharedMap,
    pub now: Duration,
}

pub fn gateway(limits: &str) -> Gateway {
    Gateway {
        plugin: configured(limits),
        shared: SharedMap::default(),
        now: Duration::from_secs(1_000),
    }
}

impl Gateway {
    /// A request of this caller that is about to begin.
    pub fn host(&self, caller: Caller) -> FakeHost {
        self.host_with(caller, &[(":path", "/v1/chat/completions")])
    }

    pub fn host_with(&self, caller: Caller, head: &[(&str, &str)]) -> FakeHost {
        let identity = Identity {
            key: caller.key,
            tenant: caller.tenant,
            app: caller.app,
            key_models: None,
            tenant_models: None,
            ..Identity::default()
        };
        let mut host = FakeHost::new(head);
        host.shared = Rc::clone(&self.shared);
        host.now = self.now;
        let identity = identity.encode();
        host.properties
            .insert("dragoman.identity".to_owned(), identity);
        host
    }

    /// The head of a request came.
    pub fn begin(&self, host: FakeHost) -> Exchange<impl Filter + use<>> {
        let mut it = Exchange::new(&self.plugin, host);
        it.headers(false);
        it
    }

    pub fn asks(&self, caller: Caller) -> Exchange<impl Filter + use<>> {
        self.begin(self.host(caller))
    }

    pub fn admits(&self, caller: Caller) -> bool {
        self.asks(caller).host.replied.is_none()
    }

    /// How many of `count` requests at this moment are admitted.
    pub fn admitted(&self, caller: Caller, count: usize) -> usize {
        (0..count).filter(|_| self.admits(caller)).count()
    }

    /// What the next request is refused with.
    pub fn refusal(&self, caller: Caller) -> Replied {
        self.asks(caller).host.replied.expect("a refusal")
    }

    pub fn wait_ms(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }
}

/// The three header lines, limit, remaining and reset.
pub fn told(header: impl Fn(&str) -> Option<String>) -> [Option<String>; 3] {
    ["limit", "remaining", "reset"].map(|name| header(&format!("x-ratelimit-{name}-requests")))
}

pub fn texts(three: [&str; 3]) -> [Option<String>; 3] {
    three.map(|text| Some(text.to_owned()))
}
