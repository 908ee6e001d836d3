//! The end of a client's connection.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::counts::By;

/// Most bytes that are read away after the last response. A client that is in the middle of
/// sending a refused prompt finds its answer; one that sends on for ever is cut.
const DISCARD_LIMIT_BYTES: usize = 64 * 1024 * 1024;

/// Says that nothing follows, then reads until the client says so too: closing a socket with
/// unread bytes could destroy the response on its way.
/// Tells who ended the connection.
pub async fn close(mut socket: TcpStream, patience: Duration) -> By {
    if socket.shutdown().await.is_err() {
        return By::Remote;
    }
    let drained = async {
        let mut scratch = vec![0; 16 * 1024];
        let mut discarded = 0;
        while discarded < DISCARD_LIMIT_BYTES {
            if socket.readable().await.is_err() {
                return;
            }
            match socket.try_read(&mut scratch) {
                Ok(0) => return,
                Ok(count) => discarded += count,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return,
            }
        }
    };
    // Either way the socket closes now.
    match tokio::time::timeout(patience, drained).await {
        Ok(()) => By::Remote,
        Err(_) => By::Local,
    }
}
