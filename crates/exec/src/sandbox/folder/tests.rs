//! A folder of a sandbox: what is in it, and that it goes whatever code has left there.

use super::*;
use crate::claimed::claim::Claim;
use interpreter_host::KernelInput;
use interpreter_workspace::remove_tree;
use rustix::{
    fd::OwnedFd,
    fs::{CWD, Mode, OFlags, RenameFlags, mkdirat, openat, renameat_with},
    io::Errno,
};
use std::{
    os::unix::fs::{MetadataExt, symlink},
    sync::{
        Barrier,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// Deeper than any path, and than any table of descriptors that a system gives by default.
const DEEP: usize = 21_000;

/// Descriptors of a process that has few.
const FEW: u32 = 64;

/// Nests folders in a folder.
fn nest(at: &Path, levels: usize) {
    let open = |at: &OwnedFd, name: &str| {
        openat(at, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap()
    };
    let mut at = openat(CWD, at, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).unwrap();
    for _ in 0..levels {
        mkdirat(&at, "a", Mode::RWXU).unwrap();
        at = open(&at, "a");
    }
}

/// Runs an ignored test of this file in a process that has few descriptors.
fn with_few_descriptors(name: &str) {
    let limited = format!("ulimit -n {FEW} && exec \"$0\" \"$@\"");
    let name = format!("{}::{name}", module_path!().split_once("::").unwrap().1);
    #[expect(clippy::disallowed_methods, reason = "this test, in a process with other limits")]
    let mut command = std::process::Command::new("/bin/sh");
    command.args(["-c", &limited]).arg(std::env::current_exe().unwrap());
    let done = command.args(["--ignored", "--exact", &name, "--test-threads=1"]).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}

fn made(at: &Path) -> RunFolder {
    let run = at.join("run");
    RunFolder::make(&run, Path::new("/bin/true"), None, Path::new("/work")).unwrap()
}

#[test]
fn a_kernel_finds_its_driver_and_its_home_and_no_proxy() {
    let folder = tempfile::tempdir().unwrap();
    let own = made(folder.path());
    let mut environment = egress::variables();
    for (name, value) in [("HOME", "/tmp/home"), ("TMPDIR", "/tmp"), ("PATH", "/usr/bin")] {
        environment.insert(name.into(), value.into());
    }
    let spec = own.settle(KernelSpec {
        program: "/usr/bin/python3".into(),
        arguments: vec!["-I".into(), format!("{INSIDE}/driver.py")],
        environment,
        folder: "/work".into(),
        input: KernelInput::Empty,
    });
    assert_eq!(spec.arguments[0], "-I");
    assert!(Path::new(&spec.arguments[1]).is_file(), "{:?}", spec.arguments);
    assert!(Path::new(&spec.environment["HOME"]).is_dir());
    assert_eq!(Path::new(&spec.environment["TMPDIR"]), own.temporary());
    let names: Vec<_> = spec.environment.keys().map(String::as_str).collect();
    assert_eq!(names, ["HOME", "PATH", "TMPDIR"]);
}

#[test]
fn it_goes_with_all_that_was_left_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let own = made(folder.path());
    let locked = own.temporary().join("a/b");
    fs_err::create_dir_all(&locked).unwrap();
    fs_err::write(locked.join("file"), "x").unwrap();
    let closed = std::fs::Permissions::from_mode(0o000);
    fs_err::set_permissions(own.temporary().join("a"), closed).unwrap();
    drop(own);
    assert_eq!(fs_err::read_dir(folder.path().join("run")).unwrap().count(), 0);
}

#[test]
fn what_a_killed_program_left_is_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let own = made(folder.path());
    let run = folder.path().join("run");
    fs_err::create_dir_all(run.join(format!("{}-{}/tmp", u32::MAX, uuid::Uuid::new_v4().simple())))
        .unwrap();
    let second = made(folder.path());
    let left = fs_err::read_dir(&run).unwrap().count();
    assert_eq!(left, 2, "both that are in use are there, and nothing else");
    drop((own, second));
}

#[test]
fn a_folder_is_claimed_until_it_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let own = made(folder.path());
    let root = own.layout.root.clone();
    nest(&own.temporary(), DEEP);
    let removal = std::thread::spawn(move || drop(own));
    let mut refused = 0;
    loop {
        match Claim::on(&root) {
            Err(Errno::WOULDBLOCK) => refused += 1,
            Err(Errno::NOENT) => break,
            got => panic!("{got:?}"),
        }
    }
    assert!(refused > 0);
    removal.join().unwrap();
}

#[test]
fn a_folder_where_every_user_may_go_is_claimed_and_open_to_all() {
    let folder = tempfile::tempdir().unwrap();
    let made = ClaimedFolder::make(folder.path(), NAME).unwrap();
    assert_eq!(fs_err::metadata(made.path()).unwrap().mode() & 0o777, 0o700);
    let made = RunFolder::with_folders(made, 0o755).unwrap();
    let root = &made.layout.root;
    for path in [root, &made.drivers(), &made.temporary()] {
        assert_eq!(fs_err::metadata(path).unwrap().mode() & 0o777, 0o755);
    }
    assert_eq!(Claim::on(root).unwrap_err(), Errno::WOULDBLOCK);
}

