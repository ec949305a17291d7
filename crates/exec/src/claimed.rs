//! Files and folders of our own that killed programs left behind.

use std::{io, path::Path};

/// Removes what is in a folder and belongs to programs that are gone. Names begin with the process
/// that made them: `PROCESS-…`.
pub(crate) fn sweep(folder: &Path, remove: impl Fn(&Path) -> io::Result<()>) {
    sweep_named(folder, |name| name.split('-').next(), remove);
}

/// The same where names say in another way which process made them, and some are not ours.
pub(crate) fn sweep_named(
    folder: &Path,
    maker: impl Fn(&str) -> Option<&str>,
    remove: impl Fn(&Path) -> io::Result<()>,
) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(&maker);
        if maker.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // It may belong to somebody else's session that is just ending.
            _ = remove(&entry.path()).is_ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_running_programs_have_stays() {
        let folder = tempfile::tempdir().unwrap();
        let ours = folder.path().join(format!("{}-a", std::process::id()));
        let left = folder.path().join(format!("{}-a", u32::MAX));
        for path in [&ours, &left] {
            fs_err::write(path, "").unwrap();
        }
        sweep(folder.path(), |path| fs_err::remove_file(path));
        assert!(ours.exists() && !left.exists());
    }
}
