//! Direct output of a kernel's process, past the protocol.
//!
//! While it starts, a kernel greets, warns and prints how to connect: that is kept, and shown only
//! if the start fails. Later everything is passed on as it comes, and the pipes are drained before
//! the end of a cell is reported.

use crate::{error::JupyterError, wait::wait};
use std::{
    fs::File,
    io::{PipeReader, PipeWriter, Read, Write},
    os::fd::{AsFd, BorrowedFd},
    time::Instant,
};

/// Bytes read at once.
const PIECE: usize = 64 << 10;

/// Bytes that are kept of what a kernel prints while it starts.
const KEPT: usize = 64 << 10;

/// The most that is read at the end of a cell. Whatever writes on without end must not keep the
/// end from being told.
const DRAINED: usize = 1 << 20;

/// Where output goes, without a buffer: what is written is written.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) stdout: File,
    pub(crate) stderr: File,
}

#[derive(Debug)]
pub(crate) struct Raw {
    stdout: Pipe,
    stderr: Pipe,
}

#[derive(Debug)]
struct Pipe {
    /// None once nobody can write to it any more.
    reader: Option<PipeReader>,
    kept: Vec<u8>,
}

impl Raw {
    /// Two pipes, and the ends that the kernel gets.
    pub(crate) fn new() -> std::io::Result<(Self, PipeWriter, PipeWriter)> {
        let (stdout, out) = std::io::pipe()?;
        let (stderr, err) = std::io::pipe()?;
        let pipe = |reader| Pipe { reader: Some(reader), kept: Vec::new() };
        Ok((Self { stdout: pipe(stdout), stderr: pipe(stderr) }, out, err))
    }

    /// The descriptors to wait for.
    pub(crate) fn sources(&self) -> [Option<BorrowedFd<'_>>; 2] {
        [&self.stdout, &self.stderr].map(|pipe| pipe.reader.as_ref().map(AsFd::as_fd))
    }

    /// Keeps what has come.
    pub(crate) fn keep(&mut self) -> Result<(), JupyterError> {
        for pipe in [&mut self.stdout, &mut self.stderr] {
            while let Some(piece) = pipe.next()? {
                pipe.kept.extend(piece);
                let much = pipe.kept.len().saturating_sub(KEPT);
                pipe.kept.drain(..much);
            }
        }
        Ok(())
    }

    /// Forgets what was kept: the start went well.
    pub(crate) fn forget(&mut self) {
        self.stdout.kept = Vec::new();
        self.stderr.kept = Vec::new();
    }

    /// Passes on what was kept, and what has come.
    pub(crate) fn pass_on(&mut self, output: &mut Output) -> Result<(), JupyterError> {
        self.stdout.pass_on(&mut output.stdout)?;
        self.stderr.pass_on(&mut output.stderr)
    }
}

impl Pipe {
    /// The next output, without waiting.
    fn next(&mut self) -> Result<Option<Vec<u8>>, JupyterError> {
        let source = self.reader.as_ref().map(AsFd::as_fd);
        if !wait(&[source], Some(Instant::now()))?[0] {
            return Ok(None);
        }
        let mut piece = vec![0; PIECE];
        let count = self.reader.as_mut().map_or(Ok(0), |reader| reader.read(&mut piece));
        let Ok(count @ 1..) = count else {
            self.reader = None;
            return Ok(None);
        };
        piece.truncate(count);
        Ok(Some(piece))
    }

    fn pass_on(&mut self, to: &mut File) -> Result<(), JupyterError> {
        let mut piece = Some(std::mem::take(&mut self.kept));
        let mut passed = 0;
        while let Some(bytes) = piece.take() {
            to.write_all(&bytes).map_err(JupyterError::Output)?;
            passed += bytes.len();
            if passed < DRAINED {
                piece = self.next()?;
            }
        }
        Ok(())
    }
}
