//! Paths below the work folder, as bytes, and their one text.
//!
//! A path here has no empty part, no `.` and no `..`: it is built from names that a folder
//! listed, or parsed with those refused. It can therefore not lead out of the folder, as long as
//! no part of it is followed as a link, which is `folder.rs`'s business.

use interpreter_core::LeftOut;
use serde::{Deserialize, Serialize};
use std::{
    cmp::Ordering,
    ffi::{OsStr, OsString},
    fmt::Write,
    os::unix::ffi::{OsStrExt, OsStringExt},
    path::PathBuf,
};

/// A path below the work folder. The empty path is the folder itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub(crate) struct Relative(Vec<u8>);

impl Relative {
    /// The work folder itself.
    pub(crate) fn root() -> Self {
        Self::default()
    }

    /// Parses `text`, or returns `None` if it would lead out.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.starts_with('/') {
            return None;
        }
        let bytes = bytes_of(text);
        let mut path = Self::root();
        for part in bytes.split(|&byte| byte == b'/') {
            match part {
                b"" | b"." => {}
                b".." => return None,
                part if part.contains(&0) => return None,
                part => path = path.join(OsStr::from_bytes(part)),
            }
        }
        Some(path)
    }

    /// A part of a path that is one already.
    pub(crate) fn of(path: &OsStr) -> Self {
        Self(path.as_bytes().to_vec())
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The path of `name` in this folder. `name` is one that a folder listed.
    pub(crate) fn join(&self, name: &OsStr) -> Self {
        let mut bytes = Vec::with_capacity(self.0.len() + 1 + name.len());
        bytes.extend_from_slice(&self.0);
        if !bytes.is_empty() {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(name.as_bytes());
        Self(bytes)
    }

    /// The path `inner` below this one.
    pub(crate) fn under(&self, inner: &Self) -> Self {
        inner.parts().fold(self.clone(), |path, name| path.join(name))
    }

    /// The folder that this is in; the root is in itself.
    pub(crate) fn parent(&self) -> Self {
        let end = self.0.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
        Self(self.0[..end].to_vec())
    }

    /// The last part; empty for the root.
    pub(crate) fn name(&self) -> &OsStr {
        let start = self.0.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
        OsStr::from_bytes(&self.0[start..])
    }

    /// The parts, from the top.
    pub(crate) fn parts(&self) -> impl Iterator<Item = &OsStr> {
        self.0.split(|&byte| byte == b'/').filter(|part| !part.is_empty()).map(OsStr::from_bytes)
    }

    /// The folders that this is in, from the nearest up, without the root.
    pub(crate) fn ancestors(&self) -> impl Iterator<Item = Self> {
        let mut next = self.parent();
        std::iter::from_fn(move || {
            let above = next.parent();
            let this = std::mem::replace(&mut next, above);
            (!this.is_root()).then_some(this)
        })
    }

    /// Whether this is `folder` or something below it.
    pub(crate) fn is_within(&self, folder: &Self) -> bool {
        folder.is_root()
            || self
                .0
                .strip_prefix(folder.0.as_slice())
                .is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }

    /// Whether this is the work folder itself.
    pub(crate) fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// How many bytes it has.
    pub(crate) fn length(&self) -> usize {
        self.0.len()
    }

    /// The same with a slash behind it, as the path of a folder.
    pub(crate) fn as_folder(&self) -> PathBuf {
        PathBuf::from(OsString::from_vec([&*self.0, b"/"].concat()))
    }

    pub(crate) fn text(&self) -> String {
        text_of(&self.0)
    }

    /// It as something that is left as it is, for this reason.
    pub(crate) fn left_out(&self, why: impl Into<String>) -> LeftOut {
        LeftOut { path: self.text(), why: why.into(), masked: Vec::new() }
    }
}

/// By parts, so that all of a folder's content comes right after the folder.
impl Ord for Relative {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().cmp(other.parts())
    }
}

impl PartialOrd for Relative {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<Relative> for String {
    fn from(path: Relative) -> Self {
        path.text()
    }
}

impl TryFrom<String> for Relative {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or("the path leads out of the work folder")
    }
}

/// The one text of `bytes`: UTF-8 as it is, other bytes as `\xNN`.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        for (at, c) in valid.char_indices() {
            if c == '\\' && escaped_byte(&valid.as_bytes()[at..]).is_some() {
                text.push_str("\\x5c");
            } else {
                text.push(c);
            }
        }
        for byte in chunk.invalid() {
            write!(text, "\\x{byte:02x}").expect("writing to a string cannot fail");
        }
    }
    text
}

/// The bytes whose text is `text`.
pub(crate) fn bytes_of(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some(&first) = rest.first() {
        if let Some(byte) = escaped_byte(rest) {
            bytes.push(byte);
            rest = &rest[4..];
        } else {
            bytes.push(first);
            rest = &rest[1..];
        }
    }
    bytes
}

/// The byte that `\xNN` at the start of `text` stands for.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    let [b'\\', b'x', high, low, ..] = text else { return None };
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    Some(digit(*high)? << 4 | digit(*low)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(text: &str) -> Relative {
        Relative::parse(text).unwrap()
    }

    #[test]
    fn a_path_cannot_lead_out() {
        assert_eq!(Relative::parse("a/../../b"), None);
        assert_eq!(Relative::parse("/etc/passwd"), None);
        assert_eq!(Relative::parse(r"a/\x2e\x2e/b"), None);
        assert_eq!(Relative::parse(r"a\x00"), None);
        assert_eq!(path("./a//b/").text(), "a/b");
        assert_eq!(path("..a/...").text(), "..a/...");
    }

    #[test]
    fn what_is_in_a_folder_comes_right_after_it() {
        let mut paths = [path("a-b"), path("a/c"), path("a"), path("a/c/d")];
        paths.sort();
        assert_eq!(paths.map(|path| path.text()), ["a", "a/c", "a/c/d", "a-b"]);
    }

    #[test]
    fn ancestors_go_up_without_the_root() {
        let texts: Vec<_> = path("a/b/c").ancestors().map(|path| path.text()).collect();
        assert_eq!(texts, ["a/b", "a"]);
        assert!(path("a/b").is_within(&path("a")) && !path("ab").is_within(&path("a")));
        assert_eq!((path("a/b").name(), path("a").parent()), (OsStr::new("b"), Relative::root()));
    }

    #[test]
    fn bytes_that_are_not_text_are_spelled_out() {
        assert_eq!(text_of(b"a\xffb\\x41\\y"), r"a\xffb\x5cx41\y");
    }

    proptest! {
        #[test]
        fn every_name_has_one_text(bytes in prop::collection::vec(
            prop_oneof![any::<u8>(), Just(b'\\'), Just(b'x'), Just(b'5'), Just(b'c')], 0..40,
        )) {
            prop_assert_eq!(bytes_of(&text_of(&bytes)), bytes);
        }
    }
}
