//! The disk space of what is staged.
//!
//! # Threat
//! Code that fills the disk, with few large files or with many small ones, in a run or after it.
//!
//! # Mechanism
//! The free space of the file system is known at once and costs nothing. It is checked when the
//! limit could first be reached, and then again. The staged files are counted only if enough space
//! is gone since the last count that the limit may have been reached, or if some is gone and the
//! last count is old. Counting happens on a separate thread, for at most a twentieth of the time.
//! Beyond the limit the run's kernel is ended at once: code that fills a disk gets no time to heed
//! an interrupt. Earlier staged files do not keep the next run from freeing space.
//!
//! # Limits
//! Files that are deleted and still open are not seen when files are counted; neither are those
//! nested too deep. Of the second, all that is gone from the disk counts as staged. Of the first,
//! the disk is never filled beyond what it must keep free: the run is ended before, even
//! if it was another program that took the rest.

use interpreter_core::{Limits, Reached};
use interpreter_workspace::{DiskUsage, Measured, Set, measure};
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
const QUICKEST: DiskUsage = DiskUsage { bytes: 4 << 30, files: 500_000 };

/// The longest time that files are not counted although something is gone.
const UNCOUNTED: Duration = Duration::from_secs(5);

/// The extra allowance of a run if the limit was reached before it began.
const ROOM: DiskUsage = DiskUsage { bytes: 64 << 20, files: 1_000 };

/// Space and room for files that the disk must keep free.
const FREE: DiskUsage = DiskUsage { bytes: 1 << 30, files: 50_000 };

/// The account of what is staged.
#[derive(Debug)]
struct Staging {
    /// The growing folder, and its size before anything was staged.
    grows: PathBuf,
    base: DiskUsage,
    /// The kernel that the last run was given to.
    kernel: u32,
    limits: DiskUsage,
    /// The current allowance; more than the limit if that was reached before.
    allowed: DiskUsage,
    /// The last count.
    counted: DiskUsage,
    /// Free space at that time.
    free: DiskUsage,
    /// Free space at the start of the run, and the amount that must stay free.
    began: DiskUsage,
    floor: DiskUsage,
    pause: Duration,
    next: Instant,
    /// When files may be counted again, and when they must be if something is gone.
    may_count: Instant,
    must_count: Instant,
}

#[derive(Debug)]
struct Counting {
    since: Instant,
    free: DiskUsage,
    result: JoinHandle<io::Result<Measured>>,
}

/// The next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Later,
    Count,
    End(Reached),
}

impl Staging {
    fn new(grows: &Path, base: DiskUsage, now: Instant) -> Self {
        Self {
            grows: grows.to_owned(),
            base,
            kernel: 0,
            limits: DiskUsage::default(),
            allowed: DiskUsage::default(),
            counted: DiskUsage::default(),
            free: free_of(grows),
            began: DiskUsage::default(),
            floor: DiskUsage::default(),
            pause: SHORTEST,
            next: now,
            may_count: now,
            must_count: now + UNCOUNTED,
        }
    }

    /// A run begins.
    fn begin(&mut self, kernel: u32, limits: &Limits, free: DiskUsage, now: Instant) {
        self.kernel = kernel;
        self.limits = DiskUsage { bytes: limits.staged_bytes, files: limits.staged_files };
        self.allowed = room_beyond(self.limits, self.counted);
        self.began = free;
        // A file system without a number of files reports none: it has no floor either.
        let half = DiskUsage { bytes: free.bytes / 2, files: free.files / 2 };
        self.floor =
            DiskUsage { bytes: FREE.bytes.min(half.bytes), files: FREE.files.min(half.files) };
        self.pause = SHORTEST;
        let gone = self.free.saturating_sub(free);
        self.next = now + self.earliest(self.counted.plus(gone));
    }

    /// How long it takes at least until the limit is reached.
    fn earliest(&self, staged: DiskUsage) -> Duration {
        let left = self.allowed.saturating_sub(staged);
        let disk = self.began.saturating_sub(self.floor);
        let bytes = left.bytes.min(disk.bytes) * 1_000 / QUICKEST.bytes;
        let files = left.files.min(disk.files) * 1_000 / QUICKEST.files;
        Duration::from_millis(bytes.min(files)).clamp(SHORTEST, UNCOUNTED)
    }

    /// Handles the amount of free space.
    fn look(&mut self, free: DiskUsage, counting: bool, now: Instant) -> Look {
        let gone = self.free.saturating_sub(free);
        let staged = self.counted.plus(gone);
        self.pause =
            if gone == DiskUsage::default() { (self.pause * 2).min(LONGEST) } else { SHORTEST };
        self.next = now + self.earliest(staged).max(self.pause);
        let taken = self.began.saturating_sub(free);
        if free.bytes < self.floor.bytes && taken.bytes > ROOM.bytes {
            // The next look blames what goes on then.
            self.began = free;
            return Look::End(Reached::FreeSpace(self.floor.bytes));
        }
        if free.files < self.floor.files && taken.files > ROOM.files {
            self.began = free;
            return Look::End(Reached::FreeFiles(self.floor.files));
        }
        let may = !counting && now >= self.may_count;
        let must = now >= self.must_count && free != self.free;
        let wanted = beyond(staged, self.allowed).is_some() || must;
        if may && wanted { Look::Count } else { Look::Later }
    }

