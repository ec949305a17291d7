//! Many staged files at once: nothing lands that was neither named nor counted with its like.

use crate::{
    protocol_client::Server,
    scene::{Scene, cell},
    terminal::Terminal,
};
use serde_json::json;

/// Sixty tables, and among them everything that stands out, some of it with a hostile name.
const MANY: &str = r"
import os
os.makedirs('data/.cache/deep', exist_ok=True)
for n in range(60): open(f'data/{n:02}.csv', 'w').write('x')
for n in range(5): open(f'data/.cache/deep/{n}.csv', 'w').write('x')
open('.hidden.csv', 'w').write('x')
open('data/run.sh', 'w').write('x')
open('tool.csv', 'w').write('x'); os.chmod('tool.csv', 0o755)
os.symlink('/etc/passwd', 'data/link.csv')
os.remove('mine.csv')
open('Makefile', 'w').write('all:')
open('data/one.py', 'w').write('x')
open('60 created in data', 'w').write('x')
open('data/\u202ecsv.csv', 'w').write('x')
open('data/\x1b[2Ja\nb.csv', 'w').write('x')
open('data/' + '長' * 60 + '.csv', 'w').write('x')
";

/// The names that stand out in them, as they're drawn.
const STANDS_OUT: [&str; 10] = [
    "Makefile (runs when the project is built)",
    "data/run.sh",
    "tool.csv (executable)",
    "data/link.csv (link to /etc/passwd)",
    "deleted  mine.csv",
    "data/\\u{202e}csv.csv",
    "data/\\u{1b}[2Ja⏎b.csv",
    ".hidden.csv",
    "data/one.py",
    "60 created in data",
];

fn scene() -> Scene {
    Scene::new().file("mine.csv", "mine")
}

fn landed(scene: &Scene) -> usize {
    ["Makefile", "data/59.csv", "data/run.sh", "data/one.py", ".hidden.csv", "tool.csv"]
        .iter()
        .filter(|name| scene.read(name).is_some())
        .count()
}

