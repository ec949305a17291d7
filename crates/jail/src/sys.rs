//! The system calls for which no safe function exists elsewhere. The only `unsafe` in the program.
//!
//! Each function is a thin cover over one call; what it is used for is its caller's affair.

use std::{
    ffi::CString,
    io,
    os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd},
};

fn checked(result: libc::c_int) -> io::Result<libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

pub(crate) fn unshare(flags: libc::c_int) -> io::Result<()> {
    // SAFETY: the call takes no pointer. It changes namespaces of this thread alone, and the
    // process has only one: `enter` runs before any other is started.
    checked(unsafe { libc::unshare(flags) }).map(drop)
}

/// The result of `fork`.
pub(crate) enum Forked {
    /// In the old process: the new one's id.
    Parent(rustix::process::Pid),
    /// In the new process.
    Child,
}

/// Makes a second process like this one.
pub(crate) fn fork() -> io::Result<Forked> {
    // SAFETY: the process has one thread (`enter` runs before any other is started), so no lock
    // can be held by a thread that the child does not have.
    match checked(unsafe { libc::fork() })? {
        0 => Ok(Forked::Child),
        id => Ok(Forked::Parent(
            rustix::process::Pid::from_raw(id).expect("fork returns a positive id to the parent"),
        )),
    }
}

/// Ends this process at once, without running destructors.
pub(crate) fn exit_now(status: i32) -> ! {
    // SAFETY: the call takes no pointer and does not return.
    unsafe { libc::_exit(status) }
}

/// Gives every signal its default effect. A process that ignores a signal makes its children ignore
/// it too, some of them for good.
pub(crate) fn heed_signals() {
    const HIGHEST: libc::c_int = 64;
    for signal in 1..=HIGHEST {
        // SAFETY: the default action is no code of ours. Where it cannot be set, the call says so and
        // does nothing: it never could be ignored then.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

/// Closes every descriptor from `first` up.
pub(crate) fn close_from(first: u32) -> io::Result<()> {
    // SAFETY: the call takes no pointer. It does close descriptors behind the back of whatever
    // Rust value owns them, so it may run only where nothing that is used later owns one: at the
    // start of `enter`, which holds nothing but descriptors 0, 1 and 2.
    let status = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Sets attributes of the mount that `mount` stands for and, if asked, of those below it.
pub(crate) fn set_mount_attributes(
    mount: BorrowedFd<'_>,
    set: u64,
    owner: Option<BorrowedFd<'_>>,
    recursive: bool,
) -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: set | if owner.is_some() { libc::MOUNT_ATTR_IDMAP } else { 0 },
        attr_clr: 0,
        propagation: 0,
        userns_fd: owner.map_or(0, |fd| {
            u64::try_from(fd.as_raw_fd()).expect("an open descriptor is not negative")
        }),
    };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the empty path is a NUL-terminated literal; `attributes` lives through the call and
    // its true size is passed, so the kernel reads no more than there is.
    let status = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Takes another process over, which dies with this one.
pub(crate) fn trace(process: rustix::process::Pid) -> io::Result<()> {
    let nothing: *mut libc::c_void = std::ptr::null_mut();
    // SAFETY: this request takes no pointer: it ignores the address, and its data are flags.
    let status = unsafe {
        libc::ptrace(
            libc::PTRACE_SEIZE,
            process.as_raw_pid(),
            nothing,
            libc::c_long::from(libc::PTRACE_O_EXITKILL),
        )
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Switches the network interface `name` on.
pub(crate) fn interface_up(name: &str) -> io::Result<()> {
    let name = CString::new(name)?;
    // SAFETY: the call takes no pointer; the result is checked before it is used.
    let socket =
        checked(unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) })?;
    // SAFETY: `socket` was just opened and nothing else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // SAFETY: all-zero bytes are a valid `ifreq`: integers, and a union of plain data.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    let bytes = name.as_bytes();
    if bytes.len() >= request.ifr_name.len() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (to, from) in request.ifr_name.iter_mut().zip(bytes) {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags =
        libc::c_short::try_from(libc::IFF_UP).expect("the flag is the lowest bit");
    // SAFETY: `request` is an `ifreq` with a NUL-terminated name (its last byte is untouched) and
    // lives through the call, which only reads it.
    checked(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) })
        .map(drop)
}

/// Installs a system-call filter on this process and all that it will start.
pub(crate) fn install_filter(program: &[u64]) -> io::Result<()> {
    seccomp(program, libc::SECCOMP_FILTER_FLAG_TSYNC).map(drop)
}

/// The same, with a descriptor by which the kernel asks about calls. It is closed on execution.
pub(crate) fn install_telling_filter(program: &[u64]) -> io::Result<OwnedFd> {
    const TELLING: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    // So that no signal but one that kills makes a call be asked about twice. Older kernels do not
    // have it.
    const ONCE: libc::c_ulong = libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    if !notice_sizes_are_known()? {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let listener = seccomp(program, TELLING | ONCE).or_else(|error| {
        if error.raw_os_error() == Some(libc::EINVAL) {
            seccomp(program, TELLING)
        } else {
            Err(error)
        }
    })?;
    let listener = libc::c_int::try_from(listener).map_err(io::Error::other)?;
    // SAFETY: with this flag the call returned a descriptor that it just opened, and nothing else
    // owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(listener) })
}

/// Whether the kernel's notices are as large as ours, so that it writes no more than there is.
fn notice_sizes_are_known() -> io::Result<bool> {
    // SAFETY: all-zero bytes are a valid value: integers.
    let mut sizes: libc::seccomp_notif_sizes = unsafe { std::mem::zeroed() };
    // SAFETY: `sizes` lives through the call, and its layout is fixed by the kernel's interface.
    let status = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_NOTIF_SIZES, 0, &raw mut sizes)
    };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(usize::from(sizes.seccomp_notif) == size_of::<libc::seccomp_notif>()
        && usize::from(sizes.seccomp_notif_resp) == size_of::<libc::seccomp_notif_resp>())
}

