//! A fixed number of chunks for bodies.
//!
//! Who owns which chunk stands in pages of [`PAGE_CHUNKS`] entries. Every time a chunk changes
//! hands its generation grows, and every chunk carries generation and owner with its bytes: so an
//! owner that comes late writes over nobody's bytes, and a reader never takes others' for its own.

mod chunk;
mod lease;
mod page;

use crate::key::Key;
use crate::salt::Salt;
use crate::shared::{SharedData, Swap, swap};

pub use chunk::{CHUNK_BYTES, Write};
pub use lease::{ChunkRef, Lease, MAX_BODY_CHUNKS};
pub use page::PAGE_CHUNKS;

/// How large a pool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolBounds {
    /// Chunks in all.
    pub chunks: u16,
    /// Most chunks of one tenant in each page, so the tenant's share of the pool is this in
    /// [`PAGE_CHUNKS`].
    pub tenant_chunks: u16,
}

impl PoolBounds {
    /// Most bytes of keys and values that the pool ever has in shared data, without what the
    /// host's map needs for its nodes.
    #[must_use]
    pub fn bound_bytes(&self) -> u64 {
        let (chunks, pages) = (u64::from(self.chunks), u64::from(self.pages()));
        let chunk = chunk::VALUE_BYTES.saturating_add(chunk::key(self.chunks).len());
        let page = page::VALUE_BYTES.saturating_add(page::key(self.pages()).len());
        let chunks = chunks.saturating_mul(chunk as u64);
        chunks.saturating_add(pages.saturating_mul(page as u64))
    }

    fn pages(&self) -> u16 {
        self.chunks.div_ceil(PAGE_CHUNKS)
    }

    /// Chunks of a page: all pages are full but the last.
    fn chunks_of(&self, page: u16) -> u16 {
        let before = page.saturating_mul(PAGE_CHUNKS);
        self.chunks.saturating_sub(before).min(PAGE_CHUNKS)
    }
}

/// The chunks. Their number is part of the layout, like that of slots.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    bounds: PoolBounds,
    salt: Salt,
}

impl Pool {
    /// The pool of these bounds.
    #[must_use]
    pub const fn new(bounds: PoolBounds, salt: Salt) -> Self {
        Self { bounds, salt }
    }

    /// `count` chunks for an owner until `expires_ms`, all or none. `None`: the pool or the
    /// tenant's share of it is used up, or `count` is more than [`MAX_BODY_CHUNKS`]. Looks at each
    /// page once at most; one that is contended or of an unknown layout is passed over.
    ///
    /// # Errors
    /// When the host fails; what was taken by then is free again when it expires.
    pub fn allocate<S: SharedData>(
        &self,
        shared: &mut S,
        owner: &Key<'_>,
        count: usize,
        now_ms: u64,
        expires_ms: u64,
    ) -> Result<Option<Lease>, S::Error> {
        if count > MAX_BODY_CHUNKS {
            return Ok(None);
        }
        let claim = page::Claim {
            owner: *owner.sha256(),
            tenant: self.salt.hash(owner.tenant().as_bytes()),
            tenant_chunks: usize::from(self.bounds.tenant_chunks),
            now_ms,
            expires_ms,
        };
        let mut lease = Lease::new(*owner.sha256());
        for page in self.pages_from(owner) {
            let missing = count.saturating_sub(lease.chunks().len());
            if missing == 0 {
                break;
            }
            let chunks = self.bounds.chunks_of(page);
            let taken = swap(shared, &page::key(page), |bytes| {
                page::claim(bytes, page, chunks, &claim, missing)
            })?;
            lease.extend(taken.unwrap_or_default());
        }
        if lease.chunks().len() < count {
            self.release(shared, &lease)?;
            return Ok(None);
        }
        Ok(Some(lease))
    }

    /// Moves the expiry of all chunks. `false`: at least one is no longer the owner's, or the
    /// bounded attempts were lost; the body is then not to be relied on.
    ///
    /// # Errors
    /// When the host fails.
    pub fn renew<S: SharedData>(
        &self,
        shared: &mut S,
        lease: &Lease,
        expires_ms: u64,
    ) -> Result<bool, S::Error> {
        set_expiry(shared, lease, expires_ms)
    }

    /// Gives the chunks back and forgets their bytes. Those that are no longer the owner's are
    /// left alone; those that others keep changing become free when they expire.
    ///
    /// # Errors
    /// When the host fails; what was not given back by then is free when it expires.
    pub fn release<S: SharedData>(&self, shared: &mut S, lease: &Lease) -> Result<(), S::Error> {
        for chunk in lease.chunks() {
            chunk::forget(shared, lease.owner(), *chunk)?;
        }
        set_expiry(shared, lease, page::FREE)?;
        Ok(())
    }

    /// Sets the bytes of one chunk of a body: [`CHUNK_BYTES`] for each but the last.
    ///
    /// # Errors
    /// When the host fails.
    pub fn write<S: SharedData>(
        &self,
        shared: &mut S,
        lease: &Lease,
        index: usize,
        bytes: &[u8],
    ) -> Result<Write, S::Error> {
        let chunk = lease.chunks().get(index);
        match chunk.filter(|chunk| chunk.number < self.bounds.chunks) {
            Some(chunk) => chunk::write(shared, lease.owner(), *chunk, index, bytes),
            None => Ok(Write::OutOfBounds),
        }
    }

    /// The first `length` bytes of a body, which must be all that were written. `None`: they are
    /// gone, at least in part.
    ///
    /// # Errors
    /// When the host fails.
    pub fn read<S: SharedData>(
        &self,
        shared: &mut S,
        lease: &Lease,
        length: usize,
    ) -> Result<Option<Vec<u8>>, S::Error> {
        chunk::read_all(shared, lease, length)
    }

    /// All pages, from one that depends on the owner.
    fn pages_from(&self, owner: &Key<'_>) -> impl Iterator<Item = u16> + use<> {
        let pages = self.bounds.pages();
        let first = self.salt.pick(owner.sha256(), u32::from(pages));
        let first = u16::try_from(first).unwrap_or(0);
        (first..pages).chain(0..first)
    }
}

/// Sets the expiry of all chunks that still are the owner's; whether all were.
fn set_expiry<S: SharedData>(
    shared: &mut S,
    lease: &Lease,
    expires_ms: u64,
) -> Result<bool, S::Error> {
    let mut all = true;
    for page in lease.pages() {
        let done = swap(shared, &page::key(page), |bytes| {
            page::set_expiry(bytes, page, lease, expires_ms)
        })?;
        all &= done.unwrap_or(false);
    }
    Ok(all)
}

/// A change of a page or chunk that does nothing, and says so.
fn keep<R: Default>() -> Swap<R> {
    Swap::Keep(R::default())
}
