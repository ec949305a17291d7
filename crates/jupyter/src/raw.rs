//! What a kernel's process prints by itself, past the protocol.
//!
//! While it starts, kernels greet, warn and tell how to reach them: that is kept, and shown only
//! if nothing comes of it. Later everything is passed on as it comes, and before a cell's end is
//! told, what is in the pipes is passed on too.

use crate::{error::JupyterError, serve::Output, wait::wait};
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

/// Both pipes.
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

    /// What there is to wait for.
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
    /// What has come, without waiting.
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
