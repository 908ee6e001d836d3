//! The server: a thread accepts, each connection has one of its own.

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::connection;
use crate::table::{Table, digest};

/// Longest wait of a test for a question.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is wrong with the control plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Connections are closed without an answer.
    Dead,
    /// Answers come this late.
    Slow(Duration),
    /// This status, with an empty body.
    Status(u16),
    /// Status 200 with this body and a tag that was never there.
    Junk(String),
    /// Every page has another tag.
    MixedTags,
}

/// A question that came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Path and query.
    pub target: String,
    /// Its `if-none-match`.
    pub if_none_match: Option<String>,
    /// Its `authorization`.
    pub authorization: Option<String>,
    /// The status that was answered; 0: none.
    pub status: u16,
}

/// A control plane, ended when dropped.
pub struct ControlPlane {
    address: SocketAddr,
    pub(crate) shared: Arc<Shared>,
}

#[derive(Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
pub(crate) struct State {
    pub table: Table,
    /// Other documents by their paths, each with its tag.
    pub documents: BTreeMap<String, (String, String)>,
    pub fault: Option<Fault>,
    pub asked: Vec<Asked>,
    pub token: Option<String>,
    stopping: bool,
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note(&self, asked: Asked) {
        self.lock().asked.push(asked);
        self.changed.notify_all();
    }
}

impl ControlPlane {
    /// Listens there; port 0 takes a free one.
    ///
    /// # Errors
    /// When it cannot listen.
    pub fn start(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if accepting.lock().stopping {
                    return;
                }
                let shared = Arc::clone(&accepting);
                thread::spawn(move || connection::serve(&stream, &shared));
            }
        });
        Ok(Self { address, shared })
    }

    /// Listens on a free port of the loopback address.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn start_free() -> Self {
        Self::start(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port on loopback")
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Asks for this token as `Authorization: Bearer` from now on.
    pub fn want_token(&self, token: &str) {
        self.shared.lock().token = Some(token.to_owned());
    }

    /// Adds the record of a key, or replaces the one of its id, with these fields beside `id`,
    /// `sha256`, `tenant` and `app`, which is `app` unless they say otherwise.
    pub fn put(&self, id: &str, key: &str, tenant: &str, fields: Value) {
        let mut record = json!({"id": id, "sha256": digest(key), "tenant": tenant, "app": "app"});
        for (name, value) in fields.as_object().into_iter().flatten() {
            record[name] = value.clone();
        }
        self.edit(|table| table.put(record));
    }

    /// Changes the table in one step.
    pub fn edit<R>(&self, edit: impl FnOnce(&mut Table) -> R) -> R {
        edit(&mut self.shared.lock().table)
    }

    /// Hands out this document too, such as the key set of an issuer, until another one is given for
    /// its path.
    pub fn publish(&self, path: &str, document: &Value) {
        let body = document.to_string();
        let etag = format!("\"{}\"", digest(&body));
        let mut state = self.shared.lock();
        state.documents.insert(path.to_owned(), (body, etag));
    }

    /// Is faulty from now on, or well again.
    pub fn fail(&self, fault: Option<Fault>) {
        self.shared.lock().fault = fault;
    }

    /// What came so far.
    #[must_use]
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.lock().asked.clone()
    }

    /// Waits until as many more questions as this were answered that `wanted` is true of.
    ///
    /// # Panics
    /// When they do not come.
    pub fn wait_for(&self, count: usize, wanted: impl Fn(&Asked) -> bool) {
        let until = Instant::now() + PATIENCE;
        let mut state = self.shared.lock();
        let since = state.asked.len();
        while state
            .asked
            .iter()
            .skip(since)
            .filter(|asked| wanted(asked))
            .count()
            < count
        {
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "not asked as expected: {:?}", state.asked);
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Waits until two more polls have begun, so that a change made before has been read.
    pub fn wait_for_polls(&self) {
        self.wait_for(2, |asked| !asked.target.contains('?'));
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        self.shared.lock().stopping = true;
        // The accepting thread looks at the next connection.
        drop(TcpStream::connect(self.address));
    }
}
