//! Puts paths of the work folder back to what they were before the code touched them.
//!
//! The work folder is an overlay's merged view, `lower` is what it was laid over. This runs inside
//! the sandbox, with no more rights than the code had, and beside whatever that code left
//! running: it cannot be tricked into more than the code could do by itself.
//!
//! Never follows a symbolic link: one that is in the way is replaced. Content, mode and time of
//! files, and the mode of folders, come back; owners, extended attributes and hard links do not.
//! A folder that its mode closes to us is opened while we work in it.

use rustix::fs::OFlags;
use std::fs::{self, File, FileType, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

/// Number of errors listed one by one. The rest is counted, so that the answer fits a frame.
const TOLD: usize = 1_000;

/// Makes each path of `work` what it is in `lower`; a file is called `scratch` until it is whole.
/// Gives one sentence for each that failed.
pub(crate) fn restore(work: &Path, lower: &Path, paths: &[String], scratch: &str) -> Vec<String> {
    let mut errors = Vec::new();
    let mut untold = 0_usize;
    for path in paths {
        if let Err(error) = restore_one(work, lower, path, scratch) {
            if errors.len() < TOLD {
                errors.push(format!("`{path}` was not put back: {error}"));
            } else {
                untold += 1;
            }
        }
    }
    if untold > 0 {
        errors.push(format!("{untold} more paths were not put back"));
    }
    errors
}

fn restore_one(work: &Path, lower: &Path, path: &str, scratch: &str) -> io::Result<()> {
    let names = names(path)?;
    let (mut to, mut from) = (work.to_path_buf(), lower.to_path_buf());
    let (last, parents) = names.split_last().expect("`names` gives at least one");
    let mut opened = Opened { scratch, folders: Vec::new() };
    let mut was_there = true;
    for name in parents {
        to.push(name);
        from.push(name);
        // Asked of each in turn: the system would follow a link to what is below it.
        was_there = was_there && look(&from)?.is_some_and(|was| was.is_dir());
        if was_there {
            opened.folder(&to, &from, Mode::Keep)?;
        } else if !look(&to)?.is_some_and(|is| is.is_dir()) {
            // Neither has the folder that the path is in, so neither has the path.
            return Ok(());
        }
    }
    to.push(last);
    from.push(last);
    if was_there { restore_path(&to, &from, &mut opened) } else { remove(&to) }
}

/// The names in a path that stays below its folder.
fn names(path: &str) -> io::Result<Vec<&str>> {
    let outside = || io::Error::new(io::ErrorKind::InvalidInput, "it is not below the work folder");
    let mut names = Vec::new();
    for component in Path::new(path).components() {
        match component {
            Component::Normal(name) => names.push(name.to_str().ok_or_else(outside)?),
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => {
                return Err(outside());
            }
        }
    }
    if names.is_empty() { Err(outside()) } else { Ok(names) }
}

fn restore_path(to: &Path, from: &Path, opened: &mut Opened<'_>) -> io::Result<()> {
    let Some(was) = look(from)? else { return remove(to) };
    match kind(was.file_type()) {
        Kind::File => restore_file(to, from, opened.scratch),
        Kind::Link => restore_link(to, from),
        Kind::Folder => {
            opened.folder(to, from, Mode::Restore)?;
            restore_missing(to, from, opened)
        }
        Kind::Special => {
            Err(io::Error::new(io::ErrorKind::Unsupported, "it was neither file, link nor folder"))
        }
    }
}

/// Brings back what is below `from` and no longer below `to`.
fn restore_missing(to: &Path, from: &Path, opened: &mut Opened<'_>) -> io::Result<()> {
    // Not by recursion: how deep the folders go is up to the code.
    let mut folders = vec![(to.to_path_buf(), from.to_path_buf())];
    while let Some((to, from)) = folders.pop() {
        for entry in fs::read_dir(&from)? {
            let name = entry?.file_name();
            let (to, from) = (to.join(&name), from.join(&name));
            let (is, was) = (look(&to)?, look(&from)?);
            match (is, was.is_some_and(|was| was.is_dir())) {
                (None, false) => restore_path(&to, &from, opened)?,
                (None, true) => {
                    opened.folder(&to, &from, Mode::Keep)?;
                    folders.push((to, from));
                }
                (Some(is), true) if is.is_dir() => {
                    opened.folder(&to, &from, Mode::Keep)?;
                    folders.push((to, from));
                }
                (Some(_), _) => {}
            }
        }
    }
    Ok(())
}

fn restore_file(to: &Path, from: &Path, scratch: &str) -> io::Result<()> {
    let mut source = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(from)?;
    let was = source.metadata()?;
    let (name, mut target) = create_beside(to, scratch)?;
    let written = io::copy(&mut source, &mut target)
        .and_then(|_| target.set_permissions(was.permissions()))
        .and_then(|()| target.set_modified(was.modified()?))
        .and_then(|()| replace(&name, to));
    written.or_else(|error| remove(&name).and(Err(error)))
}

fn restore_link(to: &Path, from: &Path) -> io::Result<()> {
    let target = fs::read_link(from)?;
    remove(to)?;
    symlink(target, to)
}

/// Which mode a folder shall have in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// The one it has; if it had to be made, the one it had.
    Keep,
    /// The one it had.
    Restore,
}

