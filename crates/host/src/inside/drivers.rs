//! The files that run inside kernels, one for each language.
//!
//! Each speaks the same protocol on descriptor 3: in come a decimal length, a newline and that
//! many bytes of code; out go claims, one JSON line each. A leading zero says that the code is
//! ASCII. They use nothing but their language's standard library. How an interpreter is found and
//! started is the outside's choice; they are written for the command that stands with each, with
//! the file at an absolute path.

/// Started as `python3 -I driver.py`, or as `python3 -I -S driver.py FOLDER` with a virtual
/// environment that the first cell enters. A second folder, after that or after an empty word, is
/// one that packages are added from before each cell. Needs Python 3.8 or later.
pub const PYTHON: &str = include_str!("../../drivers/driver.py");

/// Parts that `driver.py` loads from its own folder when a cell first needs them.
pub const PYTHON_PARTS: &[(&str, &str)] = &[
    ("awaiting.py", include_str!("../../drivers/awaiting.py")),
    ("checkpoints.py", include_str!("../../drivers/checkpoints.py")),
    ("completion.py", include_str!("../../drivers/completion.py")),
    ("environment.py", include_str!("../../drivers/environment.py")),
    ("errors.py", include_str!("../../drivers/errors.py")),
    ("imports.py", include_str!("../../drivers/imports.py")),
    ("magic.py", include_str!("../../drivers/magic.py")),
    ("notebook.py", include_str!("../../drivers/notebook.py")),
    ("packages.py", include_str!("../../drivers/packages.py")),
    ("questions.py", include_str!("../../drivers/questions.py")),
    ("rich.py", include_str!("../../drivers/rich.py")),
    ("script.py", include_str!("../../drivers/script.py")),
];

/// Started as `node driver.cjs`, for TypeScript as `node driver.cjs typescript`; by `deno run` and
/// `bun` as well. Needs Node 18 or later, built with its inspector, Deno 2 or Bun 1.4.
pub const JAVASCRIPT: &str = include_str!("../../drivers/driver.js");

/// Parts that `driver.js` loads from its own folder when they are first needed.
pub const JAVASCRIPT_PARTS: &[(&str, &str)] = &[
    ("bun.cjs", include_str!("../../drivers/bun.cjs")),
    ("imports.cjs", include_str!("../../drivers/imports.cjs")),
    ("types.cjs", include_str!("../../drivers/types.cjs")),
];

/// Started as `bash --noprofile --norc driver.sh`. Needs bash 4.2 or later.
pub const SHELL: &str = include_str!("../../drivers/driver.sh");

/// A part that `driver.sh` loads from its own folder when a cell first needs it.
pub const SHELL_PARTS: &[(&str, &str)] =
    &[("packages.sh", include_str!("../../drivers/packages.sh"))];

/// Started as `zsh -f driver.zsh`. Needs zsh 5.2 or later.
pub const ZSH: &str = include_str!("../../drivers/driver.zsh");

/// Started as `sh driver.posix PROGRAM`, where PROGRAM is the path of that very shell: dash, or
/// busybox's `ash`. Needs `head` and `sed`.
pub const POSIX_SHELL: &str = include_str!("../../drivers/driver.posix");

/// Started as `bash --noprofile --norc once.sh` with what the file itself says. Needs bash 4.2 or
/// later, coreutils and sed.
pub const ONCE: &str = include_str!("../../drivers/once.sh");

#[cfg(test)]
#[path = "drivers_tests.rs"]
mod tests;
