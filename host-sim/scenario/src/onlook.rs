//! What goes into the worker threads and what comes out, shown to whoever wants to see it.

use std::fmt;
use std::time::Duration;

use host_sim_host::io::{Command, Event};

/// Is shown events before a thread takes them in, and commands before the world carries them out. Guests run in
/// between: [`host_sim_host::abi::watch::Whose::queued`] says behind which command of a step.
pub trait Onlooker: Send + Sync + fmt::Debug {
    /// A step begins: something happened.
    fn event(&self, _at: Duration, _thread: usize, _event: &Event) {}

    /// A step begins: timers are due.
    fn timers(&self, _at: Duration, _thread: usize) {}

    /// The next command of the step.
    fn command(&self, _at: Duration, _thread: usize, _command: &Command) {}
}
