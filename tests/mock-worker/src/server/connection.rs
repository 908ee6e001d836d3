//! One connection: request, script, request, until somebody closes it.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use socket2::SockRef;

use super::Shared;
use super::read::{Buffer, Next};
use crate::message::{Headers, Recorded, Request, Seen, Step, header};

/// What comes after an answer.
#[derive(PartialEq, Eq)]
enum After {
    NextRequest,
    Close,
    Reset,
}

pub(super) fn serve(mut stream: TcpStream, number: u64, shared: &Shared) {
    let _ = stream.set_nodelay(true);
    if requests(&mut stream, number, shared) == After::Reset {
        let _ = SockRef::from(&stream).set_linger(Some(Duration::ZERO));
        // The copy in the table shares the socket: without it the close below is the last one.
        shared.lock().open.remove(&number);
        drop(stream);
    } else {
        let _ = stream.shutdown(Shutdown::Both);
        drop(stream);
        shared.lock().open.remove(&number);
    }
    shared.changed.notify_all();
}

fn requests(stream: &mut TcpStream, number: u64, shared: &Shared) -> After {
    let mut buffer = Buffer::default();
    let Ok(mut answers) = stream.try_clone() else {
        return After::Close;
    };
    loop {
        let next = buffer.next(stream, || {
            drop(answers.write_all(b"HTTP/1.1 100 Continue\r\n\r\n"))
        });
        let seen = match next {
            Next::Closed => return After::Close,
            Next::Request(request) => match answer(stream, &mut buffer, number, request, shared) {
                Ok(After::NextRequest) => continue,
                Ok(after) => return after,
                Err(_) => return After::Close,
            },
            Next::Cut(request) => Seen::Cut(request),
            Next::Unparsable(bytes) => Seen::Unparsable(bytes),
        };
        shared.lock().worker.record(Recorded {
            connection: number,
            seen,
        });
        let _ = stream.write_all(
            b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        );
        return After::Close;
    }
}

fn answer(
    stream: &mut TcpStream,
    buffer: &mut Buffer,
    number: u64,
    request: Request,
    shared: &Shared,
) -> io::Result<After> {
    let asked_to_close = request
        .header("connection")
        .is_some_and(|value| value.eq_ignore_ascii_case(b"close"));
    let method = request.method.clone();
    let (steps, releases) = {
        let mut state = shared.lock();
        (
            state.worker.answer(number, request),
            state.worker.releases(),
        )
    };
    shared.changed.notify_all();
    let result = play(stream, buffer, number, steps, releases, shared);
    shared.lock().worker.finished(&method);
    match result? {
        After::NextRequest if asked_to_close => Ok(After::Close),
        after => Ok(after),
    }
}

fn play(
    stream: &mut TcpStream,
    buffer: &mut Buffer,
    number: u64,
    steps: Vec<Step>,
    releases: u64,
    shared: &Shared,
) -> io::Result<After> {
    let (mut chunked, mut close) = (false, false);
    for step in steps {
        match step {
            Step::Wait(time) => wait(number, Some(time), u64::MAX, shared)?,
            Step::Hold => wait(number, None, releases, shared)?,
            Step::Head { status, headers } => {
                chunked = header(&headers, "content-length").is_none();
                close = header(&headers, "connection")
                    .is_some_and(|value| value.eq_ignore_ascii_case(b"close"));
                stream.write_all(&head(status, &headers, chunked))?;
            }
            Step::Data(data) if chunked => {
                let mut framed = format!("{:x}\r\n", data.len()).into_bytes();
                framed.extend_from_slice(&data);
                framed.extend_from_slice(b"\r\n");
                stream.write_all(&framed)?;
            }
            Step::Data(data) | Step::Raw(data) => stream.write_all(&data)?,
            // A client over HTTP/1.1 has not asked for trailers.
            Step::End | Step::Trailers(_) if chunked => stream.write_all(b"0\r\n\r\n")?,
            Step::End | Step::Trailers(_) => {}
            Step::Stall => {
                while buffer.fill(stream) {}
                return Ok(After::Close);
            }
            Step::Close => return Ok(After::Close),
            Step::Reset => return Ok(After::Reset),
        }
    }
    Ok(if close {
        After::Close
    } else {
        After::NextRequest
    })
}

/// Until the time is over, or with `None` until there were more than `releases`; an error if the
/// connection is to be broken off meanwhile.
fn wait(number: u64, time: Option<Duration>, releases: u64, shared: &Shared) -> io::Result<()> {
    let until = time.map(|time| Instant::now() + time);
    let mut state = shared.lock();
    loop {
        if state.stopping || state.worker.refusing() || !state.open.contains_key(&number) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        if state.worker.releases() > releases {
            return Ok(());
        }
        state = match until {
            None => shared
                .changed
                .wait(state)
                .expect("no thread panics with the lock"),
            Some(until) => {
                let Some(left) = until.checked_duration_since(Instant::now()) else {
                    return Ok(());
                };
                shared
                    .changed
                    .wait_timeout(state, left)
                    .expect("no thread panics with the lock")
                    .0
            }
        };
    }
}

fn head(status: u16, headers: &Headers, chunked: bool) -> Vec<u8> {
    let mut out = format!(
        "HTTP/1.1 {status} {}\r\n",
        if status < 400 { "OK" } else { "Error" }
    )
    .into_bytes();
    for (name, value) in headers {
        out.extend_from_slice(name);
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }
    if chunked {
        out.extend_from_slice(b"transfer-encoding: chunked\r\n");
    }
    out.extend_from_slice(b"\r\n");
    out
}
