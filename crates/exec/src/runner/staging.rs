//! The disk space of what is staged.
//!
//! # Threat
//! Code that fills the disk, with few large files or with many small ones, in a run or after it.
//!
//! # Mechanism
//! The file system says at once, and for nothing, how much of it is free. It is asked when the
//! limit can have been reached at the earliest, and then again. Only when so much is gone since
//! the staged files were last counted that the limit may have been reached, or when something is
//! gone and they were not counted for long, are they counted, on a thread of its own and for at most
//! a twentieth of the time. Past the limit the run's kernel is ended at once: what fills a disk is
//! given no time to heed an interrupt. What was staged before does not keep the next run from
//! making room.
//!
//! # Limits
//! Files that are deleted and still open are not seen when files are counted; neither are those
//! nested too deep. Of the second, all that is gone from the disk counts as staged. Of the first,
//! the disk is never filled beyond what it must keep free: the run is ended before, even
//! if it was another program that took the rest.

use super::{
    actor::Actor,
    live::{KernelState, Next as Follows},
};
use crate::{
    ExecError,
    workspace::{Measured, Usage, measure},
};
use interpreter_core::{Limits, Reached};
use interpreter_host::Inward;
use std::{
    future::pending,
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tokio::task::JoinHandle;

/// The shortest and the longest time between two looks.
const SHORTEST: Duration = Duration::from_millis(100);
const LONGEST: Duration = Duration::from_mins(1);

/// The most that can be written in a second, on the quickest disk.
const QUICKEST: Usage = Usage { bytes: 4 << 30, files: 500_000 };

/// The longest time that files are not counted although something is gone.
const UNCOUNTED: Duration = Duration::from_secs(5);

/// What a run may add where the limit was reached before it began.
const ROOM: Usage = Usage { bytes: 64 << 20, files: 1_000 };

/// What a disk must keep free.
const FREE: u64 = 1 << 30;

/// The account of what is staged.
#[derive(Debug)]
pub(super) struct Staging {
    /// What grows, and what that took before anything was staged.
    grows: PathBuf,
    base: Usage,
    /// The kernel that the last run was given to.
    kernel: u32,
    limits: Usage,
    /// What may be staged now; more than the limit where that was reached before.
    allowed: Usage,
    /// What was counted last.
    counted: Usage,
    /// What was free of the disk then.
    free: Usage,
    /// What was free when the run began, and what must stay so.
    began: u64,
    floor: u64,
    pause: Duration,
    next: Instant,
    /// When files may be counted again, and when they must be if something is gone.
    may_count: Instant,
    must_count: Instant,
    counting: Option<Counting>,
}

#[derive(Debug)]
struct Counting {
    since: Instant,
    free: Usage,
    result: JoinHandle<io::Result<Measured>>,
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Later,
    Count,
    End(Reached),
}

impl Staging {
    fn new(grows: &Path, base: Usage, now: Instant) -> Self {
        Self {
            grows: grows.to_owned(),
            base,
            kernel: 0,
            limits: Usage::default(),
            allowed: Usage::default(),
            counted: Usage::default(),
            free: free_of(grows),
            began: 0,
            floor: 0,
            pause: SHORTEST,
            next: now,
            may_count: now,
            must_count: now + UNCOUNTED,
            counting: None,
        }
    }

    /// A run begins.
    fn begin(&mut self, kernel: u32, limits: &Limits, free: Usage, now: Instant) {
        self.kernel = kernel;
        self.limits = Usage { bytes: limits.staged_bytes, files: limits.staged_files };
        self.allowed = self.limits.or_more_than(self.counted);
        self.began = free.bytes;
        self.floor = FREE.min(free.bytes / 2);
        self.pause = SHORTEST;
        let gone = self.free.saturating_sub(free);
        self.next = now + self.earliest(self.counted.plus(gone));
    }

    /// How long it takes at least until the limit is reached.
    fn earliest(&self, staged: Usage) -> Duration {
        let left = self.allowed.saturating_sub(staged);
        let disk = self.began.saturating_sub(self.floor);
        let bytes = left.bytes.min(disk) * 1_000 / QUICKEST.bytes;
        let files = left.files * 1_000 / QUICKEST.files;
        Duration::from_millis(bytes.min(files)).clamp(SHORTEST, UNCOUNTED)
    }

    /// What the file system says: so much of it is free.
    fn look(&mut self, free: Usage, now: Instant) -> Look {
        let gone = self.free.saturating_sub(free);
        let staged = self.counted.plus(gone);
        self.pause =
            if gone == Usage::default() { (self.pause * 2).min(LONGEST) } else { SHORTEST };
        self.next = now + self.earliest(staged).max(self.pause);
        if free.bytes < self.floor && self.began.saturating_sub(free.bytes) > ROOM.bytes {
            // The next look blames what goes on then.
            self.began = free.bytes;
            return Look::End(Reached::FreeSpace(self.floor));
        }
        let may = self.counting.is_none() && now >= self.may_count;
        let must = now >= self.must_count && free != self.free;
        let wanted = staged.beyond(self.allowed).is_some() || must;
        if may && wanted { Look::Count } else { Look::Later }
    }

    /// The files were counted, in so much time, when so much of the disk was free.
    fn count(&mut self, found: Measured, free: Usage, took: Duration, now: Instant) -> Look {
        let gone = self.free.saturating_sub(free);
        // What cannot be looked at is what has gone from the disk.
        let unseen = if found.more { self.counted.plus(gone) } else { Usage::default() };
        self.counted = found.usage.saturating_sub(self.base).or_more(unseen);
        self.free = free;
        self.may_count = now + (took * 20).max(SHORTEST);
        self.must_count = now + (took * 20).max(UNCOUNTED);
        self.next = now + self.earliest(self.counted).max(SHORTEST);
        match self.counted.beyond(self.allowed) {
            None => Look::Later,
            Some(Beyond::Bytes) => self.end(Reached::Staged(self.limits.bytes)),
            Some(Beyond::Files) => self.end(Reached::StagedFiles(self.limits.files)),
        }
    }

    fn end(&mut self, reached: Reached) -> Look {
        // What goes on all the same is noticed again.
        self.allowed = self.limits.or_more_than(self.counted);
        Look::End(reached)
    }

    pub(super) fn alarm(&self) -> Instant {
        self.next
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beyond {
    Bytes,
    Files,
}

impl Usage {
    fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            files: self.files.saturating_add(other.files),
        }
    }

    fn saturating_sub(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_sub(other.bytes),
            files: self.files.saturating_sub(other.files),
        }
    }

    fn or_more(self, other: Self) -> Self {
        Self { bytes: self.bytes.max(other.bytes), files: self.files.max(other.files) }
    }

    /// This, or where `staged` has reached it, that and a little more.
    fn or_more_than(self, staged: Self) -> Self {
        let more = staged.plus(ROOM);
        Self {
            bytes: if staged.bytes > self.bytes { more.bytes } else { self.bytes },
            files: if staged.files > self.files { more.files } else { self.files },
        }
    }

    fn beyond(self, allowed: Self) -> Option<Beyond> {
        match (self.bytes > allowed.bytes, self.files > allowed.files) {
            (true, _) => Some(Beyond::Bytes),
            (false, true) => Some(Beyond::Files),
            (false, false) => None,
        }
    }
}

