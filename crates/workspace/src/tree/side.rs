//! One side of a change, as far as it can be shown.

use crate::tree::{
    folder::Walker,
    hunks::Hunks,
    magic,
    relative::Relative,
    stat::{Kind, PERMISSIONS, Stat},
};
use std::{
    io::{self, Read},
    time::Instant,
};

/// Bytes of a file that is shown line by line.
const LARGEST: u64 = 1 << 20;

/// The type of a file, as in its mode.
const FILE: u32 = 0o100_000;

/// One side of a change.
pub(crate) enum Side {
    Nothing,
    Folder { mode: u32 },
    Text { mode: u32, text: String },
    Opaque { mode: u32, size: u64, why: Opaque },
}

/// Why the content of a file is not shown.
#[derive(Clone, Copy)]
pub(crate) enum Opaque {
    /// It is not text, but this.
    Holds(&'static str),
    Large,
    /// It cannot be read, or is something else by now.
    Unreadable,
}

impl Opaque {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Holds(word) => word,
            Self::Large => "too large to show",
            Self::Unreadable => "unreadable",
        }
    }
}

impl Side {
    pub(crate) fn read(
        walker: &mut Walker<'_>,
        path: &Relative,
        stat: Option<&Stat>,
    ) -> io::Result<Self> {
        let Some(stat) = stat else { return Ok(Self::Nothing) };
        let bits = stat.mode & PERMISSIONS;
        Ok(match stat.kind {
            Kind::Folder => Self::Folder { mode: bits },
            Kind::Symlink => {
                let target = walker.at(path.parent())?.link_target(path.name())?;
                Self::of_bytes(0o120_000, target)
            }
            Kind::File => {
                let mode = FILE | bits;
                let opaque = |why| Self::Opaque { mode, size: stat.size, why };
                let Ok((file, _)) = walker.at(path.parent())?.open_file(path.name()) else {
                    return Ok(opaque(Opaque::Unreadable));
                };
                let mut bytes = Vec::new();
                if stat.size > LARGEST {
                    file.take(magic::HEAD as u64).read_to_end(&mut bytes)?;
                    let why = magic::holds(&bytes, stat.size).map_or(Opaque::Large, Opaque::Holds);
                    return Ok(opaque(why));
                }
                file.take(LARGEST).read_to_end(&mut bytes)?;
                Self::of_bytes(mode, bytes)
            }
            Kind::Whiteout | Kind::Pipe | Kind::Socket | Kind::Device => {
                Self::Opaque { mode: bits, size: stat.size, why: Opaque::Unreadable }
            }
        })
    }

    fn of_bytes(mode: u32, bytes: Vec<u8>) -> Self {
        let size = bytes.len() as u64;
        let head = &bytes[..bytes.len().min(magic::HEAD)];
        let why = Opaque::Holds(magic::holds(head, size).unwrap_or(magic::BINARY));
        match String::from_utf8(bytes) {
            Ok(text) if !text.contains('\0') => Self::Text { mode, text },
            Ok(_) | Err(_) => Self::Opaque { mode, size, why },
        }
    }

    pub(crate) fn mode(&self) -> Option<u32> {
        match self {
            Self::Nothing | Self::Folder { .. } => None,
            Self::Text { mode, .. } | Self::Opaque { mode, .. } => Some(*mode),
        }
    }

    pub(crate) fn size(&self) -> u64 {
        match self {
            Self::Nothing | Self::Folder { .. } => 0,
            Self::Text { text, .. } => text.len() as u64,
            Self::Opaque { size, .. } => *size,
        }
    }

    /// Why its content is not shown.
    pub(crate) fn opaque(&self) -> Option<Opaque> {
        match self {
            Self::Opaque { why, .. } => Some(*why),
            Self::Nothing | Self::Folder { .. } | Self::Text { .. } => None,
        }
    }

    /// Its text; empty if it has none.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text { text, .. } => text,
            Self::Nothing | Self::Folder { .. } | Self::Opaque { .. } => "",
        }
    }

    /// The hunks between two sides, if each can be chosen by itself: both are text files of the same
    /// mode, and the comparison came to its end. Everything else is all or nothing.
    pub(crate) fn hunks<'a>(
        before: &'a Self,
        after: &'a Self,
        deadline: Instant,
    ) -> Option<Hunks<'a>> {
        match (before, after) {
            (Self::Text { mode: old, text: left }, Self::Text { mode: new, text: right })
                if old == new && old & 0o170_000 == FILE =>
            {
                Some(Hunks::between(left, right, deadline)).filter(|hunks| hunks.is_certain)
            }
            _ => None,
        }
    }
}
