//! The file system that confined code sees.
//!
//! # Threat
//! Code that reads keys, writes outside its folder, or leaves something behind that the person
//! runs later.
//!
//! # Mechanism
//! A new root on a temporary file system. Anything not bound into it does not exist. Every mount is
//! `nosuid`, and `nodev` but for the few device files; the system is read-only. A bind gets its
//! attributes while it is still detached, so there is no moment at which it is looser.
//!
//! Whatever is only read is shown through an overlay of nothing but itself ([`shown`]). Its inodes are
//! other ones than those outside, so sockets, pipes, locks and watchers of files lead nowhere.
//!
//! # Order
//! Paths of the old root are taken as they are under `/old` and must hold no symbolic link: the
//! caller resolves them. The old root is let go before rights are given up.
//!
//! # Limits
//! Whatever is bound writable can be filled or destroyed.
//!
//! # See
//! [mount_namespaces(7)], [pivot_root(2)], [mount_setattr(2)] and [overlayfs]. Overlays in user
//! namespaces have given capabilities and setuid files away ([CVE-2021-3493], [CVE-2023-0386]):
//! therefore `nosuid` everywhere and no new namespaces inside. Our own binary is bound read-only:
//! code that writes it would run outside ([CVE-2019-5736]).
//!
//! [mount_namespaces(7)]: https://man7.org/linux/man-pages/man7/mount_namespaces.7.html
//! [pivot_root(2)]: https://man7.org/linux/man-pages/man2/pivot_root.2.html
//! [mount_setattr(2)]: https://man7.org/linux/man-pages/man2/mount_setattr.2.html
//! [overlayfs]: https://docs.kernel.org/filesystems/overlayfs.html
//! [CVE-2021-3493]: https://nvd.nist.gov/vuln/detail/CVE-2021-3493
//! [CVE-2023-0386]: https://nvd.nist.gov/vuln/detail/CVE-2023-0386
//! [CVE-2019-5736]: https://nvd.nist.gov/vuln/detail/CVE-2019-5736

