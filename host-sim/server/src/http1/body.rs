//! The body of a message, whatever says where it ends.

use host_sim_host::io::Headers;

use super::buffer::Buffer;

/// What says where a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// There is no body.
    Empty,
    /// `content-length`, above zero.
    Length(u64),
    /// `transfer-encoding: chunked`.
    Chunked,
    /// The end of the connection; responses only.
    UntilClose,
}

/// Most bytes of one chunk's size line with its extensions. Real ones have fewer than 20.
pub const CHUNK_LINE_LIMIT_BYTES: usize = 4096;

/// Most bytes of trailers; as for a header block.
pub const TRAILERS_LIMIT_BYTES: usize = 60 * 1024;

/// The chunks, or what is behind them, break the rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadBody {
    /// What frames the body.
    Chunk,
    /// A name of the trailers.
    TrailerName,
    /// More than [`TRAILERS_LIMIT_BYTES`].
    TrailersTooLarge,
    /// More lines than a head may have.
    TooManyTrailers,
}

/// Where a [`Body`] stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Rest(u64),
    Close,
    Chunk(Chunk),
    Done,
}

/// Where a chunked body stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunk {
    Size { size: u64, digits: u8 },
    Extension { size: u64 },
    SizeLineFeed { size: u64 },
    Data { rest: u64 },
    DataReturn,
    DataLineFeed,
    TrailerStart,
    TrailerLine { colon: bool },
    TrailerLineFeed,
    LastLineFeed,
}

/// Decoder of one body.
#[derive(Debug)]
pub struct Body {
    state: State,
    /// Bytes of the size line or the trailers so far.
    framing_bytes: usize,
    /// The lines of the trailers, if anybody wants them.
    trailers: Option<Vec<u8>>,
}

const SIZE: Chunk = Chunk::Size { size: 0, digits: 0 };

impl Body {
    /// A body that begins now.
    #[must_use]
    pub fn new(framing: Framing) -> Self {
        let state = match framing {
            Framing::Empty => State::Done,
            Framing::Length(length) => State::Rest(length),
            Framing::Chunked => State::Chunk(SIZE),
            Framing::UntilClose => State::Close,
        };
        Body {
            state,
            framing_bytes: 0,
            trailers: None,
        }
    }

    /// Keeps the trailers for [`Body::trailers`].
    #[must_use]
    pub fn with_trailers(self, wanted: bool) -> Self {
        Body {
            trailers: wanted.then(Vec::new),
            ..self
        }
    }

    /// The trailers of a body that is done: names in lower case, values without the blanks around them.
    ///
    /// # Errors
    /// There are more than `most`.
    pub fn trailers(&mut self, most: usize) -> Result<Headers, BadBody> {
        let text = self.trailers.take().unwrap_or_default();
        let mut trailers = Headers::new();
        for line in text.split(|byte| *byte == b'\n') {
            let Some(colon) = line.iter().position(|byte| *byte == b':') else {
                continue;
            };
            if trailers.len() >= most {
                return Err(BadBody::TooManyTrailers);
            }
            let (name, value) = line.split_at(colon);
            let value = value.get(1..).unwrap_or_default().trim_ascii();
            trailers.push((name.to_ascii_lowercase(), value.to_vec()));
        }
        Ok(trailers)
    }

    /// The end was seen.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// The end of the connection is the end of this body.
    #[must_use]
    pub fn ends_with_connection(&self) -> bool {
        self.state == State::Close
    }

