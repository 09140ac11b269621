//! The envelope of a link: version, length, checksum, deflated text, in the letters of base64url.
//!
//! Byte 0 is the version, bytes 1–3 the length of what follows the header, bytes 4–7 its CRC-32, both big-endian; then
//! raw deflate (RFC 1951).

use base64::{
    Engine,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use miniz_oxide::{deflate::compress_to_vec, inflate::decompress_to_vec_with_limit};

use super::LinkError;

/// What stands before the letters.
pub const PREFIX: &str = "#r=";

const VERSION: u8 = 1;
const HEADER: usize = 8;

/// Letters beyond these are read by nobody: a full link has 30,000.
const MOST_LETTERS: usize = 200_000;

/// No result's text is longer; what inflates beyond is a trap.
const MOST_TEXT: usize = 4 << 20;

/// Tolerates a cut: bits that the cut left over, and no padding.
const LETTERS: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The fragment that carries a text, with its `#`.
pub fn seal(text: &str) -> String {
    let packed = compress_to_vec(text.as_bytes(), 10);
    let mut bytes = Vec::with_capacity(HEADER + packed.len());
    bytes.push(VERSION);
    bytes.extend(&(packed.len() as u32).to_be_bytes()[1..]);
    bytes.extend(crc32fast::hash(&packed).to_be_bytes());
    bytes.extend(packed);
    let mut fragment = PREFIX.to_owned();
    LETTERS.encode_string(bytes, &mut fragment);
    fragment
}

/// The text in a link or fragment. What mail and chat programs add is passed over: white space where lines were wrapped,
/// signs behind the end.
pub fn open(link: &str) -> Result<String, LinkError> {
    let (_, after) = link.split_once(PREFIX).ok_or(LinkError::NoResult)?;
    let letters: String = after
        .chars()
        .filter(|c| !c.is_whitespace())
        .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        .take(MOST_LETTERS + 1)
        .collect();
    if letters.len() > MOST_LETTERS {
        return Err(LinkError::TooLong);
    }
    // One letter alone is no byte; only a cut leaves it.
    let whole = letters.len() - usize::from(letters.len() % 4 == 1);
    let bytes = LETTERS.decode(&letters[..whole]).map_err(|_| LinkError::Damaged)?;
    match bytes.first() {
        None => return Err(LinkError::NoResult),
        Some(&VERSION) => {}
        Some(&version) => return Err(LinkError::Version(version)),
    }
    let cut = |length: usize| LinkError::Cut {
        letters: letters.len(),
        of: ((HEADER + length) * 4).div_ceil(3),
    };
    let Some((header, packed)) = bytes.split_at_checked(HEADER) else {
        return Err(cut(0));
    };
    let length = u32::from_be_bytes([0, header[1], header[2], header[3]]) as usize;
    let packed = packed.get(..length).ok_or_else(|| cut(length))?;
    let checksum = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    if crc32fast::hash(packed) != checksum {
        return Err(LinkError::Damaged);
    }
    let text = decompress_to_vec_with_limit(packed, MOST_TEXT).map_err(|_| LinkError::Damaged)?;
    String::from_utf8(text).map_err(|_| LinkError::Damaged)
}
