//! The record: whole, private, and written before anything happens.

use crate::scene::{Scene, Seen, Who, cell};
use std::os::unix::fs::PermissionsExt;

fn mode(path: &std::path::Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_session_can_be_read_again_and_is_linked() {
    let scene = Scene::new();
    scene.code("python", "print('remember me')").exits(0);
    scene.run(&["audit", "verify"]).mentions("all linked").exits(0);
    scene.run(&["history", "list"]).mentions("run: print(").exits(0);
    scene.run(&["history", "show"]).mentions("remember me").mentions("native sandbox").exits(0);
    let seen = scene.run(&["history", "show", "--json"]).exits(0);
    assert_eq!(seen.of_kind("run_finished")[0]["status"], 0);
    assert_eq!(mode(&scene.data()), 0o700);
    assert_eq!(mode(&scene.data().join("record.db")), 0o600);
}

/// The commands of the page, in a shell, where there is a `sqlite3`.
#[test]
fn the_record_can_be_checked_by_hand() {
    let page = include_str!("../../../../docs/concepts/record.md");
    let commands = page.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    if std::process::Command::new("sqlite3").arg("--version").output().is_err() {
        return;
    }
    let scene = Scene::new();
    scene.code("shell", "echo first").exits(0);
    scene.code("shell", "echo second").exits(0);
    let mut shell = std::process::Command::new("sh");
    let output = shell.args(["-ec", commands]).current_dir(scene.data()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let hashes: Vec<_> = printed.lines().map(|line| &line[..64]).collect();
    assert_eq!(hashes.len(), 4, "{printed}");
    assert_eq!((hashes[0], hashes[2]), (hashes[1], hashes[3]), "{printed}");
}

#[test]
fn a_damaged_session_costs_itself_alone() {
    let scene = Scene::new();
    scene.code("shell", "echo first").exits(0);
    scene.code("shell", "echo second").exits(0);
    let database = rusqlite::Connection::open(scene.data().join("record.db")).unwrap();
    let damage = "DROP TRIGGER record_no_update;
        UPDATE record SET body = replace(body, 'first', 'fIrst')
        WHERE session = (SELECT min(session) FROM head) AND kind = 'output'";
    database.execute_batch(damage).unwrap();
    drop(database);
    let seen = scene.run(&["audit", "verify"]).exits(1);
    seen.mentions("in 1 session, all linked").mentions("its content does not match its hash");
    scene.run(&["history", "show"]).mentions("second").exits(0);
    scene.code("shell", "echo third").prints("third\n").exits(0);
    // Without its part of the list, it cannot be removed either.
    let database = rusqlite::Connection::open(scene.data().join("record.db")).unwrap();
    let remove = "DROP TRIGGER record_no_delete;
        DELETE FROM record WHERE session = (SELECT min(session) FROM head);
        DELETE FROM head WHERE session = (SELECT min(session) FROM head)";
    database.execute_batch(remove).unwrap();
    drop(database);
    scene.run(&["audit", "verify"]).mentions("a session was removed or set back").exits(1);
    scene.run(&["audit", "accept"]).mentions("New records can follow").exits(0);
    scene.run(&["audit", "verify"]).mentions("a session was removed or set back").exits(0);
}

#[test]
fn a_trigger_in_the_database_keeps_code_from_running_unrecorded() {
    let scene = Scene::new();
    scene.code("shell", "echo first").exits(0);
    let database = rusqlite::Connection::open(scene.data().join("record.db")).unwrap();
    let trigger = "CREATE TRIGGER quiet BEFORE INSERT ON record BEGIN SELECT RAISE(IGNORE); END";
    database.execute_batch(trigger).unwrap();
    drop(database);
    let seen = scene.run(&["run", "--workspace", "direct", "-l", "shell", "-c", "touch ran"]);
    seen.exits(4).mentions("the trigger `quiet` was not made by this program");
    assert_eq!(scene.read("ran"), None);
    scene.run(&["audit", "verify"]).mentions("the trigger `quiet`").exits(1);
    scene.run(&["audit", "accept"]).mentions("New records can follow").exits(0);
    scene.code("shell", "echo second").prints("second\n").exits(0);
    scene.run(&["audit", "verify"]).mentions("all linked").mentions("the trigger `quiet`").exits(0);
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
    let seen = scene.run(&["audit", "verify"]).mentions("Broken: record ").exits(1);
    let broken = scene.run(&["history", "show", "--json"]);
    let changed = broken.of_kind("output").into_iter().chain(broken.of_kind("proposal"));
    let numbers: Vec<_> = changed
        .map(|r| format!("record {} of session {}", r["seq"], r["session"].as_str().unwrap()))
        .collect();
    assert!(numbers.iter().any(|number| seen.stdout().contains(number)), "{}", seen.stdout());
}

#[test]
fn the_newest_records_cannot_be_cut_off_unseen() {
    let scene = Scene::new();
    for code in ["one", "two", "three"] {
        scene.code("shell", &format!("echo {code}")).exits(0);
    }
    let log = scene.data().join("record.db-wal");
    let whole = std::fs::read(&log).unwrap();
    let count = |seen: &str| -> u64 { seen.split(' ').next().unwrap().parse().unwrap() };
    let all = count(&scene.run(&["audit", "verify"]).exits(0).stdout());
    // A flipped byte in the last frame, and one further back.
    for at in [whole.len() - 1_000, whole.len() / 2] {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&log, &damaged).unwrap();
        let seen = scene.run(&["audit", "verify"]).exits(1);
        let left = count(&seen.stdout());
        assert!(left < all, "{}", seen.stdout());
        let lost = match all - left {
            1 => "the newest record is missing".to_owned(),
            more => format!("the newest {more} records are missing"),
        };
        seen.mentions(&lost).mentions("no power failure explains it");
        // Reading goes on, with a word about it; running does not.
        scene.run(&["history", "list"]).mentions("warning: the newest").exits(0);
        let run = ["run", "--workspace", "direct", "-l", "shell", "-c", "touch ran"];
        scene.run(&run).mentions("missing").mentions("interpreter audit accept").exits(4);
        assert_eq!(scene.read("ran"), None);
    }
    std::fs::write(&log, &whole).unwrap();
    scene.run(&["audit", "verify"]).mentions("all linked").exits(0);
    std::fs::write(&log, &whole[..whole.len() / 2]).unwrap();
    scene.run(&["audit", "accept"]).mentions("New records can follow").exits(0);
    scene.code("shell", "echo four").prints("four\n").exits(0);
    scene.run(&["audit", "verify"]).mentions(": the newest").exits(0);
    scene.run(&["audit", "accept"]).mentions("nothing to accept").exits(0);
}

#[test]
fn an_output_that_was_removed_is_not_taken_for_a_pruned_one() {
    let scene = Scene::new();
    scene.code("python", "print('x' * 100_000)").exits(0);
    scene.run(&["audit", "verify"]).mentions(", all as recorded").exits(0);
    std::fs::remove_dir_all(scene.data().join("outputs")).unwrap();
    scene.run(&["audit", "verify"]).mentions("was removed, but not by this program").exits(1);
}

/// Has a session run cells, does something to the data folder after the first one, and tells what
/// came of it.
fn disturbed(workspace: &str, disturb: fn(&Scene)) -> (Scene, std::process::Output) {
    use std::io::{BufRead, BufReader, Read};
    let scene = Scene::new().file("go", "not yet");
    // The first cell says that it runs and waits for a word; the second must not run.
    let go = scene.work().join("go");
    let first = "echo started; until grep -q now go; do sleep 0.01; done";
    let scene = scene.model_says(&[&cell("shell", first), &cell("shell", "echo second"), "Done."]);
    let arguments = scene.chat_arguments(&[
        "--json",
        "-y",
        "--time-limit",
        "20s",
        "--workspace",
        workspace,
        "go on",
    ]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut child = scene
        .command(&arguments)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("\"text\":\"started\\n\"") {
        assert!(out.read_until(b'\n', &mut seen).unwrap() > 0, "it ended before its code ran");
    }
    disturb(&scene);
    std::fs::write(&go, "now").unwrap();
    out.read_to_end(&mut seen).unwrap();
    let mut output = child.wait_with_output().unwrap();
    output.stdout = seen;
    (scene, output)
}

#[test]
fn when_the_record_is_gone_nothing_more_runs() {
    let removed: fn(&Scene) = |scene| std::fs::remove_dir_all(scene.data()).unwrap();
    let replaced: fn(&Scene) = |scene| {
        std::fs::rename(scene.data(), scene.home().join("aside")).unwrap();
        std::fs::create_dir(scene.data()).unwrap();
        std::fs::set_permissions(scene.data(), std::fs::Permissions::from_mode(0o700)).unwrap();
    };
    let log_removed: fn(&Scene) =
        |scene| std::fs::remove_file(scene.data().join("record.db-wal")).unwrap();
    for disturb in [removed, replaced, log_removed] {
        for workspace in ["direct", "read-only"] {
            let (scene, output) = disturbed(workspace, disturb);
            let (out, err) = (
                String::from_utf8_lossy(&output.stdout).into_owned(),
                String::from_utf8_lossy(&output.stderr).into_owned(),
            );
            assert_eq!(output.status.code(), Some(4), "{out}\n{err}");
            assert!(err.contains("was removed or replaced"), "{err}");
            assert!(!out.contains("second\\n"), "{out}");
            assert_eq!(scene.left_running(), Vec::<String>::new());
        }
    }
    // The control: nothing is disturbed.
    let (_, output) = disturbed("direct", |_| {});
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("second\\n"));
}

#[test]
fn a_read_only_data_folder_can_be_read() {
    for who in Who::all() {
        let scene = Scene::of(who);
        scene.code("shell", "echo remember me").exits(0);
        // A mount that cannot be written, in a namespace of its own, holds root back too.
        let data = scene.data();
        let commands = "set -e
            mount --bind \"$1\" \"$1\"; mount -o remount,ro,bind \"$1\"; shift
            \"$@\" history list; \"$@\" history show; \"$@\" audit verify
            if \"$@\" run -l shell -c 'echo no'; then exit 9; fi";
        let inner = scene.command(&[]);
        let mut command = std::process::Command::new("unshare");
        command
            .args(["--user", "--map-current-user", "--keep-caps", "--mount", "sh", "-c", commands])
            .arg("sh")
            .arg(&data)
            .arg(inner.get_program())
            .current_dir(scene.work())
            .env_clear()
            .envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let seen = Seen(scene.as_its_user(&mut command).output().unwrap());
        seen.mentions("records").mentions("remember me").mentions("all linked").exits(0);
    }
}

#[test]
fn without_a_record_nothing_runs() {
    // A file where the folder should be stops root as well as anybody else.
    let scene = Scene::new().home_file(".local/share/interpreter", "in the way");
    let seen = scene.run(&["run", "--workspace", "direct", "-l", "shell", "-c", "touch ran"]);
    seen.mentions("is not a folder").exits(4);
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
    // The smallest disk available without privileges: a limit on the size of every file.
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
