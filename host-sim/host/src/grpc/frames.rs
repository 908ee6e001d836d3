//! Messages on the wire: a flag, the length in four bytes, the message.

/// Flag and length.
const PREFIX_BYTES: usize = 5;
/// Bytes of a message that are kept while the rest is on its way. Envoy knows no bound; a guest has
/// 1 GiB of memory and could not take a message that is much larger.
const MESSAGE_LIMIT_BYTES: u64 = 256 * 1024 * 1024;

/// A message with its prefix.
pub(super) fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(PREFIX_BYTES + message.len());
    bytes.push(0);
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(message);
    bytes
}

/// Why bytes are no messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameError {
    /// A flag that there is not.
    Flag,
    /// A message above the limit.
    TooLarge,
}

/// A message as it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) compressed: bool,
    pub(super) message: Vec<u8>,
}

/// Finds messages in bytes that come in pieces.
#[derive(Debug)]
pub(super) struct Deframer {
    /// Announced lengths above this are refused.
    limit_bytes: Option<u64>,
    held: Vec<u8>,
}

impl Deframer {
    pub(super) fn new(limit_bytes: Option<u64>) -> Self {
        Deframer {
            limit_bytes,
            held: Vec::new(),
        }
    }

    /// The messages that are whole now. When the bytes break the rules none of this piece's messages
    /// is given, as in Envoy.
    pub(super) fn push(&mut self, data: &[u8]) -> Result<Vec<Frame>, FrameError> {
        self.held.extend_from_slice(data);
        let mut frames = Vec::new();
        let mut at = 0;
        while let Some(prefix) = self.prefix(at)? {
            let start = at + PREFIX_BYTES;
            let end = usize::try_from(prefix.length)
                .ok()
                .and_then(|length| start.checked_add(length));
            let Some(message) = end.and_then(|end| self.held.get(start..end)) else {
                break;
            };
            frames.push(Frame {
                compressed: prefix.compressed,
                message: message.to_vec(),
            });
            at = start + message.len();
        }
        self.held.drain(..at);
        if self.held.len() as u64 > MESSAGE_LIMIT_BYTES {
            return Err(FrameError::TooLarge);
        }
        Ok(frames)
    }

    /// The prefix that begins here, if it is whole; a wrong flag is seen at once.
    fn prefix(&self, at: usize) -> Result<Option<Prefix>, FrameError> {
        let rest = self.held.get(at..).unwrap_or_default();
        let compressed = match rest.first() {
            None => return Ok(None),
            Some(0) => false,
            Some(1) => true,
            Some(_) => return Err(FrameError::Flag),
        };
        let length = rest
            .get(1..PREFIX_BYTES)
            .and_then(|length| length.try_into().ok());
        let Some(length) = length.map(u32::from_be_bytes).map(u64::from) else {
            return Ok(None);
        };
        if self.limit_bytes.is_some_and(|limit| length > limit) {
            return Err(FrameError::TooLarge);
        }
        Ok(Some(Prefix { compressed, length }))
    }
}

struct Prefix {
    compressed: bool,
    length: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(frames: &[Frame]) -> Vec<&[u8]> {
        frames.iter().map(|frame| &*frame.message).collect()
    }

    #[test]
    fn messages_are_found_wherever_the_pieces_are_cut() {
        let bytes = [framed(b"one"), framed(b""), framed(&[7; 300])].concat();
        for cut in 0..=bytes.len() {
            let mut deframer = Deframer::new(None);
            let mut frames = deframer.push(&bytes[..cut]).unwrap();
            frames.extend(deframer.push(&bytes[cut..]).unwrap());
            assert_eq!(messages(&frames), [&b"one"[..], b"", &[7; 300]], "{cut}");
        }
    }

    #[test]
    fn a_piece_that_breaks_the_rules_gives_nothing() {
        let bytes = [framed(b"one"), vec![2]].concat();
        assert_eq!(Deframer::new(None).push(&bytes), Err(FrameError::Flag));
    }

    #[test]
    fn an_announced_length_above_the_limit_is_refused_before_the_message_is_there() {
        let mut deframer = Deframer::new(Some(3));
        assert_eq!(messages(&deframer.push(&framed(b"abc")).unwrap()), [b"abc"]);
        assert_eq!(deframer.push(&[0, 0, 0, 0]), Ok(Vec::new()));
        assert_eq!(deframer.push(&[4]), Err(FrameError::TooLarge));
    }

    #[test]
    fn without_a_limit_an_announced_length_is_waited_for() {
        let mut deframer = Deframer::new(None);
        assert_eq!(
            deframer.push(&[1, 255, 255, 255, 255, b'x']),
            Ok(Vec::new())
        );
    }
}
