//! Signs of life: what is going on while nothing else can be seen, and for how long.
//!
//! Holds what is under way and says when the row that tells of it is due. Draws nothing itself: the
//! chat does, in passing, so that the row is gone as soon as there is something to see. Quick things
//! show no row at all, and nothing flickers.

use super::ours::{Ours, count, ours, thousands, word};
use interpreter_agent::Headway;
use std::time::{Duration, Instant};

/// How long something may take before a row tells of it.
const SOON: Duration = Duration::from_millis(300);

/// How often the row is drawn again: while it only counts seconds, and while output comes.
const EACH: Duration = Duration::from_secs(1);
const OFTEN: Duration = Duration::from_millis(100);

/// Something that takes time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// The model was asked, and has not said anything.
    Waiting(Option<Headway>),
    /// The model is thinking; the number of words so far.
    Thinking { words: u64 },
    /// The model writes.
    Writing,
    /// Code is running: its proposal, the current line, and the number of lines printed.
    Running { proposal: String, line: Option<u32>, lines: u64 },
}

/// The thing that is under way, and since when.
#[derive(Debug, Default)]
pub(super) struct Life {
    doing: Option<(Doing, Instant)>,
    drawn: Option<Instant>,
}

impl Life {
    /// Something begins.
    pub(super) fn begin(&mut self, doing: Doing) {
        (self.doing, self.drawn) = (Some((doing, Instant::now())), None);
    }

    /// It goes on in another way.
    pub(super) fn turn_into(&mut self, doing: Doing) {
        match &mut self.doing {
            Some((old, _)) => *old = doing,
            None => self.begin(doing),
        }
    }

    /// Nothing is under way.
    pub(super) fn rest(&mut self) {
        *self = Self::default();
    }

    pub(super) fn doing(&mut self) -> Option<&mut Doing> {
        self.doing.as_mut().map(|(doing, _)| doing)
    }

    /// Whether code is running.
    pub(super) fn is_running(&self) -> bool {
        matches!(self.doing, Some((Doing::Running { .. }, _)))
    }

    /// Seconds since it began.
    pub(super) fn seconds(&self) -> u64 {
        self.doing.as_ref().map_or(0, |(_, began)| began.elapsed().as_secs())
    }

    /// When the row is to be drawn next.
    pub(super) fn due(&self) -> Option<Instant> {
        let (_, began) = self.doing.as_ref()?;
        Some(self.drawn.map_or(*began + SOON, |drawn| drawn + EACH))
    }

    /// Whether enough time has gone by to draw the row because something came.
    pub(super) fn is_old(&self) -> bool {
        let now = Instant::now();
        let Some((_, began)) = &self.doing else { return false };
        now >= *began + SOON && self.drawn.is_none_or(|drawn| now >= drawn + OFTEN)
    }

    /// The row, which is about to be drawn.
    pub(super) fn row(&mut self) -> Option<Ours> {
        let seconds = self.seconds();
        let (doing, _) = self.doing.as_ref()?;
        self.drawn = Some(Instant::now());
        Some(words(doing) + " · " + time(seconds))
    }
}

fn words(doing: &Doing) -> Ours {
    match doing {
        Doing::Waiting(None) => ours("waiting for the model"),
        Doing::Waiting(Some(Headway::Loading)) => ours("loading the model"),
        Doing::Waiting(Some(Headway::Reading { read, total })) => {
            ours("reading ") + thousands(*read) + " of " + thousands(*total) + " tokens"
        }
        Doing::Waiting(Some(Headway::Asked { host })) => ours("waiting for ") + word(host),
        Doing::Waiting(Some(Headway::Retrying { host, seconds })) => {
            ours("retrying ") + word(host) + " in " + *seconds + " s"
        }
        Doing::Thinking { words } => ours("thinking, ") + count(*words, "word"),
        Doing::Writing => ours("writing"),
        Doing::Running { proposal, line, lines } => {
            let mut all = word(proposal) + " is running";
            if let Some(line) = line {
                all = all + ", line " + *line;
            }
            match lines {
                0 => all,
                1 => all + ", 1 line printed",
                _ => all + ", " + thousands(*lines) + " lines printed",
            }
        }
    }
}

/// Seconds as people say them.
pub(super) fn time(seconds: u64) -> Ours {
    match seconds {
        0..60 => ours(seconds) + " s",
        60..3600 if seconds.is_multiple_of(60) => ours(seconds / 60) + " min",
        60..3600 => ours(seconds / 60) + " min " + seconds % 60 + " s",
        _ => ours(seconds / 3600) + " h " + seconds % 3600 / 60 + " min",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_says_what_is_going_on() {
        let running = |line, lines| Doing::Running { proposal: "p1".into(), line, lines };
        for (doing, row) in [
            (Doing::Waiting(None), "waiting for the model"),
            (Doing::Waiting(Some(Headway::Loading)), "loading the model"),
            (
                Doing::Waiting(Some(Headway::Reading { read: 120, total: 1_436 })),
                "reading 120 of 1,436 tokens",
            ),
            (
                Doing::Waiting(Some(Headway::Asked { host: "api.example.org".into() })),
                "waiting for api.example.org",
            ),
            (
                Doing::Waiting(Some(Headway::Retrying { host: "a.b".into(), seconds: 4 })),
                "retrying a.b in 4 s",
            ),
            (Doing::Thinking { words: 1 }, "thinking, 1 word"),
            (running(None, 0), "p1 is running"),
            (running(Some(4), 98_412), "p1 is running, line 4, 98,412 lines printed"),
        ] {
            assert_eq!(words(&doing).as_str(), row);
        }
    }

    #[test]
    fn nothing_is_due_while_nothing_goes_on_and_quick_things_show_no_row() {
        let mut life = Life::default();
        assert!(life.due().is_none() && life.row().is_none() && !life.is_old());
        life.begin(Doing::Writing);
        assert!(life.due().is_some_and(|due| due > Instant::now()));
        life.rest();
        assert!(life.due().is_none());
    }

    #[test]
    fn times_are_said_as_people_say_them() {
        assert_eq!((time(59).as_str(), time(61).as_str()), ("59 s", "1 min 1 s"));
        assert_eq!(time(7_260).as_str(), "2 h 1 min");
    }
}
