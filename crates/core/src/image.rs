//! A picture that is shown to a model.
//!
//! The bytes of an image decide its type, not its label. The record names it by its hash; the bytes
//! are with the output that it came from, or stored beside the record.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use std::{fmt, sync::Arc};

/// The largest picture that is sent, in bytes: some providers refuse more.
pub const MOST_BYTES: usize = 4 << 20;

/// Why bytes are no picture.
pub(crate) const NO_PICTURE: &str =
    "it is not a PNG, JPEG, GIF or WebP image, or its beginning is damaged";

/// The most tokens that a picture is reckoned at: providers scale down what is larger.
const MOST_TOKENS: u64 = 1_600;

/// A picture.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// Its kind, such as `image/png`.
    pub mime: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub hash: String,
    /// Its width in pixels.
    pub width: u32,
    /// Its height in pixels.
    pub height: u32,
    /// Its bytes, as base64. Not in the record.
    #[serde(skip)]
    data: Arc<str>,
}

impl Image {
    /// The picture that these bytes are; otherwise why they are none that can be sent.
    pub fn new(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > MOST_BYTES {
            return Err(format!("it is larger than {} MiB", MOST_BYTES >> 20));
        }
        let (mime, width, height) = kind(bytes).ok_or(NO_PICTURE)?;
        let hash = crate::hash::sha256(bytes);
        let data = STANDARD.encode(bytes).into();
        Ok(Self { mime: mime.into(), hash, width, height, data })
    }

    /// The same, for bytes that are written as base64.
    pub fn decode(base64: &str) -> Result<Self, String> {
        if base64.len() / 4 * 3 > MOST_BYTES + 3 {
            return Err(format!("it is larger than {} MiB", MOST_BYTES >> 20));
        }
        // Python's encoders break lines.
        let plain: String = base64.split_ascii_whitespace().collect();
        let bytes = STANDARD.decode(plain).map_err(|_| "it is not base64")?;
        Self::new(&bytes)
    }

    /// Its bytes, as base64.
    pub fn data(&self) -> &str {
        &self.data
    }

    /// The whole picture as a URL, which some formats want.
    pub fn data_url(&self) -> String {
        format!("data:{};base64,{}", self.mime, self.data)
    }

    /// About how many tokens it takes: one for 750 pixels, which is what providers that tell reckon
    /// with.
    pub fn tokens(&self) -> u64 {
        (u64::from(self.width) * u64::from(self.height) / 750).clamp(85, MOST_TOKENS)
    }

    /// A description of it, for models without image support.
    pub fn words(&self) -> String {
        format!("{}, {} × {} pixels", self.mime, self.width, self.height)
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({}, {})", self.words(), self.hash.get(..12).unwrap_or(&self.hash))
    }
}

/// The kind, width and height of a picture, by its first bytes.
pub(crate) fn kind(bytes: &[u8]) -> Option<(&'static str, u32, u32)> {
    let (mime, width, height) = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        ("image/png", big(bytes, 16, 4)?, big(bytes, 20, 4)?)
    } else if bytes.starts_with(b"GIF8") {
        ("image/gif", little(bytes, 6, 2)?, little(bytes, 8, 2)?)
    } else if bytes.starts_with(b"\xff\xd8\xff") {
        let (width, height) = jpeg(bytes)?;
        ("image/jpeg", width, height)
    } else if bytes.starts_with(b"RIFF") && bytes.get(8..12)? == b"WEBP" {
        let (width, height) = webp(bytes)?;
        ("image/webp", width, height)
    } else {
        return None;
    };
    (width > 0 && height > 0).then_some((mime, width, height))
}

fn big(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    let of = |all: u32, &byte: &u8| (all << 8) | u32::from(byte);
    Some(bytes.get(at..at + count)?.iter().fold(0, of))
}

fn little(bytes: &[u8], at: usize, count: usize) -> Option<u32> {
    let of = |all: u32, &byte: &u8| (all << 8) | u32::from(byte);
    Some(bytes.get(at..at + count)?.iter().rev().fold(0, of))
}

