//! The moment at which an environment takes the place of another.
//!
//! One rename: code sees the old folder or the new one, and never a part. A program that has opened
//! a file keeps it; the next file that it opens by its path is one of the new folder.

use rustix::{
    fs::{CWD, RenameFlags, renameat_with},
    io::Errno,
};
use std::{io, path::Path};

/// Puts `new` in the place of `folder`, which need not be there. The folder of before is then in
/// the place of `new`, or at `aside`.
pub(super) fn swap(new: &Path, folder: &Path, aside: &Path) -> io::Result<()> {
    match renameat_with(CWD, new, CWD, folder, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        Err(Errno::NOENT) => fs_err::rename(new, folder),
        // A file system that cannot exchange. In between, there is none.
        Err(_) => {
            fs_err::rename(folder, aside)?;
            fs_err::rename(new, folder)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_folder_takes_the_place_of_another() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        for number in 1..3 {
            fs_err::create_dir(at("new")).unwrap();
            fs_err::write(at("new").join("number"), number.to_string()).unwrap();
            swap(&at("new"), &at("env"), &at("aside")).unwrap();
            let text = fs_err::read_to_string(at("env").join("number")).unwrap();
            assert_eq!(text, number.to_string());
            _ = fs_err::remove_dir_all(at("new"));
        }
        assert!(!at("aside").exists());
    }
}
