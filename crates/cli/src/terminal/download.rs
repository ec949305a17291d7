//! The progress of a download: one line that is redrawn at a terminal, a line for every tenth
//! elsewhere, or JSON.

use super::{
    json,
    life::time,
    ours::{Ours, ours},
    screen::Screen,
};
use interpreter_agent::embedded::Progress;
use interpreter_store::Environment;
use serde_json::json;
use std::{
    io,
    time::{Duration, Instant},
};

/// The line is not drawn more often than this.
const OFTEN: Duration = Duration::from_millis(100);

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// One line, drawn again.
    Line,
    /// A line for every tenth.
    Lines,
    /// JSON, one object per line, for every tenth.
    Json,
}

/// A download that is shown.
#[derive(Debug)]
pub(crate) struct Download {
    manner: Manner,
    screen: Screen,
    began: Instant,
    /// Bytes that were there before.
    before: u64,
    drawn: Option<Instant>,
    tenths: u64,
}

impl Download {
    /// Shown as JSON on standard output, or else for a person on standard error.
    pub(crate) fn new(json: bool, environment: &Environment) -> Self {
        let screen = Screen::stderr(environment);
        let manner = match (json, screen.redraws()) {
            (true, _) => Manner::Json,
            (false, true) => Manner::Line,
            (false, false) => Manner::Lines,
        };
        let began = Instant::now();
        Self { manner, screen, began, before: 0, drawn: None, tenths: 0 }
    }

    /// Shows progress. A failure to show it does not stop the download.
    pub(crate) fn show(&mut self, progress: &Progress) {
        _ = self.try_show(progress).is_ok();
    }

    /// Shows how much of what every conversation begins with has been read. A failure to show it
    /// stops nothing.
    pub(crate) fn reading(&mut self, read: u64, total: u64) {
        let percent = read * 100 / total.max(1);
        let shown = match self.manner {
            Manner::Line => {
                let words = ours("preparing the first answer: ") + percent + " %";
                self.screen.say_in_passing(words)
            }
            Manner::Lines if read == total => self.screen.say("prepared the first answer"),
            Manner::Json if read == total => {
                json::print_value(&json!({ "event": "prepared", "tokens": total }))
            }
            Manner::Lines | Manner::Json => Ok(()),
        };
        _ = shown.is_ok();
    }

    fn try_show(&mut self, progress: &Progress) -> io::Result<()> {
        match progress {
            Progress::Resumed { bytes } => {
                self.before = *bytes;
                let words = format!("resuming after {}", size(*bytes).as_str());
                self.say(&words, &json!({ "event": "resumed", "bytes": bytes }))
            }
            Progress::Connecting { host } => {
                let words = format!("from {host} …");
                self.say(&words, &json!({ "event": "connecting", "host": host }))
            }
            Progress::Bytes { done, total } => self.bytes(*done, *total),
        }
    }

    fn bytes(&mut self, done: u64, total: u64) -> io::Result<()> {
        match self.manner {
            Manner::Line => {
                let soon = self.drawn.is_some_and(|drawn| drawn.elapsed() < OFTEN);
                if soon && done < total {
                    return Ok(());
                }
                self.drawn = Some(Instant::now());
                let line = self.line(done, total);
                self.screen.say_in_passing(line)
            }
            Manner::Lines | Manner::Json => {
                let tenths = done * 10 / total.max(1);
                if tenths <= self.tenths.max(self.before * 10 / total.max(1)) {
                    return Ok(());
                }
                self.tenths = tenths;
                let line = self.line(done, total);
                self.say(line.as_str(), &json!({ "event": "bytes", "done": done, "total": total }))
            }
        }
    }

    /// Takes the line away that is drawn again, so that something else can be said.
    pub(crate) fn end(&mut self) -> &mut Screen {
        // Whoever writes next notices that the terminal is gone.
        _ = self.screen.close().is_ok();
        &mut self.screen
    }

    fn say(&mut self, words: &str, json: &serde_json::Value) -> io::Result<()> {
        match self.manner {
            Manner::Line | Manner::Lines => self.screen.tell(words),
            Manner::Json => json::print_value(json),
        }
    }

    fn line(&self, done: u64, total: u64) -> Ours {
        line(done, total, done.saturating_sub(self.before), self.began.elapsed())
    }
}

/// A line that says how far it is, how fast `came` bytes came, and how long the rest will take.
fn line(done: u64, total: u64, came: u64, after: Duration) -> Ours {
    let percent = done * 100 / total.max(1);
    let blanks = if percent < 10 {
        "  "
    } else if percent < 100 {
        " "
    } else {
        ""
    };
    let mut line = ours(blanks) + percent + " %  " + size(done) + " of " + size(total);
    let milliseconds = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
    // The first bytes say little about the speed.
    if milliseconds >= 1000 && came >= total / 50 {
        let speed = came.saturating_mul(1000) / milliseconds;
        line = line + "  " + size(speed) + "/s";
        if done < total && speed > 0 {
            line = line + "  " + time((total - done) / speed) + " left";
        }
    }
    line
}

/// Bytes as people say them.
pub(crate) fn size(bytes: u64) -> Ours {
    match bytes {
        0..1_000 => ours(bytes) + " bytes",
        1_000..1_000_000 => ours(bytes / 1_000) + " kB",
        1_000_000..1_000_000_000 => ours(bytes / 1_000_000) + " MB",
        _ => ours(bytes / 1_000_000_000) + "." + bytes / 100_000_000 % 10 + " GB",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOTAL: u64 = 1_117_320_768;

    #[test]
    fn a_line_says_how_far_how_fast_and_how_long() {
        let at = |done, came, seconds| {
            let line = line(done, TOTAL, came, Duration::from_secs(seconds));
            line.as_str().to_owned()
        };
        assert_eq!(at(0, 0, 5), "  0 %  0 bytes of 1.1 GB");
        assert_eq!(at(50_000_000, 50_000_000, 0), "  4 %  50 MB of 1.1 GB");
        assert_eq!(at(205_000_000, 5_000_000, 9), " 18 %  205 MB of 1.1 GB");
        assert_eq!(
            at(500_000_000, 100_000_000, 10),
            " 44 %  500 MB of 1.1 GB  10 MB/s  1 min 1 s left"
        );
        assert_eq!(at(TOTAL, TOTAL, 20), "100 %  1.1 GB of 1.1 GB  55 MB/s");
        assert_eq!(line(0, 0, 0, Duration::ZERO).as_str(), "  0 %  0 bytes of 0 bytes");
    }

    #[test]
    fn amounts_are_said_as_people_say_them() {
        let sizes = [(999, "999 bytes"), (1_500, "1 kB"), (491_400_064, "491 MB")];
        for (bytes, words) in sizes {
            assert_eq!(size(bytes).as_str(), words);
        }
    }
}
