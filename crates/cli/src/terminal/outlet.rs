//! Where an export goes: into a new file, or to standard output, a piece at a time.
//!
//! In a file and in a pipe it is exact. At a terminal lines of JSON are escaped, and other text is
//! refused: it is foreign, and has no form there.

use super::json::escaped;
use crate::report::{Error, misuse};
use std::{
    fs::File,
    io::{self, BufWriter, IsTerminal, Write},
    path::{Path, PathBuf},
};

/// An open end for an export.
pub(crate) enum Outlet {
    File(BufWriter<File>, PathBuf),
    Pipe(BufWriter<io::StdoutLock<'static>>),
    Terminal(io::StdoutLock<'static>),
}

impl Outlet {
    /// Opens it: a file that does not exist yet, or standard output.
    #[expect(clippy::disallowed_methods, reason = "exact bytes into a pipe, or escaped JSON")]
    pub(crate) fn open(file: Option<&Path>) -> Result<Self, Error> {
        let Some(path) = file else {
            let out = io::stdout().lock();
            return Ok(if out.is_terminal() {
                Self::Terminal(out)
            } else {
                Self::Pipe(BufWriter::new(out))
            });
        };
        let file = File::create_new(path).map_err(|source| failed(path, source))?;
        Ok(Self::File(BufWriter::new(file), path.to_owned()))
    }

    /// Writes a line of JSON.
    pub(crate) fn json(&mut self, line: &str) -> Result<(), Error> {
        match self {
            Self::Terminal(out) => Ok(writeln!(out, "{}", escaped(line))?),
            Self::File(..) | Self::Pipe(_) => {
                self.bytes(line.as_bytes())?;
                self.bytes(b"\n")
            }
        }
    }

    /// Writes text as it is.
    pub(crate) fn text(&mut self, text: &str) -> Result<(), Error> {
        if let Self::Terminal(_) = self {
            return Err(misuse("a terminal cannot show this exactly; name a file with `-o FILE`"));
        }
        self.bytes(text.as_bytes())
    }

    fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Self::File(file, path) => file.write_all(bytes).map_err(|source| failed(path, source)),
            Self::Pipe(out) => Ok(out.write_all(bytes)?),
            Self::Terminal(_) => Ok(()),
        }
    }

    /// Writes what is left of it, and gives the file, if it is one.
    pub(crate) fn finish(self) -> Result<Option<PathBuf>, Error> {
        match self {
            Self::File(mut file, path) => {
                file.flush().map_err(|source| failed(&path, source))?;
                Ok(Some(path))
            }
            Self::Pipe(mut out) => {
                out.flush()?;
                Ok(None)
            }
            Self::Terminal(mut out) => {
                out.flush()?;
                Ok(None)
            }
        }
    }
}

fn failed(path: &Path, source: io::Error) -> Error {
    Error::Io { what: format!("`{}` cannot be written", path.display()), source }
}