/// Folders that are open to us for now, with the modes they get when we are done.
struct Opened<'a> {
    /// The name of a file that is not yet in its place.
    scratch: &'a str,
    folders: Vec<(PathBuf, Permissions)>,
}

impl Opened<'_> {
    /// Makes `to` a folder that can be worked in.
    fn folder(&mut self, to: &Path, from: &Path, mode: Mode) -> io::Result<()> {
        let was = fs::symlink_metadata(from)?.permissions();
        let is = match look(to)? {
            Some(is) if is.is_dir() => is.permissions(),
            Some(_) | None => {
                remove(to)?;
                fs::create_dir(to)?;
                self.folders.push((to.to_path_buf(), was));
                return fs::set_permissions(to, Permissions::from_mode(OWN));
            }
        };
        let last = if mode == Mode::Keep { is.clone() } else { was };
        if last != is || is.mode() & OWN != OWN {
            self.folders.push((to.to_path_buf(), last));
        }
        open(to, &is)
    }
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        // From the inside out: a closed folder hides those below it. A failure here means that
        // others removed or closed it meanwhile.
        for (folder, permissions) in self.folders.drain(..).rev() {
            fs::set_permissions(folder, permissions).unwrap_or_default();
        }
    }
}

/// All that an owner can be allowed to do in a folder.
const OWN: u32 = 0o700;

fn open(folder: &Path, is: &Permissions) -> io::Result<()> {
    if is.mode() & OWN == OWN {
        return Ok(());
    }
    fs::set_permissions(folder, Permissions::from_mode(is.mode() | OWN))
}

/// A new file in the folder of `path`, so that taking its place is one step.
fn create_beside(path: &Path, scratch: &str) -> io::Result<(PathBuf, File)> {
    let name = path.with_file_name(scratch);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&name)?;
    Ok((name, file))
}

fn replace(new: &Path, old: &Path) -> io::Result<()> {
    // A file takes a file's or a link's place by itself, a folder's not.
    if look(old)?.is_some_and(|there| there.is_dir()) {
        remove(old)?;
    }
    fs::rename(new, old)
}

/// Removes what is there, if anything is.
fn remove(path: &Path) -> io::Result<()> {
    match look(path)? {
        None => Ok(()),
        Some(there) if there.is_dir() => match fs::remove_dir_all(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                open_all(path)?;
                fs::remove_dir_all(path)
            }
            done => done,
        },
        Some(_) => fs::remove_file(path),
    }
}

/// Opens a folder and all folders below it.
fn open_all(folder: &Path) -> io::Result<()> {
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        open(&folder, &fs::symlink_metadata(&folder)?.permissions())?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(())
}

/// The entry itself, not the target of a link.
fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        // "Not a folder" is the error for a path below a file.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

enum Kind {
    File,
    Link,
    Folder,
    Special,
}

