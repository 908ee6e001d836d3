//! A gateway with its workers, started for one test.

use std::net::SocketAddr;
use std::path::Path;

use mock_worker::{Faults, MockWorker};
use tempfile::TempDir;

pub use crate::builder::Places;
use crate::builder::WorldBuilder;
pub use crate::client::request;
use crate::client::{Connection, Response};
use crate::engine::Engine;
use crate::gateway::Gateway;
use crate::leaks;
use crate::log::AccessLog;
use crate::ports::Port;
use crate::secrets::Secrets;

/// Everything a test needs, ended when dropped.
pub struct World {
    pub(crate) gateway: Gateway,
    pub(crate) workers: Vec<(String, MockWorker)>,
    pub(crate) log: AccessLog,
    pub(crate) listen: Port,
    pub(crate) admin: Port,
    pub(crate) internal: Option<Port>,
    pub(crate) folder: TempDir,
    /// What the gateway must not show to anybody.
    pub(crate) secrets: Secrets,
    /// Those of them that workers must not see.
    pub(crate) keys: Secrets,
}

/// What the gateway wrote is searched for the secrets of the test, whatever the test is about.
impl Drop for World {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let mut texts = leaks::admin_pages(self.admin.address);
        // Not before it has ended, as it writes its logs late.
        self.gateway.end();
        texts.extend(leaks::files(self.folder.path()));
        let mut leaks = leaks::in_texts(&self.secrets, &texts);
        for (id, worker) in &self.workers {
            leaks.extend(leaks::at_worker(&self.keys, id, worker));
        }
        assert!(
            leaks.is_empty(),
            "key material was seen:\n{}",
            leaks.join("\n")
        );
    }
}

impl World {
    /// An empty world, to be filled.
    #[must_use]
    pub fn on(engine: Engine) -> WorldBuilder {
        WorldBuilder::new(engine)
    }

    /// Where the gateway listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.listen.address
    }

    /// Where its admin endpoints listen.
    #[must_use]
    pub fn admin(&self) -> SocketAddr {
        self.admin.address
    }

    /// The test's folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A worker.
    ///
    /// # Panics
    /// When there is none of that id.
    #[must_use]
    pub fn worker(&self, id: &str) -> &MockWorker {
        self.workers
            .iter()
            .find(|(name, _)| name == id)
            .map(|(_, worker)| worker)
            .expect("a worker of this world")
    }

    /// Sets the faults of a worker.
    pub fn fail(&self, id: &str, faults: Faults) {
        self.worker(id).set_faults(faults);
    }

    /// How many requests each worker got, in the order in which they were added.
    #[must_use]
    pub fn hits(&self) -> Vec<usize> {
        self.workers
            .iter()
            .map(|(_, worker)| worker.recorded().len())
            .collect()
    }

    /// The access log.
    #[must_use]
    pub fn log(&self) -> &AccessLog {
        &self.log
    }

    /// What the gateway wrote to its standard streams.
    #[must_use]
    pub fn output(&self) -> String {
        self.gateway.output()
    }

    /// Process id of the gateway.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.gateway.pid()
    }

    /// Whether the gateway's process still runs.
    pub fn is_running(&mut self) -> bool {
        self.gateway.is_running()
    }

    /// A new connection to the gateway.
    #[must_use]
    pub fn connect(&self) -> Connection {
        Connection::open(self.address())
    }

    /// A request on a new connection, with these header lines and a `content-length` if there is
    /// a body.
    #[must_use]
    pub fn request(&self, method: &str, target: &str, headers: &[&str], body: &[u8]) -> Response {
        self.ask(self.address(), &request(method, target, headers, body))
    }

    /// A request by the internal listener.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn request_inside(
        &self,
        method: &str,
        target: &str,
        headers: &[&str],
        body: &[u8],
    ) -> Response {
        let port = self.internal.as_ref().expect("an internal listener");
        self.ask(port.address, &request(method, target, headers, body))
    }

    /// No answer shows a secret either.
    fn ask(&self, address: SocketAddr, request: &[u8]) -> Response {
        let response = Connection::open(address).send(request).response();
        let leak = leaks::in_answer(&self.secrets, &response);
        assert!(
            leak.is_none(),
            "a client was told {}",
            leak.unwrap_or_default()
        );
        response
    }

    /// A `GET`.
    #[must_use]
    pub fn get(&self, target: &str) -> Response {
        self.request("GET", target, &[], b"")
    }

    /// A `POST` of JSON text, sent as it stands.
    #[must_use]
    pub fn post(&self, target: &str, body: &str) -> Response {
        self.request(
            "POST",
            target,
            &["content-type: application/json"],
            body.as_bytes(),
        )
    }

    /// A chat, sent as it stands.
    #[must_use]
    pub fn chat(&self, body: &str) -> Response {
        self.post("/v1/chat/completions", body)
    }
}
