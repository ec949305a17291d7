//! The person's own editor, for code that they want to change before it runs.

use crate::report::Error;
use interpreter_core::Proposal;
use interpreter_store::Folders;
use std::{fs, io::Write, path::Path};

/// Opens the code in `$VISUAL` or `$EDITOR` and returns what it was saved as; none if the editor
/// says that it failed, which leaves everything as it was.
pub(crate) fn edit(
    proposal: &Proposal,
    editor: Option<&str>,
    folders: &Folders,
) -> Result<Option<String>, Error> {
    let failed = |what: &str, source| Error::Io { what: what.into(), source };
    let folder = folders.make_cache_folder()?;
    let file = folder.join(format!("edit-{}-{}.txt", std::process::id(), proposal.id));
    let mut created = new_private(&file).map_err(|e| failed("the code cannot be written", e))?;
    let result = created
        .write_all(proposal.code().raw().as_bytes())
        .and_then(|()| start(editor.unwrap_or("vi"), &file))
        .map_err(|error| failed("the editor cannot be started", error))
        .and_then(|saved| {
            if !saved {
                return Ok(None);
            }
            fs_err::read_to_string(&file)
                .map(Some)
                .map_err(|error| failed("the edited code cannot be read", error))
        });
    // What is left there is only a copy.
    _ = fs::remove_file(&file).is_ok();
    result
}

fn new_private(file: &Path) -> std::io::Result<fs::File> {
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
fn start(editor: &str, file: &Path) -> std::io::Result<bool> {
    #[expect(clippy::disallowed_methods, reason = "the person's own editor, by their own setting")]
    let mut command = std::process::Command::new("/bin/sh");
    // What changes how programs are loaded goes no further than to us.
    for name in LOADER {
        command.env_remove(name);
    }
    let status = command.arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file).status()?;
    Ok(status.success())
}
