//! What is remembered of a request with an idempotency key, and how it stands in a slot.
//!
//! Version (u8), state (u8), kind of API (u8), SHA-256 of the body, then by state:
//!
//! | state | |
//! |---|---|
//! | processing | owner (16 bytes), id of the request |
//! | unknown | id of the request |
//! | too large | |
//! | answered | status (u16), length of the head (u16), head, place of the body (u8), its length (u32), body or chunks |
//!
//! Numbers are little-endian. A record that is not of this layout to the last byte decodes to
//! `None`; whoever meets one must not run the request.

const VERSION: u8 = 1;
const PROCESSING: u8 = 1;
const UNKNOWN: u8 = 2;
const TOO_LARGE: u8 = 3;
const ANSWERED: u8 = 4;
const INLINE: u8 = 1;
const IN_CHUNKS: u8 = 2;

/// Most bytes of a request's id that are remembered; Envoy's have 36.
pub(crate) const MAX_REQUEST_ID_BYTES: usize = 64;

/// What must be the same in every request with one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    /// Number of the API kind, which stands for method and path.
    pub(crate) api: u8,
    /// SHA-256 of the body, byte for byte.
    pub(crate) body_sha256: [u8; 32],
}

/// A random number that tells one execution from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner(pub(crate) [u8; 16]);

/// The record of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) fingerprint: Fingerprint,
    pub(crate) state: State,
}

/// How far the request is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It is under way, until the record expires.
    Processing { owner: Owner, request_id: String },
    /// It was sent to a worker, and nobody knows what came of it.
    Unknown { request_id: String },
    /// It was answered, but the answer is not kept.
    TooLarge,
    /// It was answered.
    Answered(Answer),
}

/// A kept answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Header lines as [`crate::replay::encode`] writes them.
    pub(crate) head: Vec<u8>,
    pub(crate) body: Body,
}

/// Where the body of a kept answer is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// In the record.
    Inline(Vec<u8>),
    /// In chunks of the pool, as their lease writes them.
    Chunks { length: u32, chunks: Vec<u8> },
}

impl Record {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let state = match &self.state {
            State::Processing { .. } => PROCESSING,
            State::Unknown { .. } => UNKNOWN,
            State::TooLarge => TOO_LARGE,
            State::Answered(_) => ANSWERED,
        };
        let mut out = vec![VERSION, state, self.fingerprint.api];
        out.extend_from_slice(&self.fingerprint.body_sha256);
        match &self.state {
            State::Processing { owner, request_id } => {
                out.extend_from_slice(&owner.0);
                out.extend_from_slice(request_id.as_bytes());
            }
            State::Unknown { request_id } => out.extend_from_slice(request_id.as_bytes()),
            State::TooLarge => {}
            State::Answered(answer) => answer.encode(&mut out),
        }
        out
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (&[version, state, api], bytes) = bytes.split_first_chunk()?;
        let (&body_sha256, bytes) = bytes.split_first_chunk()?;
        if version != VERSION {
            return None;
        }
        let state = match state {
            PROCESSING => {
                let (owner, id) = bytes.split_first_chunk()?;
                let (owner, request_id) = (Owner(*owner), text(id)?);
                State::Processing { owner, request_id }
            }
            UNKNOWN => State::Unknown {
                request_id: text(bytes)?,
            },
            TOO_LARGE => bytes.is_empty().then_some(State::TooLarge)?,
            ANSWERED => State::Answered(Answer::decode(bytes)?),
            _ => return None,
        };
        let fingerprint = Fingerprint { api, body_sha256 };
        Some(Self { fingerprint, state })
    }
}

impl Answer {
    fn encode(&self, out: &mut Vec<u8>) {
        // Both are bounded by `replay` and `copying`.
        let head_len = u16::try_from(self.head.len()).unwrap_or(u16::MAX);
        out.extend_from_slice(&self.status.to_le_bytes());
        out.extend_from_slice(&head_len.to_le_bytes());
        out.extend_from_slice(&self.head);
        let (place, length, bytes) = match &self.body {
            Body::Inline(bytes) => (INLINE, u32::try_from(bytes.len()).unwrap_or(0), bytes),
            Body::Chunks { length, chunks } => (IN_CHUNKS, *length, chunks),
        };
        out.push(place);
        out.extend_from_slice(&length.to_le_bytes());
        out.extend_from_slice(bytes);
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (status, bytes) = bytes.split_first_chunk()?;
        let (head_len, bytes) = bytes.split_first_chunk()?;
        let head_len = usize::from(u16::from_le_bytes(*head_len));
        let (head, bytes) = bytes.split_at_checked(head_len)?;
        let (&[place], bytes) = bytes.split_first_chunk()?;
        let (length, bytes) = bytes.split_first_chunk()?;
        let length = u32::from_le_bytes(*length);
        let rest = bytes.to_vec();
        let body = match place {
            INLINE if usize::try_from(length) == Ok(rest.len()) => Body::Inline(rest),
            IN_CHUNKS => Body::Chunks {
                length,
                chunks: rest,
            },
            _ => return None,
        };
        Some(Self {
            status: u16::from_le_bytes(*status),
            head: head.to_vec(),
            body,
        })
    }
}

fn text(bytes: &[u8]) -> Option<String> {
    String::from_utf8(bytes.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn records() -> Vec<Record> {
        let answer = |body| {
            State::Answered(Answer {
                status: 200,
                head: vec![1, 2, 3],
                body,
            })
        };
        let states = [
            State::Processing {
                owner: Owner([7; 16]),
                request_id: "r1".to_owned(),
            },
            State::Unknown {
                request_id: "r1".to_owned(),
            },
            State::TooLarge,
            answer(Body::Inline(b"hello".to_vec())),
            answer(Body::Inline(Vec::new())),
            answer(Body::Chunks {
                length: 70_000,
                chunks: vec![9; 20],
            }),
        ];
        let fingerprint = Fingerprint {
            api: 1,
            body_sha256: [5; 32],
        };
        let record = |state| Record { fingerprint, state };
        states.into_iter().map(record).collect()
    }

    #[test]
    fn a_record_reads_as_it_was_written() {
        for record in records() {
            assert_eq!(Record::decode(&record.encode()).as_ref(), Some(&record));
        }
    }

    #[test]
    fn a_record_of_another_version_or_state_is_not_read() {
        for record in records() {
            for (at, value) in [(0, 0), (0, 2), (1, 0), (1, 9)] {
                let mut bytes = record.encode();
                bytes[at] = value;
                assert_eq!(Record::decode(&bytes), None, "{record:?}");
            }
        }
    }

    #[test]
    fn a_cut_answer_is_not_read() {
        let inline = &records()[3].encode();
        for end in 0..inline.len() {
            assert_eq!(Record::decode(&inline[..end]), None, "cut at {end}");
        }
    }

    #[test]
    fn what_a_claim_turns_into_at_the_worst_takes_no_more_room_than_the_claim() {
        let sizes: Vec<usize> = records()
            .iter()
            .map(|record| record.encode().len())
            .collect();
        assert!(sizes[1] <= sizes[0] && sizes[2] <= sizes[0], "{sizes:?}");
    }
}
