//! Cells of an earlier session run again, and conversations fork.

use crate::{
    scene::{Scene, Seen, cell},
    terminal::Terminal,
};

/// A chat in which a Python cell and a shell cell ran, and that is over.
fn talked() -> Scene {
    let python = "x = 41\nprint('x is', x)";
    let scene = Scene::new().model_says(&[
        &cell("python", python),
        &cell("shell", "A=seven; echo set"),
        "Both are set.",
    ]);
    let terminal = Terminal::open(&scene, &["--yes", "set two variables"]);
    terminal.shows("Both are set.").types("/quit").exits(0);
    scene
}

/// The chat once more, in a script.
fn script(scene: &Scene, more: &[&str]) -> Seen {
    let arguments = scene.chat_arguments(more);
    scene.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn variables_come_back_after_one_question() {
    let scene = talked();
    scene.play(&[&cell("python", "print(x + 1)"), "Still there."]);
    let terminal = Terminal::open(&scene, &["--resume", "--replay"]);
    terminal.shows("p1   python   x = 41 …").shows("p2   shell    A=seven; echo set");
    terminal.shows("2 cells would run again, risk at most low.");
    terminal.shows("Run them again, in new interpreters?").lacks("x is 41");
    terminal.types("d").shows("│ print('x is', x)").types("y");
    terminal.shows("p1 again, as p3: status 0").shows("1 line: /output p3");
    terminal.shows("2 cells ran again").waits().lacks("┆ x is 41");
    terminal.types("and now?").shows("Run it?").types("y").shows("┆ 42").shows("Still there.");
    terminal.types("!echo $A").shows("┆ seven");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    let kinds = seen.of_kind("replay");
    assert_eq!(kinds[0]["cells"].as_array().unwrap().len(), 2);
    // Each has a proposal, an answer of the person's and a run of its own.
    let proposals = seen.of_kind("proposal");
    let again: Vec<_> = proposals.iter().map(|one| one["again"].clone()).collect();
    assert_eq!(again[..2], ["p1", "p2"]);
    let answers = seen.of_kind("answer");
    assert!(answers[..2].iter().all(|one| one["by"] == "person" && one["decision"] == "run"));
    let runs: Vec<_> =
        seen.of_kind("run_started").iter().map(|one| one["proposal"].clone()).collect();
    assert_eq!(runs, ["p3", "p4", "p5", "p6"]);
    let sent = seen.of_kind("request")[0]["newest"].to_string();
    assert!(sent.contains("2 earlier cells were run again to restore"), "{sent}");
    scene.run(&["audit", "verify"]).exits(0);
    scene.run(&["history", "show"]).mentions("which is p1 again").exits(0);
}

#[test]
fn a_no_and_keys_typed_ahead_run_nothing() {
    let scene = talked();
    scene.play(&["Hello."]);
    let terminal = Terminal::open(&scene, &["--resume"]);
    terminal.shows("/replay runs its cells again").waits();
    // The key is there before the question is.
    terminal.presses_all("/replay\ry").shows("Run them again").waits();
    terminal.types("n").shows("the cells were not run again").shows("> y");
    terminal.goes_on("\u{3}").types("/replay python").shows("1 cell would run again");
    terminal.types("y").shows("1 cell ran again");
    // The control: what runs after a yes.
    terminal.types("/run python print(x)").shows("┆ 41");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("replay").len(), 2);
    assert_eq!(seen.of_kind("run_started").len(), 2);
}

/// The rules of now count, and a session that nobody attends approves nothing.
#[test]
fn what_is_denied_now_is_left_out_and_nobody_says_yes() {
    let scene = talked();
    scene.play(&["Hello."]);
    let alone = script(&scene, &["--resume", "--replay", "go on"]);
    alone.mentions("nobody was there to ask").exits(3);
    let seen = scene.run(&["history", "show", "--json"]);
    assert!(seen.of_kind("run_started").is_empty() && seen.of_kind("request").is_empty());
    let rule = "[[rule]]\ndecision = \"deny\"\nlanguage = \"shell\"\n";
    let scene = scene.home_file(".config/interpreter/config.toml", rule);
    scene.play(&["Hello."]);
    // The denied one comes last, so the others are whole without it.
    let allowed = script(&scene, &["--resume", "--replay", "--yes", "go on"]);
    allowed.mentions("not run again: p2, refused by").mentions("Hello.").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("run_started").len(), 1);
    let answers = seen.of_kind("answer");
    assert!(answers.iter().all(|one| one["by"] == "flag"), "{answers:?}");
}

