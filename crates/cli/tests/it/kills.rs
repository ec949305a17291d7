//! Kills at random moments lose nothing that was acknowledged and leave nothing behind.
//!
//! `scripts/kill-loop` does it and says what it checks; here it does some hundreds, as everyone that
//! the program can be run as.

use crate::scene::{Scene, Seen, Who, binary};
use std::{path::Path, process::Command};

#[test]
fn some_hundred_kills_lose_and_leave_nothing() {
    let everyone = Who::all();
    for who in &everyone {
        let scene = Scene::of(*who);
        let folder = scene.home().join("kills");
        std::fs::create_dir(&folder).unwrap();
        scene.give(&folder);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/kill-loop");
        // Its own text on standard input: another user may not be able to read the file.
        let text = std::fs::File::open(script).unwrap();
        let kills = (240 / everyone.len()).to_string();
        let mut command = Command::new("python3");
        command.args(["-", "--kills", &kills, "--folder"]).arg(&folder);
        command.arg("--program").arg(binary()).stdin(text).current_dir(scene.work());
        let seen = Seen(scene.as_its_user(&mut command).output().unwrap());
        seen.mentions("seed ").mentions(&format!("{kills} kills, ")).exits(0);
    }
}
