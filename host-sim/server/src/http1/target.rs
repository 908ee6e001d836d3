//! Where a request goes, by its request line and `host`.

use host_sim_host::io::Headers;

use super::head::values;

/// There is no telling where a request goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadTarget {
    /// Neither a path nor an absolute `http` URL.
    Url,
    /// Several `host` lines: what a filter checks and what a worker sees could differ.
    TwoHosts,
}

/// Where a request goes. What a missing host means is for the connection manager to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    authority: Option<Vec<u8>>,
    path: Vec<u8>,
}

impl Target {
    /// From the request line and `host`; an absolute URL replaces the latter.
    ///
    /// # Errors
    /// There is no telling.
    pub fn of(method: &str, path: &str, fields: &Headers) -> Result<Target, BadTarget> {
        let mut hosts = values(fields, b"host");
        let host = hosts.next().map(<[u8]>::to_vec);
        if hosts.next().is_some() {
            return Err(BadTarget::TwoHosts);
        }
        if path.starts_with('/') || (path == "*" && method == "OPTIONS") {
            return Ok(Target {
                authority: host,
                path: path.as_bytes().to_vec(),
            });
        }
        let rest = path
            .get(..7)
            .filter(|scheme| scheme.eq_ignore_ascii_case("http://"))
            .and_then(|_| path.get(7..));
        let rest = rest.filter(|_| method != "CONNECT").ok_or(BadTarget::Url)?;
        let border = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(border);
        if authority.is_empty() || authority.contains('@') {
            return Err(BadTarget::Url);
        }
        let path = if path.starts_with('/') {
            path.to_owned()
        } else {
            format!("/{path}")
        };
        Ok(Target {
            authority: Some(authority.as_bytes().to_vec()),
            path: path.into_bytes(),
        })
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
            (b":scheme".to_vec(), b"http".to_vec()),
        ];
        authority.into_iter().chain(rest).collect()
    }
}