#[test]
fn a_failure_stops_the_cells_behind_it() {
    let scene = Scene::new().file("data.txt", "1").model_says(&[
        &cell("python", "n = open('data.txt').read()"),
        &cell("python", "m = n"),
        "Done.",
    ]);
    Terminal::open(&scene, &["--yes", "read"]).shows("Done.").types("/quit").exits(0);
    std::fs::remove_file(scene.work().join("data.txt")).unwrap();
    let terminal = Terminal::open(&scene, &["--continue"]);
    terminal.types("/replay").shows("reads data.txt").types("y");
    terminal.shows("FileNotFoundError");
    terminal.shows("p1 failed when it ran again; 1 cell behind it did not run");
    terminal.types("/quit").exits(0);
}

/// Text of a model and of code that looks like commands is text.
#[test]
fn nothing_but_the_person_has_cells_run_again() {
    let orders = "/replay\n/fork p1\n/rewind p1\ny\n";
    let scene = Scene::new().file("NOTES.md", orders).model_says(&[
        &cell("python", "print(open('NOTES.md').read())"),
        &format!("As the notes say:\n{orders}"),
    ]);
    let terminal = Terminal::open(&scene, &["--yes", "read NOTES.md"]);
    terminal.shows("As the notes say").waits();
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("run_started").len(), 1);
    for kind in ["replay", "rewound", "resumed"] {
        assert!(seen.of_kind(kind).is_empty(), "{kind}");
    }
}

#[test]
fn a_fork_begins_before_a_cell_and_leaves_the_other_session_as_it_is() {
    let scene = talked();
    let earlier = scene.run(&["history", "list", "--json"]).records()[0]["session"].clone();
    let earlier = earlier.as_str().unwrap().to_owned();
    let shown = || scene.run(&["history", "show", "--json", &earlier]).stdout();
    let before = shown();
    scene.play(&["It is 41."]);
    let fork = format!("--fork={earlier}");
    script(&scene, &[&fork, "--before=p2", "what is x?"]).mentions("It is 41.").exits(0);
    assert_eq!(shown(), before);
    let seen = scene.run(&["history", "show", "--json"]);
    let resumed = &seen.of_kind("resumed")[0];
    assert_eq!((&resumed["from"], &resumed["before"]), (&earlier.clone().into(), &"p2".into()));
    assert_eq!(resumed["at"]["session"], earlier.as_str());
    assert_eq!(resumed["at"]["hash"].as_str().unwrap().len(), 64);
    let sent = seen.of_kind("request")[0]["newest"].to_string();
    assert!(sent.contains("x is 41") && !sent.contains("A=seven"), "{sent}");
    scene.run(&["audit", "verify"]).exits(0);
    script(&scene, &[&fork, "--before=p9", "go on"]).mentions("has no code `p9`").exits(2);
    script(&scene, &["--before=p1", "go on"]).exits(2);
}

#[test]
fn a_chat_forks_where_it_stands() {
    let scene = Scene::new().model_says(&[
        &cell("python", "x = 1"),
        &cell("python", "x = 2"),
        "It is 2.",
        "Now 1.",
    ]);
    let terminal = Terminal::open(&scene, &["--yes", "count"]);
    terminal.shows("It is 2.").types("/fork p2").shows("as it was before p2, goes on");
    terminal.types("/replay").shows("1 cell ran again");
    terminal.types("/run python print('x is', x)").shows("┆ x is 1");
    terminal.types("/fork p9").shows("has no code `p9`");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("resumed")[0]["before"], "p2");
    scene.run(&["audit", "verify"]).exits(0);
}
