//! One connection: requests in, answers out.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;

use crate::server::{Asked, Fault, Shared, State};

/// Longest head and body of a request, in bytes.
const MAX_REQUEST_BYTES: usize = 64 * 1024;
const MAX_HEADERS: usize = 64;

struct Request {
    method: String,
    target: String,
    if_none_match: Option<String>,
    authorization: Option<String>,
    body: Vec<u8>,
}

struct Answer {
    status: u16,
    etag: Option<String>,
    body: String,
}

/// Serves until the client leaves or sends what is no request.
pub(crate) fn serve(stream: &TcpStream, shared: &Shared) {
    let mut held = Vec::new();
    while let Ok(Some(request)) = read(stream, &mut held) {
        let fault = shared.lock().fault.clone();
        if let Some(Fault::Slow(time)) = fault {
            thread::sleep(time);
        }
        let answer = match &fault {
            Some(Fault::Dead) => None,
            _ => Some(answer(&mut shared.lock(), &request, fault.as_ref())),
        };
        let status = answer.as_ref().map_or(0, |answer| answer.status);
        let sent = answer.map(|answer| write(stream, &answer));
        // Only the questions of gateways are noted.
        if request.method == "GET" {
            shared.note(Asked {
                target: request.target,
                if_none_match: request.if_none_match,
                authorization: request.authorization,
                status,
            });
        }
        if !matches!(sent, Some(Ok(()))) {
            return;
        }
    }
}

fn answer(state: &mut State, request: &Request, fault: Option<&Fault>) -> Answer {
    let plain = |status| Answer {
        status,
        etag: None,
        body: String::new(),
    };
    match fault {
        Some(Fault::Status(status)) => return plain(*status),
        Some(Fault::Junk(body)) => {
            return Answer {
                status: 200,
                etag: Some("\"junk\"".to_owned()),
                body: body.clone(),
            };
        }
        _ => {}
    }
    let wanted = state.token.as_ref().map(|token| format!("Bearer {token}"));
    if wanted.is_some() && request.authorization != wanted {
        return plain(401);
    }
    if request.method != "GET" {
        return plain(change(state, request));
    }
    let served = state.documents.get(&request.target).cloned();
    let table = || Some((state.table.page(&request.target)?, state.table.etag()));
    let Some((body, mut etag)) = served.or_else(table) else {
        return plain(404);
    };
    if fault == Some(&Fault::MixedTags) {
        etag = format!("\"mixed-{}\"", state.asked.len());
    }
    let unchanged = request.if_none_match.as_ref() == Some(&etag);
    Answer {
        status: if unchanged { 304 } else { 200 },
        etag: Some(etag),
        body: if unchanged { String::new() } else { body },
    }
}

/// What people change by hand: `PUT` and `DELETE /keys/{id}`, `POST /keys/{id}/revoke`.
fn change(state: &mut State, request: &Request) -> u16 {
    let Some(id) = request.target.strip_prefix("/keys/") else {
        return 404;
    };
    let done = match (request.method.as_str(), id.strip_suffix("/revoke")) {
        ("POST", Some(id)) => state.table.revoke(id),
        ("DELETE", None) => state.table.remove(id),
        ("PUT", None) => match serde_json::from_slice::<serde_json::Value>(&request.body) {
            Ok(record) if record["id"].as_str() == Some(id) => state.table.put(record),
            _ => return 400,
        },
        _ => return 405,
    };
    if done { 204 } else { 404 }
}

fn write(mut stream: &TcpStream, answer: &Answer) -> io::Result<()> {
    let etag = answer.etag.as_ref();
    let etag = etag.map_or_else(String::new, |etag| format!("etag: {etag}\r\n"));
    // 204 and 304 have no body, and so no length.
    let length = match answer.status {
        204 | 304 => String::new(),
        _ => format!(
            "content-length: {}\r\ncontent-type: application/json\r\n",
            answer.body.len()
        ),
    };
    let status = answer.status;
    let text = format!("HTTP/1.1 {status} -\r\n{etag}{length}\r\n{}", answer.body);
    stream.write_all(text.as_bytes())
}

/// The next request; `None`: the client left.
fn read(mut stream: &TcpStream, held: &mut Vec<u8>) -> io::Result<Option<Request>> {
    let mut chunk = [0; 4096];
    loop {
        if let Some((request, length)) = parse(held)? {
            held.drain(..length);
            return Ok(Some(request));
        }
        if held.len() > MAX_REQUEST_BYTES {
            return Err(io::Error::other("the request is too long"));
        }
        match stream.read(&mut chunk)? {
            0 => return Ok(None),
            read => held.extend_from_slice(chunk.get(..read).unwrap_or_default()),
        }
    }
}

fn parse(held: &[u8]) -> io::Result<Option<(Request, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut head = httparse::Request::new(&mut headers);
    let parsed = head.parse(held).map_err(io::Error::other)?;
    let httparse::Status::Complete(head_length) = parsed else {
        return Ok(None);
    };
    let value = |name: &str| {
        let header = head
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name));
        header.map(|header| String::from_utf8_lossy(header.value).into_owned())
    };
    let length: usize = value("content-length")
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    let end = head_length.saturating_add(length);
    let Some(body) = held.get(head_length..end) else {
        return Ok(None);
    };
    let request = Request {
        method: head.method.unwrap_or_default().to_owned(),
        target: head.path.unwrap_or_default().to_owned(),
        if_none_match: value("if-none-match"),
        authorization: value("authorization"),
        body: body.to_vec(),
    };
    Ok(Some((request, end)))
}
