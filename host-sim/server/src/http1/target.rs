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
    /// A host with characters that none may have.
    Authority,
}

/// Where a request goes. What a missing host means is for the connection manager to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    authority: Option<Vec<u8>>,
    path: Vec<u8>,
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
        let target = if path.starts_with('/') || (path == "*" && method == "OPTIONS") {
            Target {
                authority: host,
                path: path.into(),
                scheme: b"http".to_vec(),
            }
        } else {
            absolute(method, path)?
        };
        match &target.authority {
            Some(authority) if !authority.iter().all(|byte| is_of_authority(*byte)) => {
                Err(BadTarget::Authority)
            }
            _ => Ok(target),
        }
    }

    /// The four pseudo headers.
    #[must_use]
    pub fn into_headers(self, method: &str) -> Headers {
        let authority = self
            .authority
            .map(|authority| (b":authority".to_vec(), authority));
        let rest = [
            (b":path".to_vec(), self.path),
            (b":method".to_vec(), method.as_bytes().to_vec()),
            (b":scheme".to_vec(), self.scheme),
        ];
        authority.into_iter().chain(rest).collect()
    }
}

/// `http://user@host:port/path`; the user is dropped.
fn absolute(method: &str, url: &str) -> Result<Target, BadTarget> {
    let (scheme, rest) = url
        .split_once("://")
        .filter(|_| method != "CONNECT")
        .ok_or(match url {
            "*" => BadTarget::Url,
            _ => BadTarget::Malformed,
        })?;
    let scheme = scheme.to_ascii_lowercase();
    if !["http", "https"].contains(&scheme.as_str()) {
        return Err(BadTarget::Scheme);
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let authority = authority.rsplit('@').next().unwrap_or_default();
    if authority.is_empty() {
        return Err(BadTarget::Url);
    }
    let path = if path.is_empty() { "/" } else { path };
    Ok(Target {
        authority: Some(authority.into()),
        path: path.into(),
        scheme: scheme.into_bytes(),
    })
}

/// What RFC 3986 allows in an authority.
fn is_of_authority(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@[]%".contains(&byte)
}
