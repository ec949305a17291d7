//! The sessions of the guide are what a person sees, in a real terminal.
//!
//! `scripts/sessions` plays and draws them; here it compares.

use crate::scene::{Seen, binary};
use std::{path::Path, process::Command};

#[test]
fn the_sessions_of_the_guide_are_as_they_are_played() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/sessions");
    let mut command = Command::new("python3");
    command.arg(script).arg("--check").arg("--binary").arg(binary());
    let seen = Seen(command.output().unwrap());
    seen.mentions("first-answer: as written").exits(0);
}

/// The control: another text than the one that is written down is noticed.
#[test]
fn a_session_that_looks_different_is_noticed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    let sessions = folder.path().join("docs/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    for ending in ["toml", "txt"] {
        let name = format!("own-code.{ending}");
        let text = std::fs::read_to_string(root.join("docs/sessions").join(&name)).unwrap();
        std::fs::write(sessions.join(&name), text.replace("1 file staged", "2 files staged"))
            .unwrap();
    }
    let mut command = Command::new("python3");
    command.arg(root.join("scripts/sessions")).arg("--check").arg("--binary").arg(binary());
    command.arg("--sessions").arg(&sessions);
    let seen = Seen(command.output().unwrap());
    seen.mentions("own-code is no longer what is seen").mentions("-❚ 2 files staged").exits(1);
}
