//! Weights are used only if they match the catalogue.

use super::*;
use crate::catalogue::Role;
use fs_err as fs;
use interpreter_core::hash::sha256;

fn entry(bytes: &[u8]) -> CatalogueEntry {
    CatalogueEntry {
        name: "small".into(),
        title: "Small".into(),
        role: Role::Default,
        file: "small.gguf".into(),
        bytes: bytes.len() as u64,
        sha256: sha256(bytes),
        licence: "MIT".into(),
        context: 1024,
        repository: String::new(),
    }
}

#[test]
fn a_file_is_used_if_size_and_hash_are_right() {
    let folder = tempfile::tempdir().unwrap();
    let (shelf, entry) = (Shelf::new(folder.path().into()), entry(b"weights"));
    assert_eq!(shelf.holds(&entry), Held::Nothing);
    assert!(matches!(shelf.verified(&entry), Err(ShelfError::Missing { .. })));
    fs::write(folder.path().join("small.gguf.part"), "wei").unwrap();
    assert_eq!(shelf.holds(&entry), Held::Part(3));
    fs::write(folder.path().join("small.gguf"), "weight").unwrap();
    assert!(matches!(shelf.verified(&entry), Err(ShelfError::WrongSize { bytes: 6, .. })));
    fs::write(folder.path().join("small.gguf"), "wEights").unwrap();
    assert_eq!(shelf.holds(&entry), Held::Whole);
    assert!(matches!(shelf.verified(&entry), Err(ShelfError::Altered { .. })));
    fs::write(folder.path().join("small.gguf"), "weights").unwrap();
    assert_eq!(shelf.verified(&entry).unwrap(), folder.path().join("small.gguf"));
}

#[test]
fn a_file_that_was_hashed_is_not_hashed_again_until_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let (shelf, entry) = (Shelf::new(folder.path().into()), entry(b"weights"));
    let path = folder.path().join("small.gguf");
    fs::write(&path, "weights").unwrap();
    shelf.verified(&entry).unwrap();
    let then = fs::metadata(&path).unwrap().modified().unwrap();
    let set_time = |time| {
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.file().set_modified(time).unwrap();
    };
    // What is remembered counts: with the hash of others it would be refused.
    let memory = folder.path().join("small.gguf.checked");
    assert!(fs::read_to_string(&memory).unwrap().contains(&entry.sha256));
    // The same size and the same time of writing, as a program can set it.
    fs::write(&path, "WEIGHTS").unwrap();
    set_time(then);
    assert!(matches!(shelf.verified(&entry), Err(ShelfError::Altered { .. })));
    // Another file in its place.
    fs::write(&path, "weights").unwrap();
    shelf.verified(&entry).unwrap();
    fs::write(folder.path().join("other"), "WEIGHTS").unwrap();
    fs::rename(folder.path().join("other"), &path).unwrap();
    set_time(then);
    assert!(matches!(shelf.verified(&entry), Err(ShelfError::Altered { .. })));
    // The control: the memory is all that is read of one that hasn't changed.
    fs::write(&path, "weights").unwrap();
    shelf.verified(&entry).unwrap();
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    shelf.verified(&entry).unwrap();
    let before = fs::metadata(&memory).unwrap().modified().unwrap();
    shelf.verified(&entry).unwrap();
    assert_eq!(fs::metadata(&memory).unwrap().modified().unwrap(), before);
    // A remembered result for one hash says nothing about another.
    fs::write(&path, "weights").unwrap();
    shelf.verified(&entry).unwrap();
    let other = CatalogueEntry { sha256: sha256(b"others!"), ..entry };
    assert!(matches!(shelf.verified(&other), Err(ShelfError::Altered { .. })));
}

#[test]
fn damaged_or_endless_memory_is_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let (shelf, entry) = (Shelf::new(folder.path().into()), entry(b"weights"));
    fs::write(folder.path().join("small.gguf"), "wEights").unwrap();
    for memory in ["", "{}", "[1]", &"x".repeat(100_000)] {
        fs::write(folder.path().join("small.gguf.checked"), memory).unwrap();
        assert!(matches!(shelf.verified(&entry), Err(ShelfError::Altered { .. })));
    }
}

#[test]
fn removing_takes_everything_of_a_model_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (shelf, entry) = (Shelf::new(folder.path().join("models")), entry(b"weights"));
    let message = shelf.remove(&entry).unwrap_err().to_string();
    assert_eq!(message, "`embedded/small` is not on this machine");
    fs::create_dir_all(shelf.saved(&entry).join("deep")).unwrap();
    for name in ["small.gguf", "small.gguf.part", "small.gguf.checked", "other.gguf"] {
        fs::write(shelf.folder().join(name), "1234").unwrap();
    }
    fs::write(shelf.saved(&entry).join("deep/state"), "12345").unwrap();
    assert_eq!(shelf.remove(&entry).unwrap(), 17);
    let left = fs::read_dir(shelf.folder()).unwrap().map(|one| one.unwrap().file_name());
    let mut left: Vec<_> = left.collect();
    left.sort();
    assert_eq!(left, ["lock", "other.gguf"]);
    assert!(matches!(shelf.remove(&entry), Err(ShelfError::Missing { .. })));
}

#[test]
fn a_part_alone_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (shelf, entry) = (Shelf::new(folder.path().into()), entry(b"weights"));
    fs::write(shelf.part(&entry), "wei").unwrap();
    assert_eq!(shelf.remove(&entry).unwrap(), 3);
}

#[test]
fn nobody_removes_what_somebody_fetches() {
    let folder = tempfile::tempdir().unwrap();
    let (shelf, entry) = (Shelf::new(folder.path().into()), entry(b"weights"));
    fs::write(shelf.part(&entry), "wei").unwrap();
    let lock = shelf.lock().unwrap();
    assert!(matches!(shelf.remove(&entry), Err(ShelfError::Busy { .. })));
    drop(lock);
    shelf.remove(&entry).unwrap();
}

#[test]
fn a_pipe_or_a_device_in_the_place_of_a_file_is_neither_read_nor_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let (shelf, entry) = (Shelf::new(folder.path().into()), entry(b"weights"));
    let path = folder.path().join("small.gguf");
    let pipe = |path: &std::path::Path| {
        let (at, mode) = (rustix::fs::CWD, rustix::fs::Mode::from_raw_mode(0o600));
        rustix::fs::mknodat(at, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    };
    pipe(&path);
    assert!(matches!(shelf.verified(&entry), Err(ShelfError::WrongSize { .. })));
    fs::remove_file(&path).unwrap();
    std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
    assert!(matches!(shelf.verified(&entry), Err(ShelfError::WrongSize { .. })));
    fs::remove_file(&path).unwrap();
    // What is remembered is a pipe: the file is hashed, and the memory written anew.
    fs::write(&path, "weights").unwrap();
    let memory = folder.path().join("small.gguf.checked");
    pipe(&memory);
    assert_eq!(shelf.verified(&entry).unwrap(), path);
    assert!(fs::metadata(&memory).unwrap().is_file());
}
