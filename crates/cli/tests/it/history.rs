//! Earlier sessions: listed by folder, searched, exported, deleted.

use crate::{
    scene::{Scene, Seen, cell},
    terminal::Terminal,
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
};

fn ids(scene: &Scene) -> Vec<String> {
    let sessions = scene.run(&["history", "list", "--all", "--json"]).exits(0).records();
    sessions.iter().map(|one| one["session"].as_str().unwrap().to_owned()).collect()
}

/// A chat that ran something, and is over.
fn talked() -> Scene {
    let code = "print('the marmalade is', 40 + 2)";
    let scene = Scene::new().model_says(&[&cell("python", code), "It is **42**."]);
    scene.chat(&["--yes", "what about \u{1b}[2J\u{1b}]0;title\u{7} the marmalade?"]).exits(0);
    scene
}

fn run_in_sub(scene: &Scene, arguments: &[&str]) -> Seen {
    Seen(scene.command(arguments).current_dir(scene.work().join("sub")).output().unwrap())
}

#[test]
fn sessions_are_listed_by_folder_with_their_titles() {
    let scene = talked().file("sub/file", "");
    scene.code("shell", "echo 'run it'").exits(0);
    let list = scene.run(&["history", "list"]).exits(0);
    let lines: Vec<_> = list.stdout().lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].ends_with("run: echo 'run it'"), "{lines:?}");
    assert!(lines[1].contains("what about ") && !lines[1].contains('\u{1b}'), "{lines:?}");
    // The end of the id that is shown works everywhere.
    let short = lines[1].split(' ').next().unwrap();
    assert_eq!(short.len(), 8);
    scene.run(&["history", "show", short]).mentions("the marmalade is 42").exits(0);
    scene.run(&["audit", "export", "--session", short]).mentions("marmalade").exits(0);
    scene.run(&["history", "show", "0"]).mentions("several sessions begin or end").exits(2);
    scene.run(&["history", "show", "../x"]).mentions("is not a session id").exits(2);
    let elsewhere = run_in_sub(&scene, &["history", "list"]).exits(0);
    assert!(elsewhere.stdout().is_empty());
    elsewhere.mentions("`--all` lists those of every folder");
    let all = run_in_sub(&scene, &["history", "list", "--all"]).exits(0);
    all.mentions("run: echo").mentions(&format!("in {}", scene.work().display()));
}

#[test]
fn what_was_said_run_or_printed_is_found() {
    let scene = talked();
    let found = scene.run(&["history", "search", "marmalade", "42"]).exits(0);
    found.mentions("output of p1").mentions("the marmalade is 42");
    let all = scene.run(&["history", "search", "MARMALADE"]).exits(0);
    let all = all.mentions("you").mentions("code of p1").mentions("print('the marmalade is'");
    assert!(!all.stdout().contains('\u{1b}'), "{}", all.stdout());
    let json = scene.run(&["history", "search", "--json", "marm*", "--limit", "1"]).exits(0);
    assert_eq!(json.records().len(), 1);
    scene.run(&["history", "search", "quince"]).mentions("Nothing was found").exits(1);
    // The attack: syntax of the index instead of words.
    for words in ["text:x OR y", "NEAR(a", "a\" OR \"marmalade", "' OR 1=1 --", "marm NOT x"] {
        scene.run(&["history", "search", words]).mentions("Nothing was found").exits(1);
    }
    scene.run(&["history", "search", "***"]).mentions("no word to search for").exits(2);
}

#[test]
fn a_deleted_session_is_gone_for_good_and_the_record_stays_whole() {
    let scene = talked();
    scene.code("python", "print('x' * 100_000)").exits(0);
    let line = scene.run(&["audit", "anchor"]).exits(0).stdout();
    scene.run(&["history", "search", "marmalade"]).exits(0);
    let [newest, oldest] = &ids(&scene)[..] else { panic!("there are two sessions") };
    scene.run(&["history", "delete", oldest]).mentions("use `--yes`").exits(2);
    // At a terminal there is a question, and no is no.
    let terminal = Terminal::start(&scene, &["history", "delete", oldest]);
    terminal.shows("Delete this session for good?").waits().presses(b'n').exits(3);
    assert_eq!(ids(&scene).len(), 2);
    let terminal = Terminal::start(&scene, &["history", "delete", oldest]);
    terminal.shows("what about").shows("Delete this session for good?").waits().presses(b'y');
    terminal.shows("1 session deleted with ").shows("freed.").exits(0);
    assert_eq!(&ids(&scene)[..], std::slice::from_ref(newest));
    scene.run(&["history", "search", "marmalade"]).exits(1);
    scene.run(&["history", "show", oldest]).mentions("no session begins or ends with").exits(2);
    // One file or more, by how the output came.
    scene.run(&["history", "delete", "--yes", newest]).mentions(" stored output").exits(0);
    assert!(
        fs::read_dir(scene.data().join("outputs"))
            .unwrap()
            .all(|folder| { fs::read_dir(folder.unwrap().path()).unwrap().next().is_none() })
    );
    let seen = scene.run(&["audit", "verify", "--anchor", line.trim()]).exits(0);
    seen.mentions("2 sessions were removed on purpose").mentions("The anchor holds");
    scene.code("shell", "echo on").prints("on\n").exits(0);
    // Nobody can delete the account of that.
    let account = line.split(' ').nth(3).unwrap().to_owned();
    scene.run(&["history", "delete", "--yes", &account]).mentions("cannot be removed").exits(2);
}

