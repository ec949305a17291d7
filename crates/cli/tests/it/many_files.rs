//! Many staged files at once: nothing lands that was neither named nor counted with its like.

use crate::{
    protocol_client::Server,
    scene::{Scene, cell},
    terminal::Terminal,
};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::inotify,
};
use serde_json::{Value, json};
use std::path::Path;

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
fn the_command_asks_at_a_terminal() {
    let scene = scene();
    scene.code("python", MANY).exits(0);
    let terminal = Terminal::start(&scene, &["changes", "apply"]);
    terminal.shows("of them only counted?").shows("data/one.py").types("b").exits(3);
    assert_eq!(landed(&scene), 0);
    let terminal = Terminal::start(&scene, &["changes", "apply"]);
    terminal.shows("of them only counted?").types("y").exits(0);
    assert_eq!(landed(&scene), 6);
}

#[test]
fn a_script_reads_what_stands_out_and_applies_many_files_only_with_a_yes() {
    let scene = scene();
    scene.code("python", MANY).exits(0);
    let refused = scene.run(&["changes", "apply"]).mentions("`interpreter changes apply --yes`");
    STANDS_OUT.iter().fold(refused.exits(3), |seen, name| seen.mentions(name));
    assert_eq!(landed(&scene), 0);
    // Seventy-one of them are many too, and a few that are named are not.
    scene.run(&["changes", "apply", "data"]).mentions("these are 71 changes").exits(3);
    scene.run(&["changes", "apply", "tool.csv", "Makefile"]).lacks("Before").exits(0);
    assert_eq!(landed(&scene), 2);
    let applied = scene.run(&["changes", "apply", "--yes"]).exits(0);
    let stderr = applied.stderr();
    let (listed, rest) = (stderr.find("Before 74 changes"), stderr.find("data/run.sh"));
    assert!(listed.is_some() && listed < rest, "{stderr}");
    assert_eq!(landed(&scene), 6);
}

