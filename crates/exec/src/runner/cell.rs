//! One run, from outside: what it printed, how long it took, what ended it.

use interpreter_core::{Limits, Ran, Reached};
use std::time::{Duration, Instant};

/// How long an interrupted kernel may take to heed it before it is ended.
const GRACE: Duration = Duration::from_secs(2);

/// An interrupt can be lost at the moment a program is started, so it is sent once more. Not so soon
/// that it meets a busy machine's Node while that heeds the first, when a signal ends the process.
const AGAIN: Duration = Duration::from_millis(800);

/// A run that is under way.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) kernel: u32,
    pub(super) proposal: String,
    /// Whether it ran before, and runs to rebuild the memory of its interpreter.
    pub(super) runs_again: bool,
    started: Instant,
    limits: Limits,
    limit: Option<Limit>,
    /// A further remark on how it went.
    remark: Option<String>,
    /// Whether the code says that it got no memory.
    wants_memory: bool,
    /// The next step to end the run, and its time.
    ending: Option<(Due, Instant)>,
}

/// The reason why a run was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Reached(Reached),
    /// It was interrupted and went on.
    Grace,
}

/// The signals by which native code gives up, as it does when it gets no memory: SIGABRT, and
/// SIGTRAP of some versions of V8.
const GAVE_UP: [i32; 2] = [6, 5];

/// The next action for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Interrupt it.
    Interrupt,
    /// End its kernel.
    End,
    /// End the sandbox: the host inside does not respond.
    Abandon,
}

impl Cell {
    pub(super) fn new(kernel: u32, proposal: String, limits: Limits, now: Instant) -> Self {
        let (limit, ending, remark) = (None, None, None);
        let (started, runs_again, wants_memory) = (now, false, false);
        Self { kernel, proposal, runs_again, started, limits, limit, remark, wants_memory, ending }
    }

    pub(super) fn that_runs_again(self, runs_again: bool) -> Self {
        Self { runs_again, ..self }
    }

    /// Notes that the code says it got no memory.
    pub(super) fn wanted_memory(&mut self) {
        self.wants_memory = true;
    }

    /// Notes that the kernel killed it because all processes together used up their memory.
    pub(super) fn ran_out_of_memory(&mut self) {
        self.limit.get_or_insert(Limit::Reached(Reached::Memory(self.limits.memory_bytes)));
    }

    /// Notes that the kernel killed another process of it for that reason.
    pub(super) fn lost_a_process(&mut self) {
        let reached = Reached::Memory(self.limits.memory_bytes);
        let text = format!(
            "the system ended a process inside: all of them together reached the limit on {reached}"
        );
        self.remark.get_or_insert(text);
    }

    /// How long it has been running.
    pub(super) fn lasted(&self, now: Instant) -> Duration {
        now.duration_since(self.started)
    }

    /// Notes something to say of how it went.
    pub(super) fn remark(&mut self, text: String) {
        self.remark = Some(text);
    }

    /// Notes that it reached a limit, and says what is to be done, unless it is being ended.
    pub(super) fn reached(&mut self, reached: Reached, now: Instant) -> Option<Due> {
        self.limit.get_or_insert(Limit::Reached(reached));
        if self.ending.is_some() {
            return None;
        }
        self.interrupted(now);
        Some(Due::Interrupt)
    }

    /// Notes that it printed too much, so that its kernel is being ended.
    pub(super) fn printed_too_much(&mut self, now: Instant) {
        self.limit = Some(Limit::Reached(Reached::Output(self.limits.output_bytes)));
        self.ending = Some((Due::Abandon, now + GRACE));
    }

    /// Notes that it wrote too much, so that its kernel is being ended.
    pub(super) fn filled_the_disk(&mut self, reached: Reached, now: Instant) {
        self.limit.get_or_insert(Limit::Reached(reached));
        self.ending = Some((Due::Abandon, now + GRACE));
    }

    /// Notes that the run was interrupted.
    pub(super) fn interrupted(&mut self, now: Instant) {
        self.ending.get_or_insert((Due::Interrupt, now + AGAIN));
    }

    /// When to look at the clock again.
    pub(super) fn alarm(&self) -> Option<Instant> {
        match self.ending {
            Some((_, at)) => Some(at),
            None => self.started.checked_add(Duration::from_secs(self.limits.wall_seconds?)),
        }
    }

