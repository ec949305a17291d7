//! The person's own editor, for code that they want to change before it runs.

use std::{
    fs, io,
    io::{Read, Write},
    path::{Path, PathBuf},
};

/// A copy of the code, for the editor.
#[derive(Debug)]
pub(super) struct Copy {
    pub(super) code: String,
    /// What the file is called.
    pub(super) name: String,
    /// A private folder.
    pub(super) folder: PathBuf,
}

/// Bytes of edited code that are read.
const LONGEST: u64 = 16 << 20;

/// Opens the code in `$VISUAL` or `$EDITOR` and returns it as it was saved. An editor that fails
/// leaves everything as it was.
pub(super) fn edit(copy: &Copy, editor: Option<&str>) -> io::Result<Option<String>> {
    let file = copy.folder.join(&copy.name);
    let mut created = new_private(&file)?;
    let result = created
        .write_all(copy.code.as_bytes())
        .and_then(|()| start(editor.unwrap_or("vi"), &file))
        .and_then(|saved| if saved { read(&file).map(Some) } else { Ok(None) });
    // Only a copy is left there.
    _ = fs::remove_file(&file).is_ok();
    result
}

fn read(file: &Path) -> io::Result<String> {
    let mut code = String::new();
    fs_err::File::open(file)?.take(LONGEST + 1).read_to_string(&mut code)?;
    if code.len() as u64 > LONGEST {
        return Err(io::Error::other("the edited code is longer than 16 MiB"));
    }
    Ok(code)
}

fn new_private(file: &Path) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)
}

/// Variables by which somebody else's code gets into a program that is started.
const LOADER: [&str; 6] = [
    "LD_PRELOAD",
    "LD_AUDIT",
    "LD_LIBRARY_PATH",
    "LD_PROFILE",
    "LD_DEBUG_OUTPUT",
    "GLIBC_TUNABLES",
];

/// Runs the editor as the person's shell would, because `$EDITOR` may hold arguments.
fn start(editor: &str, file: &Path) -> io::Result<bool> {
    #[expect(clippy::disallowed_methods, reason = "the person's own editor, by their own setting")]
    let mut command = std::process::Command::new("/bin/sh");
    // What changes how programs are loaded goes no further than to us.
    for name in LOADER {
        command.env_remove(name);
    }
    let status = command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file).status()?;
    Ok(status.success())
}
