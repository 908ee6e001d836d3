//! Ports for the gateway: reserved over all test processes of the machine.
//!
//! The gateway opens its port itself, a moment after it was chosen. So ports come from below the
//! range of ephemeral ones, which nobody gets by chance, and the UDP port of the same number is
//! the lock between test processes.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicU16, Ordering};

/// First port that is given out.
const FIRST: u16 = 20_000;
/// Number of ports that are given out; `FIRST + COUNT` is below Linux's ephemeral range (32768).
const COUNT: u16 = 12_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A TCP port of the loopback interface, ours until dropped.
pub struct Port {
    _lock: UdpSocket,
    /// Where it is.
    pub address: SocketAddr,
}

impl Port {
    /// One that nobody has.
    ///
    /// # Panics
    /// When there is none.
    #[must_use]
    pub fn reserve() -> Self {
        let start = u16::try_from(std::process::id() % u32::from(COUNT)).unwrap_or_default();
        for _ in 0..COUNT {
            let step = NEXT.fetch_add(1, Ordering::Relaxed);
            let offset = (u32::from(start) + u32::from(step)) % u32::from(COUNT);
            let port = FIRST + u16::try_from(offset).unwrap_or_default();
            let address = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::LOCALHOST, port));
            if let Ok(lock) = UdpSocket::bind(address)
                && TcpListener::bind(address).is_ok()
            {
                return Self {
                    _lock: lock,
                    address,
                };
            }
        }
        panic!("no free port between {FIRST} and {}", FIRST + COUNT);
    }
}
