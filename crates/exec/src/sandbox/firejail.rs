//! The program `firejail` makes namespaces for processes, network and mounts; our own fences, those
//! of the landlock backend, stand inside.
//!
//! # Threat
//! That of the native sandbox. It is for machines where user namespaces are refused and firejail,
//! which is setuid, is installed.
//!
//! # Mechanism
//! firejail gives what Landlock cannot: other processes are not seen, there is a loopback of its
//! own, and devices are few. None of its lists of files is relied on: which files are reached is
//! settled by Landlock alone, inside, with no profile of firejail's in between.
//!
//! # Order
//! firejail first; what it starts is our own binary as a jail. There is no `--` before its name:
//! after one, firejail 0.9.72 starts programs through the account's login shell, which may be
//! `nologin`, a shell that speaks another language, or not there.
//!
//! # Limits
//! firejail runs as root until it has built its sandbox: a hole in it is one in the machine. For
//! ordinary users alone, and only those that the system knows by name. The rest is that of Landlock.

use interpreter_jail::JAIL;
use std::{ffi::OsString, path::PathBuf};

/// Where it is, if it is installed. See `bubblewrap::program`.
pub(super) fn program() -> Option<PathBuf> {
    super::installed("firejail")
}

/// What firejail is told.
pub(super) fn arguments() -> Vec<OsString> {
    [
        "--quiet",
        "--noprofile",
        "--net=none",
        "--caps.drop=all",
        "--nonewprivs",
        "--ipc-namespace",
        "--hostname=sandbox",
        "--private-dev",
        "--nodbus",
        "--nogroups",
        // Otherwise an empty folder covers it, and with it work folders and copies there; and the rest
        // of /var is read-only even where the work folder may be changed.
        "--keep-var-tmp",
        "--writable-var",
        JAIL,
    ]
    .map(OsString::from)
    .into()
}
