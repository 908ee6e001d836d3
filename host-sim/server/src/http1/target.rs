//! Where a request goes, by its request line and `host`.

use host_sim_host::io::Headers;

use super::head::values;

/// There is no telling where a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTarget {
    /// Neither a path nor a URL.
    Malformed,
    /// A URL without a host, or `*` where it may not stand.
    Url,
    /// A URL that is neither `http` nor `https`.
    Scheme,
    /// An `https` URL, but the connection is not encrypted.
    Https,
    /// A host with characters that none may have.
    Authority,
}

/// Where a request goes. What a missing host means is for the connection manager to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    authority: Option<Vec<u8>>,
    /// `CONNECT` has none.
    path: Option<Vec<u8>>,
    scheme: Vec<u8>,
}

impl Target {
    /// From the request line and `host`; an absolute URL replaces the latter, several hosts become a
    /// list, as in Envoy.
    ///
    /// # Errors
    /// There is no telling.
    pub fn of(method: &str, path: &str, fields: &Headers) -> Result<Target, BadTarget> {
        let hosts: Vec<&[u8]> = values(fields, b"host").collect();
        let host = (!hosts.is_empty()).then(|| hosts.join(&b','));
        let target = if method == "CONNECT" {
            connect(path)?
        } else if path.starts_with('/') || (path == "*" && method == "OPTIONS") {
            Target {
                authority: host,
                path: Some(path.into()),
                scheme: b"http".to_vec(),
            }
        } else {
            absolute(path)?
        };
        match &target.authority {
            Some(authority) if !authority.iter().all(|byte| is_of_authority(*byte)) => {
                Err(BadTarget::Authority)
            }
            _ => Ok(target),
        }
    }

    /// The pseudo headers.
    #[must_use]
    pub fn into_headers(self, method: &str) -> Headers {
        let authority = self
            .authority
            .map(|authority| (b":authority".to_vec(), authority));
        let path = self.path.map(|path| (b":path".to_vec(), path));
        let rest = [
            (b":method".to_vec(), method.as_bytes().to_vec()),
            (b":scheme".to_vec(), self.scheme),
        ];
        authority.into_iter().chain(path).chain(rest).collect()
    }
}

/// `host:port` of a `CONNECT`.
fn connect(target: &str) -> Result<Target, BadTarget> {
    let is_port =
        |port: &str| port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    match target.rsplit_once(':') {
        Some((host, port)) if !host.is_empty() && !host.contains(['/', '@']) && is_port(port) => {
            Ok(Target {
                authority: Some(target.into()),
                path: None,
                scheme: b"http".to_vec(),
            })
        }
        _ => Err(BadTarget::Url),
    }
}

/// `http://user@host:port/path`; the user is dropped.
fn absolute(url: &str) -> Result<Target, BadTarget> {
    let (scheme, rest) = url.split_once("://").ok_or(match url {
        "*" => BadTarget::Url,
        _ => BadTarget::Malformed,
    })?;
    let scheme = scheme.to_ascii_lowercase();
    match scheme.as_str() {
        "http" => {}
        "https" => return Err(BadTarget::Https),
        _ => return Err(BadTarget::Scheme),
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let authority = authority.rsplit('@').next().unwrap_or_default();
    if authority.is_empty() {
        return Err(BadTarget::Url);
    }
    if authority.contains('#') {
        return Err(BadTarget::Malformed);
    }
    let path = if path.is_empty() { "/" } else { path };
    Ok(Target {
        authority: Some(authority.into()),
        path: Some(path.into()),
        scheme: scheme.into_bytes(),
    })
}

/// What RFC 3986 allows in an authority.
fn is_of_authority(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@[]%".contains(&byte)
}