/// Takes the next call that the kernel asks about: its id, process, number and arguments. Waits if
/// there is none.
pub(crate) fn next_notice(listener: BorrowedFd<'_>) -> io::Result<(u64, u32, u32, [u64; 6])> {
    // SAFETY: all-zero bytes are a valid value, integers, and the kernel demands them.
    let mut notice: libc::seccomp_notif = unsafe { std::mem::zeroed() };
    // SAFETY: `notice` lives through the call. The number of the request holds its size, and a
    // kernel with another one does not know that number.
    checked(unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notice)
    })?;
    Ok((notice.id, notice.pid, notice.data.nr.cast_unsigned(), notice.data.args))
}

/// Whether a call still waits for its answer.
pub(crate) fn notice_is_valid(listener: BorrowedFd<'_>, id: u64) -> bool {
    // SAFETY: `id` lives through the call, which only reads its eight bytes.
    let status = unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id)
    };
    status == 0
}

/// Answers a call with an error, which is positive.
pub(crate) fn refuse(listener: BorrowedFd<'_>, id: u64, errno: i32) -> io::Result<()> {
    // No flags: the call does not go on.
    let mut answer = libc::seccomp_notif_resp { id, val: 0, error: -errno, flags: 0 };
    // SAFETY: `answer` lives through the call, and the number of the request holds its size.
    checked(unsafe {
        libc::ioctl(listener.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer)
    })
    .map(drop)
}

fn seccomp(program: &[u64], flags: libc::c_ulong) -> io::Result<libc::c_long> {
    let mut instructions: Vec<libc::sock_filter> = program
        .iter()
        .map(|packed| {
            let [low, high, jt, jf, k @ ..] = packed.to_le_bytes();
            let code = u16::from_le_bytes([low, high]);
            libc::sock_filter { code, jt, jf, k: u32::from_le_bytes(k) }
        })
        .collect();
    let program = libc::sock_fprog {
        len: u16::try_from(instructions.len()).map_err(|_| io::ErrorKind::InvalidInput)?,
        filter: instructions.as_mut_ptr(),
    };
    // SAFETY: `program` points to `len` instructions that live through the call; the kernel
    // copies and checks them.
    let status = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
    };
    if status >= 0 { Ok(status) } else { Err(io::Error::last_os_error()) }
}

/// The version of Landlock that the kernel has.
pub(crate) fn landlock_version() -> io::Result<i64> {
    const ASK_FOR_VERSION: u32 = 1;
    let nothing: *const libc::c_void = std::ptr::null();
    // SAFETY: with this flag the kernel reads nothing through the pointer, which must be null with
    // a size of 0, and makes no ruleset.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, nothing, 0_usize, ASK_FOR_VERSION)
    };
    if version < 0 { Err(io::Error::last_os_error()) } else { Ok(version) }
}
