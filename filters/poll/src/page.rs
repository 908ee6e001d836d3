//! One reading of the table of keys, page by page.

use std::collections::BTreeSet;

use dragoman_config::{KeyPage, PolledKey, key_page};
use dragoman_keys::{Begin, Build, MAX_KEYS, MAX_RECORD_BYTES, Refusal, Salt, Written, begin};
use dragoman_sdk::host::Clock;
use dragoman_sdk::{HostResult, Root};
use sha2::{Digest as _, Sha256};

/// Most pages of a table: the most keys that it may have, in full pages.
pub(crate) const MAX_PAGES: u32 = 128;

/// A reading that is under way.
#[derive(Debug)]
pub(crate) struct Reading {
    /// Tag that every page must have.
    pub etag: String,
    /// Path of the page that was asked for.
    pub path: String,
    pub build: Build,
    pages: u32,
    /// Hashes of the keys' ids, 64 bits each: two in a million tables of the largest size have a
    /// collision that is none.
    ids: BTreeSet<u64>,
}

/// What a page is good for.
#[derive(Debug)]
pub(crate) enum Step {
    /// Another page has to be asked for; its path is in the reading.
    Next(Reading),
    /// That was the last one.
    Last(Reading),
    /// The table is no good; why.
    Refused(String),
    /// Somebody else writes a later table.
    Overtaken,
}

/// The first page of a table.
pub(crate) fn first(cx: &mut Root<'_>, path: &str, etag: String, body: &[u8]) -> HostResult<Step> {
    let page = match key_page(body) {
        Ok(page) => page,
        Err(fault) => return Ok(Step::Refused(format!("{path}: {fault}"))),
    };
    // How many there are is known only where there is no other page.
    let keys = u32::try_from(page.keys.len()).ok();
    let keys = keys.filter(|_| page.next.is_none());
    let salt = salt(cx.random(), cx.random());
    let Begin::Building(build) = begin(cx, keys, salt)? else {
        return Ok(Step::Overtaken);
    };
    let reading = Reading {
        etag,
        path: path.to_owned(),
        build,
        pages: 0,
        ids: BTreeSet::new(),
    };
    reading.take(cx, page)
}

impl Reading {
    /// The page that was asked for.
    pub(crate) fn further(self, cx: &mut Root<'_>, body: &[u8]) -> HostResult<Step> {
        match key_page(body) {
            Ok(page) => self.take(cx, page),
            Err(fault) => Ok(Step::Refused(format!("{}: {fault}", self.path))),
        }
    }

    fn take(mut self, cx: &mut Root<'_>, page: KeyPage) -> HostResult<Step> {
        self.pages += 1;
        for (index, polled) in page.keys.iter().enumerate() {
            if !self.ids.insert(short_hash(&polled.key.id)) {
                let reason = "id: is the id of a key on an earlier page";
                return Ok(Step::Refused(self.at(index, reason)));
            }
            match self.add(cx, polled)? {
                Written::Done => {}
                Written::Overtaken => return Ok(Step::Overtaken),
                Written::Refused(refusal) => {
                    return Ok(Step::Refused(self.at(index, &reason(refusal))));
                }
            }
        }
        match page.next {
            None => Ok(Step::Last(self)),
            Some(_) if self.pages >= MAX_PAGES => {
                let reason = format!("{}: next: there are more than {MAX_PAGES} pages", self.path);
                Ok(Step::Refused(reason))
            }
            Some(next) => {
                self.path = next;
                Ok(Step::Next(self))
            }
        }
    }

    fn add(&mut self, cx: &mut Root<'_>, polled: &PolledKey) -> HostResult<Written> {
        self.build.add(cx, &polled.key.sha256, &polled.encode())
    }

    fn at(&self, index: usize, reason: &str) -> String {
        format!("{}: keys[{index}].{reason}", self.path)
    }
}

fn reason(refusal: Refusal) -> String {
    match refusal {
        Refusal::Duplicate => "sha256: is the digest of a key on an earlier page".to_owned(),
        Refusal::RecordTooLong => {
            format!(
                "models: the record has more than {MAX_RECORD_BYTES} bytes: use fewer or shorter names"
            )
        }
        Refusal::TooManyKeys => format!("id: there are more than {MAX_KEYS} keys"),
        Refusal::TooLarge => "id: the table is larger than the gateway can keep".to_owned(),
    }
}

fn salt(high: u64, low: u64) -> Salt {
    let number = u128::from(high) << 64 | u128::from(low);
    Salt(number.to_le_bytes())
}

fn short_hash(text: &str) -> u64 {
    let hash = Sha256::digest(text);
    hash.first_chunk().copied().map_or(0, u64::from_le_bytes)
}
