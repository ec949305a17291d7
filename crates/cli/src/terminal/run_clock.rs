//! The clock of a run, for the question whether code that has been running for long may continue.
//! It stands still while another question waits.

use super::countdown::Countdown;
use interpreter_core::{Body, session::Event};
use std::time::Instant;

/// How long a run has been going on, to ask about it again and again.
#[derive(Debug, Default)]
pub(super) struct RunClock {
    clock: Countdown,
    is_running: bool,
    /// How often it was asked about.
    rounds: u64,
}

impl RunClock {
    pub(super) fn new(limit: Option<u64>) -> Self {
        Self { clock: Countdown::new(limit), ..Self::default() }
    }

    /// Heeds the beginning and the end of a run.
    pub(super) fn heed(&mut self, body: &Body) {
        if matches!(body, Body::RunStarted { .. }) {
            self.clock.begin();
            (self.is_running, self.rounds) = (true, 0);
        } else if matches!(body, Body::RunFinished { .. } | Body::TurnFinished { .. }) {
            self.clock.pause();
            self.is_running = false;
        }
    }

    /// When it is time to ask.
    pub(super) fn due(&self) -> Option<Instant> {
        self.clock.due()
    }

    /// It is time.
    pub(super) fn ring(&mut self) -> Event {
        let ends_in = self.clock.stop();
        self.rounds += 1;
        Event::RunsLong { seconds: ends_in.saturating_mul(self.rounds), ends_in }
    }

    /// The run continues: it's asked about when as much time has passed again.
    pub(super) fn again(&mut self) {
        if self.is_running {
            self.clock.begin();
        }
    }

    pub(super) fn pause(&mut self) {
        self.clock.pause();
    }

    pub(super) fn resume(&mut self) {
        if self.is_running {
            self.clock.resume();
        }
    }
}
