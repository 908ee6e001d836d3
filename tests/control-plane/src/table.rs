//! The keys, their pages, and the tag of the whole.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Rows of a page; the gateway takes no more.
pub const MAX_PAGE_ROWS: usize = 1024;
/// Rows of a page unless it is told otherwise.
pub const DEFAULT_PAGE_ROWS: usize = MAX_PAGE_ROWS;
const PATH: &str = "/v1/keys/resolved";

/// All keys by their ids. Every change is another version.
#[derive(Debug)]
pub struct Table {
    keys: BTreeMap<String, Value>,
    version: u64,
    page_rows: usize,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            keys: BTreeMap::new(),
            version: 1,
            page_rows: DEFAULT_PAGE_ROWS,
        }
    }
}

impl Table {
    /// Adds a record, or replaces the one of its id. `false`: it has no id.
    pub fn put(&mut self, record: Value) -> bool {
        let Some(id) = record["id"].as_str().map(str::to_owned) else {
            return false;
        };
        self.keys.insert(id, record);
        self.version += 1;
        true
    }

    /// Marks a key as revoked. `false`: there is none of this id.
    pub fn revoke(&mut self, id: &str) -> bool {
        let Some(record) = self.keys.get_mut(id) else {
            return false;
        };
        record["revoked"] = json!(true);
        self.version += 1;
        true
    }

    /// Takes a key out. `false`: there is none of this id.
    pub fn remove(&mut self, id: &str) -> bool {
        let is_there = self.keys.remove(id).is_some();
        self.version += u64::from(is_there);
        is_there
    }

    /// Sets the rows of a page, 1 to [`MAX_PAGE_ROWS`].
    pub fn set_page_rows(&mut self, rows: usize) {
        self.page_rows = rows.clamp(1, MAX_PAGE_ROWS);
        self.version += 1;
    }

    /// Number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The tag of this version.
    #[must_use]
    pub fn etag(&self) -> String {
        format!("\"{}\"", self.version)
    }

    /// What a path and query ask for; `None`: no page is there.
    #[must_use]
    pub fn page(&self, target: &str) -> Option<String> {
        let number = match target.strip_prefix(PATH)? {
            "" => 1,
            query => query.strip_prefix("?page=")?.parse().ok()?,
        };
        let skipped = usize::checked_sub(number, 1)?.checked_mul(self.page_rows)?;
        if skipped > 0 && skipped >= self.keys.len() {
            return None;
        }
        let rows = self.keys.values().skip(skipped).take(self.page_rows);
        let more = self.keys.len() > skipped + self.page_rows;
        let next = more.then(|| format!("{PATH}?page={}", number + 1));
        let rows: Vec<&Value> = rows.collect();
        Some(json!({"version": 1, "keys": rows, "next": next}).to_string())
    }
}

/// The SHA-256 of a key as records have it.
#[must_use]
pub fn digest(key: &str) -> String {
    let digest = Sha256::digest(key.as_bytes());
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
