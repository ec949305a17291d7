//! The type of a file by its first bytes, in a word or two.
//!
//! For people who look at a list: a guess from what the program wrote, and nothing is decided by
//! it. Text has no word, because it is shown.

/// Bytes that are enough to tell.
pub(crate) const HEAD: usize = 512;

/// The word for a file that holds what is not text and not known.
pub(crate) const BINARY: &str = "binary";

/// Where a mark stands, what it is, and what it says.
const MARKS: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "PNG image"),
    (0, b"\xff\xd8\xff", "JPEG image"),
    (0, b"GIF87a", "GIF image"),
    (0, b"GIF89a", "GIF image"),
    (8, b"WEBP", "WebP image"),
    (8, b"WAVE", "WAV audio"),
    (8, b"AVI ", "AVI video"),
    (0, b"BM", "BMP image"),
    (0, b"II*\0", "TIFF image"),
    (0, b"MM\0*", "TIFF image"),
    (0, b"\0\0\x01\0", "icon"),
    (0, b"%PDF-", "PDF document"),
    (0, b"PK\x03\x04", "ZIP archive"),
    (0, b"PK\x05\x06", "ZIP archive"),
    (0, b"\x1f\x8b", "gzip archive"),
    (0, b"BZh", "bzip2 archive"),
    (0, b"\xfd7zXZ\0", "xz archive"),
    (0, b"\x28\xb5\x2f\xfd", "Zstandard archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (0, b"Rar!\x1a\x07", "RAR archive"),
    (257, b"ustar", "tar archive"),
    (0, b"SQLite format 3\0", "SQLite database"),
    (0, b"\x7fELF", "ELF program"),
    (0, b"\xfe\xed\xfa", "Mach-O program"),
    (0, b"\xcf\xfa\xed\xfe", "Mach-O program"),
    (0, b"\xca\xfe\xba\xbe", "Java class"),
    (0, b"\0asm", "WebAssembly module"),
    (0, b"MZ", "Windows program"),
    (0, b"!<arch>\n", "static library"),
    (0, b"OggS", "Ogg audio"),
    (0, b"fLaC", "FLAC audio"),
    (0, b"ID3", "MP3 audio"),
    (4, b"ftyp", "MP4 video"),
    (0, b"\x1aE\xdf\xa3", "Matroska video"),
    (0, b"wOFF", "web font"),
    (0, b"wOF2", "web font"),
    (0, b"PAR1", "Parquet table"),
    (0, b"ARROW1", "Arrow table"),
    (0, b"\x93NUMPY", "NumPy array"),
    (0, b"\x89HDF\r\n\x1a\n", "HDF5 data"),
    (0, b"\x80\x04\x95", "Python pickle"),
    (0, b"DIRC", "Git index"),
    (0, b"PACK", "Git pack"),
];

/// The type of a file of `size` bytes that begins with `head`, or `None` for text.
pub(crate) fn holds(head: &[u8], size: u64) -> Option<&'static str> {
    if is_text(head, size) {
        return None;
    }
    let marked = |(at, mark, _): &&(usize, &[u8], &str)| {
        head.get(*at..).is_some_and(|rest| rest.starts_with(mark))
    };
    Some(MARKS.iter().find(marked).map_or(BINARY, |(_, _, word)| word))
}

/// Whether the beginning is text. A character that the cut has split does not count against it.
fn is_text(head: &[u8], size: u64) -> bool {
    let cut = size > head.len() as u64;
    let text = match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => cut && error.error_len().is_none(),
    };
    text && !head.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(head: &[u8]) -> Option<&'static str> {
        holds(head, head.len() as u64)
    }

    #[test]
    fn what_is_known_has_a_word() {
        assert_eq!(of(b"\x89PNG\r\n\x1a\n\0\0"), Some("PNG image"));
        assert_eq!(of(b"SQLite format 3\0\x10\0"), Some("SQLite database"));
        assert_eq!(of(b"\x7fELF\x02\x01\x01\0"), Some("ELF program"));
        assert_eq!(of(b"RIFF\0\0\0\0WEBPVP8 "), Some("WebP image"));
        let mut tar = vec![0; 512];
        tar[257..262].copy_from_slice(b"ustar");
        assert_eq!(of(&tar), Some("tar archive"));
    }

    #[test]
    fn text_has_none_even_if_it_begins_like_something() {
        for text in ["", "BM is a mark", "MZ", "PK and more", "ünïcödé"] {
            assert_eq!(of(text.as_bytes()), None, "{text}");
        }
        assert_eq!(holds("ü".as_bytes().split_at(1).0, 2), None);
        assert_eq!(of(b"\xc3"), Some(BINARY));
        assert_eq!(of(b"a\0b"), Some(BINARY));
    }
}
