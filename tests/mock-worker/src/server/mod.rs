//! The worker on real sockets: a thread a connection.

mod connection;
mod listener;
mod read;

use std::collections::BTreeMap;
use std::io;
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::faults::Faults;
use crate::message::{Recorded, Request, Seen};
use crate::worker::{Settings, Worker};

/// A running worker; it stops when this is dropped.
pub struct MockWorker {
    shared: Arc<Shared>,
    address: SocketAddr,
}

/// What the threads of a worker share.
struct Shared {
    state: Mutex<State>,
    /// Signalled at every change of the state.
    changed: Condvar,
}

struct State {
    worker: Worker,
    stopping: bool,
    /// Whether a thread is accepting connections.
    listening: bool,
    connections: u64,
    open: BTreeMap<u64, TcpStream>,
}

impl MockWorker {
    /// Starts listening; port 0 takes a free one.
    ///
    /// # Errors
    /// What the socket says, for example that the port is taken.
    pub fn start(listen: SocketAddr, settings: Settings) -> io::Result<Self> {
        let port = listener::Port::reserve(listen)?;
        let address = port.address();
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                worker: Worker::new(settings),
                stopping: false,
                listening: false,
                connections: 0,
                open: BTreeMap::new(),
            }),
            changed: Condvar::new(),
        });
        listener::run(port, Arc::clone(&shared))?;
        Ok(Self { shared, address })
    }

    /// Starts on a free port of the loopback interface.
    ///
    /// # Panics
    /// When there is no free port.
    #[must_use]
    pub fn start_free(settings: Settings) -> Self {
        Self::start(SocketAddr::from(([127, 0, 0, 1], 0)), settings)
            .expect("a free port on the loopback interface")
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Reads or changes the worker.
    pub fn with<T>(&self, change: impl FnOnce(&mut Worker) -> T) -> T {
        let result = change(&mut self.shared.lock().worker);
        self.shared.changed.notify_all();
        result
    }

    /// Replaces the faults.
    pub fn set_faults(&self, faults: Faults) {
        self.with(|worker| worker.set_faults(faults));
    }

    /// All is well again.
    pub fn clear_faults(&self) {
        self.set_faults(Faults::default());
    }

    /// Lets held answers go on.
    pub fn release(&self) {
        self.with(Worker::release);
    }

    /// Refuses connections and breaks off those that are open, as if the process were gone; the
    /// port stays reserved. Returns when it is so.
    pub fn refuse(&self) {
        self.with(|worker| worker.set_refusing(true));
        self.shared.wait(|state| !state.listening);
    }

    /// Accepts connections again.
    pub fn accept_again(&self) {
        self.with(|worker| worker.set_refusing(false));
        self.shared.wait(|state| state.listening);
    }

    /// Everything that arrived, oldest first.
    #[must_use]
    pub fn recorded(&self) -> Vec<Recorded> {
        self.with(|worker| worker.recorded().cloned().collect())
    }

    /// The whole requests among it.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.recorded()
            .into_iter()
            .filter_map(|recorded| match recorded.seen {
                Seen::Request(request) => Some(request),
                _ => None,
            })
            .collect()
    }

    /// Waits until `enough` is true of what arrived; false if it is not in time.
    pub fn wait_until(&self, patience: Duration, enough: impl Fn(&[Recorded]) -> bool) -> bool {
        let until = Instant::now() + patience;
        let mut state = self.shared.lock();
        loop {
            let recorded: Vec<_> = state.worker.recorded().cloned().collect();
            if enough(&recorded) {
                return true;
            }
            let Some(left) = until.checked_duration_since(Instant::now()) else {
                return false;
            };
            state = self
                .shared
                .changed
                .wait_timeout(state, left)
                .expect("no thread panics with the lock")
                .0;
        }
    }

    /// Waits until every connection is closed; false if one is not in time.
    #[must_use]
    pub fn wait_until_left(&self, patience: Duration) -> bool {
        let state = self.shared.lock();
        let waited = self
            .shared
            .changed
            .wait_timeout_while(state, patience, |state| !state.open.is_empty());
        !waited
            .expect("no thread panics with the lock")
            .1
            .timed_out()
    }
}

impl Drop for MockWorker {
    fn drop(&mut self) {
        self.shared.lock().stopping = true;
        self.shared.changed.notify_all();
        self.shared.wait(|state| !state.listening);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no thread panics with the lock")
    }

    fn wait(&self, reached: impl Fn(&State) -> bool) {
        let guard = self.lock();
        drop(
            self.changed
                .wait_while(guard, |state| !reached(state))
                .expect("no thread panics with the lock"),
        );
    }
}