    /// The files were counted, in so much time, when so much of the disk was free.
    fn count(&mut self, found: Measured, free: DiskUsage, took: Duration, now: Instant) -> Look {
        let gone = self.free.saturating_sub(free);
        // The unseen part is the space that is gone from the disk.
        let unseen = if found.more { self.counted.plus(gone) } else { DiskUsage::default() };
        self.counted = found.usage.saturating_sub(self.base).max(unseen);
        self.free = free;
        self.may_count = now + (took * 20).max(SHORTEST);
        self.must_count = now + (took * 20).max(UNCOUNTED);
        self.next = now + self.earliest(self.counted).max(SHORTEST);
        match beyond(self.counted, self.allowed) {
            None => Look::Later,
            Some(Beyond::Bytes) => self.end(Reached::Staged(self.limits.bytes)),
            Some(Beyond::Files) => self.end(Reached::StagedFiles(self.limits.files)),
        }
    }

    fn end(&mut self, reached: Reached) -> Look {
        // Continued usage is noticed again.
        self.allowed = room_beyond(self.limits, self.counted);
        Look::End(reached)
    }

    fn alarm(&self) -> Instant {
        self.next
    }

    /// The kernel to blame, and the limit, if one was reached.
    fn blame(&self, look: Look) -> Option<(u32, Reached)> {
        match look {
            Look::End(reached) => Some((self.kernel, reached)),
            Look::Later | Look::Count => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beyond {
    Bytes,
    Files,
}

/// The limit, or where `staged` has reached it, that and a little more.
fn room_beyond(limit: DiskUsage, staged: DiskUsage) -> DiskUsage {
    let more = staged.plus(ROOM);
    DiskUsage {
        bytes: if staged.bytes > limit.bytes { more.bytes } else { limit.bytes },
        files: if staged.files > limit.files { more.files } else { limit.files },
    }
}

fn beyond(staged: DiskUsage, allowed: DiskUsage) -> Option<Beyond> {
    match (staged.bytes > allowed.bytes, staged.files > allowed.files) {
        (true, _) => Some(Beyond::Bytes),
        (false, true) => Some(Beyond::Files),
        (false, false) => None,
    }
}

/// The free space of the disk of `path`. A disk that does not report it counts as having none free,
/// and never less.
fn free_of(path: &Path) -> DiskUsage {
    let said = rustix::fs::statvfs(path);
    said.map_or_else(
        |_| DiskUsage::default(),
        |said| DiskUsage {
            bytes: said.f_bavail.saturating_mul(said.f_frsize),
            // Some file systems make room for files as they come, and count none.
            files: if said.f_files == 0 { u64::MAX } else { said.f_ffree },
        },
    )
}

/// The space that may still be used on the disk of `path`, without that which it must keep free.
pub(crate) fn spare(path: &Path) -> DiskUsage {
    let free = free_of(path);
    DiskUsage {
        bytes: free.bytes - FREE.bytes.min(free.bytes / 2),
        files: free.files - FREE.files.min(free.files / 2),
    }
}

/// The account, and the count of files that is under way.
#[derive(Debug, Default)]
pub(super) struct DiskWatch {
    staging: Option<Staging>,
    counting: Option<Counting>,
}

impl DiskWatch {
    /// A watch over a folder in which nothing but one sandbox writes.
    pub(super) fn over(folder: &Path, limits: &Limits) -> Self {
        let now = Instant::now();
        let mut staging = Staging::new(folder, DiskUsage::default(), now);
        staging.begin(0, limits, staging.free, now);
        Self { staging: Some(staging), counting: None }
    }

    /// A run begins: what it stages is bounded.
    pub(super) fn begin(&mut self, set: &Set, kernel: u32, limits: &Limits) {
        let now = Instant::now();
        let (grows, base) = set.grows();
        let free = free_of(grows);
        let staging = self.staging.get_or_insert_with(|| Staging::new(grows, base, now));
        staging.begin(kernel, limits, free, now);
    }

    /// Nothing is staged any more.
    pub(super) fn forget(&mut self) {
        self.staging = None;
    }

    pub(super) fn alarm(&self) -> Option<Instant> {
        self.staging.as_ref().map(Staging::alarm)
    }

    /// Asks the file system, if it is time to. Returns the kernel to blame and the limit that was
    /// reached.
    pub(super) fn alarmed(&mut self, now: Instant) -> Option<(u32, Reached)> {
        let staging = self.staging.as_mut().filter(|one| now >= one.alarm())?;
        let free = free_of(&staging.grows);
        let look = staging.look(free, self.counting.is_some(), now);
        if look == Look::Count {
            let (grows, most) = (staging.grows.clone(), staging.allowed.plus(staging.base));
            let result = tokio::task::spawn_blocking(move || measure(&grows, most));
            self.counting = Some(Counting { since: now, free, result });
        }
        staging.blame(look)
    }

    /// Waits until the files are counted.
    pub(super) async fn counted(&mut self) -> io::Result<Measured> {
        match &mut self.counting {
            Some(counting) => (&mut counting.result).await.unwrap_or_else(|lost| Err(lost.into())),
            None => pending().await,
        }
    }

    /// The files were counted.
    pub(super) fn take_count(
        &mut self,
        found: io::Result<Measured>,
        now: Instant,
    ) -> Option<(u32, Reached)> {
        let counting = self.counting.take()?;
        // A folder that cannot be read at all has not grown as far as anybody can tell.
        let (staging, found) = (self.staging.as_mut()?, found.ok()?);
        let took = now.duration_since(counting.since);
        let look = staging.count(found, counting.free, took, now);
        staging.blame(look)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn usage(bytes: u64, files: u64) -> DiskUsage {
        DiskUsage { bytes, files }
    }

    fn staging(now: Instant) -> Staging {
        let limits = Limits { staged_bytes: 8 * GIB, staged_files: 1_000_000, ..Limits::default() };
        let mut staging = Staging::new(Path::new("/nowhere"), DiskUsage::default(), now);
        staging.free = usage(100 * GIB, 9_000_000);
        staging.begin(1, &limits, staging.free, now);
        staging
    }

    fn seen(usage: DiskUsage) -> Measured {
        Measured { usage, more: false }
    }

    #[test]
    fn files_are_counted_only_when_enough_is_gone() {
        let now = Instant::now();
        let mut staging = staging(now);
        assert_eq!(staging.alarm(), now + Duration::from_secs(2));
        assert_eq!(staging.look(usage(96 * GIB, 9_000_000), false, now), Look::Later);
        assert_eq!(staging.look(usage(91 * GIB, 9_000_000), false, now), Look::Count);
        // It was somebody else, for the most part.
        let found = staging.count(seen(usage(GIB, 5)), usage(91 * GIB, 9_000_000), SHORTEST, now);
        assert_eq!(found, Look::Later);
        assert_eq!(staging.look(usage(85 * GIB, 9_000_000), false, now), Look::Later);
        let later = now + UNCOUNTED;
        assert_eq!(staging.look(usage(85 * GIB, 9_000_000), false, later), Look::Count);
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
        assert_eq!(staging.look(usage(100 * GIB, 7_900_000), false, now), Look::Count);
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
        assert_eq!(staging.look(usage(92 * GIB, 9_000_000), false, now), Look::Later);
        let more = usage(9 * GIB + ROOM.bytes + 1, 5);
        assert!(matches!(staging.count(seen(more), free, SHORTEST, now), Look::End(_)));
    }

    #[test]
    fn the_disk_keeps_something_free_whoever_filled_it() {
        let now = Instant::now();
        let mut staging = staging(now);
        let full = usage(GIB - 1, 9_000_000);
        assert_eq!(staging.look(full, false, now), Look::End(Reached::FreeSpace(GIB)));
        assert_eq!(staging.look(full, false, now), Look::Count);
        // A disk that was nearly full before is not this run's doing.
        staging.free = full;
        staging.begin(1, &Limits::default(), full, now);
        assert_eq!(staging.look(usage(GIB - 4096, 9_000_000), false, now), Look::Later);
    }

    #[test]
    fn the_disk_keeps_room_for_files_of_others() {
        let now = Instant::now();
        let mut staging = staging(now);
        let few = usage(90 * GIB, 60_000);
        staging.free = few;
        staging.begin(1, &Limits::default(), few, now);
        // It could be reached before the usual next look.
        assert!(staging.alarm() <= now + Duration::from_millis(100));
        assert_eq!(staging.look(usage(90 * GIB, 31_000), false, now), Look::Later);
        let gone = usage(90 * GIB, 29_999);
        assert_eq!(staging.look(gone, false, now), Look::End(Reached::FreeFiles(30_000)));
        // A disk that does not count its files has no such floor.
        let uncounted = usage(90 * GIB, 0);
        staging.free = uncounted;
        staging.begin(1, &Limits::default(), uncounted, now);
        assert_eq!(staging.look(uncounted, false, now), Look::Later);
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
            assert_eq!(staging.look(staging.free, false, now), Look::Later);
        }
        assert_eq!(staging.alarm(), now + LONGEST);
    }
}
