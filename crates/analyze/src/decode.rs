//! Undoes the encodings in which code hides code: base64, hexadecimal, rot13, zlib.
//!
//! Bytes are held as text, one character for each byte, so that a chain of encodings can be undone
//! before the text comes out. Everything is bounded: what is longer than [`MOST`] is not decoded.

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde::Deserialize;

/// Most bytes that are decoded, and that decoding may give.
const MOST: usize = 256 * 1024;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_allow_trailing_bits(true)
    .with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// An encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Encoding {
    Base64,
    Hex,
    Rot13,
    Zlib,
}

impl Encoding {
    /// The encoding that a program or a library calls by this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
            "base64" | "base64url" | "b64" => Some(Self::Base64),
            "hex" | "hexcodec" => Some(Self::Hex),
            "rot13" => Some(Self::Rot13),
            "zlib" | "zip" | "gzip" => Some(Self::Zlib),
            _ => None,
        }
    }

    /// The text under an encoding.
    pub(crate) fn undo(self, text: &str) -> Option<String> {
        if text.len() > MOST {
            return None;
        }
        match self {
            Self::Base64 => {
                let plain: String = text.chars().filter(|c| !c.is_whitespace()).collect();
                let bytes = STANDARD.decode(&plain).or_else(|_| URL_SAFE.decode(&plain)).ok()?;
                Some(from_bytes(&bytes))
            }
            Self::Hex => {
                let digits: Vec<u32> = text
                    .chars()
                    .filter(|c| !c.is_whitespace())
                    .map(|c| c.to_digit(16))
                    .collect::<Option<_>>()?;
                let (pairs, rest) = digits.as_chunks::<2>();
                let byte = |[high, low]: &[u32; 2]| u8::try_from(high * 16 + low).ok();
                let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
                rest.is_empty().then_some(())?;
                Some(from_bytes(&bytes?))
            }
            Self::Rot13 => Some(text.chars().map(rotated).collect()),
            Self::Zlib => {
                use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit as inflate;
                let bytes: Option<Vec<u8>> =
                    text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
                Some(from_bytes(&inflate(&bytes?, MOST).ok()?))
            }
        }
    }
}

/// Bytes as text: UTF-8 if they are that, otherwise a character for each.
pub(crate) fn from_bytes(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

fn rotated(c: char) -> char {
    let turn = |first: u8| {
        let at = u8::try_from(u32::from(c)).unwrap_or(first) - first;
        char::from(first + (at + 13) % 26)
    };
    match c {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn encodings_are_undone() {
        for (encoding, text, plain) in [
            (Encoding::Base64, "cm0gLXJmIHg=", Some("rm -rf x")),
            (Encoding::Base64, "cm0gLXJmIHg", Some("rm -rf x")),
            (Encoding::Base64, "not base64!", None),
            (Encoding::Hex, "726d", Some("rm")),
            (Encoding::Hex, "72 6d\n", Some("rm")),
            (Encoding::Hex, "7", None),
            (Encoding::Rot13, "Uryyb, jbeyq", Some("Hello, world")),
            (Encoding::Zlib, "nothing", None),
        ] {
            assert_eq!(encoding.undo(text).as_deref(), plain, "{text}");
        }
    }

    #[test]
    fn compressed_text_comes_out_of_two_layers() {
        let compressed = miniz_oxide::deflate::compress_to_vec_zlib(b"import os", 6);
        let encoded = STANDARD.encode(compressed);
        let bytes = Encoding::Base64.undo(&encoded).unwrap();
        assert_eq!(Encoding::Zlib.undo(&bytes).as_deref(), Some("import os"));
    }

    #[test]
    fn nothing_grows_without_bound() {
        let bomb = miniz_oxide::deflate::compress_to_vec_zlib(&vec![0; 4 * MOST], 9);
        assert_eq!(Encoding::Zlib.undo(&from_bytes(&bomb)), None);
        assert_eq!(Encoding::Hex.undo(&"00".repeat(MOST)), None);
    }

    proptest! {
        #[test]
        fn any_text_can_be_tried(text in any::<String>()) {
            for encoding in [Encoding::Base64, Encoding::Hex, Encoding::Rot13, Encoding::Zlib] {
                encoding.undo(&text);
            }
        }
    }
}
