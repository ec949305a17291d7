//! How far a download is: one line that is drawn again at a terminal, a line for every tenth
//! elsewhere, or JSON.

use super::style::Style;
use interpreter_agent::embedded::{Failure, Progress};
use interpreter_core::Untrusted;
use serde_json::json;
use std::{
    fmt::Write as _,
    io::{self, Write},
    time::{Duration, Instant},
};

/// Clears the line that the cursor is on.
const CLEAR: &str = "\u{1b}[2K";

/// The line is not drawn more often than this.
const OFTEN: Duration = Duration::from_millis(100);

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// One line, drawn again, on a terminal of this width.
    Line {
        /// In characters.
        width: usize,
    },
    /// A line for every tenth.
    Lines,
    /// JSON, one object a line, for every tenth.
    Json,
}

/// A download that is shown.
#[derive(Debug)]
pub(crate) struct Download {
    manner: Manner,
    began: Instant,
    /// Bytes that were there before.
    before: u64,
    drawn: Option<Instant>,
    /// Whether the line that is drawn again stands there.
    standing: bool,
    tenths: u64,
    package: Option<(u64, u64)>,
}

impl Download {
    /// Shown as JSON on standard output, or else for a person on standard error, in whose style.
    pub(crate) fn new(json: bool, style: Style) -> Self {
        let manner = match (json, style.width()) {
            (true, _) => Manner::Json,
            (false, Some(width)) => Manner::Line { width },
            (false, None) => Manner::Lines,
        };
        let began = Instant::now();
        Self { manner, began, before: 0, drawn: None, standing: false, tenths: 0, package: None }
    }

    /// Shows what happened. What cannot be shown is no reason to stop.
    pub(crate) fn show(&mut self, progress: &Progress) {
        _ = self.try_show(progress).is_ok();
    }

    fn try_show(&mut self, progress: &Progress) -> io::Result<()> {
        match progress {
            Progress::Resumed { bytes } => {
                self.before = *bytes;
                let words = format!("{} are here from an earlier try", size(*bytes));
                self.say(&words, &json!({ "event": "resumed", "bytes": bytes }))
            }
            Progress::Trying { source } => {
                let words = format!("from {} …", shown(source));
                self.say(&words, &json!({ "event": "trying", "source": source }))
            }
            Progress::Failed(Failure { source, why }) => {
                self.package = None;
                let words = format!("{} does not serve: {}", shown(source), shown(why));
                self.say(&words, &json!({ "event": "failed", "source": source, "why": why }))
            }
            Progress::Package { number, of } => {
                (self.package, self.drawn) = (Some((*number, *of)), None);
                Ok(())
            }
            Progress::Bytes { done, total } => self.bytes(*done, *total),
        }
    }

    fn bytes(&mut self, done: u64, total: u64) -> io::Result<()> {
        match self.manner {
            Manner::Line { width } => {
                let soon = self.drawn.is_some_and(|drawn| drawn.elapsed() < OFTEN);
                if soon && done < total {
                    return Ok(());
                }
                (self.drawn, self.standing) = (Some(Instant::now()), true);
                // A line that breaks cannot be drawn again.
                let line: String = self.line(done, total).chars().take(width - 1).collect();
                let mut out = io::stderr().lock();
                write!(out, "\r{CLEAR}{line}")?;
                out.flush()
            }
            Manner::Lines | Manner::Json => {
                let tenths = done * 10 / total.max(1);
                if tenths <= self.tenths.max(self.before * 10 / total.max(1)) {
                    return Ok(());
                }
                self.tenths = tenths;
                let line = self.line(done, total);
                self.say(&line, &json!({ "event": "bytes", "done": done, "total": total }))
            }
        }
    }

    /// Ends the line that is drawn again, so that something else can be said.
    pub(crate) fn end(&mut self) {
        if std::mem::take(&mut self.standing) {
            _ = writeln!(io::stderr()).is_ok();
        }
    }

    fn say(&mut self, words: &str, json: &serde_json::Value) -> io::Result<()> {
        self.end();
        match self.manner {
            Manner::Line { .. } | Manner::Lines => writeln!(io::stderr(), "{words}"),
            Manner::Json => writeln!(io::stdout(), "{json}"),
        }
    }

    fn line(&self, done: u64, total: u64) -> String {
        line(done, total, done.saturating_sub(self.before), self.began.elapsed(), self.package)
    }
}

/// A line that says how far it is, how fast `came` bytes came, and how long the rest will take.
fn line(done: u64, total: u64, came: u64, after: Duration, package: Option<(u64, u64)>) -> String {
    let mut line = format!("{:3} %  {} of {}", done * 100 / total.max(1), size(done), size(total));
    let milliseconds = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
    // Packages come all at once: before something has come nothing can be said of the speed.
    if milliseconds >= 1000 && came >= total / 50 {
        let speed = came.saturating_mul(1000) / milliseconds;
        // Writing to a string cannot fail.
        _ = write!(line, "  {}/s", size(speed));
        if done < total && speed > 0 {
            _ = write!(line, "  {} left", time((total - done) / speed));
        }
    }
    if let Some((number, of)) = package.filter(|_| done < total) {
        _ = write!(line, "  (package {number} of {of})");
    }
    line
}

fn time(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// Bytes as people say them.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        1_000_000..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{}.{} GB", bytes / 1_000_000_000, bytes / 100_000_000 % 10),
    }
}

fn shown(text: &str) -> String {
    Untrusted::new(text).for_terminal_line(600)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOTAL: u64 = 1_117_320_768;

    #[test]
    fn a_line_says_how_far_how_fast_and_how_long() {
        let at = |done, came, seconds, package| {
            line(done, TOTAL, came, Duration::from_secs(seconds), package)
        };
        assert_eq!(at(0, 0, 5, None), "  0 %  0 bytes of 1.1 GB");
        assert_eq!(at(50_000_000, 50_000_000, 0, None), "  4 %  50 MB of 1.1 GB");
        assert_eq!(at(205_000_000, 5_000_000, 9, None), " 18 %  205 MB of 1.1 GB");
        assert_eq!(
            at(500_000_000, 100_000_000, 10, Some((9, 22))),
            " 44 %  500 MB of 1.1 GB  10 MB/s  1 min 1 s left  (package 9 of 22)"
        );
        assert_eq!(at(TOTAL, TOTAL, 20, Some((22, 22))), "100 %  1.1 GB of 1.1 GB  55 MB/s");
        assert_eq!(line(0, 0, 0, Duration::ZERO, None), "  0 %  0 bytes of 0 bytes");
    }

    #[test]
    fn amounts_are_said_as_people_say_them() {
        let sizes = [(999, "999 bytes"), (1_500, "1 kB"), (491_400_064, "491 MB")];
        for (bytes, words) in sizes {
            assert_eq!(size(bytes), words);
        }
        assert_eq!((time(59), time(61)), ("59 s".into(), "1 min 1 s".into()));
        assert_eq!(time(7_260), "2 h 1 min");
    }
}
