//! Addresses, and the way from there to the worker threads.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;

use crate::client::connection::Entrance;
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
pub struct Acceptor {
    /// Of the listener.
    pub listener: TcpListener,
    /// Its index in the configuration.
    pub index: usize,
    /// Its `delayed_close_timeout`.
    pub close: Duration,
    /// The worker threads, at least one.
    pub threads: Vec<UnboundedSender<Accepted>>,
}

impl Acceptor {
    /// Accepts as long as the process lives; each connection takes one of the places.
    pub async fn run(self, places: Arc<Semaphore>) {
        for thread in self.threads.iter().cycle() {
            let accepted = loop {
                match self.listener.accept().await {
                    Ok(accepted) => break accepted,
                    // Out of files, or the client left again: a moment later it works.
                    Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                }
            };
            let Ok(permit) = places.clone().acquire_owned().await else {
                return;
            };
            let (socket, peer) = accepted;
            let Ok(socket) = socket.into_std() else {
                continue;
            };
            let entrance = Entrance {
                listener: self.index,
                peer,
                delayed_close_timeout: self.close,
            };
            if thread
                .send(Accepted {
                    socket,
                    entrance,
                    permit,
                })
                .is_err()
            {
                return;
            }
        }
    }
}