    /// Moves what belongs to the body from `input` to `out`, as far as it is there.
    ///
    /// # Errors
    /// The chunks or trailers break the rules; what was moved before is good.
    pub fn decode(&mut self, input: &mut Buffer, out: &mut Vec<u8>) -> Result<(), BadBody> {
        while !input.is_empty() {
            match self.state {
                State::Done => return Ok(()),
                State::Close => {
                    out.extend_from_slice(input.bytes());
                    input.consume(input.len());
                }
                State::Rest(rest) => {
                    let rest = take(rest, input, out);
                    self.state = if rest == 0 {
                        State::Done
                    } else {
                        State::Rest(rest)
                    };
                }
                State::Chunk(Chunk::Data { rest }) => {
                    let rest = take(rest, input, out);
                    self.state = State::Chunk(if rest == 0 {
                        Chunk::DataReturn
                    } else {
                        Chunk::Data { rest }
                    });
                }
                State::Chunk(chunk) => {
                    let byte = input.bytes().first().copied().unwrap_or_default();
                    let in_trailers = matches!(
                        chunk,
                        Chunk::TrailerStart | Chunk::TrailerLine { .. } | Chunk::TrailerLineFeed
                    );
                    if in_trailers && let Some(lines) = &mut self.trailers {
                        let in_name = matches!(chunk, Chunk::TrailerLine { colon: false });
                        if in_name && matches!(byte, b' ' | b'\t') {
                            return Err(BadBody::TrailerName);
                        }
                        lines.push(byte);
                    }
                    self.state = self.framing_byte(chunk, byte)?;
                    input.consume(1);
                }
            }
        }
        Ok(())
    }

    /// One byte that is not data.
    fn framing_byte(&mut self, chunk: Chunk, byte: u8) -> Result<State, BadBody> {
        self.framing_bytes += 1;
        let next = match (chunk, byte) {
            (Chunk::Size { size, digits }, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                // 15 digits stay below 2^60, so that no sum of sizes overflows.
                let digit = char::from(byte)
                    .to_digit(16)
                    .map(u64::from)
                    .ok_or(BadBody::Chunk)?;
                if digits >= 15 {
                    return Err(BadBody::Chunk);
                }
                Chunk::Size {
                    size: size * 16 + digit,
                    digits: digits + 1,
                }
            }
            (Chunk::Size { size, digits: 1.. }, b'\r') => Chunk::SizeLineFeed { size },
            (Chunk::Size { size, digits: 1.. }, b';') => Chunk::Extension { size },
            (Chunk::Extension { size }, b'\r') => Chunk::SizeLineFeed { size },
            (Chunk::Extension { size }, b'\t' | b' '..=b'~' | 0x80..)
                if self.framing_bytes < CHUNK_LINE_LIMIT_BYTES =>
            {
                Chunk::Extension { size }
            }
            (Chunk::SizeLineFeed { size }, b'\n') => {
                self.framing_bytes = 0;
                if size == 0 {
                    Chunk::TrailerStart
                } else {
                    Chunk::Data { rest: size }
                }
            }
            (Chunk::DataReturn, b'\r') => Chunk::DataLineFeed,
            (Chunk::DataLineFeed, b'\n') => {
                self.framing_bytes = 0;
                SIZE
            }
            (Chunk::TrailerStart, b'\r') => Chunk::LastLineFeed,
            (Chunk::TrailerLine { colon: true }, b'\r') => Chunk::TrailerLineFeed,
            (Chunk::TrailerLineFeed, b'\n') => Chunk::TrailerStart,
            (Chunk::LastLineFeed, b'\n') => return Ok(State::Done),
            (Chunk::TrailerStart, b'!'..=b'9' | b';'..=b'~') => Chunk::TrailerLine { colon: false },
            (Chunk::TrailerLine { colon }, b'\t' | b' '..=b'~' | 0x80..)
                if self.framing_bytes < TRAILERS_LIMIT_BYTES =>
            {
                Chunk::TrailerLine {
                    colon: colon || byte == b':',
                }
            }
            (Chunk::TrailerLine { .. }, _) if self.framing_bytes >= TRAILERS_LIMIT_BYTES => {
                return Err(BadBody::TrailersTooLarge);
            }
            _ => return Err(BadBody::Chunk),
        };
        Ok(State::Chunk(next))
    }
}

/// Moves up to `rest` bytes; what is still missing.
fn take(rest: u64, input: &mut Buffer, out: &mut Vec<u8>) -> u64 {
    let count = usize::try_from(rest).unwrap_or(usize::MAX).min(input.len());
    out.extend_from_slice(input.bytes().get(..count).unwrap_or_default());
    input.consume(count);
    rest - count as u64
}
