//! At the end of each world: has the gateway written any of the secrets that it was given?

use std::net::SocketAddr;
use std::path::Path;

use mock_worker::{MockWorker, Seen};

use crate::client::{Connection, Response, request};
use crate::secrets::Secrets;

/// What the admin address shows of a gateway.
const ADMIN_PAGES: [&str; 5] = [
    "/stats",
    "/stats/prometheus",
    "/config_dump?include_eds",
    "/clusters",
    "/server_info",
];

/// What the admin address shows now, by page. Nothing, where it does not answer any more.
pub(crate) fn admin_pages(admin: SocketAddr) -> Vec<(String, String)> {
    let page = |path: &&str| {
        let mut connection = Connection::try_open(admin)?;
        let head = connection.send(request("GET", path, &[], b"")).try_head()?;
        let (body, _) = connection.to_end(&mut head.rest());
        Some((
            (*path).to_owned(),
            String::from_utf8_lossy(&body).into_owned(),
        ))
    };
    ADMIN_PAGES.iter().map_while(page).collect()
}

/// All files of a folder, by their paths.
pub(crate) fn files(folder: &Path) -> Vec<(String, String)> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            texts.extend(files(&path));
        } else if let Ok(bytes) = std::fs::read(&path) {
            texts.push((
                path.display().to_string(),
                String::from_utf8_lossy(&bytes).into_owned(),
            ));
        }
    }
    texts
}

/// What is wrong, one line for each text that holds a secret.
pub(crate) fn in_texts(secrets: &Secrets, texts: &[(String, String)]) -> Vec<String> {
    let leak = |(place, text): &(String, String)| {
        let leak = secrets.find_in(text)?;
        Some(format!("{place} has {leak}"))
    };
    texts.iter().filter_map(leak).collect()
}

/// Longest part of an answer that is searched, in bytes: what the gateway adds stands in the head and in bodies of a few
/// hundred bytes, and workers' answers of megabytes are no place for it.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// The secret that an answer shows.
pub(crate) fn in_answer(secrets: &Secrets, response: &Response) -> Option<String> {
    let body = response
        .body
        .get(..MAX_ANSWER_BYTES)
        .unwrap_or(&response.body);
    let lines = response.headers.iter().map(|(_, value)| value.as_slice());
    let mut parts = lines.chain([body]);
    parts.find_map(|part| {
        let leak = secrets.find_in(&String::from_utf8_lossy(part))?;
        Some(leak.to_string())
    })
}

/// The same for what a worker got of the keys of clients.
pub(crate) fn at_worker(keys: &Secrets, id: &str, worker: &MockWorker) -> Vec<String> {
    let leak = |seen: Seen| {
        let (Seen::Request(request) | Seen::Cut(request)) = seen else {
            return None;
        };
        let lines = request.headers.iter().chain(&request.trailers);
        let mut parts = lines.flat_map(|(name, value)| [name.as_slice(), value]);
        let leak = parts.find_map(|part| keys.whole_in(part));
        let leak = leak.or_else(|| keys.whole_in(request.target.as_bytes()))?;
        Some(format!("worker {id} got {leak}"))
    };
    worker
        .recorded()
        .into_iter()
        .filter_map(|recorded| leak(recorded.seen))
        .collect()
}
