//! The folder of code that a scanner looks at: private, outside the work folder, and gone after it.

use crate::{Folders, StoreError, private};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A folder with files for a scanner. It is removed when this is dropped.
#[derive(Debug)]
pub struct ScanFolder {
    /// Where it is.
    pub path: PathBuf,
}

impl ScanFolder {
    /// Makes a folder outside of `work_folder` with these files. Leftovers of programs that were
    /// killed go with those of piped data, whose folder it shares.
    pub fn make(
        folders: &Folders,
        work_folder: &Path,
        files: &[(&str, &str)],
    ) -> Result<Self, StoreError> {
        let all = folders.make_piped_folder_for(work_folder)?.join(std::process::id().to_string());
        private::make_folder(&all)?;
        let path = all.join(format!("scan-{}", uuid::Uuid::new_v4().simple()));
        private::make_folder(&path)?;
        // From here on it is removed, whatever happens.
        let made = Self { path };
        for (name, text) in files {
            let path = made.path.join(name);
            private::write(&path, text.as_bytes())
                .map_err(|source| StoreError::Keep { path, source })?;
        }
        Ok(made)
    }
}

impl Drop for ScanFolder {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.path).is_ok();
        // Unless piped data is there too.
        _ = self.path.parent().map(|all| fs::remove_dir(all).is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_there_until_it_is_dropped() {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::under(&home.path().join("home"));
        let made = ScanFolder::make(&folders, home.path(), &[("code.py", "x = 1")]).unwrap();
        let path = made.path.clone();
        assert_eq!(fs_err::read_to_string(path.join("code.py")).unwrap(), "x = 1");
        drop(made);
        assert!(!path.exists() && !path.parent().unwrap().exists());
    }
}
