//! A folder of a sandbox's own, where it has no mounts to put things on: drivers to read, a place
//! for temporary files to write. It goes with the sandbox.

use crate::{Interpreters, egress, leftovers::sweep};
use interpreter_host::KernelSpec;
use interpreter_jail::JAIL;
use interpreter_jail::attack::ATTACK;
use interpreter_jupyter::JUPYTER;
use std::{
    io,
    ops::Deref,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

/// Where drivers stand in a sandbox that has mounts.
const INSIDE: &str = "/run/interpreter";

/// Where things are in such a folder.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    root: PathBuf,
}

impl Layout {
    /// The layout of a folder that may not be there.
    pub(crate) fn of(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Where the drivers are.
    pub(crate) fn drivers(&self) -> PathBuf {
        self.root.join("drivers")
    }

    /// Where temporary files go.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// An unreadable file.
    pub(crate) fn empty(&self) -> PathBuf {
        self.root.join("empty")
    }

    /// A folder that nobody can read.
    pub(crate) fn hollow(&self) -> PathBuf {
        self.root.join("hollow")
    }

    /// Where a jail that gets no streams otherwise meets us.
    pub(crate) fn meeting(&self) -> PathBuf {
        self.root.join("meeting")
    }

    /// The rules of the filter, as container engines take them.
    pub(crate) fn profile(&self) -> PathBuf {
        self.root.join("seccomp.json")
    }

    fn home(&self) -> PathBuf {
        self.root.join("tmp/home")
    }

    /// A kernel as it is started where nothing is mounted: its driver, its home and its temporary
    /// folder are in here, and there is no proxy to be found.
    pub(crate) fn settle(&self, spec: KernelSpec) -> KernelSpec {
        let KernelSpec { program, arguments, mut environment, folder, input } = spec;
        let moved = |argument: String| match Path::new(&argument).strip_prefix(INSIDE) {
            Ok(name) => self.drivers().join(name).to_string_lossy().into_owned(),
            Err(_) => argument,
        };
        let arguments = arguments.into_iter().map(moved).collect();
        let mut proxy = egress::variables();
        proxy.extend(egress::trust_variables());
        environment.retain(|name, value| proxy.get(name) != Some(value));
        for (name, to) in [("HOME", self.home()), ("TMPDIR", self.temporary())] {
            if let Some(value) = environment.get_mut(name) {
                *value = to.to_string_lossy().into_owned();
            }
        }
        KernelSpec { program, arguments, environment, folder, input }
    }
}

/// A folder that is removed when this is dropped.
#[derive(Debug)]
pub(crate) struct RunFolder {
    layout: Layout,
}

impl RunFolder {
    /// Makes one in `folder`, which is made too if it is not there, and takes away what programs
    /// left there that were killed.
    ///
    /// Where code runs as another `user`, it is made where every user may go, outside of the work
    /// folder, and its temporary files are that one's.
    pub(crate) fn make(
        folder: &Path,
        program: &Path,
        user: Option<u32>,
        work_folder: &Path,
    ) -> io::Result<Self> {
        let made = match user {
            None => Self::own(folder),
            Some(user) => Self::of_other(user, work_folder),
        };
        made.and_then(|made| made.furnish(program))
    }

    fn own(folder: &Path) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        std::fs::DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
        sweep(folder, remove);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = folder.join(format!("{}-{number}", std::process::id()));
        Self::with_folders(root, 0o700)
    }

    fn of_other(user: u32, work_folder: &Path) -> io::Result<Self> {
        let open = if Path::new("/tmp").starts_with(work_folder) { "/var/tmp" } else { "/tmp" };
        // Nobody can know the name beforehand, and what is there already is not taken.
        let name = format!("interpreter-{}", uuid::Uuid::new_v4().simple());
        let made = Self::with_folders(Path::new(open).join(name), 0o755)?;
        for path in [made.home(), made.temporary()] {
            fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o700))?;
            std::os::unix::fs::chown(path, Some(user), Some(user))?;
        }
        Ok(made)
    }

    fn with_folders(root: PathBuf, bits: u32) -> io::Result<Self> {
        // Exactly these, whatever the umask.
        let create = |path: &Path| {
            std::fs::DirBuilder::new().mode(bits).create(path)?;
            fs_err::set_permissions(path, std::fs::Permissions::from_mode(bits))
        };
        create(&root)?;
        let made = Self { layout: Layout::of(root) };
        for path in [made.drivers(), made.temporary(), made.home()] {
            create(&path)?;
        }
        Ok(made)
    }

    fn furnish(self, program: &Path) -> io::Result<Self> {
        for (at, text) in Interpreters::drivers() {
            let name = at.file_name().unwrap_or_default();
            write(&self.drivers().join(name), text, 0o444)?;
        }
        write(&self.empty(), "", 0o000)?;
        std::fs::DirBuilder::new().mode(0o000).create(self.hollow())?;
        for name in [JUPYTER, JAIL, ATTACK] {
            fs_err::os::unix::fs::symlink(program, self.drivers().join(name))?;
        }
        Ok(self)
    }
}

impl Deref for RunFolder {
    type Target = Layout;

    fn deref(&self) -> &Layout {
        &self.layout
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // A later session removes leftovers.
        _ = remove(&self.layout.root).is_ok();
    }
}

fn write(at: &Path, text: &str, mode: u32) -> io::Result<()> {
    fs_err::write(at, text)?;
    fs_err::set_permissions(at, std::fs::Permissions::from_mode(mode))
}

/// Removes a folder with all that is in it. Code may have locked folders of its own; they are ours
/// to open.
fn remove(root: &Path) -> io::Result<()> {
    if fs_err::remove_dir_all(root).is_ok() {
        return Ok(());
    }
    unlock(root);
    fs_err::remove_dir_all(root)
}

fn unlock(folder: &Path) {
    let mut next = vec![folder.to_owned()];
    while let Some(folder) = next.pop() {
        // A link is not followed: only what is a folder itself gets here.
        let open = std::fs::Permissions::from_mode(0o700);
        if fs_err::set_permissions(&folder, open).is_err() {
            continue;
        }
        let entries = fs_err::read_dir(&folder).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        next.extend(folders.map(|entry| entry.path()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_host::KernelInput;

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
        fs_err::create_dir_all(run.join("999999999-0/tmp")).unwrap();
        let second = made(folder.path());
        let left = fs_err::read_dir(&run).unwrap().count();
        assert_eq!(left, 2, "both that are in use are there, and nothing else");
        drop((own, second));
    }
}
