//! The disk is counted, also where code hides room.

#![expect(clippy::disallowed_methods, reason = "a test panics with the path that it names")]

use super::*;
use rustix::{
    fs::mkdirat,
    process::{Gid, Uid},
    thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid},
};
use std::{
    fs,
    io::Write,
    os::unix::fs::{MetadataExt, PermissionsExt},
};

#[test]
fn what_is_on_the_disk_counts_once_and_no_link_leads_away() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let folders = Folders { beside: at("beside"), ..Folders::under(folder.path()) };
    assert_eq!(folders.disk_usage(u64::MAX).unwrap(), 0);
    fs::create_dir_all(at("data/changes")).unwrap();
    let empty = folders.disk_usage(u64::MAX).unwrap();
    let large = vec![1; 1 << 20];
    fs::write(at("data/changes/a"), &large).unwrap();
    let one = folders.disk_usage(u64::MAX).unwrap();
    assert!((1 << 20..2 << 20).contains(&(one - empty)), "{empty} {one}");
    fs::hard_link(at("data/changes/a"), at("data/b")).unwrap();
    fs::write(at("elsewhere"), &large).unwrap();
    for (to, name) in [("elsewhere", "link"), ("data", "loop"), ("gone", "dangling")] {
        std::os::unix::fs::symlink(at(to), at("data").join(name)).unwrap();
    }
    let linked = folders.disk_usage(u64::MAX).unwrap();
    assert!(linked - one < 64 << 10, "{one} {linked}");
    // The folder beside counts too.
    fs::create_dir_all(at("beside")).unwrap();
    fs::write(at("beside/c"), &large).unwrap();
    assert!(folders.disk_usage(u64::MAX).unwrap() >= linked + (1 << 20));
    assert!(folders.disk_usage(1).unwrap() > 1);
}

/// Nests folders, each named by `name`, and puts a large file at the bottom. Returns how many
/// bytes were counted before and after that file came.
fn counted_at_the_bottom(levels: usize, name: &str) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let folders = Folders::under(folder.path());
    fs::create_dir_all(&folders.data).unwrap();
    let mut at = Held::open(CWD, &folders.data).unwrap();
    for _ in 0..levels {
        // Something beside the way, so that each level is come back to.
        for name in [name, "beside", "beside/b"] {
            mkdirat(&at.folder, name, Mode::RWXU).unwrap();
        }
        at = Held::open(&at.folder, name).unwrap();
    }
    let before = folders.disk_usage(u64::MAX).unwrap();
    let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mut file = fs::File::from(openat(&at.folder, "f", flags, Mode::RUSR).unwrap());
    file.write_all(&vec![1; 1 << 20]).unwrap();
    file.sync_all().unwrap();
    let after = folders.disk_usage(u64::MAX).unwrap();
    // Its own removal goes by path.
    let moved = folder.path().join("moved");
    while levels > 100 && fs::rename(folder.path().join("data/a/a"), &moved).is_ok() {
        fs::remove_dir_all(folder.path().join("data/a")).unwrap();
        fs::rename(&moved, folder.path().join("data/a")).unwrap();
    }
    (before, after)
}

#[test]
fn a_large_file_counts_however_deep_it_is() {
    for (levels, name) in [(KEPT - 1, "a"), (50, "a"), (3_000, "a"), (50, "zz")] {
        let (before, after) = counted_at_the_bottom(levels, name);
        let file = after - before;
        assert!((1 << 20..2 << 20).contains(&file), "{levels} levels: {before} {after}");
    }
}

#[test]
fn every_folder_counts_as_often_as_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let folders = Folders::under(folder.path());
    let wide = |at: &Path| {
        for name in ["1", "2", "3"] {
            let at = at.join(name).join("x");
            fs::create_dir_all(&at).unwrap();
            fs::write(at.join("f"), vec![1; 64 << 10]).unwrap();
        }
    };
    let mut at = folders.data.clone();
    for _ in 0..3 * KEPT {
        at.push("way");
        wide(&at);
    }
    let all = folders.disk_usage(u64::MAX).unwrap();
    let files = 3 * 3 * KEPT as u64 * (64 << 10);
    assert!((files..files + (8 << 20)).contains(&all), "{all} {files}");
    assert!(folders.disk_usage(files / 2).unwrap() < files / 2 + (1 << 20));
}

