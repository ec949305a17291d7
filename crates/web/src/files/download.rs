//! A download: its name, its length and its bytes, a piece at a time.

use super::{
    lasting::LastingRight,
    zip::{ZipPlan, ZipStream},
};
use bytes::Bytes;
use interpreter_agent::{ExportOf, OpenedFile};
use std::{fs::File, io, os::unix::fs::FileExt, sync::Arc};

/// Bytes of a piece.
pub(super) const PIECE: usize = 256 << 10;

/// The form of several files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesForm {
    /// An archive.
    Zip,
    /// A patch.
    Patch,
}

/// The files that a client wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilesWish {
    /// The one at this path.
    One(String),
    /// All that are staged or were applied.
    Many {
        /// Which.
        of: ExportOf,
        /// How.
        form: FilesForm,
    },
}

/// Files on their way to a client.
pub struct FilesDownload {
    /// A name to save it under, of plain letters.
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) bytes: u64,
    source: Source,
    right: LastingRight,
}

enum Source {
    File { file: Arc<File>, at: u64 },
    Zip(Box<ZipStream>),
}

impl FilesDownload {
    pub(crate) fn file(path: &str, opened: OpenedFile) -> Self {
        let name = saved_name(path.rsplit('/').next().unwrap_or_default());
        Self::of(name, "application/octet-stream", opened)
    }

    pub(crate) fn patch(session: &str, opened: OpenedFile) -> Self {
        Self::of(saved_name(&format!("{session}.patch")), "application/octet-stream", opened)
    }

    pub(crate) fn zip(session: &str, plan: ZipPlan) -> Self {
        let (bytes, name) = (plan.bytes(), saved_name(&format!("{session}.zip")));
        let source = Source::Zip(Box::new(plan.stream()));
        Self { name, kind: "application/zip", bytes, source, right: LastingRight::of_owner() }
    }

    fn of(name: String, kind: &'static str, opened: OpenedFile) -> Self {
        let OpenedFile { file, bytes } = opened;
        let source = Source::File { file: Arc::new(file), at: 0 };
        Self { name, kind, bytes, source, right: LastingRight::of_owner() }
    }

    /// The same, which ends early as soon as this right does not hold.
    pub(crate) fn while_allowed(self, right: LastingRight) -> Self {
        Self { right, ..self }
    }

    /// The next bytes, or nothing at the end. An error ends it early, which its length gives away.
    pub(crate) async fn next(mut self) -> Option<(io::Result<Bytes>, Self)> {
        if !self.right.holds() {
            return Some((Err(io::ErrorKind::PermissionDenied.into()), self));
        }
        let read = tokio::task::spawn_blocking(move || {
            let piece = match &mut self.source {
                Source::File { file, at } => {
                    read_at(file, *at, self.bytes - *at).inspect(|piece| {
                        *at += piece.len() as u64;
                    })
                }
                Source::Zip(zip) => zip.next(),
            };
            (piece, self)
        });
        let (piece, rest) = read.await.ok()?;
        match piece {
            Ok(piece) if piece.is_empty() => None,
            piece => Some((piece, rest)),
        }
    }
}

/// A piece of a file; empty once `left` is read.
pub(super) fn read_at(file: &File, at: u64, left: u64) -> io::Result<Bytes> {
    let length = usize::try_from(left).unwrap_or(usize::MAX).min(PIECE);
    let mut piece = vec![0; length];
    file.read_exact_at(&mut piece, at)?;
    Ok(piece.into())
}

/// A name that a browser and a shell take for nothing else: letters, digits and `.-_`, no dot first.
fn saved_name(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).take(100).collect();
    let name = name.trim_start_matches('.');
    if name.is_empty() { "file".into() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::saved_name;

    #[test]
    fn a_saved_name_is_of_plain_letters() {
        for (name, saved) in [
            ("data.csv", "data.csv"),
            ("a\"b\r\nX: y", "a_b__X__y"),
            (".bashrc", "bashrc"),
            ("ä ö", "___"),
            ("..", "file"),
            ("", "file"),
        ] {
            assert_eq!(saved_name(name), saved, "{name:?}");
        }
        assert_eq!(saved_name(&"x".repeat(1_000)).len(), 100);
    }
}