#[test]
fn folders_nested_deeper_than_descriptors_reach_go_too() {
    with_few_descriptors("a_deep_nest_goes_with_few_descriptors");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn a_deep_nest_goes_with_few_descriptors() {
    let folder = tempfile::tempdir().unwrap();
    let own = made(folder.path());
    nest(&own.temporary(), DEEP);
    // Whoever goes down level by level runs out of descriptors.
    assert!(fs_err::remove_dir_all(own.temporary()).is_err());
    drop(own);
    assert_eq!(fs_err::read_dir(folder.path().join("run")).unwrap().count(), 0);
}

#[test]
fn no_folder_elsewhere_is_opened_for_an_exchange_of_names() {
    with_few_descriptors("folders_are_exchanged_for_links_while_they_go");
}

#[test]
#[ignore = "another test runs it in a process of its own"]
fn folders_are_exchanged_for_links_while_they_go() {
    const PAIRS: usize = 300;
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    fs_err::create_dir_all(victim.join("sub")).unwrap();
    fs_err::write(victim.join("sub/file"), "theirs").unwrap();
    let modes = || ["", "sub"].map(|at| fs_err::metadata(victim.join(at)).unwrap().mode() & 0o777);
    let fill = |at: &Path| {
        for number in 0..PAIRS {
            fs_err::create_dir(at.join(format!("d{number}"))).unwrap();
            symlink(&victim, at.join(format!("s{number}"))).unwrap();
        }
        // A removal that goes down level by level fails at one of these, and the pairs are there.
        for number in 0..8 {
            let chain = at.join(format!("chain{number}"));
            fs_err::create_dir(&chain).unwrap();
            nest(&chain, 2 * FEW as usize);
        }
    };
    // Exchanges each folder for a link and back, as fast as that goes, while `act` is done. Returns
    // how often that succeeded meanwhile.
    let race = |at: &Path, act: &mut dyn FnMut()| {
        let (begun, over, exchanges) =
            (Barrier::new(2), AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                begun.wait();
                while !over.load(Ordering::Relaxed) {
                    for number in 0..PAIRS {
                        let [real, link] =
                            ["d", "s"].map(|kind| at.join(format!("{kind}{number}")));
                        let both = RenameFlags::EXCHANGE;
                        let done = renameat_with(CWD, real, CWD, link, both).is_ok();
                        exchanges.fetch_add(usize::from(done), Ordering::Relaxed);
                    }
                }
            });
            begun.wait();
            act();
            over.store(true, Ordering::Relaxed);
        });
        exchanges.into_inner()
    };
    let set = |bits| {
        for at in ["", "sub"] {
            let mode = std::fs::Permissions::from_mode(bits);
            fs_err::set_permissions(victim.join(at), mode).unwrap();
        }
    };

    // By path the race is lost: that is what is prevented.
    let by_path = folder.path().join("by-path");
    fs_err::create_dir(&by_path).unwrap();
    fill(&by_path);
    set(0o755);
    race(&by_path, &mut || {
        while modes()[0] == 0o755 {
            for entry in fs_err::read_dir(&by_path).unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    let open = std::fs::Permissions::from_mode(0o700);
                    fs_err::set_permissions(entry.path(), open).unwrap();
                }
            }
        }
    });
    assert_eq!(modes()[0], 0o700);

    set(0o755);
    let mut exchanges = 0;
    for _ in 0..10 {
        let own = made(folder.path());
        let (root, temporary) = (own.layout.root.clone(), own.temporary());
        fill(&temporary);
        let mut own = Some(own);
        exchanges += race(&temporary, &mut || drop(own.take()));
        assert_eq!(modes(), [0o755, 0o755]);
        // Once nobody exchanges anything, the rest goes too.
        remove_tree(&root).unwrap();
        assert!(!root.exists());
    }
    assert!(exchanges > PAIRS, "nothing was exchanged meanwhile");
    assert_eq!(fs_err::read_to_string(victim.join("sub/file")).unwrap(), "theirs");
}

#[test]
fn others_go_on_while_a_deep_nest_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let left = || fs_err::read_dir(&run).unwrap().count();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let [awaited, dropped] = [made(folder.path()), made(folder.path())];
        for own in [&awaited, &dropped] {
            nest(&own.temporary(), DEEP);
        }
        let mut removal = Box::pin(awaited.remove());
        let first = std::future::poll_fn(|context| {
            std::task::Poll::Ready(removal.as_mut().poll(context).is_pending())
        });
        assert!(first.await, "the only thread of the runtime removed it");
        removal.await;
        assert_eq!(left(), 1);
        drop(dropped);
        assert_eq!(left(), 1, "the only thread of the runtime removed it");
    });
    // It waits for the threads that have begun something.
    drop(runtime);
    assert_eq!(left(), 0);
}

#[test]
fn a_runtime_that_ends_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let own = made(folder.path());
    // The task is dropped with the runtime, which takes no more work by then.
    drop(runtime.spawn(async move {
        std::future::pending::<()>().await;
        drop(own);
    }));
    runtime.block_on(tokio::task::yield_now());
    drop(runtime);
    assert_eq!(fs_err::read_dir(folder.path().join("run")).unwrap().count(), 0);
}