#[test]
fn a_way_back_that_leads_elsewhere_is_no_way_back() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir_all(at("from/inner")).unwrap();
    fs::create_dir(at("to")).unwrap();
    let from = identity(&statat(CWD, at("from"), AtFlags::empty()).unwrap());
    let inner = || Held::open(CWD, at("from/inner")).unwrap();
    assert!(inner().climb(from).is_ok());
    let held = inner();
    fs::rename(at("from/inner"), at("to/inner")).unwrap();
    assert!(matches!(held.climb(from), Err(Stop::Moved)));
    let text = std::error::Error::source(&Stop::Moved.below(Path::new("x"))).unwrap().to_string();
    assert!(text.contains("moved"), "{text}");
}

/// Nothing of anybody else's is counted with it.
fn folders_in(folder: &Path) -> Folders {
    Folders { beside: folder.join("beside"), ..Folders::under(folder) }
}

/// Does it as a user whom permissions bind, in a folder of theirs.
fn as_an_ordinary_user<T: Send>(act: impl Fn(&Path) -> T + Sync) -> T {
    let act = || {
        if geteuid().is_root() {
            // Of this thread alone.
            set_thread_groups(&[]).unwrap();
            let (user, group) = (Uid::from_raw(54_321), Gid::from_raw(54_321));
            set_thread_res_gid(group, group, group).unwrap();
            set_thread_res_uid(user, user, user).unwrap();
        }
        let folder = tempfile::tempdir().unwrap();
        let done = act(folder.path());
        folder.close().unwrap();
        done
    };
    std::thread::scope(|scope| scope.spawn(act).join().unwrap())
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_locked_folder_counts_like_any_other_and_stays_locked() {
    as_an_ordinary_user(|folder| {
        let folders = folders_in(folder);
        // The way leads below what is kept open, and back up to the folders beside it.
        let mut way = vec![folders.data.clone()];
        for _ in 0..KEPT + 4 {
            let above = way.last().unwrap();
            fs::create_dir_all(above.join("beside/in")).unwrap();
            fs::write(above.join("beside/in/f"), vec![1; 64 << 10]).unwrap();
            way.push(above.join("way"));
        }
        fs::create_dir(way.last().unwrap()).unwrap();
        fs::write(way.last().unwrap().join("f"), vec![1; 1 << 20]).unwrap();
        let open = folders.disk_usage(u64::MAX).unwrap();
        assert!(open > (1 << 20) + (KEPT as u64 * (64 << 10)), "{open}");
        for locked in [0o000, 0o100, 0o200, 0o300, 0o400, 0o600, 0o077] {
            let inner = || way.iter().skip(1);
            inner().rev().for_each(|path| mode(path, locked));
            // Counts at once unlock and lock the same folders.
            let count = || folders.disk_usage(u64::MAX).unwrap();
            let counts = std::thread::scope(|scope| {
                let counting = [(); 3].map(|()| scope.spawn(count));
                counting.map(|one| one.join().unwrap())
            });
            for path in inner() {
                assert_eq!(fs::metadata(path).unwrap().mode() & 0o7777, locked, "{path:?}");
                mode(path, 0o700);
            }
            assert_eq!(counts, [open; 3], "{locked:o}");
        }
    });
}

#[test]
fn a_folder_of_somebody_else_that_is_closed_to_us_is_an_error_that_names_it() {
    if !geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    mode(folder.path(), 0o755);
    let folders = folders_in(folder.path());
    let theirs = folders.data.join("in/theirs");
    fs::create_dir_all(theirs.join("in")).unwrap();
    for path in [&folders.data, &folders.data.join("in"), &theirs, &theirs.join("in")] {
        mode(path, 0o755);
    }
    let count = || as_an_ordinary_user(|_| folders.disk_usage(u64::MAX));
    // The control: what is open to us counts, whoever has it.
    count().unwrap();
    for closed in [0o700, 0o711, 0o744] {
        mode(&theirs, closed);
        let error = count().unwrap_err();
        let StoreError::Read { path, source } = &error else { panic!("{error}") };
        assert_eq!((path, source.kind()), (&theirs, io::ErrorKind::PermissionDenied));
        let why = source.to_string();
        assert!(why.contains("user 0") && why.contains("open it or remove it"), "{why}");
    }
    // The folder beside ours has a name that anybody can take first. That stops nobody.
    mode(&theirs, 0o755);
    fs::create_dir_all(&folders.beside).unwrap();
    mode(&folders.beside, 0o700);
    count().unwrap();
}
