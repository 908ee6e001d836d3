//! One worker thread wakes another.

use std::sync::Arc;

use tokio::sync::Notify;

/// One bell for each worker thread, shared by all.
#[derive(Clone, Debug, Default)]
pub struct Wakers(Arc<[Notify]>);

impl Wakers {
    /// For this many threads.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Wakers((0..threads).map(|_| Notify::new()).collect())
    }

    /// Wakes a thread; one that is already on its way is not woken twice.
    pub fn wake(&self, thread: usize) {
        if let Some(bell) = self.0.get(thread) {
            bell.notify_one();
        }
    }

    /// Waits until this thread is woken; for ever, if there is no such thread.
    pub async fn woken(&self, thread: usize) {
        match self.0.get(thread) {
            Some(bell) => bell.notified().await,
            None => std::future::pending().await,
        }
    }
}
