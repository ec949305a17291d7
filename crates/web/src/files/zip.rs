//! An archive, written as it is sent. Stored entries, so that its length is known beforehand.
//!
//! # Mechanism
//! The list of files is fixed before the first byte. Each file is read twice, for its checksum and
//! for its bytes, and both must agree: one that code changes meanwhile ends the archive early, which
//! its length gives away. Sizes and places beyond 4 GiB, and more than 65,535 files, are written in
//! the form of zip64. Only plain files are members; names are those of `member_names`, in UTF-8.
//! Everything that does not come along is named in the archive's comment.

use super::{
    download::{PIECE, read_at},
    member_names::MemberNames,
};
use bytes::Bytes;
use crc32fast::Hasher;
use interpreter_agent::{Export, ExportedFile};
use std::{fs::File, io};

const LARGE: u64 = 0xffff_ffff;
const MANY: u64 = 0xffff;

/// Version 4.5, for zip64, made on a system with Unix modes.
const NEEDS: u16 = 45;
const MADE_BY: u16 = 3 << 8 | NEEDS;

/// Names are UTF-8.
const UTF8: u16 = 1 << 11;

/// 1 January 1980: the times of files are theirs alone.
const DATE: u16 = 0x21;

/// Bytes of the comment.
const LONGEST_COMMENT: usize = 8 << 10;

/// An archive that is to be written.
pub(crate) struct ZipPlan {
    export: Export,
    members: Vec<Member>,
    comment: Vec<u8>,
}

#[derive(Debug)]
struct Member {
    name: Vec<u8>,
    bytes: u64,
    mode: u32,
    /// Where its header is.
    place: u64,
    crc: u32,
}

impl Member {
    /// Its head, of a fixed length: sizes always come in the large form.
    fn header(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(50 + self.name.len());
        put(&mut out, &[&0x0403_4b50_u32.to_le_bytes(), &NEEDS.to_le_bytes(), &UTF8.to_le_bytes()]);
        put(&mut out, &[&[0; 4], &DATE.to_le_bytes(), &self.crc.to_le_bytes()]);
        put(&mut out, &[&[0xff; 8], &length(self.name.len()), &20_u16.to_le_bytes(), &self.name]);
        put(&mut out, &[&1_u16.to_le_bytes(), &16_u16.to_le_bytes()]);
        put(&mut out, &[&self.bytes.to_le_bytes(), &self.bytes.to_le_bytes()]);
        out
    }

    fn entry(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(74 + self.name.len());
        put(&mut out, &[&0x0201_4b50_u32.to_le_bytes(), &MADE_BY.to_le_bytes()]);
        put(&mut out, &[&NEEDS.to_le_bytes(), &UTF8.to_le_bytes(), &[0; 4], &DATE.to_le_bytes()]);
        put(&mut out, &[&self.crc.to_le_bytes(), &[0xff; 8], &length(self.name.len())]);
        put(&mut out, &[&28_u16.to_le_bytes(), &[0; 6]]);
        let mode: u32 = if self.mode & 0o100 == 0 { 0o100_644 } else { 0o100_755 };
        put(&mut out, &[&(mode << 16).to_le_bytes(), &[0xff; 4], &self.name]);
        put(&mut out, &[&1_u16.to_le_bytes(), &24_u16.to_le_bytes(), &self.bytes.to_le_bytes()]);
        put(&mut out, &[&self.bytes.to_le_bytes(), &self.place.to_le_bytes()]);
        out
    }
}

fn put(out: &mut Vec<u8>, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
}

fn length(bytes: usize) -> [u8; 2] {
    u16::try_from(bytes).unwrap_or(u16::MAX).to_le_bytes()
}

impl ZipPlan {
    pub(crate) fn of(export: Export) -> Self {
        let (mut names, mut place) = (MemberNames::default(), 0);
        let mut members = Vec::with_capacity(export.files.len());
        for ExportedFile { path, bytes, mode, .. } in &export.files {
            let name = names.name(path).into_bytes();
            let member = Member { name, bytes: *bytes, mode: *mode, place, crc: 0 };
            place += member.header().len() as u64 + bytes;
            members.push(member);
        }
        let mut comment = String::new();
        for one in &export.left_out {
            let line = one.line();
            if comment.len() + line.len() > LONGEST_COMMENT {
                comment.push_str("and more\n");
                break;
            }
            comment.push_str(&line);
            comment.push('\n');
        }
        Self { export, members, comment: comment.into_bytes() }
    }

