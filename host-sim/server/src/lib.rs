//! The simulator on real sockets: the only place with sockets, threads and the real clock.
//!
//! A worker thread owns one simulated worker and one event loop. [`driver::Driver`] stands between
//! them: connections hand it events, it hands their commands back to the connections. The main
//! thread accepts connections, answers on the admin address and waits for signals.

pub mod admin;
pub mod client;
pub mod clock;
pub mod counts;
pub mod driver;
pub mod gateway;
pub mod http1;
pub mod listen;
pub mod logs;
pub mod orders;
pub mod reload;
pub mod resolve;
pub mod source;
pub mod start;
pub mod thread;
pub mod upstream;
pub mod wakers;
pub mod watch;
