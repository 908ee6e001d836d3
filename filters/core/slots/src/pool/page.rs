//! Who owns which chunk: version, then [`PAGE_CHUNKS`] entries of 56 bytes.

use super::lease::{ChunkRef, Lease};
use crate::bytes::Reader;
use crate::shared::Swap;

/// Chunks of a page. A page has 3.5 KB: about 1 µs to read and as much to write.
pub const PAGE_CHUNKS: u16 = 64;

const VERSION: u8 = 1;
const ENTRY_BYTES: usize = 32 + 8 + 8 + 8;
/// Bytes of a page.
pub(super) const VALUE_BYTES: usize = 1 + ENTRY_BYTES * PAGE_CHUNKS as usize;
/// Expiry of a chunk that nobody owns.
pub(super) const FREE: u64 = 0;

/// Who owns a chunk.
#[derive(Clone, Copy, Default)]
struct Entry {
    owner: [u8; 32],
    /// Salted hash of the tenant's id. Two tenants with the same one would share a share.
    tenant: u64,
    /// How often the chunk has changed hands.
    generation: u64,
    expires_ms: u64,
}

/// What somebody wants of a page.
pub(super) struct Claim {
    pub(super) owner: [u8; 32],
    pub(super) tenant: u64,
    pub(super) tenant_chunks: usize,
    pub(super) now_ms: u64,
    pub(super) expires_ms: u64,
}

pub(super) fn key(page: u16) -> String {
    format!("dragoman/1/chunk-page/{page}")
}

/// Takes up to `count` of the first `chunks` of a page that are free or expired, within the
/// tenant's share.
pub(super) fn claim(
    bytes: &[u8],
    page: u16,
    chunks: u16,
    claim: &Claim,
    count: usize,
) -> Swap<Vec<ChunkRef>> {
    let Some(mut entries) = decode(bytes) else {
        return super::keep();
    };
    let is_live = |entry: &Entry| entry.expires_ms > claim.now_ms;
    let of_tenant = entries.iter().filter(|entry| entry.tenant == claim.tenant);
    let held = of_tenant.filter(|entry| is_live(entry)).count();
    let count = count.min(claim.tenant_chunks.saturating_sub(held));
    let free = numbers(page).zip(entries.iter_mut());
    let free = free.take(usize::from(chunks));
    let mut taken = Vec::new();
    for (number, entry) in free.filter(|(_, entry)| !is_live(entry)).take(count) {
        let generation = entry.generation.saturating_add(1);
        *entry = Entry {
            owner: claim.owner,
            tenant: claim.tenant,
            generation,
            expires_ms: claim.expires_ms,
        };
        taken.push(ChunkRef { number, generation });
    }
    if taken.is_empty() {
        return super::keep();
    }
    Swap::Write(encode(&entries), taken)
}

/// Sets the expiry of the chunks of this page that still are the owner's; whether all were.
pub(super) fn set_expiry(bytes: &[u8], page: u16, lease: &Lease, expires_ms: u64) -> Swap<bool> {
    let Some(mut entries) = decode(bytes) else {
        return super::keep();
    };
    let here = numbers(page);
    let wanted = lease.chunks().iter();
    let wanted = wanted.filter(|chunk| here.contains(&chunk.number)).count();
    let mut owned = 0_usize;
    for (number, entry) in here.zip(entries.iter_mut()) {
        let chunk = ChunkRef {
            number,
            generation: entry.generation,
        };
        let is_owned = entry.owner == *lease.owner() && entry.expires_ms != FREE;
        if is_owned && lease.chunks().contains(&chunk) {
            entry.expires_ms = expires_ms;
            owned = owned.saturating_add(1);
        }
    }
    if owned == 0 {
        return super::keep();
    }
    Swap::Write(encode(&entries), owned == wanted)
}

/// Numbers of the chunks of a page.
fn numbers(page: u16) -> std::ops::Range<u16> {
    let first = page.saturating_mul(PAGE_CHUNKS);
    first..first.saturating_add(PAGE_CHUNKS)
}

fn decode(bytes: &[u8]) -> Option<Vec<Entry>> {
    if bytes.is_empty() {
        return Some(vec![Entry::default(); usize::from(PAGE_CHUNKS)]);
    }
    let mut input = Reader::new(bytes);
    if bytes.len() != VALUE_BYTES || input.u8()? != VERSION {
        return None;
    }
    let entry = |_| {
        Some(Entry {
            owner: *input.array()?,
            tenant: input.u64()?,
            generation: input.u64()?,
            expires_ms: input.u64()?,
        })
    };
    (0..PAGE_CHUNKS).map(entry).collect()
}

fn encode(entries: &[Entry]) -> Vec<u8> {
    let mut out = Vec::with_capacity(VALUE_BYTES);
    out.push(VERSION);
    for entry in entries {
        out.extend_from_slice(&entry.owner);
        out.extend_from_slice(&entry.tenant.to_le_bytes());
        out.extend_from_slice(&entry.generation.to_le_bytes());
        out.extend_from_slice(&entry.expires_ms.to_le_bytes());
    }
    out
}
