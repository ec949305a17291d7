//! One spelling for all names that some file system takes for the same.
//!
//! # Threat
//! A name that no rule knows here, and that is a known one where the file is used: `.BASHRC` and
//! `.ba\u{17f}hrc` where case is folded, `.bash\u{200c}rc` where invisible characters are left
//! out, `.bashrc.` and `.bashrc::$DATA` where a Windows file system finishes the name.
//!
//! # Limits
//! The short names that FAT and NTFS give to long ones (`BASHRC~1`) aren't followed, except those
//! of `.git`, which have a rule of their own. Names that only look alike aren't the same.

use crate::untrusted::is_unseen;
use std::borrow::Cow;

/// A stream of an NTFS file: what comes behind it isn't part of the name.
const STREAM: &[u8] = b"::$";

/// `name` as rules are written. Nothing in it but what a file system may tell apart.
pub(super) fn folded(name: &[u8]) -> Cow<'_, [u8]> {
    if name.is_ascii() {
        let name = finished(name);
        let is_small = !name.iter().any(u8::is_ascii_uppercase);
        return if is_small { name.into() } else { name.to_ascii_lowercase().into() };
    }
    let text = String::from_utf8_lossy(name);
    let seen = text.chars().filter(|c| !is_unseen(*c));
    // There and back: the capital of `ſ` is `S`, and the small Kelvin sign is `k`.
    let small: String = seen
        .flat_map(char::to_lowercase)
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect();
    Cow::Owned(finished(small.as_bytes()).to_vec())
}

/// The name without what Windows takes off its end.
fn finished(name: &[u8]) -> &[u8] {
    let end = name.windows(STREAM.len()).position(|part| part == STREAM);
    let name = &name[..end.unwrap_or(name.len())];
    let kept = name.iter().rposition(|byte| !matches!(byte, b'.' | b' '));
    // A name of dots is not the one before them.
    kept.map_or(name, |last| &name[..=last])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_spelling_of_a_name_is_one() {
        for name in [
            ".bashrc",
            ".BashRC",
            ".bashrc.",
            ".bashrc . .",
            ".bashrc::$DATA",
            ".ba\u{17f}hrc",
            ".bash\u{200c}rc",
            "\u{feff}.bashrc",
            ".BA\u{17f}HRC\u{e0001}. ",
        ] {
            assert_eq!(&*folded(name.as_bytes()), b".bashrc", "{name:?}");
        }
        assert_eq!(&*folded("ma\u{212a}efile".as_bytes()), b"makefile");
        assert_eq!(&*folded("\u{fb01}le".as_bytes()), b"file");
    }

    #[test]
    fn other_names_stay_others() {
        for name in [".bash rc", ".bash.rc", ".bashrc:x", "bashrc", " .bashrc", ".bashrç"] {
            assert_ne!(&*folded(name.as_bytes()), b".bashrc", "{name:?}");
        }
        assert_eq!(&*folded(b"..."), b"...");
        assert!(folded(b".bash\xffrc") != &b".bashrc"[..]);
    }

    proptest! {
        #[test]
        fn a_folded_name_is_folded(name in prop::collection::vec(any::<u8>(), 0..24)) {
            let once = folded(&name).into_owned();
            prop_assert_eq!(&*folded(&once), &*once);
        }

        #[test]
        fn so_is_a_name_of_characters(name in "\\PC{0,12}") {
            let once = folded(name.as_bytes()).into_owned();
            prop_assert_eq!(&*folded(&once), &*once, "{:?}", name);
        }
    }
}
