//! The folders of an installer: its workshop, and an environment of Python without any packages.
//!
//! Made outside and by hand, so that nothing has to run for it. Whatever is in the folder may have
//! been put there by a package: no link in it is followed.

use crate::interpreters::{PYTHON_ALONE, PackageTool};
use interpreter_workspace::remove_tree;
use std::{
    io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// The folder of the workshop where the installer has its temporary files.
pub const TEMPORARY: &str = "tmp";

/// Makes an empty workshop for an installer: a folder with one for temporary files.
pub(super) fn workshop(folder: &Path) -> io::Result<()> {
    clear(folder)?;
    real_folder(folder)?;
    real_folder(&folder.join(TEMPORARY))
}

/// Makes a folder an environment, before and after packages are unpacked into it.
pub(super) fn make(folder: &Path, tool: &PackageTool) -> io::Result<()> {
    real_folder(folder)?;
    let Some(python) = tool.python() else { return Ok(()) };
    let [major, minor] = python.series;
    let home = python.program.parent().unwrap_or(Path::new("/usr/bin"));
    let config = format!(
        "home = {}\ninclude-system-site-packages = {}\nversion = {}\n",
        home.display(),
        python.shows_system,
        python.version
    );
    let file = folder.join("pyvenv.cfg");
    write_new(&file, config.as_bytes())?;
    for place in ["bin", PYTHON_ALONE] {
        let place = folder.join(place);
        real_folder(&place)?;
        for name in ["python".to_owned(), "python3".to_owned(), format!("python{major}.{minor}")] {
            let link = place.join(name);
            clear(&link)?;
            symlink(&python.program, link)?;
        }
    }
    real_folder(&folder.join("lib"))?;
    let library = folder.join("lib").join(format!("python{major}.{minor}"));
    real_folder(&library)?;
    real_folder(&library.join("site-packages"))
}

/// Where packages of a Python are.
pub(super) fn packages(folder: &Path) -> Option<PathBuf> {
    let library = folder.join("lib");
    is_real(&library).then_some(())?;
    let entries = fs_err::read_dir(&library).ok()?.flatten();
    let mut found = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("python") && is_real(path) && is_real(&path.join("site-packages"))
    });
    found.next().map(|path| path.join("site-packages"))
}

/// A folder that is one, and no link to one. Anything else by its name goes.
pub(super) fn real_folder(path: &Path) -> io::Result<()> {
    if is_real(path) {
        return Ok(());
    }
    clear(path)?;
    fs_err::create_dir(path)?;
    // Root's code is another user, who may see what is installed.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(path, open)
}

pub(super) fn is_real(path: &Path) -> bool {
    fs_err::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Writes a file in place of whatever is there. No link is followed, even one that comes meanwhile.
pub(super) fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    clear(path)?;
    let mut options = fs_err::OpenOptions::new();
    io::Write::write_all(&mut options.write(true).create_new(true).open(path)?, bytes)
}

/// Removes whatever is there, and not what it leads to: however deep it is, and whatever its modes.
pub(super) fn clear(path: &Path) -> io::Result<()> {
    match fs_err::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs_err::remove_dir_all(path).or_else(|_| remove_tree(path)),
        Ok(_) => fs_err::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpreters::PythonHome;

    fn tool() -> PackageTool {
        let python = PythonHome {
            program: "/usr/bin/python3".into(),
            version: "3.11.2".into(),
            series: [3, 11],
            shows_system: true,
        };
        PackageTool::Pip { python, place: "/usr/lib/python3/dist-packages".into() }
    }

    #[test]
    fn an_environment_is_made_and_made_again() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("python-3.11");
        for _ in 0..2 {
            make(&folder, &tool()).unwrap();
            let config = fs_err::read_to_string(folder.join("pyvenv.cfg")).unwrap();
            assert!(config.starts_with("home = /usr/bin\ninclude-system-site-packages = true\n"));
            let python = fs_err::read_link(folder.join("bin/python3.11")).unwrap();
            assert_eq!(python, Path::new("/usr/bin/python3"));
            assert_eq!(packages(&folder), Some(folder.join("lib/python3.11/site-packages")));
        }
        workshop(&folder).unwrap();
        assert_eq!(fs_err::read_dir(&folder).unwrap().count(), 1);
    }

    #[test]
    fn planted_links_lead_nowhere() {
        let root = tempfile::tempdir().unwrap();
        let (folder, elsewhere) = (root.path().join("p"), root.path().join("elsewhere"));
        for path in [&folder, &elsewhere] {
            fs_err::create_dir(path).unwrap();
        }
        for name in ["bin", "lib", "pyvenv.cfg"] {
            symlink(&elsewhere, folder.join(name)).unwrap();
        }
        assert_eq!(packages(&folder), None);
        make(&folder, &tool()).unwrap();
        assert_eq!(fs_err::read_dir(&elsewhere).unwrap().count(), 0);
        assert!(is_real(&folder.join("bin")) && is_real(&folder.join("lib/python3.11")));
    }
}
