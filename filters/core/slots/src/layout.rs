//! Layout of a slot: version, number of records, records.
//!
//! A record: expiry in ms (u64), length of the payload (u16), length of the tenant (u8), the three
//! bytes of these lengths combined by exclusive or, SHA-256, tenant, payload. Numbers are
//! little-endian. The fourth byte is there because one wrong length could shift the borders of
//! all records behind it, and so show somebody another's bytes.

use crate::bytes::Reader;
use crate::key::Key;

const VERSION: u8 = 1;
/// Version and number of records.
const HEAD_BYTES: usize = 1 + 2;
/// A record without tenant and payload.
const RECORD_BYTES: usize = 8 + 2 + 1 + 1 + 32;

/// A record in a slot.
#[derive(Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) expires_ms: u64,
    pub(crate) sha256: &'a [u8; 32],
    pub(crate) tenant: &'a [u8],
    pub(crate) payload: &'a [u8],
}

impl Record<'_> {
    pub(crate) fn belongs_to(&self, key: &Key<'_>) -> bool {
        self.sha256 == key.sha256() && self.tenant == key.tenant().as_bytes()
    }

    /// Bytes it takes in a slot.
    pub(crate) fn size(&self) -> usize {
        RECORD_BYTES
            .saturating_add(self.tenant.len())
            .saturating_add(self.payload.len())
    }
}

/// Bytes of a slot with these records.
pub(crate) fn size(records: &[Record<'_>]) -> usize {
    let each = records.iter().map(Record::size);
    each.fold(HEAD_BYTES, usize::saturating_add)
}

/// The records of a slot, expired ones too; `None` if it is not of this layout to the last byte.
pub(crate) fn decode(bytes: &[u8]) -> Option<Vec<Record<'_>>> {
    if bytes.is_empty() {
        return Some(Vec::new());
    }
    let mut input = Reader::new(bytes);
    if input.u8()? != VERSION {
        return None;
    }
    let mut records = Vec::new();
    for _ in 0..input.u16()? {
        let expires_ms = input.u64()?;
        let (payload_len, tenant_len) = (input.u16()?, input.u8()?);
        if input.u8()? != check(payload_len, tenant_len) {
            return None;
        }
        records.push(Record {
            expires_ms,
            sha256: input.array()?,
            tenant: input.take(usize::from(tenant_len))?,
            payload: input.take(usize::from(payload_len))?,
        });
    }
    input.rest().is_empty().then_some(records)
}

/// A slot with these records; empty if there are none. They fit: a slot has at most 65,535 bytes,
/// a tenant's id at most 128.
pub(crate) fn encode(records: &[Record<'_>]) -> Vec<u8> {
    if records.is_empty() {
        return Vec::new();
    }
    let mut out = Vec::with_capacity(size(records));
    out.push(VERSION);
    out.extend_from_slice(&u16::try_from(records.len()).unwrap_or(0).to_le_bytes());
    for record in records {
        let payload_len = u16::try_from(record.payload.len()).unwrap_or(0);
        let tenant_len = u8::try_from(record.tenant.len()).unwrap_or(0);
        out.extend_from_slice(&record.expires_ms.to_le_bytes());
        out.extend_from_slice(&payload_len.to_le_bytes());
        out.push(tenant_len);
        out.push(check(payload_len, tenant_len));
        out.extend_from_slice(record.sha256);
        out.extend_from_slice(record.tenant);
        out.extend_from_slice(record.payload);
    }
    out
}

fn check(payload_len: u16, tenant_len: u8) -> u8 {
    let [low, high] = payload_len.to_le_bytes();
    low ^ high ^ tenant_len
}
