//! A folder of a sandbox's own, where it has no mounts to put things on: drivers to read, a place
//! for temporary files to write. It goes with the sandbox, and is claimed for as long: programs that
//! do not see its maker would sweep it away.

use crate::{
    Interpreters,
    claimed::{ClaimedFolder, sweep},
    egress,
};
use interpreter_host::KernelSpec;
use interpreter_jail::JAIL;
use interpreter_jail::attack::ATTACK;
use interpreter_jupyter::JUPYTER;
use std::{
    io,
    ops::Deref,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};
use tokio::{runtime::Handle, task::JoinHandle};

/// Where drivers stand in a sandbox that has mounts.
const INSIDE: &str = "/run/interpreter";

/// Where every user may go. A folder is in the first that is not in the work folder.
const OPEN: [&str; 2] = ["/tmp", "/var/tmp"];

/// How names there begin; the number of our process follows.
const NAME: &str = "interpreter-";

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

    /// The home of code.
    pub(crate) fn home(&self) -> PathBuf {
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

/// A folder that is removed when this is dropped, on a thread where that keeps nobody waiting.
#[derive(Debug)]
pub(crate) struct RunFolder {
    layout: Layout,
    on_disk: Option<ClaimedFolder>,
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
        std::fs::DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
        let swept = folder.to_owned();
        drop(aside(move || sweep(&swept, "")));
        Self::with_folders(ClaimedFolder::make(folder, "")?, 0o700)
    }

    fn of_other(user: u32, work_folder: &Path) -> io::Result<Self> {
        drop(aside(|| OPEN.iter().for_each(|open| sweep(Path::new(open), NAME))));
        let [first, second] = OPEN;
        let open = if Path::new(first).starts_with(work_folder) { second } else { first };
        let made = Self::with_folders(ClaimedFolder::make(Path::new(open), NAME)?, 0o755)?;
        for path in [made.home(), made.temporary()] {
            fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o700))?;
            std::os::unix::fs::chown(path, Some(user), Some(user))?;
        }
        Ok(made)
    }

    fn with_folders(root: ClaimedFolder, bits: u32) -> io::Result<Self> {
        // Exactly these, whatever the umask.
        let set =
            |path: &Path| fs_err::set_permissions(path, std::fs::Permissions::from_mode(bits));
        let made = Self { layout: Layout::of(root.path()), on_disk: Some(root) };
        set(&made.layout.root)?;
        for path in [made.drivers(), made.temporary(), made.home()] {
            std::fs::DirBuilder::new().mode(bits).create(&path)?;
            set(&path)?;
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

    /// Removes it, and waits until it is gone. Other tasks go on meanwhile.
    pub(crate) async fn remove(mut self) {
        if let Some(on_disk) = self.on_disk.take()
            && let Some(removal) = aside(move || drop(on_disk))
        {
            _ = removal.await.is_ok();
        }
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
        let on_disk = self.on_disk.take();
        drop(aside(move || drop(on_disk)));
    }
}

/// Does long work on a thread of its own, or on this one if there is no runtime whose tasks would
/// wait.
///
/// A runtime that is shutting down drops the work without running it. A folder in it that is
/// removed on drop is then removed all the same.
fn aside(work: impl FnOnce() + Send + 'static) -> Option<JoinHandle<()>> {
    if let Ok(runtime) = Handle::try_current() {
        Some(runtime.spawn_blocking(work))
    } else {
        work();
        None
    }
}

fn write(at: &Path, text: &str, mode: u32) -> io::Result<()> {
    fs_err::write(at, text)?;
    fs_err::set_permissions(at, std::fs::Permissions::from_mode(mode))
}

#[cfg(test)]
mod tests;
