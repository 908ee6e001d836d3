//! Heads and trailers between the simulator and the `http` crate.

use host_sim_host::io::Headers;
use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, Request, Uri};

/// Headers of one connection, which HTTP/2 does not have, and the one that `:authority` stands for.
const NOT_SENT: [&[u8]; 6] = [
    b"connection",
    b"host",
    b"keep-alive",
    b"proxy-connection",
    b"transfer-encoding",
    b"upgrade",
];

/// A request's head; `None` if HTTP has no place for its method, path or host.
pub fn request(head: &Headers) -> Option<Request<()>> {
    let pseudo = |name: &[u8]| {
        let found = head.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_slice())
    };
    let uri = Uri::builder()
        .scheme(pseudo(b":scheme").unwrap_or(b"http"))
        .authority(pseudo(b":authority").unwrap_or_default())
        .path_and_query(pseudo(b":path").unwrap_or(b"/"))
        .build()
        .ok()?;
    let mut request = Request::builder()
        .method(pseudo(b":method").unwrap_or(b"GET"))
        .uri(uri)
        .version(http::Version::HTTP_2)
        .body(())
        .ok()?;
    for (name, value) in head {
        let te = name == b"te" && value != b"trailers";
        if name.starts_with(b":") || NOT_SENT.contains(&name.as_slice()) || te {
            continue;
        }
        let line = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value));
        if let (Ok(name), Ok(value)) = line {
            request.headers_mut().append(name, value);
        }
    }
    Some(request)
}

/// A response's head.
pub fn response(parts: &http::response::Parts) -> Headers {
    let status = parts.status.as_str().as_bytes().to_vec();
    let mut head = vec![(b":status".to_vec(), status)];
    head.append(&mut lines(&parts.headers));
    head
}

/// Trailers, or the lines of a head.
pub fn lines(map: &HeaderMap) -> Headers {
    map.iter()
        .map(|(name, value)| (name.as_str().into(), value.as_bytes().to_vec()))
        .collect()
}

/// Trailers to be sent; a line that HTTP has no place for is left out.
pub fn map(lines: &Headers) -> HeaderMap {
    let mut map = HeaderMap::new();
    for (name, value) in lines {
        let line = (HeaderName::from_bytes(name), HeaderValue::from_bytes(value));
        if let (Ok(name), Ok(value)) = line {
            map.append(name, value);
        }
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(lines: &[(&str, &str)]) -> Headers {
        lines
            .iter()
            .map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()))
            .collect()
    }

    #[test]
    fn a_head_loses_what_belongs_to_one_connection() {
        let request = request(&head(&[
            (":method", "POST"),
            (":path", "/a?b=%20"),
            (":scheme", "http"),
            (":authority", "gateway:80"),
            ("host", "other"),
            ("connection", "close"),
            ("te", "gzip"),
            ("x-a", "1"),
            ("x-a", "2"),
        ]))
        .unwrap();
        assert_eq!(request.uri(), "http://gateway:80/a?b=%20");
        assert_eq!(
            lines(request.headers()),
            head(&[("x-a", "1"), ("x-a", "2")])
        );
    }

    #[test]
    fn te_trailers_is_kept() {
        let request = request(&head(&[(":authority", "a"), ("te", "trailers")])).unwrap();
        assert_eq!(lines(request.headers()), head(&[("te", "trailers")]));
    }

    #[test]
    fn what_http_has_no_place_for_is_none() {
        for line in [(":path", "/a b"), (":method", "G T"), (":authority", "a b")] {
            let mut all = head(&[(":authority", "a")]);
            all.retain(|(name, _)| name != line.0.as_bytes());
            all.append(&mut head(&[line]));
            assert!(request(&all).is_none(), "{line:?}");
        }
    }
}
