//! The person's own editor, for code before it runs and for settings.

use super::device::Device;
use std::{
    fs, io,
    io::{Read, Write},
    path::{Path, PathBuf},
};

/// A copy of a text, for the editor.
#[derive(Debug)]
pub(crate) struct Copy {
    pub(crate) text: String,
    /// Name of the temporary file.
    pub(crate) name: String,
    /// A private folder.
    pub(crate) folder: PathBuf,
}

/// Bytes of edited text that are read.
const LONGEST: u64 = 16 << 20;

/// Opens the text in `$VISUAL` or `$EDITOR` and returns it as it was saved, or `None` if the
/// editor failed. It gets the terminal that is given, or else what this program has.
pub(crate) fn edit(
    copy: &Copy,
    editor: Option<&str>,
    terminal: Option<&Device>,
) -> io::Result<Option<String>> {
    let file = copy.folder.join(&copy.name);
    let mut created = new_private(&file)?;
    let result = created
        .write_all(copy.text.as_bytes())
        .and_then(|()| start(editor.unwrap_or("vi"), &file, terminal))
        .and_then(|saved| if saved { read(&file).map(Some) } else { Ok(None) });
    // Only a copy is left there.
    _ = fs::remove_file(&file).is_ok();
    result
}

fn read(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    fs_err::File::open(file)?.take(LONGEST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > LONGEST {
        return Err(io::Error::other("the edited text is longer than 16 MiB"));
    }
    Ok(text)
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
fn start(editor: &str, file: &Path, terminal: Option<&Device>) -> io::Result<bool> {
    #[expect(clippy::disallowed_methods, reason = "the person's own editor, by their own setting")]
    let mut command = std::process::Command::new("/bin/sh");
    // Loader variables stay in this process.
    for name in LOADER {
        command.env_remove(name);
    }
    if let Some(Device::Controlling { screen: terminal, .. }) = terminal {
        command.stdin(terminal.try_clone()?);
        command.stdout(terminal.try_clone()?).stderr(terminal.try_clone()?);
    }
    let status = command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file).status()?;
    Ok(status.success())
}
