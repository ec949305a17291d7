//! A person steers a chat: commands, own code, attached files, some of the changes.

use crate::{
    scene::{Scene, cell},
    terminal::Terminal,
};

const WRITES: &str = "for name in ['a', 'b', 'c']: open(name + '.txt', 'w').write(name + '!')";

#[test]
fn every_command_is_in_the_help_and_unknown_ones_are_errors() {
    let scene = Scene::new().model_says(&["Hello."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal
        .types("/help")
        .shows("/apply [PATH[:HUNKS]…]")
        .shows("/quit")
        .shows("come from the program");
    terminal.types("/help apply").shows("write staged changes to your folder").lacks("/quit");
    terminal.types("/aply").shows("did you mean `/apply`?");
    terminal.types("%udno").shows("did you mean `%undo`?");
    terminal.types("%frobnicate").shows("/help lists all commands");
    terminal.types("/quit now").shows("usage: `/quit`");
    terminal.types("%load_message x.json").shows("cannot be loaded");
    terminal.types("/tokens").shows("No tokens were counted");
    terminal.types("/sandbox").shows("files staged");
    terminal.types("/languages").shows("python");
    terminal.types("/models").shows("not ready:");
    terminal.types("/profile").shows("There are no profiles");
    terminal.types("/verbose").shows("Verbose: output");
    terminal.types("/output").shows("Nothing has run");
    terminal.types("/changes").shows("no change sets");
    terminal.types("/undo").shows("Nothing to undo");
    terminal.types("exit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert!(seen.of_kind("prompt").is_empty(), "{}", seen.stdout());
}

#[test]
fn changes_are_shown_applied_and_undone_without_leaving() {
    let scene = Scene::new().model_says(&[&cell("python", WRITES), "Done.", "Hello."]);
    let terminal = Terminal::open(&scene, &["--yes", "write"]);
    terminal.shows("Keep these changes").types("l").waits();
    terminal.types("/diff a.txt").shows("+a!").lacks("+b!");
    terminal.types("/apply nothing.txt").shows("no staged change at");
    terminal.types("/apply a.txt").shows("1 file applied").shows("created  a.txt");
    assert_eq!((scene.read("a.txt").as_deref(), scene.read("b.txt")), (Some("a!"), None));
    terminal.types("/undo").shows("1 file undone");
    assert_eq!(scene.read("a.txt"), None);
    terminal.types("/redo").shows("1 file applied");
    assert_eq!(scene.read("a.txt").as_deref(), Some("a!"));
    terminal.types("/discard b.txt").shows("1 file discarded");
    terminal.types("!ls *.txt").shows("┆ a.txt").shows("┆ c.txt").waits().lacks("┆ b.txt");
    terminal.shows("Keep this change").types("l").waits();
    terminal.types("/changes").shows("(this session)");
    // A reminder at the end, and at the next start in this folder.
    terminal.types("/quit").shows("1 file is still staged").exits(0);
    let terminal = Terminal::open(&scene, &[]);
    terminal.shows("1 file is still staged").shows("keep: /apply");
    terminal.types("/diff").shows("+c!");
    terminal.types("/apply").shows("Applied 1 change");
    assert_eq!(scene.read("c.txt").as_deref(), Some("c!"));
    terminal.types("/apply").shows("Nothing is staged");
    terminal.types("/undo").shows("Undid 1 change");
    terminal.types("/quit").exits(0);
}

#[test]
fn some_of_the_files_are_kept_by_number() {
    let scene = Scene::new().model_says(&[&cell("python", WRITES), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "write"]);
    terminal
        .shows("Keep these changes")
        .types("c")
        .shows("1  created  a.txt")
        .shows("Which files?");
    terminal.types("9 9").shows("Type numbers from 1 to 3");
    terminal.types("1 3").shows("Apply 2 changes to your folder?");
    assert_eq!(scene.read("a.txt"), None);
    terminal.types("y").shows("2 files applied").shows("Keep this change").shows("b.txt");
    terminal.types("d").shows("1 file discarded");
    terminal.types("/quit").exits(0);
    let kept = ["a.txt", "b.txt", "c.txt"].map(|name| scene.read(name).is_some());
    assert_eq!(kept, [true, false, true]);
}

#[test]
fn own_code_runs_in_the_same_interpreters_and_the_model_sees_it() {
    let scene = Scene::new().model_says(&[&cell("python", "print(x + 1)"), "It is 42."]);
    let terminal = Terminal::open(&scene, &["--yes"]);
    terminal.types("/run python x = 41").shows("status 0");
    terminal.types("!echo from the shell").shows("┆ from the shell");
    terminal.types("/run pyton 1").shows("did you mean `python`?");
    terminal.types("what is x?").shows("┆ 42").shows("It is 42.");
    terminal.types("/output p2").shows("┆ from the shell");
    terminal.types("/output p9").shows("no run `p9`");
    terminal.types("/save chat.md").shows("Saved chat.md.");
    terminal.types("/save chat.md").shows("cannot be written");
    terminal.types("/save chat.txt").shows("saved as .md, .ipynb, .py, .sh, .js, .r or .jsonl");
    terminal.types("%jupyter").shows("Saved chat.ipynb.");
    terminal.types("/save code.py").shows("Saved code.py.");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    let origins: Vec<_> =
        seen.of_kind("proposal").iter().map(|one| one["origin"].clone()).collect();
    assert_eq!(origins, ["person", "person", "model"]);
    let sent = seen.of_kind("request")[0]["newest"].to_string();
    assert!(sent.contains("the user ran this shell code, as p2"), "{sent}");
    assert!(sent.contains("echo from the shell"), "{sent}");
    assert!(scene.read("chat.md").unwrap().contains("what is x?"));
    assert!(scene.read("code.py").unwrap().contains("x = 41"));
    let notebook: serde_json::Value =
        serde_json::from_str(&scene.read("chat.ipynb").unwrap()).unwrap();
    assert_eq!(notebook["nbformat"], 4);
}

#[test]
fn a_denied_command_of_ones_own_stays_denied() {
    let rule = "[[rule]]\ndecision = \"deny\"\nline = \"rm *\"\n";
    let scene = Scene::new()
        .home_file(".config/interpreter/config.toml", rule)
        .file("a.txt", "1")
        .model_says(&["Hello."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.types("!rm a.txt").shows("refused by your rule");
    terminal.types("!cat a.txt").shows("┆ 1");
    terminal.types("/quit").exits(0);
}

#[test]
fn a_file_is_attached_and_a_secret_is_not() {
    let scene = Scene::new()
        .file("sales.csv", "region,amount\nnorth,17\n")
        .file("long.txt", "x".repeat(100_000))
        .file(".env", "TOKEN=sk-canary")
        .file("data.bin", b"\xff\x00")
        .script(
            "[[reply]]\nexpect = \"north,17\"\ntext = \"Seventeen.\"\n\
             [[reply]]\nexpect = \"32768 of 100000 bytes are shown\"\ntext = \"Long.\"\n\
             [[reply]]\nexpect = \"ask @nobody\"\ntext = \"Who?\"\n",
        );
    std::os::unix::fs::symlink(".env", scene.work().join("harmless.txt")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", scene.work().join("users.txt")).unwrap();
    let terminal = Terminal::open(&scene, &[]);
    terminal.types("sum @sales.csv, please").shows("Attached sales.csv (23 bytes)");
    terminal.shows("Seventeen.");
    terminal.types("and @long.txt?").shows("the first 32768 of 100000 bytes").shows("Long.");
    for (name, reason) in [
        (".env", "it has the name of a secret"),
        ("harmless.txt", "it has the name of a secret"),
        ("users.txt", "it is outside this folder"),
        ("../home", "it is outside this folder"),
        ("data.bin", "it is neither text nor an image"),
    ] {
        terminal.types(&format!("read @{name}")).shows(reason);
    }
    terminal.types("ask @nobody").shows("Who?");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]).lacks("sk-canary");
    assert_eq!(seen.of_kind("prompt").len(), 3);
    let files: Vec<_> = seen.of_kind("file").iter().map(|one| one["name"].clone()).collect();
    assert_eq!(files, ["sales.csv", "long.txt"]);
}

#[test]
fn a_prompt_is_answered_again_or_taken_back_and_a_new_chat_knows_nothing() {
    let scene = Scene::new().script(
        "[[reply]]\ntext = \"First.\"\n\
         [[reply]]\nexpect = \"guess\"\ntext = \"Second.\"\n\
         [[reply]]\nexpect = \"hello\"\ntext = \"Third.\"\n",
    );
    let terminal = Terminal::open(&scene, &[]);
    terminal.types("guess").shows("First.");
    terminal.types("/retry").shows("Second.");
    terminal.types("%undo").shows("removed from the conversation");
    terminal.types("hello").shows("Third.");
    terminal.types("%undo").shows("removed from the conversation");
    terminal.types("/retry").shows("no prompt that could be taken back");
    let first = scene.run(&["history", "show", "--json"]);
    let requests = first.of_kind("request");
    assert_eq!(requests.iter().map(|one| &one["messages"]).collect::<Vec<_>>(), [2, 2, 2]);
    scene.play(&["Fresh."]);
    terminal.types("/new").shows("Open Interpreter").shows("Type a prompt");
    terminal.types("hello").shows("Fresh.");
    terminal.types("/quit").exits(0);
    let second = scene.run(&["history", "show", "--json"]);
    assert_ne!(first.records()[0]["session"], second.records()[0]["session"]);
    assert_eq!(second.of_kind("request")[0]["messages"], 2);
}

#[test]
fn tab_completes_commands_files_and_staged_paths() {
    let scene = Scene::new()
        .file("report of may.txt", "x")
        .file(".env", "x")
        .model_says(&[&cell("python", "open('made.txt', 'w').write('x')"), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "write"]);
    terminal.shows("Keep this change").types("l").waits();
    terminal.presses_all("/langu\t").shows("/languages").goes_on("\u{3}");
    terminal.waits().presses_all("/sa\t").shows("/sandbox").shows("show how code is confined");
    terminal.goes_on("\u{1b}\u{3}\u{3}");
    terminal.waits().presses_all("read @rep\t").shows("@\"report of may.txt\"").goes_on("\u{3}");
    terminal.waits().presses_all("/apply m\t").shows("/apply made.txt").goes_on("\r");
    terminal.shows("1 file applied");
    terminal.types("/quit").exits(0);
}

#[test]
fn the_last_chat_is_shown_by_default_and_short_ids_differ() {
    let scene = Scene::new().model_says(&[&cell("python", "open('a', 'w').write('x')"), "Done."]);
    scene.chat(&["--yes", "write it"]).exits(0);
    scene.run(&["changes", "apply"]).exits(0);
    scene.run(&["history", "show"]).mentions("write it").exits(0);
    let listed = scene.run(&["history", "list", "--all"]).exits(0).stdout();
    let rows = listed.lines().filter(|line| !line.starts_with(' '));
    let ids: Vec<_> = rows.map(|line| line.split("  ").next().unwrap()).collect();
    assert_eq!(ids.len(), 2);
    assert_ne!(ids[0], ids[1]);
    scene.run(&["history", "show", ids[1]]).mentions("write it").exits(0);
    let time = listed.lines().next().unwrap().split("  ").nth(1).unwrap();
    assert_eq!(time.len(), "2026-11-17 15:04".len(), "{time}");
}
