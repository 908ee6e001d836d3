//! The bytes of a chunk, behind a stamp: version, generation (u64), owner, index in the body
//! (u16), number of bytes (u32).

use super::lease::{ChunkRef, Lease};
use crate::bytes::Reader;
use crate::shared::{SharedData, Swap, swap, value};

/// Most bytes of a body in one chunk.
pub const CHUNK_BYTES: usize = 64 * 1024;

const VERSION: u8 = 1;
const STAMP_BYTES: usize = 1 + 8 + 32 + 2 + 4;
/// Most bytes of a chunk with its stamp.
pub(super) const VALUE_BYTES: usize = STAMP_BYTES + CHUNK_BYTES;

/// How writing a chunk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// The bytes are there.
    Written,
    /// The chunk is another's by now, or of a layout that this code does not know.
    Gone,
    /// Others were faster at every one of the bounded attempts.
    Contended,
    /// The lease has no such chunk, or these are more than [`CHUNK_BYTES`].
    OutOfBounds,
}

struct Stamped<'a> {
    generation: u64,
    owner: &'a [u8; 32],
    index: u16,
    bytes: &'a [u8],
}

impl Stamped<'_> {
    fn is_of(&self, owner: &[u8; 32], chunk: ChunkRef) -> bool {
        self.generation == chunk.generation && self.owner == owner
    }
}

pub(super) fn key(number: u16) -> String {
    format!("dragoman/1/chunk/{number}")
}

/// Sets the bytes of a chunk, the one at `index` of the owner's body.
pub(super) fn write<S: SharedData>(
    shared: &mut S,
    owner: &[u8; 32],
    chunk: ChunkRef,
    index: usize,
    bytes: &[u8],
) -> Result<Write, S::Error> {
    let Ok(index) = u16::try_from(index) else {
        return Ok(Write::OutOfBounds);
    };
    if bytes.len() > CHUNK_BYTES {
        return Ok(Write::OutOfBounds);
    }
    let new = Stamped {
        generation: chunk.generation,
        owner,
        index,
        bytes,
    };
    let done = swap(shared, &key(chunk.number), |old| {
        let is_free = old.is_empty()
            || decode(old)
                .is_some_and(|old| old.generation < chunk.generation || old.is_of(owner, chunk));
        if is_free {
            Swap::Write(encode(&new), Write::Written)
        } else {
            Swap::Keep(Write::Gone)
        }
    })?;
    Ok(done.unwrap_or(Write::Contended))
}

/// The first `length` bytes of a body.
pub(super) fn read_all<S: SharedData>(
    shared: &mut S,
    lease: &Lease,
    length: usize,
) -> Result<Option<Vec<u8>>, S::Error> {
    if length.div_ceil(CHUNK_BYTES) > lease.chunks().len() {
        return Ok(None);
    }
    let mut out = Vec::with_capacity(length);
    for (index, chunk) in (0_u16..).zip(lease.chunks()) {
        let missing = length.saturating_sub(out.len()).min(CHUNK_BYTES);
        if missing == 0 {
            break;
        }
        let value = value(shared, &key(chunk.number))?;
        let own = decode(&value)
            .filter(|found| found.is_of(lease.owner(), *chunk) && found.index == index)
            .filter(|found| found.bytes.len() == missing);
        let Some(found) = own else { return Ok(None) };
        out.extend_from_slice(found.bytes);
    }
    Ok(Some(out))
}

/// Forgets the bytes of a chunk, if they are the owner's.
pub(super) fn forget<S: SharedData>(
    shared: &mut S,
    owner: &[u8; 32],
    chunk: ChunkRef,
) -> Result<(), S::Error> {
    swap(shared, &key(chunk.number), |old| {
        match decode(old).is_some_and(|old| old.is_of(owner, chunk)) {
            true => Swap::Write(Vec::new(), ()),
            false => super::keep(),
        }
    })?;
    Ok(())
}

fn decode(value: &[u8]) -> Option<Stamped<'_>> {
    let mut input = Reader::new(value);
    if input.u8()? != VERSION {
        return None;
    }
    let (generation, owner, index) = (input.u64()?, input.array()?, input.u16()?);
    let length = usize::try_from(input.u32()?).ok()?;
    let bytes = input.rest();
    (bytes.len() == length).then_some(Stamped {
        generation,
        owner,
        index,
        bytes,
    })
}

fn encode(stamped: &Stamped<'_>) -> Vec<u8> {
    let length = u32::try_from(stamped.bytes.len()).unwrap_or(0);
    let mut out = Vec::with_capacity(STAMP_BYTES.saturating_add(stamped.bytes.len()));
    out.push(VERSION);
    out.extend_from_slice(&stamped.generation.to_le_bytes());
    out.extend_from_slice(stamped.owner);
    out.extend_from_slice(&stamped.index.to_le_bytes());
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(stamped.bytes);
    out
}