    /// The action for this alarm. Each is tried once.
    pub(super) fn due(&mut self, now: Instant) -> Option<Due> {
        if now < self.alarm()? {
            return None;
        }
        match self.ending {
            None => {
                let seconds = self.limits.wall_seconds.unwrap_or_default();
                self.reached(Reached::Time(seconds), now)
            }
            Some((due, _)) => {
                let next = match due {
                    Due::Interrupt => Due::End,
                    Due::End | Due::Abandon => {
                        self.limit.get_or_insert(Limit::Grace);
                        Due::Abandon
                    }
                };
                self.ending = Some((next, now + GRACE));
                Some(due)
            }
        }
    }

    /// The limit that ended it, if one did.
    pub(super) fn limit_reached(&self) -> Option<Reached> {
        match self.limit? {
            Limit::Reached(reached) => Some(reached),
            Limit::Grace => None,
        }
    }

    /// How it ended, but for its effects.
    pub(super) fn ended(self, now: Instant, status: Option<i32>, signal: Option<i32>) -> Ran {
        let ms = self.lasted(now).as_millis();
        let gave_up = self.limit.is_none() && signal.is_some_and(|one| GAVE_UP.contains(&one));
        let memory = (gave_up || self.wants_memory)
            .then_some(Reached::Memory(self.limits.memory_bytes))
            .map(|reached| format!("it may have come up against the limit on {reached}"));
        Ran {
            proposal: self.proposal,
            status,
            signal,
            limit: self.limit.map(|limit| match limit {
                Limit::Reached(reached) => reached.to_string(),
                Limit::Grace => format!("time to heed an interrupt ({} s)", GRACE.as_secs()),
            }),
            remark: self.remark.or(memory),
            ms: u64::try_from(ms).unwrap_or(u64::MAX),
            ..Ran::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_past_its_time_is_interrupted_and_then_ended() {
        let start = Instant::now();
        let limits = Limits { wall_seconds: Some(5), ..Limits::default() };
        let mut cell = Cell::new(1, "p1".into(), limits, start);
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(cell.due(at(4)), None);
        assert_eq!(cell.due(at(5)), Some(Due::Interrupt));
        assert_eq!(cell.due(at(6)), Some(Due::Interrupt));
        assert_eq!(cell.due(at(7)), None);
        assert_eq!(cell.due(at(8)), Some(Due::End));
        assert_eq!(cell.due(at(8)), None);
        assert_eq!(cell.due(at(10)), Some(Due::Abandon));
        let ran = cell.ended(at(10), None, Some(9));
        assert_eq!(ran.limit.as_deref(), Some("time (5 s; `--time-limit` raises it)"));
        assert_eq!(ran.remark, None);
    }

    #[test]
    fn the_first_limit_is_the_one_that_is_told() {
        let start = Instant::now();
        let mut cell = Cell::new(1, "p1".into(), Limits::default(), start);
        assert_eq!(cell.reached(Reached::Cpu(2), start), Some(Due::Interrupt));
        assert_eq!(cell.reached(Reached::Time(3), start), None);
        let ran = cell.ended(start, None, Some(9));
        assert_eq!(ran.limit.as_deref(), Some("CPU time (2 s; `--cpu-limit` raises it)"));
    }

    #[test]
    fn memory_is_mentioned_where_it_may_have_been_too_little() {
        let start = Instant::now();
        let cell = || Cell::new(1, "p1".into(), Limits::default(), start);
        let remark = |cell: Cell, signal| cell.ended(start, None, signal).remark;
        assert!(remark(cell(), Some(6)).unwrap().contains("memory (4G; "));
        assert_eq!(remark(cell(), Some(11)), None);
        let mut wanting = cell();
        wanting.wanted_memory();
        assert!(remark(wanting, None).is_some());
    }

    #[test]
    fn without_a_limit_only_the_person_ends_it() {
        let start = Instant::now();
        let mut cell = Cell::new(1, "p1".into(), Limits::default(), start);
        assert_eq!(cell.alarm(), None);
        cell.interrupted(start);
        assert_eq!(cell.due(start + AGAIN), Some(Due::Interrupt));
        assert_eq!(cell.due(start + AGAIN + GRACE), Some(Due::End));
        let ran = cell.ended(start, None, Some(9));
        assert_eq!(ran.limit.as_deref(), Some("time to heed an interrupt (2 s)"));
    }
}
