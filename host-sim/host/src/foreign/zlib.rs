//! `compress` and `uncompress`: the format of zlib, at zlib's own level.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;

use crate::abi::Status;

/// Most bytes that come out. In Envoy only memory ends it; here the guest's memory is 1 GiB, and what
/// does not fit into half of it the guest could not have used.
const UNCOMPRESSED_LIMIT: u64 = 512 * 1024 * 1024;

/// Compresses.
pub(crate) fn compress(bytes: &[u8]) -> Result<Vec<u8>, Status> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.map_err(|_| Status::SerializationFailure)
}

/// The opposite; what follows the end of the data is left alone.
pub(crate) fn uncompress(bytes: &[u8]) -> Result<Vec<u8>, Status> {
    let mut out = Vec::new();
    let read = ZlibDecoder::new(bytes)
        .take(UNCOMPRESSED_LIMIT + 1)
        .read_to_end(&mut out);
    match read {
        Ok(length) if length as u64 <= UNCOMPRESSED_LIMIT => Ok(out),
        _ => Err(Status::SerializationFailure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_compressed_comes_back() {
        for bytes in [&b""[..], b"hello hello hello", &[b'a'; 300_000]] {
            let small = compress(bytes).unwrap();
            assert_eq!(uncompress(&small).unwrap(), bytes);
            assert_eq!(uncompress(&[&small[..], b"xx"].concat()).unwrap(), bytes);
        }
    }

    /// As Envoy's own came out.
    #[test]
    fn the_bytes_are_zlibs() {
        assert_eq!(
            compress(b"hello").unwrap(),
            b"x\x9c\xcbH\xcd\xc9\xc9\x07\x00\x06,\x02\x15"
        );
        assert_eq!(
            compress(b"hello hello hello hello").unwrap(),
            b"x\x9c\xcbH\xcd\xc9\xc9W\xc8@'\x01h\x03\x08\xb1"
        );
        assert_eq!(compress(b"").unwrap(), b"x\x9c\x03\x00\x00\x00\x00\x01");
    }

    #[test]
    fn junk_and_cut_data_are_refused() {
        let small = compress(b"hello hello").unwrap();
        for bytes in [&b""[..], b"junkjunk", &small[..small.len() - 3]] {
            assert_eq!(uncompress(bytes), Err(Status::SerializationFailure));
        }
    }
}
