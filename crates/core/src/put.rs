//! A file that a person stages by themselves, and the names that it may have.
//!
//! # Threat
//! A client that names a path outside of the work folder, a name that is shown as another, or one
//! that means something else to a program that reads it later.
//!
//! # Mechanism
//! A name is accepted as it stands or refused; nothing is repaired. Each part is looked at by
//! itself. Whoever writes it has to look at what is on the disk there.

use serde::{Deserialize, Serialize};

/// Bytes of a name, and of each of its parts.
const LONGEST: usize = 1_024;
const LONGEST_PART: usize = 255;

/// Parts of a name.
const MOST_PARTS: usize = 32;

/// The content of a file, without its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PutContent {
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// A file that is to be staged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePut {
    /// Its path in the work folder, as [`unfit_name`] lets it pass.
    pub path: String,
    /// Its content.
    pub content: PutContent,
}

/// Why a path cannot be that of a file in the work folder; nothing if it can.
pub fn unfit_name(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("a file needs a name");
    }
    if path.len() > LONGEST {
        return Some("the name is too long");
    }
    if path.starts_with('/') {
        return Some("the name must be relative to the work folder");
    }
    if path.split('/').count() > MOST_PARTS {
        return Some("the name has too many folders");
    }
    path.split('/').find_map(unfit_part)
}

fn unfit_part(part: &str) -> Option<&'static str> {
    if part.is_empty() || part == "." || part == ".." {
        return Some("a part of the name is empty, `.` or `..`");
    }
    if part.len() > LONGEST_PART {
        return Some("a part of the name is too long");
    }
    // A backslash is a separator elsewhere, and begins an escape in our own lists.
    part.chars().any(|c| c.is_control() || c == '\\' || is_invisible(c)).then_some(
        "the name has a backslash, a control character or one that changes the direction of text",
    )
}

/// Whether a character changes how others are shown, and is not seen itself.
pub fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::path::{Component, Path};

    #[test]
    fn a_name_is_relative_and_leads_nowhere_else() {
        for fit in ["a", "data.csv", "a/b c/ä.txt", ".hidden", "..a", "a..", "...", "a%2e%2e"] {
            assert_eq!(unfit_name(fit), None, "{fit}");
        }
        let long = "a".repeat(256);
        let deep = "a/".repeat(32) + "a";
        for unfit in [
            "",
            "/",
            "/a",
            "..",
            ".",
            "../a",
            "a/../b",
            "a/..",
            "./a",
            "a/./b",
            "a//b",
            "a/",
            "a\0",
            "a\nb",
            "\u{7f}",
            "a\u{202e}b",
            "a\\b",
            "..\\a",
            "\\x2e\\x2e/a",
            "C:\\a",
            &long,
            &deep,
        ] {
            assert!(unfit_name(unfit).is_some(), "{unfit:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_passes_has_only_names(path in ".{0,40}") {
            if unfit_name(&path).is_none() {
                let is_name = |part| matches!(part, Component::Normal(_));
                prop_assert!(Path::new(&path).components().all(is_name));
                prop_assert_eq!(Path::new(&path).components().count(), path.split('/').count());
            }
        }
    }
}