    /// Bytes of the whole archive.
    pub(crate) fn bytes(&self) -> u64 {
        let entries: u64 = self.members.iter().map(|member| member.entry().len() as u64).sum();
        self.files_end() + entries + self.end().len() as u64
    }

    fn files_end(&self) -> u64 {
        let last = self.members.last();
        last.map_or(0, |last| last.place + last.header().len() as u64 + last.bytes)
    }

    /// The records that end an archive.
    fn end(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let (count, begins) = (self.members.len() as u64, self.files_end());
        let size: u64 = self.members.iter().map(|member| member.entry().len() as u64).sum();
        put(&mut out, &[&0x0606_4b50_u32.to_le_bytes(), &44_u64.to_le_bytes()]);
        put(&mut out, &[&MADE_BY.to_le_bytes(), &NEEDS.to_le_bytes(), &[0; 8]]);
        put(&mut out, &[&count.to_le_bytes(), &count.to_le_bytes(), &size.to_le_bytes()]);
        put(&mut out, &[&begins.to_le_bytes(), &0x0706_4b50_u32.to_le_bytes(), &[0; 4]]);
        put(&mut out, &[&(begins + size).to_le_bytes(), &1_u32.to_le_bytes()]);
        let short = |value: u64| u32::try_from(value.min(LARGE)).unwrap_or(u32::MAX).to_le_bytes();
        let few = u16::try_from(count.min(MANY)).unwrap_or(u16::MAX).to_le_bytes();
        put(&mut out, &[&0x0605_4b50_u32.to_le_bytes(), &[0; 4], &few, &few]);
        put(&mut out, &[&short(size), &short(begins), &length(self.comment.len()), &self.comment]);
        out
    }

    /// Its bytes, piece by piece.
    pub(crate) fn stream(self) -> ZipStream {
        ZipStream { plan: self, at: Some(0), entries: 0, open: None }
    }
}

/// An archive that is being written.
pub(crate) struct ZipStream {
    plan: ZipPlan,
    /// The member that comes next, until all are there.
    at: Option<usize>,
    /// Members that the list at the end has so far.
    entries: usize,
    open: Option<OpenMember>,
}

struct OpenMember {
    file: File,
    at: u64,
    crc: Hasher,
}

impl ZipStream {
    /// The next piece; empty at the end.
    pub(super) fn next(&mut self) -> io::Result<Bytes> {
        while let Some(at) = self.at {
            let Some(member) = self.plan.members.get_mut(at) else {
                self.at = None;
                break;
            };
            let Some(mut open) = self.open.take() else {
                let file = self.plan.export.open(&self.plan.export.files[at]);
                let file = file.map_err(io::Error::other)?;
                member.crc = checksum(&file, member.bytes)?;
                self.open = Some(OpenMember { file, at: 0, crc: Hasher::new() });
                return Ok(member.header().into());
            };
            if open.at < member.bytes {
                let piece = read_at(&open.file, open.at, member.bytes - open.at)?;
                open.crc.update(&piece);
                open.at += piece.len() as u64;
                self.open = Some(open);
                return Ok(piece);
            }
            if open.crc.finalize() != member.crc {
                return Err(io::Error::other("a file changed while it was read"));
            }
            self.at = Some(at + 1);
        }
        let mut piece = Vec::new();
        if self.entries > self.plan.members.len() {
            return Ok(Bytes::new());
        }
        while let Some(member) = self.plan.members.get(self.entries) {
            piece.extend(member.entry());
            self.entries += 1;
            if piece.len() > PIECE {
                return Ok(piece.into());
            }
        }
        piece.extend(self.plan.end());
        self.entries += 1;
        Ok(piece.into())
    }
}

fn checksum(file: &File, bytes: u64) -> io::Result<u32> {
    let (mut crc, mut at) = (Hasher::new(), 0);
    while at < bytes {
        let piece = read_at(file, at, bytes - at)?;
        crc.update(&piece);
        at += piece.len() as u64;
    }
    Ok(crc.finalize())
}
