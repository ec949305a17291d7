//! Folders that are emptied, whatever code has left in them.

use super::*;
use rustix::fs::mkdirat;
use std::{
    fs::Permissions,
    os::unix::fs::{PermissionsExt, symlink},
};
use tempfile::TempDir;

fn file(path: &Path) {
    fs::DirBuilder::new().recursive(true).create(path.parent().unwrap()).unwrap();
    File::create(path).unwrap();
}

fn count(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn everything_goes_but_what_is_mounted_and_a_home_is_left() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["tmp/a", "tmp/home/.gitconfig", "tmp/shown/b/work/kept", "tmp/shown/c", "out/kept"]
    {
        file(&at(name));
    }
    symlink(at("out"), at("tmp/link")).unwrap();
    symlink(at("out"), at("tmp/home/link")).unwrap();
    let mounted = [at("tmp"), at("tmp/shown/b/work")];
    let folders = [at("tmp"), at("not there")];
    empty_around(&folders, &at("tmp/home"), &mounted).unwrap();
    assert!(at("tmp/shown/b/work/kept").exists() && at("out/kept").exists());
    assert_eq!((count(&at("tmp")), count(&at("tmp/home"))), (2, 0));
    assert_eq!((count(&at("tmp/shown")), count(&at("out"))), (1, 1));
}

/// A home that is a link, or not there, is made anew.
#[test]
fn a_home_that_leads_elsewhere_is_made_anew() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    file(&at("out/kept"));
    fs::create_dir(at("tmp")).unwrap();
    symlink(at("out"), at("tmp/home")).unwrap();
    for _ in 0..2 {
        empty_around(&[at("tmp")], &at("tmp/home"), &[]).unwrap();
        assert!(fs::symlink_metadata(at("tmp/home")).unwrap().is_dir() && at("out/kept").exists());
        fs::remove_dir(at("tmp/home")).unwrap();
    }
}

#[test]
fn neither_depth_nor_modes_keep_a_folder() {
    let folder = TempDir::new().unwrap();
    let top = folder.path().join("tmp");
    fs::create_dir(&top).unwrap();
    let mut at = open(CWD, &top).unwrap();
    for number in 0..1_100 {
        mkdirat(&at, "d", Mode::RWXU).unwrap();
        let next = open(&at, "d").unwrap();
        if number % 7 == 0 {
            fchmod(&at, Mode::XUSR).unwrap();
        }
        at = next;
    }
    drop(at);
    fs::set_permissions(&top, Permissions::from_mode(0o0)).unwrap();
    empty_around(std::slice::from_ref(&top), &top.join("home"), &[]).unwrap();
    assert_eq!(count(&top), 1);
}

#[test]
fn names_of_mounts_are_read_as_they_are() {
    let text =
        b"36 35 98:0 /a /tmp/with\\040space\\134and rw - tmpfs x rw\n1 2 0:1 / / rw - x y z\n";
    let points = mount_points(text);
    assert_eq!(points, [Path::new("/tmp/with space\\and"), Path::new("/")]);
    assert!(mounted().unwrap().contains(&PathBuf::from("/")));
}
