//! Shared queues: first in, first out, by `vm_id` and name, for all modules and threads. Whoever
//! registered a queue last is told, on its own thread, of every value that is put in.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::abi::Status;
use crate::config::Plugin;

/// Most bytes in all queues together. Envoy has no bound; a queue that nobody empties would take the
/// machine's memory there. A tenth of a gigabyte is far more than a filter that keeps up leaves behind.
pub(crate) const QUEUED_BYTES_LIMIT: usize = 100_000_000;
/// Most values in all queues together, for values of no size.
pub(crate) const QUEUED_VALUES_LIMIT: usize = 1_000_000;
/// Most calls that may wait for one thread; values that are put in beyond them wake nobody.
const WAKES_LIMIT: usize = QUEUED_VALUES_LIMIT;

/// The process-wide store.
#[derive(Debug, Default)]
pub(crate) struct SharedQueues {
    tokens: BTreeMap<(String, Vec<u8>), u32>,
    queues: BTreeMap<u32, Queue>,
    /// Numbers are given once: one of a queue that is gone names nothing.
    last_token: u32,
    bytes: usize,
    values: usize,
    /// By thread.
    wakes: BTreeMap<usize, VecDeque<Wake>>,
}

#[derive(Debug)]
struct Queue {
    listener: Listener,
    values: VecDeque<Vec<u8>>,
}

/// Whose root context is told.
#[derive(Clone, Debug)]
pub(crate) struct Listener {
    pub(crate) thread: usize,
    pub(crate) plugin: Arc<Plugin>,
}

/// A `proxy_on_queue_ready` that waits for its thread.
#[derive(Clone, Debug)]
pub(crate) struct Wake {
    pub(crate) plugin: Arc<Plugin>,
    pub(crate) token: u32,
}

/// The queues hold as much as they may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

impl SharedQueues {
    /// The token of a queue, which begins to be if it is not there; the values in it stay.
    pub(crate) fn register(&mut self, vm_id: &str, name: &[u8], listener: Listener) -> u32 {
        let key = (vm_id.to_owned(), name.to_vec());
        let token = match self.tokens.get(&key) {
            Some(token) => *token,
            None => {
                self.last_token += 1;
                self.tokens.insert(key, self.last_token);
                self.last_token
            }
        };
        match self.queues.get_mut(&token) {
            Some(queue) => queue.listener = listener,
            None => {
                let values = VecDeque::new();
                self.queues.insert(token, Queue { listener, values });
            }
        }
        token
    }

    /// The token of a queue that somebody has registered.
    pub(crate) fn resolve(&self, vm_id: &str, name: &[u8]) -> Result<u32, Status> {
        let key = (vm_id.to_owned(), name.to_vec());
        self.tokens.get(&key).copied().ok_or(Status::NotFound)
    }

    /// Takes the oldest value out.
    pub(crate) fn dequeue(&mut self, token: u32) -> Result<Vec<u8>, Status> {
        let queue = self.queues.get_mut(&token).ok_or(Status::NotFound)?;
        let value = queue.values.pop_front().ok_or(Status::Empty)?;
        self.bytes -= value.len();
        self.values -= 1;
        Ok(value)
    }

    /// Puts a value in and gives the thread to wake.
    pub(crate) fn enqueue(
        &mut self,
        token: u32,
        value: &[u8],
    ) -> Result<Result<usize, Full>, Status> {
        let queue = self.queues.get_mut(&token).ok_or(Status::NotFound)?;
        let bytes = self.bytes.saturating_add(value.len());
        if bytes > QUEUED_BYTES_LIMIT || self.values >= QUEUED_VALUES_LIMIT {
            return Ok(Err(Full));
        }
        queue.values.push_back(value.to_vec());
        self.bytes = bytes;
        self.values += 1;
        let Listener { thread, plugin } = queue.listener.clone();
        let wakes = self.wakes.entry(thread).or_default();
        if wakes.len() < WAKES_LIMIT {
            wakes.push_back(Wake { plugin, token });
        }
        Ok(Ok(thread))
    }

    /// What waits for a thread, oldest first.
    pub(crate) fn take_wakes(&mut self, thread: usize) -> VecDeque<Wake> {
        self.wakes.remove(&thread).unwrap_or_default()
    }

    /// The last VM of a `vm_id` is gone, and its queues with it.
    pub(crate) fn forget(&mut self, vm_id: &str) {
        let gone = |key: &(String, Vec<u8>)| key.0 == vm_id;
        for (_, token) in self.tokens.extract_if(.., |key, _| gone(key)) {
            let values = self.queues.remove(&token).map(|queue| queue.values);
            for value in values.unwrap_or_default() {
                self.bytes -= value.len();
                self.values -= 1;
            }
        }
    }
}