#[test]
fn a_chat_shows_what_stands_out_and_takes_a_second_key() {
    let scene = scene().model_says(&[&cell("python", MANY), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("Keep these changes").types("a").shows("of them only counted?");
    for name in STANDS_OUT {
        assert!(terminal.has(name), "{name}");
    }
    terminal.shows("61 created in data/ (.csv)").shows("5 created in data/.cache/ (.csv)");
    assert_eq!(landed(&scene), 0);
    // The key of the first question is none of the second.
    terminal.types("b").shows("Keep these changes").types("a").shows("of them only counted?");
    assert_eq!(landed(&scene), 0);
    terminal.types("y").shows("applied").waits();
    assert_eq!(landed(&scene), 6);
    terminal.types("/undo").shows("undone").waits();
    assert_eq!(landed(&scene), 0);
    terminal.types("/quit").exits(0);
}

#[test]
fn a_command_of_a_chat_asks_the_same_about_its_own_set_and_an_earlier_one() {
    let own = scene().model_says(&[&cell("python", MANY), "Done."]);
    let ours = Terminal::open(&own, &["--yes", "go"]);
    ours.shows("Keep these changes").types("l").waits();
    let earlier = scene().model_says(&["Hello."]);
    earlier.code("python", MANY).exits(0);
    let theirs = Terminal::open(&earlier, &[]);
    for (scene, terminal) in [(own, ours), (earlier, theirs)] {
        terminal.waits().types("/apply").shows("Apply all 76 changes, 66 of them only counted?");
        terminal.shows("data/one.py").types("b").waits();
        assert_eq!(landed(&scene), 0);
        // The picked files are shown, and nothing else lands.
        terminal.types("/apply data").shows("Apply all 71 changes").types("y").shows("71 ").waits();
        assert_eq!(landed(&scene), 3);
        terminal.types("/quit").exits(0);
    }
}

#[test]
fn the_record_says_what_was_shown() {
    let scene = scene().model_says(&[&cell("python", MANY), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("Keep these changes").types("l").waits().types("/quit").exits(0);
    let session =
        scene.run(&["history", "list", "--all", "--json"]).records()[0]["session"].clone();
    let records = scene.run(&["history", "show", "--json", session.as_str().unwrap()]).exits(0);
    let question = &records.of_kind("question")[0];
    let outline = &question["outline"];
    assert_eq!(outline["counted"].as_array().unwrap().len(), 2, "{outline}");
    let named = outline["named"].as_array().unwrap();
    assert_eq!(named[0], json!({ "path": "Makefile", "why": "runs_later" }));
    assert!(named.contains(&json!({ "path": "data/run.sh", "why": "program" })), "{outline}");
    assert_eq!(question["files"].as_array().unwrap().len(), named.len() + 66);
}

#[test]
fn up_to_fifty_names_are_listed_and_one_key_is_enough() {
    let code = "for n in range(50): open(f'{n:02}.csv', 'w').write('x')";
    let scene = Scene::new().model_says(&[&cell("python", code), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("Keep these changes");
    for number in 0..50 {
        assert!(terminal.has(&format!("created  {number:02}.csv")), "{number}");
    }
    terminal.types("a").shows("applied").waits().types("/quit").exits(0);
    assert!(scene.read("49.csv").is_some());
}

#[test]
fn the_command_asks_at_a_terminal_and_names_what_stands_out_elsewhere() {
    let scene = scene();
    scene.code("python", MANY).exits(0);
    let terminal = Terminal::start(&scene, &["changes", "apply"]);
    terminal.shows("of them only counted?").shows("data/one.py").types("b").exits(3);
    assert_eq!(landed(&scene), 0);
    let terminal = Terminal::start(&scene, &["changes", "apply"]);
    terminal.shows("of them only counted?").types("y").exits(0);
    assert_eq!(landed(&scene), 6);
    let scene = self::scene();
    scene.code("python", MANY).exits(0);
    let seen = scene.run(&["changes", "apply"]).exits(0);
    STANDS_OUT.iter().fold(seen, |seen, name| seen.mentions(name));
    assert_eq!(landed(&scene), 6);
}

#[test]
fn a_list_that_was_not_read_to_its_end_applies_nothing() {
    let code = "import os\nfor n in range(200): open(f'.{n:03}', 'w').write('x')";
    let scene = Scene::new();
    scene.code("python", code).exits(0);
    let terminal = Terminal::start(&scene, &["changes", "apply"]);
    terminal.shows("more.").lacks(".199").types("b").shows("not shown to its end").exits(3);
    assert_eq!(scene.read(".000"), None);
    let terminal = Terminal::start(&scene, &["changes", "apply"]);
    terminal.shows("more.").types("a").shows(".199").shows("Apply all 200 changes?").types("y");
    terminal.exits(0);
    assert!(scene.read(".199").is_some());
}

/// The same screen, wide and narrow.
#[test]
fn the_second_question_is_legible_in_any_window() {
    let mut screens = Vec::new();
    for columns in [100, 44] {
        let scene = scene();
        scene.code("python", MANY).exits(0);
        let terminal = Terminal::start_at(&scene, &["changes", "apply"], columns);
        terminal.shows("list every file");
        let rows: Vec<_> = terminal.rows().iter().map(|row| row.trim_end().to_owned()).collect();
        let begin = rows.iter().position(|row| row.contains("Before ")).unwrap();
        let shown: Vec<_> = rows[begin..].iter().filter(|row| !row.is_empty()).cloned().collect();
        screens.push(format!("{columns} columns\n{}", shown.join("\n")));
        terminal.types("b").exits(3);
    }
    insta::assert_snapshot!(screens.join("\n\n"));
}

#[test]
fn a_client_gets_the_outline_with_the_question_and_with_the_list() {
    let scene = scene();
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({ "mode": "run" }));
    client.ok("run", json!({ "session": session, "language": "python", "code": MANY }));
    let question = client.record("question");
    assert_eq!(question["about"], "changes");
    let outline = question["outline"].clone();
    assert_eq!(outline["named"][0], json!({ "path": "Makefile", "why": "runs_later" }));
    client.answer(&question, json!({ "decision": "later" }));
    client.record("turn_finished");
    let shown = client.ok("changes", json!({ "session": session }));
    assert_eq!(shown["outline"], outline);
    // The files below one path have an outline of their own, and few have no outline.
    let shown = client.ok("changes", json!({ "session": session, "path": "data/run.sh" }));
    assert_eq!((shown["files"].as_array().unwrap().len(), shown.get("outline")), (1, None));
}