/// Goes from segment to segment to the one that begins the frame.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let [0xff, marker] = *bytes.get(at..at + 2)? else { return None };
        match marker {
            // Padding, and markers without content.
            0xff => at += 1,
            0x01 | 0xd0..=0xd7 => at += 2,
            0xc0..=0xcf if !matches!(marker, 0xc4 | 0xc8 | 0xcc) => {
                return Some((big(bytes, at + 7, 2)?, big(bytes, at + 5, 2)?));
            }
            _ => at += 2 + usize::try_from(big(bytes, at + 2, 2)?).ok()?.max(2),
        }
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((little(bytes, 24, 3)? + 1, little(bytes, 27, 3)? + 1)),
        b"VP8L" => {
            let both = little(bytes, 21, 4)?;
            Some(((both & 0x3fff) + 1, ((both >> 14) & 0x3fff) + 1))
        }
        b"VP8 " => Some((little(bytes, 26, 2)? & 0x3fff, little(bytes, 28, 2)? & 0x3fff)),
        _ => None,
    }
}

/// A red square of 32 pixels.
#[cfg(test)]
pub(crate) const RED: &str = "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkAAAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn size(bytes: &[u8]) -> Option<(String, u32, u32)> {
        Image::new(bytes).ok().map(|image| (image.mime, image.width, image.height))
    }

    #[test]
    fn pictures_are_known_by_their_bytes() {
        let red = Image::decode(&format!("{}\n{}\n", &RED[..40], &RED[40..])).unwrap();
        assert_eq!((red.mime.as_str(), red.width, red.height), ("image/png", 32, 32));
        assert_eq!(red.data(), RED);
        let gif = b"GIF89a\x40\x01\xf0\x00rest";
        assert_eq!(size(gif), Some(("image/gif".into(), 320, 240)));
        let jpeg = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc2\x00\x11\x08\x01\x02\x03\x04rest";
        assert_eq!(size(jpeg), Some(("image/jpeg".into(), 0x304, 0x102)));
        let webp = b"RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0\x3f\x01\0\xef\0\0";
        assert_eq!(size(webp), Some(("image/webp".into(), 320, 240)));
        for other in [&b"<svg/>"[..], b"", b"\xff\xd8\xff", b"GIF89a", b"\x89PNG\r\n\x1a\n", b"BM"]
        {
            assert_eq!(size(other), None, "{other:?}");
        }
    }

    #[test]
    fn what_is_too_large_is_none() {
        let mut bytes = STANDARD.decode(RED).unwrap();
        bytes.resize(MOST_BYTES + 1, 0);
        assert_eq!(Image::new(&bytes).unwrap_err(), "it is larger than 4 MiB");
        assert_eq!(Image::decode(&STANDARD.encode(&bytes)).unwrap_err(), "it is larger than 4 MiB");
    }

    #[test]
    fn the_record_has_its_hash_and_not_its_bytes() {
        let red = Image::decode(RED).unwrap();
        let json = serde_json::to_string(&red).unwrap();
        assert!(json.contains(&red.hash) && !json.contains(&RED[..20]), "{json}");
        let back: Image = serde_json::from_str(&json).unwrap();
        assert_eq!((back.hash, back.data.len()), (red.hash, 0));
    }

    #[test]
    fn a_picture_is_reckoned_by_its_size() {
        let of = |width, height| Image { width, height, ..Image::decode(RED).unwrap() }.tokens();
        assert_eq!((of(32, 32), of(640, 480), of(u32::MAX, u32::MAX)), (85, 409, 1_600));
    }

    proptest! {
        #[test]
        fn anything_may_come(mut bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0..5_usize) {
            let heads: [&[u8]; 5] =
                [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8 "];
            bytes.splice(0..0, heads[at].iter().copied());
            if let Ok(image) = Image::new(&bytes) {
                prop_assert!(image.tokens() <= MOST_TOKENS);
            }
        }
    }
}
