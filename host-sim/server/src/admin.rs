//! The admin address: what a harness and a person ask a running gateway.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use host_sim_host::Process;
use host_sim_host::io::Headers;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};

use crate::clock::Clock;
use crate::gateway::CONNECTION_LIMIT;
use crate::http1::encode;
use crate::http1::request::{RequestDecoder, RequestPart};

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
    /// Free places for connections.
    pub places: Arc<Semaphore>,
    /// Somebody asked the process to end.
    pub quit: Notify,
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
    let (status, text) = loop {
        match decoder.next_part() {
            Ok(Some(RequestPart::Head(head))) => {
                break reply(
                    admin,
                    field(&head.headers, b":method"),
                    field(&head.headers, b":path"),
                );
            }
            Ok(_) => {}
            Err(_) => break (400, "not an HTTP/1.1 request\n".to_owned()),
        }
        socket.readable().await?;
        match socket.try_read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => decoder.push(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    };
    let headers: Headers = vec![
        (b":status".to_vec(), status.to_string().into_bytes()),
        (
            b"content-type".to_vec(),
            b"text/plain; charset=UTF-8".to_vec(),
        ),
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

fn reply(admin: &Admin, method: &[u8], path: &[u8]) -> (u16, String) {
    let path = path.split(|byte| *byte == b'?').next().unwrap_or_default();
    match (method, path) {
        (b"GET", b"/ready") if admin.ready.load(Ordering::Acquire) => (200, "LIVE\n".to_owned()),
        (b"GET", b"/ready") => (503, "INITIALIZING\n".to_owned()),
        (b"GET", b"/stats") => (200, stats(admin)),
        (b"GET", b"/stats/prometheus") => (200, admin.process.prometheus()),
        (b"POST", b"/quitquitquit") => {
            admin.quit.notify_one();
            (200, "OK\n".to_owned())
        }
        (_, b"/quitquitquit") => (405, "/quitquitquit wants a POST\n".to_owned()),
        _ => (404, NOT_HERE.to_owned()),
    }
}

const NOT_HERE: &str = "host-sim has no such admin page: GET /ready, GET /stats, GET /stats/prometheus, POST /quitquitquit\n";

fn stats(admin: &Admin) -> String {
    let active = CONNECTION_LIMIT.saturating_sub(admin.places.available_permits());
    format!(
        "server.concurrency: {}\nserver.live: {}\nserver.uptime: {}\nhttp.downstream_cx_active: {active}\n",
        admin.concurrency,
        u8::from(admin.ready.load(Ordering::Acquire)),
        admin.clock.now().monotonic.as_secs(),
    )
}