/// A folder that cannot be written to shows what was printed before anything is written.
#[test]
fn a_run_that_applies_at_its_end_prints_what_stands_out_before() {
    for view in [&[][..], &["--json"]] {
        let scene = scene();
        let mut words = vec!["run", "--apply", "-c", MANY];
        words.extend(view);
        let seen = scene.run(&words).exits(0);
        let stderr = seen.stderr();
        let announced = stderr.find("Before 76 changes are applied").expect(&stderr);
        for name in STANDS_OUT {
            assert!(stderr[announced..].contains(name), "{name}: {stderr}");
        }
        assert_eq!(landed(&scene), 6);
        let scene = self::scene();
        let few = "for n in range(50): open(f'{n:02}.csv', 'w').write('x')";
        let mut words = vec!["run", "--apply", "-c", few];
        words.extend(view);
        let seen = scene.run(&words).exits(0);
        assert!(!seen.stderr().contains("Before"), "{}", seen.stderr());
        assert!(scene.read("49.csv").is_some());
    }
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

/// The fields of an `apply`.
fn with_order(session: &str, changes: &Value, picks: &Value, seen: &Value) -> Value {
    json!({ "session": session, "changes": changes, "picks": picks, "seen": seen })
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
    // No word for all of them counts without it, however it is put, and the question stays open.
    let each: Vec<_> = question["files"].as_array().unwrap().iter().collect();
    let each: Vec<_> = each.iter().map(|file| json!({ "path": file["path"] })).collect();
    let wrong = [json!(null), json!(""), question["hash"].clone()];
    for picks in [json!(null), json!(each), json!(each[..51])] {
        for seen in &wrong {
            let fields = json!({
                "session": session, "question": question["id"], "hash": question["hash"],
                "decision": "apply", "picks": picks, "seen": seen,
            });
            let refused = client.refusal("answer", fields);
            assert_eq!(refused["code"], "outline_unseen", "{refused}");
            let says = |name: &str, text| refused[name].as_str().unwrap().contains(text);
            assert!(says("message", "outline") && says("hint", "`seen`"), "{refused}");
        }
    }
    assert_eq!(landed(&scene), 0);
    client.answer(&question, json!({ "decision": "later" }));
    client.record("turn_finished");
    let shown = client.ok("changes", json!({ "session": session }));
    assert_eq!(shown["outline"], outline);
    // The files below one path have an outline of their own, and few have no outline.
    let one = client.ok("changes", json!({ "session": session, "path": "data/run.sh" }));
    assert_eq!((one["files"].as_array().unwrap().len(), one.get("outline")), (1, None));
    // The verb is no way around it either.
    let apply =
        |changes: &Value, picks: Value, seen: &Value| with_order(&session, changes, &picks, seen);
    for picks in [json!(null), json!(each), json!(each[..51])] {
        for seen in &wrong {
            let code = client.refused("apply", apply(&shown["id"], picks.clone(), seen));
            assert_eq!(code, "outline_unseen", "{picks}");
            client.record("turn_finished");
        }
    }
    // Only with the outline of the part that was shown, and only that part.
    let part = client.ok("changes", json!({ "session": session, "path": "data" }));
    let of_part = &part["outline"]["hash"];
    assert_ne!(*of_part, outline["hash"]);
    for (changes, seen) in [(&part["id"], &outline["hash"]), (&shown["id"], of_part)] {
        assert_eq!(client.refused("apply", apply(changes, json!(null), seen)), "outline_unseen");
        client.record("turn_finished");
    }
    assert_eq!(landed(&scene), 0);
    client.ok("apply", apply(&part["id"], json!(null), of_part));
    assert_eq!(landed(&scene), 3);
    client.record("turn_finished");
    // The rest are few: each was named.
    let rest = client.ok("changes", json!({ "session": session }));
    assert_eq!(rest.get("outline"), None);
    client.ok("apply", apply(&rest["id"], json!(null), &json!(null)));
    assert_eq!(landed(&scene), 6);
}

/// A client that answers with the outline applies all of it with its first answer.
#[test]
fn the_outline_is_enough() {
    let scene = scene();
    let (_server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({ "mode": "run" }));
    client.ok("run", json!({ "session": session, "language": "python", "code": MANY }));
    let question = client.record("question");
    let seen = &question["outline"]["hash"];
    client.answer(&question, json!({ "decision": "apply", "seen": seen }));
    client.record("turn_finished");
    assert_eq!(landed(&scene), 6);
}

/// Writes sixty files once somebody outside has read a staged one.
const LATER: &str = r"
import os, time
read = lambda: os.stat('first.csv').st_atime_ns
before = read()
print('ready', flush=True)
while read() == before: time.sleep(0.001)
for n in range(60): open(f'{n}.csv', 'w').write('x')
open('went.csv', 'w').write('x')
";

/// Waits until code has staged a file with this name.
fn waits_for_staged(upper: &Path, name: &str) {
    let notices = inotify::init(inotify::CreateFlags::CLOEXEC).unwrap();
    let wanted = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
    inotify::add_watch(&notices, upper, wanted).unwrap();
    // That is what the code waits for.
    std::fs::read(upper.join("first.csv")).unwrap();
    while !upper.join(name).exists() {
        let limit = Timespec { tv_sec: 60, tv_nsec: 0 };
        let mut readable = [PollFd::new(&notices, PollFlags::IN)];
        assert_eq!(poll(&mut readable, Some(&limit)).unwrap(), 1, "nothing more was staged");
        rustix::io::read(&notices, &mut [0; 4096]).unwrap();
    }
}

#[test]
fn a_chat_asks_about_files_that_came_after_its_list() {
    let code = format!(
        "open('first.csv', 'w').write('x')\nimport subprocess, sys\n\
         later = subprocess.Popen([sys.executable, '-c', {LATER:?}], stdout=subprocess.PIPE)\n\
         later.stdout.readline()"
    );
    let scene = Scene::new().model_says(&[&cell("python", &code), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("Keep this change").types("l").waits();
    let sets = std::fs::read_dir(scene.data().join("changes")).unwrap().flatten();
    let upper = sets.map(|set| set.path().join("upper")).find(|upper| upper.exists()).unwrap();
    waits_for_staged(&upper, "went.csv");
    terminal.types("/apply").shows("Apply all 62 changes, 62 of them only counted?").types("b");
    terminal.waits();
    assert_eq!(scene.read("first.csv"), None);
    terminal.types("/apply").shows("only counted?").types("y").shows("62 files applied").waits();
    assert!(scene.read("59.csv").is_some());
    terminal.types("/quit").exits(0);
}
