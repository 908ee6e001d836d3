//! Which chunks somebody owns.

use crate::bytes::Reader;
use crate::pool::PAGE_CHUNKS;

/// Most chunks of one body, 4 MiB: as much as the gateway accepts of a request.
pub const MAX_BODY_CHUNKS: usize = 64;

/// A chunk in the hands of one owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkRef {
    /// Number of the chunk in the pool.
    pub number: u16,
    /// How often the chunk had changed hands then.
    pub generation: u64,
}

/// The chunks of an owner's body, in order. At most [`MAX_BODY_CHUNKS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    owner: [u8; 32],
    chunks: Vec<ChunkRef>,
}

impl Lease {
    pub(super) fn new(owner: [u8; 32]) -> Self {
        let chunks = Vec::new();
        Self { owner, chunks }
    }

    pub(super) fn extend(&mut self, chunks: Vec<ChunkRef>) {
        self.chunks.extend(chunks);
    }

    /// SHA-256 of the owner's key.
    #[must_use]
    pub fn owner(&self) -> &[u8; 32] {
        &self.owner
    }

    /// The chunks, in order.
    #[must_use]
    pub fn chunks(&self) -> &[ChunkRef] {
        &self.chunks
    }

    /// Adds the chunks of another lease of the same owner, for a body that grows. `false`, and
    /// nothing is added: they are another's, or too many.
    #[must_use]
    pub fn join(&mut self, more: &Self) -> bool {
        let count = self.chunks.len().saturating_add(more.chunks.len());
        let fits = more.owner == self.owner && count <= MAX_BODY_CHUNKS;
        if fits {
            self.chunks.extend_from_slice(&more.chunks);
        }
        fits
    }

    /// The chunks as bytes, 10 each, for a record of the owner. The owner is not in it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.chunks.len().saturating_mul(10));
        for chunk in &self.chunks {
            out.extend_from_slice(&chunk.number.to_le_bytes());
            out.extend_from_slice(&chunk.generation.to_le_bytes());
        }
        out
    }

    /// The lease of an owner in these bytes, if they are one.
    #[must_use]
    pub fn decode(owner: [u8; 32], bytes: &[u8]) -> Option<Self> {
        let mut lease = Self::new(owner);
        let (entries, tail) = bytes.as_chunks::<10>();
        if !tail.is_empty() || entries.len() > MAX_BODY_CHUNKS {
            return None;
        }
        for entry in entries {
            let mut input = Reader::new(entry);
            lease.chunks.push(ChunkRef {
                number: input.u16()?,
                generation: input.u64()?,
            });
        }
        Some(lease)
    }

    /// Each page that has one of the chunks, once.
    pub(super) fn pages(&self) -> Vec<u16> {
        let page = |chunk: &ChunkRef| chunk.number.checked_div(PAGE_CHUNKS);
        let mut pages: Vec<u16> = self.chunks.iter().filter_map(page).collect();
        pages.sort_unstable();
        pages.dedup();
        pages
    }
}