use crate::{
    BindAccess, Owner,
    sys::{self, Forked},
};
use rustix::{
    fd::{AsFd, BorrowedFd, OwnedFd},
    fs::{CWD, Mode, OFlags},
    mount::{
        MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount,
        mount_change, move_mount, open_tree, unmount as unmount_at,
    },
    process::{self, Signal, WaitOptions},
};
use std::{
    ffi::CString,
    fs, io,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

mod shown;

/// Where the old root is until it is let go.
const OLD: &str = "/old";

/// The file that covers masked files.
const EMPTY: &str = "/run/interpreter/empty";

/// The second layer of a mirror.
const NOTHING: &str = "/run/interpreter/nothing";

/// State kept between mounts.
#[derive(Default)]
pub(crate) struct Mounts {
    /// A user namespace that says whose files are shown as whose.
    owner: Option<OwnedFd>,
    /// Where something is mounted in the old root.
    points: Option<shown::Points>,
}

impl Mounts {
    /// Makes the user namespace that [`Owner::Mapped`] needs: user and group 0 are shown as `to`
    /// and the other way round, all between as themselves. The other way round, because the
    /// overlay works with the rights of root, who mounts it, and root must be somebody there.
    pub(crate) fn prepare_owner(&mut self, to: u32) -> io::Result<()> {
        let (ready, child_ready) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let child = match sys::fork()? {
            Forked::Child => {
                let status = i32::from(sys::unshare(libc::CLONE_NEWUSER).is_err());
                if status == 0 && rustix::io::write(&child_ready, b"r").is_ok() {
                    // Stays until it is killed: the namespace is taken from it by its number.
                    loop {
                        rustix::event::pause();
                    }
                }
                sys::exit_now(1)
            }
            Forked::Parent(child) => child,
        };
        drop(child_ready);
        let mut byte = [0];
        let made = if rustix::io::read(&ready, &mut byte)? == 1 {
            let number = child.as_raw_nonzero();
            let map = format!("0 {to} 1\n1 1 {}\n{to} 0 1\n", to - 1);
            write(format!("/proc/{number}/uid_map"), &map)
                .and_then(|()| write(format!("/proc/{number}/gid_map"), &map))
                .and_then(|()| fs::File::open(format!("/proc/{number}/ns/user")))
        } else {
            Err(io::Error::other("user namespaces are refused"))
        };
        process::kill_process(child, Signal::KILL)?;
        process::waitpid(Some(child), WaitOptions::empty())?;
        self.owner = Some(made?.into());
        Ok(())
    }

    /// Shows `from`, a path of the old root, on `to`.
    pub(crate) fn bind(
        &self,
        from: &Path,
        to: &Path,
        access: BindAccess,
        owner: Owner,
    ) -> io::Result<()> {
        let from = under(OLD, from);
        let recursive = match owner {
            Owner::AsOutside => OpenTreeFlags::AT_RECURSIVE,
            // Mounts below may be of kinds that cannot be shown as another user's.
            Owner::Mapped => OpenTreeFlags::empty(),
        };
        let tree = self.detached(&from, access, owner, recursive)?;
        if fs::symlink_metadata(&from)?.is_dir() {
            folder(to, 0o755)?;
        } else {
            file_at(to)?;
        }
        attach(tree.as_fd(), to)
    }

    /// A copy of the mount at `from` that is attached nowhere.
    fn detached(
        &self,
        from: &Path,
        access: BindAccess,
        owner: Owner,
        recursive: OpenTreeFlags,
    ) -> io::Result<OwnedFd> {
        let tree = open_tree(
            CWD,
            from,
            OpenTreeFlags::OPEN_TREE_CLONE
                | OpenTreeFlags::OPEN_TREE_CLOEXEC
                | OpenTreeFlags::AT_SYMLINK_NOFOLLOW
                | recursive,
        )?;
        let owner = match owner {
            Owner::AsOutside => None,
            Owner::Mapped => {
                let owner = self.owner.as_ref();
                Some(owner.ok_or_else(|| io::Error::other("no owner was prepared"))?.as_fd())
            }
        };
        sys::set_mount_attributes(
            tree.as_fd(),
            attributes(access),
            owner,
            recursive == OpenTreeFlags::AT_RECURSIVE,
        )?;
        Ok(tree)
    }
}

/// Makes a file that something is mounted on. One that is there may be the person's own: it is
/// covered, never touched.
fn file_at(at: &Path) -> io::Result<()> {
    parents(at)?;
    match fs::File::create_new(at) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn attributes(access: BindAccess) -> u64 {
    match access {
        BindAccess::Read => {
            libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV
        }
        BindAccess::Write => libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV,
        BindAccess::Device => libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC,
    }
}

fn attach(tree: BorrowedFd<'_>, to: &Path) -> io::Result<()> {
    Ok(move_mount(tree, "", CWD, to, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Text as the kernel wants it.
fn c_string(text: &str) -> io::Result<CString> {
    Ok(CString::new(text)?)
}

#[expect(clippy::disallowed_methods, reason = "a failure names its step, and with it the path")]
fn write(at: impl AsRef<Path>, text: &str) -> io::Result<()> {
    fs::write(at, text)
}

/// `path`, which is absolute, below `root`.
fn under(root: &str, path: &Path) -> PathBuf {
    Path::new(root).join(path.strip_prefix("/").unwrap_or(path))
}

pub(crate) fn new_root() -> io::Result<()> {
    process::umask(Mode::from_raw_mode(0o022));
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    // Any folder will do as the place of the first mount: it is uncovered again by the switch.
    let base = ["/tmp", "/run", "/var", "/usr"]
        .into_iter()
        .find(|path| Path::new(path).is_dir())
        .ok_or_else(|| io::Error::other("there is no folder to start from"))?;
    temporary_at(Path::new(base), "mode=0755,size=64m")?;
    std::env::set_current_dir(base)?;
    fs::create_dir("old")?;
    process::pivot_root(".", "old")?;
    std::env::set_current_dir("/")?;
    folder(Path::new("/run/interpreter"), 0o755)?;
    fs::File::create(EMPTY)?.set_permissions(fs::Permissions::from_mode(0o000))
}

pub(crate) fn leave_old_root() -> io::Result<()> {
    unmount_at(OLD, UnmountFlags::DETACH)?;
    fs::remove_dir(OLD)?;
    let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    sys::set_mount_attributes(root.as_fd(), attributes(BindAccess::Read), None, false)
}

pub(crate) fn folder(at: &Path, mode: u32) -> io::Result<()> {
    parents(at)?;
    match fs::DirBuilder::new().mode(mode).create(at) {
        // The mode is exact whatever the umask, for the sake of `/tmp`.
        Ok(()) => fs::set_permissions(at, fs::Permissions::from_mode(mode)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

pub(crate) fn parents(at: &Path) -> io::Result<()> {
    at.parent()
        .map_or(Ok(()), |parent| fs::DirBuilder::new().recursive(true).mode(0o755).create(parent))
}

pub(crate) fn file(at: &Path, text: &str) -> io::Result<()> {
    parents(at)?;
    write(at, text)?;
    fs::set_permissions(at, fs::Permissions::from_mode(0o444))
}

pub(crate) fn temporary(at: &Path, bytes: u64, mode: u32) -> io::Result<()> {
    folder(at, mode)?;
    temporary_at(at, &format!("mode={mode:o},size={bytes},nr_inodes={}", most_files(bytes)))
}

/// How many files a temporary file system of this size may hold: empty ones take memory too.
fn most_files(bytes: u64) -> u64 {
    const PAGE: u64 = 4096;
    const FEW: u64 = 1024;
    bytes / PAGE + FEW
}

fn temporary_at(at: &Path, options: &str) -> io::Result<()> {
    let options = c_string(options)?;
    Ok(mount("tmpfs", at, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())?)
}

pub(crate) fn overlay(lower: &Path, upper: &Path, work: &Path, at: &Path) -> io::Result<()> {
    folder(at, 0o755)?;
    // All three are paths of our own choosing, so nothing in them needs escaping. Nothing is
    // written through to the disk (`volatile`), not even the whole file system when the sandbox
    // ends: what waits for a decision may be lost with the power, and what is decided on is copied.
    let options = c_string(&format!(
        "userxattr,volatile,lowerdir={},upperdir={},workdir={}",
        lower.display(),
        upper.display(),
        work.display()
    ))?;
    Ok(mount("overlay", at, "overlay", MountFlags::NOSUID | MountFlags::NODEV, options.as_c_str())?)
}

pub(crate) fn mirror(of: &Path, at: &Path) -> io::Result<()> {
    folder(at, 0o755)?;
    folder(Path::new(NOTHING), 0o555)?;
    // Two layers are the fewest that an overlay without changes has.
    let options = c_string(&format!("userxattr,lowerdir={}:{NOTHING}", of.display()))?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::RDONLY;
    Ok(mount("overlay", at, "overlay", flags, options.as_c_str())?)
}

pub(crate) fn pin(at: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(at).is_ok_and(|metadata| metadata.is_dir()) {
        return Ok(());
    }
    let same = open_tree(
        CWD,
        at,
        OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_SYMLINK_NOFOLLOW
            | OpenTreeFlags::AT_RECURSIVE,
    )?;
    attach(same.as_fd(), at)
}

pub(crate) fn processes(at: &Path) -> io::Result<()> {
    folder(at, 0o755)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("proc", at, "proc", flags, None)?)
}

/// Pseudo-terminals are counted for the whole machine, and those of other users are among them:
/// code gets a few.
pub(crate) fn terminals(at: &Path) -> io::Result<()> {
    folder(at, 0o755)?;
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    Ok(mount("devpts", at, "devpts", flags, c"newinstance,max=64,ptmxmode=0666,mode=0600")?)
}

pub(crate) fn mask(at: &Path) -> io::Result<()> {
    let kind = match fs::symlink_metadata(at) {
        Ok(metadata) => metadata.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if kind.is_dir() {
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::RDONLY;
        Ok(mount("tmpfs", at, "tmpfs", flags, c"mode=0000,size=4k")?)
    } else if kind.is_symlink() {
        // A link holds no secret; what it points to is not there, or is masked itself.
        Ok(())
    } else {
        let empty = open_tree(
            CWD,
            EMPTY,
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC,
        )?;
        sys::set_mount_attributes(empty.as_fd(), attributes(BindAccess::Read), None, false)?;
        attach(empty.as_fd(), at)
    }
}

pub(crate) fn seal(at: &Path) -> io::Result<()> {
    let mount = rustix::fs::open(at, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    sys::set_mount_attributes(mount.as_fd(), attributes(BindAccess::Read), None, false)
}

pub(crate) fn unmount(at: &Path) -> io::Result<()> {
    Ok(unmount_at(at, UnmountFlags::DETACH)?)
}