/// What is free of the disk that `path` is on. One that does not say has nothing free, and never
/// less than that.
fn free_of(path: &Path) -> Usage {
    let said = rustix::fs::statvfs(path);
    said.map_or_else(
        |_| Usage::default(),
        |said| Usage { bytes: said.f_bavail.saturating_mul(said.f_frsize), files: said.f_ffree },
    )
}

/// Waits until the files are counted.
pub(super) async fn counted(staging: Option<&mut Staging>) -> io::Result<Measured> {
    match staging.and_then(|staging| staging.counting.as_mut()) {
        Some(counting) => (&mut counting.result).await.unwrap_or_else(|lost| Err(lost.into())),
        None => pending().await,
    }
}

impl Actor {
    /// A run begins: what it stages is bounded.
    pub(super) fn bound_staging(&mut self, kernel: u32, limits: &Limits) {
        let Some(set) = &self.set else { return };
        let now = Instant::now();
        let (grows, base) = set.grows();
        let free = free_of(grows);
        let staging = self.staging.get_or_insert_with(|| Staging::new(grows, base, now));
        staging.begin(kernel, limits, free, now);
    }

    /// Nothing is staged any more.
    pub(super) fn forget_staging(&mut self) {
        self.staging = None;
    }

    /// Asks the file system, if it is time to.
    pub(super) async fn check_staging(&mut self, now: Instant) -> Result<(), ExecError> {
        let Some(staging) = self.staging.as_mut().filter(|one| now >= one.alarm()) else {
            return Ok(());
        };
        let free = free_of(&staging.grows);
        let look = staging.look(free, now);
        if look == Look::Count {
            let (grows, most) = (staging.grows.clone(), staging.allowed.plus(staging.base));
            let result = tokio::task::spawn_blocking(move || measure(&grows, most));
            staging.counting = Some(Counting { since: now, free, result });
        }
        self.act_on(look).await
    }

    /// The files were counted.
    pub(super) async fn staging_counted(
        &mut self,
        found: io::Result<Measured>,
    ) -> Result<(), ExecError> {
        let now = Instant::now();
        let Some(staging) = &mut self.staging else { return Ok(()) };
        let Some(counting) = staging.counting.take() else { return Ok(()) };
        // What cannot be read at all has not grown as far as anybody can tell.
        let Ok(found) = found else { return Ok(()) };
        let took = now.duration_since(counting.since);
        let look = staging.count(found, counting.free, took, now);
        self.act_on(look).await
    }

