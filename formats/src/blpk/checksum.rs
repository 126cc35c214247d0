//! The nine checksums of chunks and metadata.

use super::error::{Checked, Error, Result};
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

/// A checksum, by its identifier in the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Checksum {
    /// No digest is stored.
    None = 0,
    /// Adler-32, little-endian.
    Adler32 = 1,
    /// CRC-32 of zlib, little-endian.
    Crc32 = 2,
    /// MD5.
    Md5 = 3,
    /// SHA-1.
    Sha1 = 4,
    /// SHA-224.
    Sha224 = 5,
    /// SHA-256.
    Sha256 = 6,
    /// SHA-384.
    Sha384 = 7,
    /// SHA-512.
    Sha512 = 8,
}

/// The initial value of Adler-32.
const ADLER32_START: u32 = 1;
/// The initial value of CRC-32.
const CRC32_START: u32 = 0;

impl Checksum {
    /// All checksums, in the order of their identifiers.
    pub const ALL: [Checksum; 9] = [
        Checksum::None,
        Checksum::Adler32,
        Checksum::Crc32,
        Checksum::Md5,
        Checksum::Sha1,
        Checksum::Sha224,
        Checksum::Sha256,
        Checksum::Sha384,
        Checksum::Sha512,
    ];

    /// Returns the checksum with this identifier.
    ///
    /// # Errors
    /// [`Error::ChecksumId`] for an unknown identifier.
    pub fn from_id(id: u8) -> Result<Checksum> {
        let found = Checksum::ALL.get(usize::from(id));
        found.copied().ok_or(Error::ChecksumId(id))
    }

    /// Returns the identifier in the format.
    pub const fn id(self) -> u8 {
        self as u8
    }

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Checksum::None => "None",
            Checksum::Adler32 => "adler32",
            Checksum::Crc32 => "crc32",
            Checksum::Md5 => "md5",
            Checksum::Sha1 => "sha1",
            Checksum::Sha224 => "sha224",
            Checksum::Sha256 => "sha256",
            Checksum::Sha384 => "sha384",
            Checksum::Sha512 => "sha512",
        }
    }

    /// Returns the checksum with this name, which is case-sensitive.
    pub fn from_name(name: &str) -> Option<Checksum> {
        Checksum::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Returns the size of a digest in bytes.
    pub const fn size(self) -> usize {
        match self {
            Checksum::None => 0,
            Checksum::Adler32 | Checksum::Crc32 => 4,
            Checksum::Md5 => 16,
            Checksum::Sha1 => 20,
            Checksum::Sha224 => 28,
            Checksum::Sha256 => 32,
            Checksum::Sha384 => 48,
            Checksum::Sha512 => 64,
        }
    }

    /// Returns the digest of `bytes`, in its stored form.
    pub fn digest(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Checksum::None => Vec::new(),
            Checksum::Adler32 => {
                zlib_rs::adler32::adler32(ADLER32_START, bytes).to_le_bytes().to_vec()
            }
            Checksum::Crc32 => zlib_rs::crc32::crc32(CRC32_START, bytes).to_le_bytes().to_vec(),
            Checksum::Md5 => Md5::digest(bytes).to_vec(),
            Checksum::Sha1 => Sha1::digest(bytes).to_vec(),
            Checksum::Sha224 => Sha224::digest(bytes).to_vec(),
            Checksum::Sha256 => Sha256::digest(bytes).to_vec(),
            Checksum::Sha384 => Sha384::digest(bytes).to_vec(),
            Checksum::Sha512 => Sha512::digest(bytes).to_vec(),
        }
    }

    /// Compares the digest of `bytes` with the stored one.
    ///
    /// # Errors
    /// [`Error::Checksum`], with both digests.
    pub(super) fn verify(self, bytes: &[u8], stored: &[u8], what: Checked) -> Result<()> {
        let received = self.digest(bytes);
        if received == stored {
            return Ok(());
        }
        Err(Error::Checksum { what, expected: stored.to_vec(), received })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a chunk of 16 ascending bytes.
    fn chunk() -> Vec<u8> {
        let mut chunk = vec![2, 1, 0x13, 8, 16, 0, 0, 0, 16, 0, 0, 0, 32, 0, 0, 0];
        chunk.extend(0..16);
        chunk
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn digests_match_published_values() {
        for (checksum, digest) in [
            (Checksum::None, ""),
            (Checksum::Adler32, "d700090c"),
            (Checksum::Crc32, "ea3b04e9"),
            (Checksum::Md5, "9abae25ecfa253a09e0749136baf2006"),
            (Checksum::Sha1, "28b7524eac677c3bc7bde76c903bb457c6f92e59"),
        ] {
            assert_eq!(hex(&checksum.digest(&chunk())), digest, "{checksum:?}");
        }
    }

    #[test]
    fn numbers_names_and_sizes_agree() {
        let sizes = [0, 4, 4, 16, 20, 28, 32, 48, 64];
        for (id, size) in sizes.into_iter().enumerate() {
            let checksum = Checksum::from_id(id as u8).unwrap();
            assert_eq!(usize::from(checksum.id()), id);
            assert_eq!(checksum.size(), size);
            assert_eq!(checksum.digest(b"any").len(), size);
            assert_eq!(Checksum::from_name(checksum.name()), Some(checksum));
        }
        assert!(matches!(Checksum::from_id(9), Err(Error::ChecksumId(9))));
        assert_eq!(Checksum::from_name("Adler32"), None);
    }
}