fn kind(of: FileType) -> Kind {
    if of.is_file() {
        Kind::File
    } else if of.is_symlink() {
        Kind::Link
    } else if of.is_dir() {
        Kind::Folder
    } else {
        Kind::Special
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::{Duration, SystemTime};
    use tempfile::TempDir;

    /// A folder as it was, and as code left it.
    struct Scene {
        folder: TempDir,
    }

    impl Scene {
        fn new() -> Self {
            let folder = TempDir::new().unwrap();
            fs::create_dir(folder.path().join("work")).unwrap();
            fs::create_dir(folder.path().join("lower")).unwrap();
            Self { folder }
        }

        fn path(&self, path: &str) -> PathBuf {
            self.folder.path().join(path)
        }

        fn file(self, path: &str, content: &str) -> Self {
            let path = self.path(path);
            fs::DirBuilder::new().recursive(true).create(path.parent().unwrap()).unwrap();
            File::create(path).unwrap().write_all(content.as_bytes()).unwrap();
            self
        }

        fn link(self, path: &str, target: &str) -> Self {
            symlink(target, self.path(path)).unwrap();
            self
        }

        fn mode(self, path: &str, mode: u32) -> Self {
            fs::set_permissions(self.path(path), Permissions::from_mode(mode)).unwrap();
            self
        }

        fn restore(self, paths: &[&str]) -> Self {
            assert_eq!(self.errors(paths), Vec::<String>::new());
            self
        }

        fn errors(&self, paths: &[&str]) -> Vec<String> {
            let paths: Vec<String> = paths.iter().map(|&path| path.into()).collect();
            restore(&self.path("work"), &self.path("lower"), &paths, ".new")
        }

        fn has(self, path: &str, content: &str) -> Self {
            let path = self.path(path);
            assert!(look(&path).unwrap().unwrap().is_file(), "{} is a file", path.display());
            assert_eq!(io::read_to_string(File::open(path).unwrap()).unwrap(), content);
            self
        }

        fn lacks(self, path: &str) -> Self {
            assert!(look(&self.path(path)).unwrap().is_none(), "{path} is gone");
            self
        }
    }

    #[test]
    fn a_changed_file_gets_its_content_mode_and_time_back() {
        let scene = Scene::new().file("lower/a", "was").mode("lower/a", 0o750).file("work/a", "is");
        let time = SystemTime::UNIX_EPOCH + Duration::from_nanos(1_234_567_890_123_456_789);
        File::open(scene.path("lower/a")).unwrap().set_modified(time).unwrap();
        let scene = scene.restore(&["a"]).has("work/a", "was").lacks("work/.new");
        let restored = fs::metadata(scene.path("work/a")).unwrap();
        assert_eq!(restored.permissions().mode() & 0o7777, 0o750);
        assert_eq!(restored.modified().unwrap(), time);
    }

    #[test]
    fn what_was_not_there_goes() {
        Scene::new()
            .file("work/new", "")
            .file("work/folder/deep/er", "")
            .file("work/kept", "kept")
            .restore(&["new", "folder", "never/there"])
            .lacks("work/new")
            .lacks("work/folder")
            .has("work/kept", "kept");
    }

    #[test]
    fn a_folder_comes_back_with_all_it_held_and_keeps_what_it_holds() {
        Scene::new()
            .file("lower/folder/a", "a")
            .file("lower/folder/deep/er/b", "b")
            .file("work/folder/a", "changed")
            .file("work/folder/new", "new")
            .restore(&["folder"])
            .has("work/folder/deep/er/b", "b")
            .has("work/folder/a", "changed")
            .has("work/folder/new", "new");
    }

    #[test]
    fn a_path_of_another_kind_is_in_nobodys_way() {
        let scene = Scene::new()
            .file("lower/file", "file")
            .file("work/file/below", "")
            .file("lower/folder/a", "a")
            .file("work/folder", "")
            .link("lower/link", "nowhere")
            .file("work/link/below", "")
            .restore(&["file", "folder", "link"])
            .has("work/file", "file")
            .has("work/folder/a", "a");
        assert_eq!(fs::read_link(scene.path("work/link")).unwrap(), Path::new("nowhere"));
    }

    #[test]
    fn links_are_replaced_and_never_followed() {
        Scene::new()
            .file("outside/file", "outside")
            .file("outside/deep/b", "outside")
            .file("lower/file", "was")
            .file("lower/folder/a", "was")
            .link("work/file", "../outside/file")
            .link("work/folder", "../outside")
            .link("work/new", "../outside")
            .restore(&["file", "folder/a", "new", "new/deep/b"])
            .has("work/file", "was")
            .has("work/folder/a", "was")
            .lacks("work/new")
            .has("outside/file", "outside")
            .has("outside/deep/b", "outside")
            .lacks("outside/a");
    }

    #[test]
    fn what_is_below_a_link_of_the_lower_folder_was_not_there() {
        Scene::new()
            .file("outside/a", "outside")
            .link("lower/folder", "../outside")
            .file("work/folder/a", "new")
            .restore(&["folder/a"])
            .lacks("work/folder/a");
    }

    #[test]
    fn closed_folders_are_worked_in_and_closed_again() {
        let scene = Scene::new()
            .file("lower/closed/a", "a")
            .file("lower/closed/deep/b", "b")
            .mode("lower/closed/deep", 0o555)
            .mode("lower/closed", 0o555)
            .file("work/new/deep/file", "")
            .mode("work/new/deep", 0o555)
            .mode("work/new", 0o555)
            .restore(&["closed", "new"])
            .has("work/closed/a", "a")
            .has("work/closed/deep/b", "b")
            .lacks("work/new");
        for folder in ["work/closed", "work/closed/deep"] {
            let mode = fs::metadata(scene.path(folder)).unwrap().permissions().mode();
            assert_eq!(mode & 0o7777, 0o555, "{folder}");
        }
        scene.mode("lower/closed/deep", 0o755).mode("lower/closed", 0o755);
    }

    #[test]
    fn a_path_that_leaves_the_work_folder_is_refused_and_the_others_are_done() {
        let scene = Scene::new().file("outside", "outside").file("work/new", "");
        let absolute = scene.path("outside").display().to_string();
        let errors = scene.errors(&["../outside", &absolute, "a/../../outside", "", ".", "new"]);
        assert_eq!(errors.len(), 5);
        assert_eq!(errors[0], "`../outside` was not put back: it is not below the work folder");
        scene.has("outside", "outside").lacks("work/new");
    }

    #[test]
    fn a_great_many_errors_are_counted() {
        let errors = Scene::new().errors(&vec![".."; 5_000]);
        assert_eq!(errors.len(), TOLD + 1);
        assert_eq!(errors[TOLD], "4000 more paths were not put back");
    }
}
