//! Folders of programs that run stay, and those of programs that are gone go.

use super::{claim::soon, *};
use std::os::unix::fs::symlink;

const NAME: &str = "interpreter-";

#[test]
fn a_folder_bears_the_number_of_its_maker_and_goes_with_what_is_in_it() {
    let folder = tempfile::tempdir().unwrap();
    for prefix in ["", NAME] {
        let made = ClaimedFolder::make(folder.path(), prefix).unwrap();
        let name = made.path().file_name().unwrap().to_str().unwrap();
        let name = name.strip_prefix(prefix).unwrap();
        assert_eq!(maker(name), Some(&*std::process::id().to_string()));
        fs_err::write(made.path().join("file"), "x").unwrap();
        assert_eq!(Claim::on(made.path()).unwrap_err(), Errno::WOULDBLOCK);
        drop(made);
    }
    assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 0);
}

/// Two programs can share a folder and see different processes.
#[test]
fn what_a_program_has_that_is_not_seen_here_stays() {
    let folder = tempfile::tempdir().unwrap();
    let unique = uuid::Uuid::new_v4().simple().to_string();
    let at = |name: String| {
        let path = folder.path().join(name);
        fs_err::create_dir_all(path.join("tmp")).unwrap();
        path
    };
    let held = [at(format!("{NAME}{}-{unique}", u32::MAX)), at(format!("{}-{unique}", u32::MAX))];
    let left = at(format!("{NAME}{}-{unique}", u32::MAX - 1));
    let claims = held.each_ref().map(|path| Claim::on(path).unwrap());
    let sweep_both = || {
        sweep(folder.path(), NAME);
        sweep(folder.path(), "");
    };
    sweep_both();
    assert!(!left.exists());
    assert!(held.iter().all(|path| path.join("tmp").exists()));
    drop(claims);
    assert!(soon(|| {
        sweep_both();
        !held.iter().any(|path| path.exists())
    }));
}

#[test]
fn leftovers_where_every_user_may_go_are_taken_away_if_they_are_ours() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let unique = uuid::Uuid::new_v4().simple().to_string();
    let (ours, dead) = (std::process::id(), u32::MAX);
    let left = at(&format!("{NAME}{dead}-{unique}"));
    fs_err::create_dir_all(left.join("tmp")).unwrap();
    let mut stay = vec![
        at(&format!("{NAME}{ours}-{unique}")),
        at(&format!("{NAME}{dead}-notes")),
        at(&format!("{NAME}notes-{unique}")),
        at(&unique),
    ];
    for path in &stay {
        fs_err::create_dir(path).unwrap();
    }
    let other =
        |number: u128| at(&format!("{NAME}{dead}-{}", uuid::Uuid::from_u128(number).simple()));
    let link = other(1);
    symlink(at(&unique), &link).unwrap();
    stay.push(link);
    if rustix::process::geteuid().is_root() {
        let theirs = other(2);
        fs_err::create_dir_all(theirs.join("tmp")).unwrap();
        std::os::unix::fs::chown(&theirs, Some(65_534), None).unwrap();
        stay.push(theirs.join("tmp"));
    }
    sweep(folder.path(), NAME);
    assert!(!left.exists());
    for path in stay {
        assert!(path.exists(), "{}", path.display());
    }
}
