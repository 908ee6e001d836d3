//! The connections of a thread, and who may begin a request on them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;

use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use host_sim_host::config::Http2;
use host_sim_host::io::ResetReason;
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::driver::Driver;
use crate::upstream::pool::Target;
use crate::upstream::{IDLE_TIMEOUT, connect_within};

/// Bytes of one response that a worker may send ahead; it waits when the client takes them slower.
const STREAM_WINDOW_BYTES: u32 = 1024 * 1024;
/// The same for all responses of a connection, so that some slow ones do not hold up the others.
const CONNECTION_WINDOW_BYTES: u32 = 16 * 1024 * 1024;
/// Bytes of a response's head, as over HTTP/1.
const HEAD_LIMIT_BYTES: u32 = 60 * 1024;

/// One connection.
pub struct Connection {
    sender: SendRequest<Bytes>,
    most: usize,
    active: Cell<usize>,
    used: Cell<Instant>,
}

/// The connections of a thread that are open or on their way.
#[derive(Default)]
pub struct Connections {
    open: RefCell<HashMap<Target, Vec<Rc<Connection>>>>,
    connecting: RefCell<HashMap<Target, Rc<Connecting>>>,
}

/// A connection on its way; all who wait for it share its fate.
#[derive(Default)]
struct Connecting {
    result: RefCell<Option<Result<(), ResetReason>>>,
    done: Notify,
}

/// The right to one request at a time on a connection.
pub struct Place(Rc<Connection>);

impl Place {
    fn on(connection: &Rc<Connection>) -> Self {
        connection.active.set(connection.active.get() + 1);
        Place(connection.clone())
    }

    /// Where to send the request.
    pub fn sender(&self) -> SendRequest<Bytes> {
        self.0.sender.clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.active.set(self.0.active.get().saturating_sub(1));
        self.0.used.set(Instant::now());
    }
}

impl Connections {
    fn free(&self, target: &Target) -> Option<Place> {
        let open = self.open.borrow();
        let free = |connection: &&Rc<Connection>| {
            let most = connection
                .sender
                .current_max_send_streams()
                .min(connection.most);
            connection.active.get() < most
        };
        open.get(target)?.iter().find(free).map(Place::on)
    }

    fn forget(&self, target: &Target, connection: &Rc<Connection>) {
        let mut open = self.open.borrow_mut();
        if let Some(connections) = open.get_mut(target) {
            connections.retain(|other| !Rc::ptr_eq(other, connection));
            if connections.is_empty() {
                open.remove(target);
            }
        }
    }
}

/// A place on a connection that has one, or on a new one.
pub async fn place(
    driver: &Rc<Driver>,
    target: &Target,
    limit: Duration,
    options: Http2,
) -> Result<Place, ResetReason> {
    loop {
        if let Some(place) = driver.http2.free(target) {
            return Ok(place);
        }
        let pending = driver.http2.connecting.borrow().get(target).cloned();
        let pending = pending.unwrap_or_else(|| {
            let pending = Rc::new(Connecting::default());
            let mut connecting = driver.http2.connecting.borrow_mut();
            connecting.insert(target.clone(), pending.clone());
            let (driver, target) = (driver.clone(), target.clone());
            tokio::task::spawn_local(open(driver, target, limit, options));
            pending
        });
        while pending.result.borrow().is_none() {
            pending.done.notified().await;
        }
        let result = pending.result.borrow().clone();
        result.unwrap_or(Ok(()))?;
    }
}

/// A connection from its beginning to its end.
async fn open(driver: Rc<Driver>, target: Target, limit: Duration, options: Http2) {
    let opened = match connect_within(target.address, limit).await {
        Ok(socket) => shake_hands(socket, options).await,
        Err(reason) => Err(reason),
    };
    let (result, opened) = match opened {
        Ok(opened) => (Ok(()), Some(opened)),
        Err(reason) => (Err(reason), None),
    };
    if let Some((connection, _)) = &opened {
        let mut open = driver.http2.open.borrow_mut();
        open.entry(target.clone())
            .or_default()
            .push(connection.clone());
    }
    let pending = driver.http2.connecting.borrow_mut().remove(&target);
    if let Some(pending) = pending {
        pending.result.replace(Some(result));
        pending.done.notify_waiters();
    }
    if let Some((connection, io)) = opened {
        keep(&connection, io).await;
        driver.http2.forget(&target, &connection);
    }
}

type Io = h2::client::Connection<TcpStream, Bytes>;

async fn shake_hands(
    socket: TcpStream,
    options: Http2,
) -> Result<(Rc<Connection>, Io), ResetReason> {
    let window = |bytes: Option<u32>, default| bytes.unwrap_or(default);
    let handshake = Builder::new()
        .enable_push(false)
        .initial_window_size(window(
            options.initial_stream_window_size,
            STREAM_WINDOW_BYTES,
        ))
        .initial_connection_window_size(window(
            options.initial_connection_window_size,
            CONNECTION_WINDOW_BYTES,
        ))
        .max_header_list_size(HEAD_LIMIT_BYTES)
        .handshake(socket)
        .await;
    let (sender, io) = handshake.map_err(|_| ResetReason::ConnectionTermination)?;
    let most = options.max_concurrent_streams.unwrap_or(u32::MAX);
    let connection = Connection {
        sender,
        most: usize::try_from(most).unwrap_or(usize::MAX),
        active: Cell::new(0),
        used: Cell::new(Instant::now()),
    };
    Ok((Rc::new(connection), io))
}

/// Moves a connection's bytes until it ends, or has been of no use for long.
async fn keep(connection: &Connection, io: Io) {
    let mut io = pin!(io);
    loop {
        let idle_at = connection.used.get() + IDLE_TIMEOUT;
        tokio::select! {
            _ = &mut io => return,
            () = tokio::time::sleep_until(idle_at) => {}
        }
        let unused = connection.used.get() + IDLE_TIMEOUT <= Instant::now();
        if connection.active.get() == 0 && unused {
            return;
        }
        // Busy ones are looked at again later.
        connection.used.set(Instant::now());
    }
}
