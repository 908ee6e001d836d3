//! A proxy without filters in place of the simulated Envoy: one attempt per request, each event
//! answered by the command that passes it on.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, SocketAddr};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use host_sim_host::Process;
use host_sim_host::config::{Bootstrap, Http1, Node};
use host_sim_host::io::{Command, Event, LookupId, Now, StreamId, UpstreamId};
use host_sim_server::client::connection::{self, Entrance};
use host_sim_server::clock::Clock;
use host_sim_server::driver::{Driver, Engine};
use host_sim_server::logs::{Level, Logs, Threshold};
use host_sim_server::wakers::Wakers;
use tokio::net::{TcpListener, TcpStream};

type Seen = Rc<RefCell<Vec<Event>>>;

pub struct Gateway {
    address: SocketAddr,
    seen: Seen,
}

struct Proxy {
    seen: Seen,
    worker: SocketAddr,
    commands: Vec<Command>,
    clients: HashMap<UpstreamId, StreamId>,
}

/// Both sides of a request have the same number here.
fn upstream_of(stream: StreamId) -> UpstreamId {
    UpstreamId(stream.0)
}

impl Gateway {
    /// In front of `worker`.
    pub async fn start(worker: &TcpListener) -> Gateway {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind");
        let address = listener.local_addr().expect("bound");
        let seen = Seen::default();
        let worker = worker.local_addr().expect("bound");
        let proxy = Proxy {
            seen: seen.clone(),
            worker,
            commands: Vec::new(),
            clients: HashMap::new(),
        };
        let nothing = Bootstrap {
            admin: None,
            listeners: Vec::new(),
            clusters: BTreeMap::new(),
            stats_tags: Vec::new(),
            node: Node::default(),
        };
        let process = Process::new(nothing, BTreeMap::new(), 1);
        let driver = Driver::new(
            Box::new(proxy),
            process,
            Clock::start(),
            Logs::new(Threshold::new(Level::Off)),
            Wakers::default(),
        );
        tokio::task::spawn_local(async move {
            while let Ok((socket, peer)) = listener.accept().await {
                let entrance = Entrance {
                    listener: 0,
                    peer,
                    delayed_close_timeout: Duration::from_secs(1),
                    http1: Http1::CLIENTS,
                    names: Arc::default(),
                };
                tokio::task::spawn_local(connection::serve(driver.clone(), socket, entrance));
            }
        });
        Gateway { address, seen }
    }

    pub async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.expect("connect")
    }

    pub fn saw(&self, is_it: impl Fn(&Event) -> bool) -> bool {
        self.seen.borrow().iter().any(is_it)
    }

    /// Waits until so many names have their answer.
    pub async fn until_resolved(&self, wanted: usize) {
        let resolved = |event: &&Event| matches!(event, Event::Resolved { .. });
        while self.seen.borrow().iter().filter(resolved).count() < wanted {
            tokio::task::yield_now().await;
        }
    }

    /// What was found of the name whose answer was that.
    pub fn addresses(&self, number: usize) -> Vec<IpAddr> {
        let seen = self.seen.borrow();
        let resolved = seen.iter().filter_map(|event| match event {
            Event::Resolved { addresses, .. } => Some(addresses.clone()),
            _ => None,
        });
        let mut resolved = resolved.skip(number);
        resolved.next().expect("it was told")
    }

    /// Adds up a number of all events until it has not grown for a while.
    pub async fn until_still(&self, measure: impl Fn(&Event) -> usize) -> usize {
        let mut last = 0;
        loop {
            tokio::time::sleep(Duration::from_millis(200)).await;
            let now = self.seen.borrow().iter().map(&measure).sum();
            if now > 0 && now == last {
                return now;
            }
            last = now;
        }
    }
}

impl Engine for Proxy {
    fn handle(&mut self, _: Now, event: Event) {
        self.seen.borrow_mut().push(event.clone());
        match event {
            Event::RequestHeaders {
                stream,
                headers,
                end_stream,
                ..
            } => {
                let path = headers.iter().find(|(name, _)| name == b":path");
                let name = path.and_then(|(_, path)| path.strip_prefix(b"/name/"));
                if let Some(name) = name {
                    self.commands.push(Command::Resolve {
                        lookup: LookupId(stream.0),
                        name: String::from_utf8_lossy(name).into_owned(),
                    });
                }
                let upstream = upstream_of(stream);
                self.clients.insert(upstream, stream);
                self.commands.push(Command::OpenUpstream {
                    upstream,
                    stream: Some(stream),
                    cluster: "c".to_owned(),
                    address: self.worker,
                    connect_timeout: Duration::from_secs(1),
                    http2: None,
                    http1: Http1::WORKERS,
                });
                self.commands.push(Command::SendUpstreamHeaders {
                    upstream,
                    headers,
                    end_stream,
                });
            }
            Event::RequestData {
                stream,
                data,
                end_stream,
            } => {
                self.commands.push(Command::SendUpstreamData {
                    upstream: upstream_of(stream),
                    data,
                    end_stream,
                });
            }
            Event::RequestTrailers { stream, trailers } => {
                self.commands.push(Command::SendUpstreamTrailers {
                    upstream: upstream_of(stream),
                    trailers,
                });
            }
            Event::Woken | Event::Resolved { .. } | Event::ConnectionEnded { .. } => {}
            Event::RequestReset { stream } => {
                self.commands.push(Command::CancelUpstream {
                    upstream: upstream_of(stream),
                });
            }
            Event::RequestBroken { stream, status, .. } => {
                self.commands.push(Command::CancelUpstream {
                    upstream: upstream_of(stream),
                });
                let headers = vec![(b":status".to_vec(), status.to_string().into_bytes())];
                self.commands.push(Command::SendHeaders {
                    stream,
                    headers,
                    end_stream: true,
                });
            }
            Event::RequestRejected { stream, status, .. } => {
                let headers = vec![(b":status".to_vec(), status.to_string().into_bytes())];
                self.commands.push(Command::SendHeaders {
                    stream,
                    headers,
                    end_stream: true,
                });
            }
            Event::UpstreamConnected { .. } => {}
            Event::ResponseHeaders {
                upstream,
                headers,
                end_stream,
            } => {
                self.commands.push(Command::SendHeaders {
                    stream: self.clients[&upstream],
                    headers,
                    end_stream,
                });
            }
            Event::ResponseData {
                upstream,
                data,
                end_stream,
            } => {
                self.commands.push(Command::SendData {
                    stream: self.clients[&upstream],
                    data,
                    end_stream,
                });
            }
            Event::ResponseTrailers { upstream, trailers } => {
                self.commands.push(Command::SendTrailers {
                    stream: self.clients[&upstream],
                    trailers,
                });
            }
            Event::UpstreamReset { upstream, .. } => {
                self.commands.push(Command::ResetStream {
                    stream: self.clients[&upstream],
                });
            }
        }
    }

    fn advance(&mut self, _: Now) {}

    fn next_timer(&self) -> Option<Duration> {
        None
    }

    fn take_commands(&mut self) -> Vec<Command> {
        std::mem::take(&mut self.commands)
    }
}
