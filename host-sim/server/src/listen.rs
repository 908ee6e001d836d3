//! Addresses, and the way from there to the worker threads.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use host_sim_host::config::Http1;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::client::connection::Entrance;
use crate::counts::Names;
use crate::orders::{Order, Threads};
use crate::thread::Accepted;

/// Connections that the system keeps before they are accepted.
const BACKLOG: u32 = 4096;

/// Takes an address. Clients are refused until [`listen`], so that a gateway that listens is one
/// that has started.
///
/// # Errors
/// A sentence for the user, which names the address.
pub fn bind(address: SocketAddr) -> Result<TcpSocket, String> {
    let open = || {
        let socket = if address.is_ipv4() {
            TcpSocket::new_v4()?
        } else {
            TcpSocket::new_v6()?
        };
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        Ok(socket)
    };
    open().map_err(|error| cannot_listen(address, &error))
}

/// Lets clients in.
///
/// # Errors
/// A sentence for the user.
pub fn listen(socket: TcpSocket) -> Result<TcpListener, String> {
    let address = socket.local_addr().map_err(|error| error.to_string())?;
    socket
        .listen(BACKLOG)
        .map_err(|error| cannot_listen(address, &error))
}

fn cannot_listen(address: SocketAddr, error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => format!("cannot listen on {address}: address in use"),
        _ => format!("cannot listen on {address}: {error}"),
    }
}

/// Hands the connections of one listener to the threads in turn.
#[derive(Clone)]
pub struct Acceptor {
    /// Number of the entrance.
    pub number: usize,
    /// `delayed_close_timeout` of the listener.
    pub close: Duration,
    /// Bounds and options of HTTP/1.1.
    pub http1: Http1,
    /// Under which its connections are counted.
    pub names: Arc<Names>,
    /// The worker threads.
    pub threads: Threads,
    /// Places for connections.
    pub places: Arc<Semaphore>,
}

impl Acceptor {
    /// Accepts until it is told to stop; each connection takes one of the places. Connections that
    /// the system has taken in by then are still served.
    pub async fn run(self, listener: TcpListener, mut stop: oneshot::Receiver<()>) {
        for turn in 0.. {
            let accepted = loop {
                let accepted = tokio::select! {
                    accepted = listener.accept() => accepted,
                    _ = &mut stop => return self.run_out(listener).await,
                };
                match accepted {
                    Ok(accepted) => break accepted,
                    // Out of files, or the client left again: a moment later it works.
                    Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                }
            };
            let Ok(permit) = self.places.clone().acquire_owned().await else {
                return;
            };
            let (socket, peer) = accepted;
            if let Ok(socket) = socket.into_std() {
                self.hand_on(turn, socket, peer, permit);
            }
        }
    }

    /// What the system has taken in already.
    async fn run_out(&self, listener: TcpListener) {
        let Ok(listener) = listener.into_std() else {
            return;
        };
        for turn in 0.. {
            let Ok((socket, peer)) = listener.accept() else {
                return;
            };
            let Ok(permit) = self.places.clone().acquire_owned().await else {
                return;
            };
            if socket.set_nonblocking(true).is_ok() {
                self.hand_on(turn, socket, peer, permit);
            }
        }
    }

    fn hand_on(
        &self,
        turn: usize,
        socket: std::net::TcpStream,
        peer: SocketAddr,
        permit: OwnedSemaphorePermit,
    ) {
        let entrance = Entrance {
            listener: self.number,
            peer,
            delayed_close_timeout: self.close,
            http1: self.http1,
            names: self.names.clone(),
        };
        let accepted = Accepted {
            socket,
            entrance,
            permit,
        };
        if let Some(thread) = self.threads.turn(turn) {
            // A thread ends only with the process.
            let _ = thread.send(Order::Serve(accepted));
        }
    }
}
