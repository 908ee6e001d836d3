//! What the main thread tells the worker threads.

use std::sync::Arc;

use host_sim_host::Update;
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

use crate::thread::Accepted;

/// One order to a worker thread.
pub enum Order {
    /// A connection to serve.
    Serve(Accepted),
    /// Get ready for another configuration, and say how that went.
    Prepare(Arc<Update>, oneshot::Sender<Result<(), String>>),
    /// It is valid from now on.
    Commit(Arc<Update>, oneshot::Sender<()>),
    /// It will not come.
    Abandon,
    /// Kept connections of an entrance that is gone end.
    CloseEntrance(usize),
}

/// All worker threads, and behind them the one that has the main thread's guests.
#[derive(Clone)]
pub struct Threads(Vec<UnboundedSender<Order>>);

/// A thread ends only with the process.
const GONE: &str = "a worker thread has ended";

impl Threads {
    /// At least one worker, and the main thread's last.
    #[must_use]
    pub fn new(senders: Vec<UnboundedSender<Order>>) -> Self {
        Threads(senders)
    }

    /// The worker thread whose turn it is.
    #[must_use]
    pub fn turn(&self, turn: usize) -> Option<&UnboundedSender<Order>> {
        let workers = self.0.len().saturating_sub(1);
        self.0.get(turn % workers.max(1))
    }

    /// Asks every thread to get ready. The main thread's guests come first and alone: new plugins are tried
    /// out there in VMs of their own, so that what traps never comes near requests.
    ///
    /// # Errors
    /// Why one of them cannot; all have forgotten it then.
    pub async fn prepare(&self, update: &Arc<Update>) -> Result<(), String> {
        let (workers, main) = self.0.split_at(self.0.len().saturating_sub(1));
        for group in [main, workers] {
            let asked: Vec<_> = group
                .iter()
                .map(|thread| {
                    let (say, done) = oneshot::channel();
                    let _ = thread.send(Order::Prepare(update.clone(), say));
                    done
                })
                .collect();
            let mut ready = Ok(());
            for done in asked {
                ready = ready.and(done.await.unwrap_or_else(|_| Err(GONE.to_owned())));
            }
            if ready.is_err() {
                self.all(|| Order::Abandon);
                return ready;
            }
        }
        Ok(())
    }

    /// Makes the update valid on every thread, and waits until it is.
    pub async fn commit(&self, update: &Arc<Update>) {
        let mut asked = Vec::new();
        self.all(|| {
            let (say, done) = oneshot::channel();
            asked.push(done);
            Order::Commit(update.clone(), say)
        });
        for done in asked {
            let _ = done.await;
        }
    }

    /// The same order for all.
    pub fn all(&self, mut order: impl FnMut() -> Order) {
        for thread in &self.0 {
            let _ = thread.send(order());
        }
    }
}
