//! Layout of a bucket: version, id of its table, records to the end.
//!
//! A record: length of its payload (u16), digest, payload. Numbers are little-endian.

use dragoman_slots::Reader;

use crate::bounds::{MAX_BUCKET_BYTES, MAX_RECORD_BYTES};
use crate::table::Digest;

const VERSION: u8 = 1;
/// Version and id.
const HEAD_BYTES: usize = 1 + 8;
/// A record without its payload.
pub(crate) const RECORD_BYTES: usize = 2 + 32;

/// A record in a bucket.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    pub digest: &'a Digest,
    pub payload: &'a [u8],
}

/// A bucket that was read.
pub(crate) struct Bucket<'a> {
    /// Table that wrote it.
    pub id: u64,
    pub records: Vec<Record<'a>>,
}

impl<'a> Bucket<'a> {
    /// The bucket in these bytes; `None` where there is none, or bytes of another layout.
    pub(crate) fn decode(bytes: &'a [u8]) -> Option<Self> {
        let mut input = Reader::new(bytes);
        let id = head(&mut input)?;
        let mut records = Vec::new();
        while !input.is_empty() {
            let length = usize::from(input.u16()?);
            let digest = input.array()?;
            let payload = input.take(length)?;
            records.push(Record { digest, payload });
        }
        Some(Self { id, records })
    }
}

/// The payload of a key in the bucket of this table, without collecting the others.
pub(crate) fn find<'a>(bytes: &'a [u8], table: u64, digest: &Digest) -> Option<&'a [u8]> {
    let mut input = Reader::new(bytes);
    if head(&mut input)? != table {
        return None;
    }
    while !input.is_empty() {
        let length = usize::from(input.u16()?);
        let found = input.array::<32>()?;
        let payload = input.take(length)?;
        if found == digest {
            return Some(payload);
        }
    }
    None
}

/// Which table wrote these bytes.
pub(crate) fn id(bytes: &[u8]) -> Option<u64> {
    head(&mut Reader::new(bytes))
}

fn head(input: &mut Reader<'_>) -> Option<u64> {
    if input.u8()? != VERSION {
        return None;
    }
    input.u64()
}

/// `old` with one record more, as a bucket of this table; what another table left is dropped.
/// `None`: it would be longer than [`MAX_BUCKET_BYTES`], or the payload than [`MAX_RECORD_BYTES`].
pub(crate) fn with(old: &[u8], table: u64, digest: &Digest, payload: &[u8]) -> Option<Vec<u8>> {
    let length = u16::try_from(payload.len()).ok()?;
    let kept = if id(old) == Some(table) { old } else { &[] };
    let size = kept.len().max(HEAD_BYTES) + RECORD_BYTES + payload.len();
    if payload.len() > MAX_RECORD_BYTES || size > MAX_BUCKET_BYTES {
        return None;
    }
    let mut out = Vec::with_capacity(size);
    if kept.is_empty() {
        out.push(VERSION);
        out.extend_from_slice(&table.to_le_bytes());
    } else {
        out.extend_from_slice(kept);
    }
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(digest);
    out.extend_from_slice(payload);
    Some(out)
}