/// The attack: a session deletes itself, or another one, while it runs.
#[test]
fn a_running_session_is_not_deleted() {
    let scene = Scene::new().model_says(&["Hello."]);
    let terminal = Terminal::open(&scene, &["hello"]);
    terminal.shows("Hello.");
    let id = ids(&scene).remove(0);
    scene.run(&["history", "delete", "--yes", &id]).mentions("it is running").exits(2);
    terminal.types("/quit").exits(0);
    scene.run(&["history", "delete", "--yes", &id]).exits(0);
}

#[test]
fn several_may_delete_search_and_run_at_once() {
    let scene = Scene::new();
    for number in 0..6 {
        scene.code("shell", &format!("echo marmalade {number}")).exits(0);
    }
    let sessions = ids(&scene);
    let start = |arguments: &[&str]| {
        let mut command = scene.command(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    // Two for each of the first four sessions; meanwhile others read and append.
    let deleting: Vec<_> = (sessions[..4].iter().chain(&sessions[..4]))
        .map(|session| start(&["history", "delete", session, "--yes"]))
        .collect();
    let searching = [(); 3].map(|()| start(&["history", "search", "marmalade"]));
    let running = [(); 3].map(|()| start(&["run", "-l", "shell", "-c", "echo marmalade too"]));
    for child in searching.into_iter().chain(running) {
        Seen(child.wait_with_output().unwrap()).exits(0);
    }
    // One of the two deletes it, the other finds it gone or going.
    let ends = deleting.into_iter().map(|child| child.wait_with_output().unwrap().status);
    let deleted = ends.filter(ExitStatus::success).count();
    assert!((4..=8).contains(&deleted), "{deleted}");
    let left = ids(&scene);
    assert_eq!(left.len(), 5, "{left:?}");
    assert!(sessions[4..].iter().all(|session| left.contains(session)), "{left:?}");
    scene.run(&["audit", "verify"]).exits(0);
    scene.run(&["history", "search", "marmalade"]).mentions("marmalade too").exits(0);
}

#[test]
fn old_and_surplus_sessions_go_by_themselves() {
    let scene = Scene::new();
    for number in 0..6 {
        scene.code("python", &format!("print('{number}' * 15_000)")).exits(0);
    }
    assert_eq!(ids(&scene).len(), 6);
    let set = ["run", "--set", "record_space=100K", "-l", "shell", "-c", "true"];
    scene.run(&set).exits(0);
    assert!((1..7).contains(&ids(&scene).len()), "{:?}", ids(&scene));
    let newest = scene.run(&["history", "show", "--json"]).records();
    assert_eq!(newest[0]["session"], ids(&scene)[0].as_str());
    scene.run(&["audit", "verify"]).mentions("removed on purpose").exits(0);
    let set = ["run", "--set", "keep_sessions=365d", "-l", "shell", "-c", "true"];
    let before = ids(&scene).len();
    scene.run(&set).exits(0);
    assert_eq!(ids(&scene).len(), before + 1);
}

/// Nobody is there any more when old sessions are removed, so the next session tells of a failure.
#[test]
fn old_sessions_that_cannot_be_removed_are_told_of() {
    let bound = "record_space = \"10K\"\n";
    let config = ".config/interpreter/config.toml";
    let scene = Scene::new().home_file(config, bound).model_says(&["Hello."]);
    scene.code("python", "print('x' * 1_000_000)").exits(0);
    let outputs = scene.data().join("outputs");
    let kept = files_below(&outputs);
    assert!(!kept.is_empty());
    // A folder in the place of each stored output, which is not removed as a file.
    for path in &kept {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    }
    let said = "old sessions could not be removed from the record";
    scene.code("shell", "true").lacks(said).exits(0);
    scene.code("shell", "true").mentions(said).exits(0);
    let terminal = Terminal::open(&scene, &["hello"]);
    terminal.shows(said).shows("Hello.").types("/quit").exits(0);
    let seen = scene.run(&["run", "--json", "-l", "shell", "-c", "true"]).exits(0);
    let notes = seen.of_kind("note");
    assert_eq!(notes.iter().filter(|note| note.to_string().contains(said)).count(), 1);
    scene.run(&["doctor"]).mentions(said);
    // The control: without the cause it works again, and nobody tells of it.
    for path in &kept {
        fs::remove_dir(path).unwrap();
    }
    scene.code("shell", "true").mentions(said).exits(0);
    scene.code("shell", "true").lacks(said).exits(0);
    scene.run(&["doctor"]).lacks(said);
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

#[test]
fn a_session_is_exported_as_other_programs_read_it() {
    let scene = talked();
    scene.run(&["history", "export", "-o", "it.md"]).exits(0);
    assert!(scene.read("it.md").unwrap().contains("## You\n\nwhat about"));
    scene.run(&["history", "export", "-o", "it.ipynb"]).exits(0);
    let notebook: serde_json::Value =
        serde_json::from_str(&scene.read("it.ipynb").unwrap()).unwrap();
    assert_eq!(notebook["nbformat"], 4);
    let script = scene.run(&["history", "export", "--format", "py"]).exits(0).stdout();
    assert!(script.ends_with("print('the marmalade is', 40 + 2)\n\n"), "{script}");
    scene.run(&["history", "export", "-o", "it.md"]).mentions("cannot be written").exits(2);
    scene.run(&["history", "export", "-o", "it.doc"]).mentions("a session is saved as").exits(2);
    let lines = scene.run(&["history", "export", "--format", "jsonl"]).exits(0).records();
    assert_eq!(lines[0]["kind"], "session_started");
}

#[test]
fn the_newest_chat_of_this_folder_goes_on_with_continue() {
    let scene = talked();
    scene.play(&["Going on."]);
    let arguments = scene.chat_arguments(&["--continue", "and now?"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    scene.run(&arguments).mentions("Going on.").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("resumed").len(), 1);
}
