//! The record: whole, private, and written before anything happens.

use crate::scene::{Scene, Who};
use std::os::unix::fs::PermissionsExt;

fn mode(path: &std::path::Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_session_can_be_read_again_and_is_linked() {
    let scene = Scene::new();
    scene.code("python", "print('remember me')").exits(0);
    scene.run(&["audit", "verify"]).mentions("all linked").exits(0);
    scene.run(&["history", "list"]).mentions("records").exits(0);
    scene.run(&["history", "show"]).mentions("remember me").mentions("native sandbox").exits(0);
    let seen = scene.run(&["history", "show", "--json"]).exits(0);
    assert_eq!(seen.of_kind("run_finished")[0]["status"], 0);
    assert_eq!(mode(&scene.data()), 0o700);
    assert_eq!(mode(&scene.data().join("record.db")), 0o600);
}

#[test]
fn a_flipped_byte_is_found_and_named() {
    let scene = Scene::new();
    scene.code("python", "print('evidence')").exits(0);
    // Everything into the one file, so that the bytes can be changed behind the program's back.
    let file = scene.data().join("record.db");
    let database = rusqlite::Connection::open(&file).unwrap();
    database.pragma_update(None, "journal_mode", "DELETE").unwrap();
    drop(database);
    let mut bytes = std::fs::read(&file).unwrap();
    let text = b"evidence\\n\"";
    // A page that was split still holds the bytes of what has moved: each copy is changed.
    let copies: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(text)).collect();
    assert!(!copies.is_empty());
    for at in copies {
        bytes[at] = b'E';
    }
    std::fs::write(&file, &bytes).unwrap();
    let seen = scene.run(&["audit", "verify"]).mentions("Record ").mentions("broken").exits(1);
    let broken = scene.run(&["history", "show", "--json"]);
    let changed = broken.of_kind("output").into_iter().chain(broken.of_kind("proposal"));
    let numbers: Vec<_> = changed.map(|r| format!("Record {} ", r["seq"])).collect();
    assert!(numbers.iter().any(|number| seen.stdout().contains(number)), "{}", seen.stdout());
}

#[test]
fn without_a_record_nothing_runs() {
    // A file where the folder should be stops root as well as anybody else.
    let scene = Scene::new().home_file(".local/share/interpreter", "in the way");
    let seen = scene.run(&["run", "--workspace", "direct", "-l", "shell", "-c", "touch ran"]);
    seen.mentions("must be a folder").exits(4);
    assert_eq!(scene.read("ran"), None);
}

#[test]
fn in_a_read_only_data_folder_nothing_runs() {
    // Permissions do not hold root back, so an ordinary user plays this.
    let Some(who) = Who::all().into_iter().next_back() else { return };
    let scene = Scene::of(who);
    scene.code("shell", "true").exits(0);
    let set = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for entry in std::fs::read_dir(scene.data()).unwrap() {
        let path = entry.unwrap().path();
        set(&path, if path.is_dir() { 0o500 } else { 0o400 });
    }
    set(&scene.data(), 0o500);
    let run = ["run", "--workspace", "direct", "-l", "shell", "-c", "touch ran"];
    scene.run(&run).exits(4);
    assert_eq!(scene.read("ran"), None);
    set(&scene.data(), 0o700);
}

#[test]
fn on_a_full_disk_nothing_runs() {
    // The smallest disk that can be had without rights: a limit on the size of every file.
    let scene = Scene::new();
    scene.code("shell", "true").exits(0);
    let run =
        "trap '' XFSZ; ulimit -f 16; exec \"$0\" run --workspace direct -l shell -c 'touch ran'";
    let mut command = scene.command(&[]);
    let program = command.get_program().to_owned();
    let mut limited = std::process::Command::new("/bin/sh");
    limited.args(["-c", run]).arg(program).current_dir(scene.work()).env_clear();
    limited.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // A write past the limit is an error instead of a signal, as on a full disk.
    let output = limited.output().unwrap();
    command.env_clear();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(scene.read("ran"), None);
}
