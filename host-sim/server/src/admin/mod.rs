//! The admin address: what a harness and a person ask a running gateway.

mod clusters;
mod dump;
mod pages;
mod stats;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use host_sim_host::Process;
use host_sim_host::io::Headers;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::Sender;
use tokio::sync::{Notify, Semaphore};

use crate::clock::Clock;
use crate::http1::encode;
use crate::http1::request::{RequestDecoder, RequestPart};
use crate::logs::Threshold;
use crate::reload::{Board, Wish};
use pages::Page;

/// What the admin address knows.
pub struct Admin {
    /// For its metrics.
    pub process: Arc<Process>,
    /// How long it runs.
    pub clock: Clock,
    /// Worker threads.
    pub concurrency: usize,
    /// All threads have started.
    pub ready: AtomicBool,
    /// `/healthcheck/fail` was asked for.
    pub failing: AtomicBool,
    /// Free places for connections.
    pub places: Arc<Semaphore>,
    /// Somebody asked the process to end.
    pub quit: Notify,
    /// What is served and what was refused.
    pub board: Arc<Board>,
    /// The file of the configuration.
    pub source: PathBuf,
    /// How long a graceful drain takes.
    pub drain_time: Duration,
    /// For reloads and drains.
    pub wishes: Sender<Wish>,
    /// Which lines of the log are shown.
    pub threshold: Threshold,
}

/// A request that is not there by then is not waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// Most connections at a time; a person and a scraper need two.
const ADMIN_CONNECTION_LIMIT: usize = 32;

/// Answers until the process ends, one request per connection.
pub async fn serve(admin: Arc<Admin>, listener: TcpListener) {
    let places = Arc::new(Semaphore::new(ADMIN_CONNECTION_LIMIT));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else {
            return;
        };
        match listener.accept().await {
            Ok((socket, _)) => {
                let admin = admin.clone();
                tokio::spawn(async move {
                    // A client that sends nothing has no answer to miss.
                    let _ = tokio::time::timeout(PATIENCE, answer(&admin, socket)).await;
                    drop(place);
                });
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

async fn answer(admin: &Admin, mut socket: TcpStream) -> std::io::Result<()> {
    let mut decoder = RequestDecoder::default();
    let mut buffer = [0; 4096];
    let page = loop {
        match decoder.next_part() {
            Ok(Some(RequestPart::Head(head))) => {
                break pages::answer(
                    admin,
                    field(&head.headers, b":method"),
                    field(&head.headers, b":path"),
                )
                .await;
            }
            Ok(_) => {}
            Err(_) => break Page::text(400, "not an HTTP/1.1 request\n"),
        }
        socket.readable().await?;
        match socket.try_read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => decoder.push(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    };
    let Page {
        status,
        content_type,
        text,
    } = page;
    let headers: Headers = vec![
        (b":status".to_vec(), status.to_string().into_bytes()),
        (b"content-type".to_vec(), content_type.as_bytes().to_vec()),
        (
            b"content-length".to_vec(),
            text.len().to_string().into_bytes(),
        ),
        (b"cache-control".to_vec(), b"no-cache, max-age=0".to_vec()),
    ];
    let mut out = Vec::new();
    encode::response_head(&mut out, &headers, false, false, true);
    out.extend_from_slice(text.as_bytes());
    socket.write_all(&out).await?;
    socket.shutdown().await
}

fn field<'a>(headers: &'a Headers, name: &[u8]) -> &'a [u8] {
    headers
        .iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.as_slice())
        .unwrap_or_default()
}