    async fn act_on(&mut self, look: Look) -> Result<(), ExecError> {
        let Look::End(reached) = look else { return Ok(()) };
        let kernel = self.staging.as_ref().map_or(0, |staging| staging.kernel);
        let Some(live) = &mut self.live else { return Ok(()) };
        let Some(guilty) = live.kernels.get_mut(&kernel) else {
            // Something goes on without the kernel that it came from.
            return self.abandon().await;
        };
        guilty.why = Some(format!("was ended: what it wrote reached the limit on {reached}"));
        match self.cell.as_mut().filter(|cell| cell.kernel == kernel) {
            Some(cell) => cell.filled_the_disk(reached, Instant::now()),
            None => guilty.state = KernelState::Ending(Follows::Nothing),
        }
        live.send(&Inward::Stop { kernel }).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn usage(bytes: u64, files: u64) -> Usage {
        Usage { bytes, files }
    }

    fn staging(now: Instant) -> Staging {
        let limits = Limits { staged_bytes: 8 * GIB, staged_files: 1_000_000, ..Limits::default() };
        let mut staging = Staging::new(Path::new("/nowhere"), Usage::default(), now);
        staging.free = usage(100 * GIB, 9_000_000);
        staging.begin(1, &limits, staging.free, now);
        staging
    }

    fn seen(usage: Usage) -> Measured {
        Measured { usage, more: false }
    }

    #[test]
    fn files_are_counted_only_when_enough_is_gone() {
        let now = Instant::now();
        let mut staging = staging(now);
        assert_eq!(staging.alarm(), now + Duration::from_secs(2));
        assert_eq!(staging.look(usage(96 * GIB, 9_000_000), now), Look::Later);
        assert_eq!(staging.look(usage(91 * GIB, 9_000_000), now), Look::Count);
        // It was somebody else, for the most part.
        let found = staging.count(seen(usage(GIB, 5)), usage(91 * GIB, 9_000_000), SHORTEST, now);
        assert_eq!(found, Look::Later);
        assert_eq!(staging.look(usage(85 * GIB, 9_000_000), now), Look::Later);
        let later = now + UNCOUNTED;
        assert_eq!(staging.look(usage(85 * GIB, 9_000_000), later), Look::Count);
        assert_eq!(
            staging.count(seen(usage(9 * GIB, 5)), usage(85 * GIB, 1), SHORTEST, later),
            Look::End(Reached::Staged(8 * GIB))
        );
    }

    #[test]
    fn what_a_copy_took_before_does_not_count() {
        let now = Instant::now();
        let mut staging = Staging { base: usage(20 * GIB, 50), ..staging(now) };
        let free = usage(90 * GIB, 9_000_000);
        assert_eq!(staging.count(seen(usage(27 * GIB, 60)), free, SHORTEST, now), Look::Later);
        assert_eq!(staging.counted, usage(7 * GIB, 10));
        let more = staging.count(seen(usage(29 * GIB, 60)), free, SHORTEST, now);
        assert_eq!(more, Look::End(Reached::Staged(8 * GIB)));
    }

    #[test]
    fn many_small_files_are_a_limit_of_their_own() {
        let now = Instant::now();
        let mut staging = staging(now);
        assert_eq!(staging.look(usage(100 * GIB, 7_900_000), now), Look::Count);
        let found = seen(usage(GIB, 1_000_001));
        assert_eq!(
            staging.count(found, usage(100 * GIB, 7_900_000), SHORTEST, now),
            Look::End(Reached::StagedFiles(1_000_000))
        );
    }

    #[test]
    fn a_run_that_begins_past_the_limit_can_make_room() {
        let now = Instant::now();
        let mut staging = staging(now);
        let full = usage(9 * GIB, 5);
        let free = usage(91 * GIB, 9_000_000);
        assert!(matches!(staging.count(seen(full), free, SHORTEST, now), Look::End(_)));
        staging.begin(2, &Limits::default(), free, now);
        assert_eq!(staging.look(usage(92 * GIB, 9_000_000), now), Look::Later);
        let more = usage(9 * GIB + ROOM.bytes + 1, 5);
        assert!(matches!(staging.count(seen(more), free, SHORTEST, now), Look::End(_)));
    }

    #[test]
    fn the_disk_keeps_something_free_whoever_filled_it() {
        let now = Instant::now();
        let mut staging = staging(now);
        let full = usage(GIB - 1, 9_000_000);
        assert_eq!(staging.look(full, now), Look::End(Reached::FreeSpace(GIB)));
        assert_eq!(staging.look(full, now), Look::Count);
        // A disk that was nearly full before is not this run's doing.
        staging.free = full;
        staging.begin(1, &Limits::default(), full, now);
        assert_eq!(staging.look(usage(GIB - 4096, 9_000_000), now), Look::Later);
    }

    #[test]
    fn what_cannot_be_looked_at_is_what_has_gone() {
        let now = Instant::now();
        let mut staging = staging(now);
        let deep = Measured { usage: usage(1, 200), more: true };
        let found = staging.count(deep, usage(91 * GIB, 9_000_000), SHORTEST, now);
        assert_eq!(found, Look::End(Reached::Staged(8 * GIB)));
    }

    #[test]
    fn what_is_idle_is_left_alone() {
        let now = Instant::now();
        let mut staging = staging(now);
        for _ in 0..20 {
            assert_eq!(staging.look(staging.free, now), Look::Later);
        }
        assert_eq!(staging.alarm(), now + LONGEST);
    }
}
