//! The copy of an answer while it passes, in bounded memory.

use std::cell::Cell;
use std::rc::Rc;

use dragoman_slots::CHUNK_BYTES;

/// Most bytes that the copies of one thread hold in its memory at a time: 256 answers that are
/// about to fill a chunk. An answer that would need more is given up.
pub(crate) const MAX_HELD_BYTES: usize = 16 * 1024 * 1024;

/// What the copies of a thread may still take.
#[derive(Debug)]
pub(crate) struct Memory {
    free_bytes: Cell<usize>,
}

/// The part of an answer that is not in a chunk yet; less than [`CHUNK_BYTES`] between two pieces.
#[derive(Debug)]
pub(crate) struct Copying {
    memory: Rc<Memory>,
    held: Vec<u8>,
    length: usize,
    limit_bytes: usize,
}

/// What became of a piece of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Copied<'a> {
    /// It is held, and so is everything before it that was not handed out.
    Held,
    /// A chunk is full and has to be put away; the rest of the piece is still to be copied.
    Full(Vec<u8>, &'a [u8]),
    /// The answer is larger than it may be, or than the memory that is left.
    TooLarge,
}

impl Memory {
    pub(crate) fn new(bytes: usize) -> Rc<Self> {
        Rc::new(Self {
            free_bytes: Cell::new(bytes),
        })
    }

    fn take(&self, bytes: usize) -> bool {
        let left = self.free_bytes.get().checked_sub(bytes);
        self.free_bytes.set(left.unwrap_or(self.free_bytes.get()));
        left.is_some()
    }

    fn give_back(&self, bytes: usize) {
        self.free_bytes
            .set(self.free_bytes.get().saturating_add(bytes));
    }
}

impl Copying {
    /// The copy of an answer of at most `limit_bytes`.
    pub(crate) fn new(memory: &Rc<Memory>, limit_bytes: usize) -> Self {
        Self {
            memory: Rc::clone(memory),
            held: Vec::new(),
            length: 0,
            limit_bytes,
        }
    }

    /// Copies as much of a piece as fits into the chunk at hand.
    pub(crate) fn push<'a>(&mut self, piece: &'a [u8]) -> Copied<'a> {
        let room = CHUNK_BYTES.saturating_sub(self.held.len());
        let (now, later) = piece.split_at_checked(room).unwrap_or((piece, &[]));
        let length = self.length.saturating_add(piece.len());
        if length > self.limit_bytes || !self.memory.take(now.len()) {
            return Copied::TooLarge;
        }
        self.length = self.length.saturating_add(now.len());
        self.held.extend_from_slice(now);
        if self.held.len() < CHUNK_BYTES {
            return Copied::Held;
        }
        Copied::Full(self.take_held(), later)
    }

    /// What is held, to be put away.
    pub(crate) fn take_held(&mut self) -> Vec<u8> {
        self.memory.give_back(self.held.len());
        std::mem::take(&mut self.held)
    }

    /// Length of the whole answer so far.
    pub(crate) fn length(&self) -> usize {
        self.length
    }
}

impl Drop for Copying {
    fn drop(&mut self) {
        self.memory.give_back(self.held.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chunks that come of these pieces and what is held at the end; `None` if given up.
    fn copied(limit: usize, pieces: &[&[u8]]) -> Option<(Vec<Vec<u8>>, Vec<u8>)> {
        let memory = Memory::new(MAX_HELD_BYTES);
        let mut copy = Copying::new(&memory, limit);
        let mut chunks = Vec::new();
        for piece in pieces {
            let mut piece = *piece;
            loop {
                match copy.push(piece) {
                    Copied::Held => break,
                    Copied::Full(chunk, rest) => {
                        chunks.push(chunk);
                        piece = rest;
                    }
                    Copied::TooLarge => return None,
                }
            }
        }
        let held = copy.take_held();
        assert_eq!(memory.free_bytes.get(), MAX_HELD_BYTES);
        Some((chunks, held))
    }

    #[test]
    fn an_answer_is_cut_into_full_chunks_and_a_rest_however_it_comes() {
        let answer: Vec<u8> = (0..150_000_u32).map(|n| (n % 251) as u8).collect();
        for size in [1000, 65_535, 65_536, 65_537, 150_000] {
            let pieces: Vec<&[u8]> = answer.chunks(size).collect();
            let (chunks, held) = copied(150_000, &pieces).unwrap();
            assert!(chunks.iter().all(|chunk| chunk.len() == CHUNK_BYTES));
            assert_eq!([chunks.concat(), held].concat(), answer, "pieces of {size}");
        }
    }

    #[test]
    fn an_answer_may_be_as_large_as_the_limit_and_not_larger() {
        assert!(copied(10, &[b"12345", b"67890"]).is_some());
        assert!(copied(10, &[b"12345", b"678901"]).is_none());
    }

    #[test]
    fn the_copies_of_a_thread_share_one_bound() {
        let memory = Memory::new(10);
        let mut one = Copying::new(&memory, 100);
        let mut other = Copying::new(&memory, 100);
        assert_eq!(one.push(b"1234567"), Copied::Held);
        assert_eq!(other.push(b"1234"), Copied::TooLarge);
        drop(one);
        assert_eq!(other.push(b"1234"), Copied::Held);
    }
}
