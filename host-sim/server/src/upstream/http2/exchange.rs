//! One request and its response.

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use h2::client::ResponseFuture;
use h2::{Reason, RecvStream, SendStream};
use host_sim_host::io::{Event, Headers, ResetReason};

use super::connection::Place;
use super::{head, reason_of, reset};
use crate::driver::Driver;
use crate::upstream::attempt::Attempt;

/// Bytes of a callout's request that may wait for a slow worker. Nobody is there to be held back, so
/// past this the request ends; a guest has 1 GiB of memory to build messages in.
const CALLOUT_BUFFER_LIMIT_BYTES: usize = 256 * 1024 * 1024;

/// What comes of a worker.
enum Incoming {
    Head(ResponseFuture),
    Body(RecvStream),
}

/// A part of a response.
enum Part {
    Head { headers: Headers, end_stream: bool },
    Data { data: Bytes, end_stream: bool },
    Trailers(Headers),
}

/// What goes to a worker.
struct Outgoing {
    stream: SendStream<Bytes>,
    /// The end was sent, or nothing is taken any more.
    over: bool,
    /// Not all of the request has gone out.
    incomplete: bool,
}

/// Carries an attempt to its end.
pub async fn run(driver: &Rc<Driver>, place: &Place, attempt: &Rc<Attempt>) {
    driver.send(Event::UpstreamConnected {
        upstream: attempt.id,
    });
    let Some((headers, end_stream)) = attempt.head().await else {
        return;
    };
    let Some(request) = head::request(&headers) else {
        return reset(driver, attempt, ResetReason::ProtocolError);
    };
    let sender = tokio::select! {
        sender = place.sender().ready() => sender,
        () = attempt.ended() => return,
    };
    let begun = sender.and_then(|mut sender| sender.send_request(request, end_stream));
    let (response, stream) = match begun {
        Ok(begun) => begun,
        Err(error) => return reset(driver, attempt, reason_of(&error)),
    };
    let mut outgoing = Outgoing {
        stream,
        over: end_stream,
        incomplete: !end_stream,
    };
    carry(driver, attempt, Incoming::Head(response), &mut outgoing).await;
    if outgoing.incomplete || attempt.has_ended() {
        // Does nothing to a stream that is over. The code is the one that Envoy gives.
        outgoing.stream.send_reset(Reason::INTERNAL_ERROR);
    }
}

async fn carry(
    driver: &Rc<Driver>,
    attempt: &Rc<Attempt>,
    mut incoming: Incoming,
    outgoing: &mut Outgoing,
) {
    while !attempt.has_ended() {
        let waits = outgoing.push(attempt);
        if attempt.out.borrow().len() > CALLOUT_BUFFER_LIMIT_BYTES {
            let text = "a guest sends faster than a worker takes: 256 MiB wait, the request ends";
            driver.log("error", text);
            return reset(driver, attempt, ResetReason::ConnectionTermination);
        }
        let part = tokio::select! {
            part = poll_fn(|context| incoming.poll(context)), if !attempt.has_slow_client() => part,
            room = poll_fn(|context| outgoing.stream.poll_capacity(context)), if waits => {
                // None: the worker takes nothing any more; its answer is still wanted.
                outgoing.over |= !matches!(room, Some(Ok(_)));
                continue;
            }
            () = attempt.wake.notified() => continue,
        };
        let part = match part {
            Ok(part) => part,
            Err(error) => return reset(driver, attempt, reason_of(&error)),
        };
        if hand_on(driver, attempt, part) {
            return;
        }
    }
}

/// Gives the worker what came; `true` when it was the last.
fn hand_on(driver: &Rc<Driver>, attempt: &Attempt, part: Part) -> bool {
    let upstream = attempt.id;
    let (event, last) = match part {
        Part::Head {
            headers,
            end_stream,
        } => (
            Event::ResponseHeaders {
                upstream,
                headers,
                end_stream,
            },
            end_stream,
        ),
        Part::Data { data, end_stream } => (
            Event::ResponseData {
                upstream,
                data: data.to_vec(),
                end_stream,
            },
            end_stream,
        ),
        Part::Trailers(trailers) => (Event::ResponseTrailers { upstream, trailers }, true),
    };
    if last {
        driver.forget_attempt(upstream);
    }
    driver.send(event);
    last
}

impl Incoming {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Part, h2::Error>> {
        match self {
            Incoming::Head(response) => {
                let (parts, body) = ready!(Pin::new(response).poll(context))?.into_parts();
                let end_stream = body.is_end_stream();
                *self = Incoming::Body(body);
                Poll::Ready(Ok(Part::Head {
                    headers: head::response(&parts),
                    end_stream,
                }))
            }
            Incoming::Body(body) => match ready!(body.poll_data(context)) {
                Some(data) => {
                    let data = data?;
                    // What is handed on lies with the client, which says itself when it is too much.
                    let _ = body.flow_control().release_capacity(data.len());
                    let end_stream = body.is_end_stream();
                    Poll::Ready(Ok(Part::Data { data, end_stream }))
                }
                None => Poll::Ready(Ok(match ready!(body.poll_trailers(context))? {
                    Some(trailers) => Part::Trailers(head::lines(&trailers)),
                    None => Part::Data {
                        data: Bytes::new(),
                        end_stream: true,
                    },
                })),
            },
        }
    }
}

impl Outgoing {
    /// Sends what there is room for; `true`: more waits for room.
    fn push(&mut self, attempt: &Attempt) -> bool {
        if self.over {
            return false;
        }
        let was_slow = attempt.is_slow();
        while let Some((piece, end)) = attempt.piece(self.stream.capacity()) {
            self.over = self.stream.send_data(Bytes::from(piece), end).is_err() || end;
            self.incomplete &= !end;
            if self.over {
                break;
            }
        }
        if !self.over
            && let Some(trailers) = attempt.take_trailers()
        {
            let _ = self.stream.send_trailers(head::map(&trailers));
            self.over = true;
            self.incomplete = false;
        }
        if was_slow && !attempt.is_slow() {
            attempt.wake_client();
        }
        let rest = attempt.out.borrow().len();
        if rest > 0 && !self.over {
            self.stream.reserve_capacity(rest);
        }
        rest > 0 && !self.over
    }
}
