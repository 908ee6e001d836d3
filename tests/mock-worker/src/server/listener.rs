//! Accepting connections, refusing them, and accepting them again on the same port.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, MutexGuard};
use std::thread;
use std::time::Duration;

use socket2::{Domain, SockRef, Socket, Type};

use super::{Shared, State, connection};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 256;
/// Between tries to listen again.
const RETRY_PAUSE: Duration = Duration::from_millis(1);

/// A port that stays ours while nobody listens on it: a bound socket that never listens keeps it,
/// and connecting to it is refused.
pub(super) struct Port {
    keeper: Socket,
    address: SocketAddr,
}

impl Port {
    pub(super) fn reserve(wanted: SocketAddr) -> io::Result<Self> {
        let keeper = bound(wanted)?;
        let address = keeper
            .local_addr()?
            .as_socket()
            .ok_or_else(|| io::Error::other("the listening address is not an IP address"))?;
        Ok(Self { keeper, address })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    fn listen(&self) -> io::Result<TcpListener> {
        let socket = bound(
            self.keeper
                .local_addr()?
                .as_socket()
                .unwrap_or(self.address),
        )?;
        socket.listen(BACKLOG)?;
        Ok(socket.into())
    }
}

fn bound(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

/// Listens, and follows the worker's state in a thread of its own until the worker stops.
pub(super) fn run(port: Port, shared: Arc<Shared>) -> io::Result<()> {
    let mut accepting = Some(accept(&port, &shared)?);
    thread::spawn(move || {
        loop {
            let mut state = shared.lock();
            let wanted = !state.stopping && !state.worker.refusing();
            match (wanted, accepting.take()) {
                (false, Some(thread)) => {
                    break_off(&mut state);
                    drop(state);
                    end(&port, thread);
                    shared.lock().listening = false;
                    shared.changed.notify_all();
                }
                (true, None) => {
                    drop(state);
                    match accept(&port, &shared) {
                        Ok(thread) => accepting = Some(thread),
                        Err(_) => thread::sleep(RETRY_PAUSE),
                    }
                    shared.changed.notify_all();
                }
                (false, None) if state.stopping => return,
                (_, same) => {
                    accepting = same;
                    wait_for_change(&shared, state);
                }
            }
        }
    });
    Ok(())
}

/// The accepting thread sees that it is to end at the next connection, which is this one.
fn end(port: &Port, accepting: thread::JoinHandle<()>) {
    drop(TcpStream::connect(port.address()));
    let _ = accepting.join();
}

fn accept(port: &Port, shared: &Arc<Shared>) -> io::Result<thread::JoinHandle<()>> {
    let listener = port.listen()?;
    shared.lock().listening = true;
    let shared = Arc::clone(shared);
    Ok(thread::spawn(move || {
        for stream in listener.incoming() {
            let mut state = shared.lock();
            if state.stopping || state.worker.refusing() {
                return;
            }
            if let Ok(stream) = stream
                && let Ok(copy) = stream.try_clone()
            {
                state.connections += 1;
                let number = state.connections;
                state.open.insert(number, copy);
                drop(state);
                let shared = Arc::clone(&shared);
                thread::spawn(move || connection::serve(stream, number, &shared));
            }
        }
    }))
}

/// Returns when something may have changed; ends a refusal whose time is over.
fn wait_for_change(shared: &Shared, state: MutexGuard<'_, State>) {
    let refusal = state.worker.refusal().filter(|_| !state.listening);
    let Some(time) = refusal else {
        drop(
            shared
                .changed
                .wait(state)
                .expect("no thread panics with the lock"),
        );
        return;
    };
    let waited = shared.changed.wait_timeout_while(state, time, |state| {
        !state.stopping && state.worker.refusing()
    });
    waited
        .expect("no thread panics with the lock")
        .0
        .worker
        .set_refusing(false);
}

fn break_off(state: &mut State) {
    for stream in state.open.values() {
        let _ = SockRef::from(stream).set_linger(Some(Duration::ZERO));
        let _ = stream.shutdown(Shutdown::Both);
    }
}
