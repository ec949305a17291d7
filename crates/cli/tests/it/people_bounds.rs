//! The bounds of a team: what a role, a share and a token lead to, and what they do not.

use crate::{
    api::{Caller, Events, new_token},
    people::{Member, NONE, team},
    pictures::red,
    protocol_client::scripted,
    scene::{Scene, cell},
    serving::Serving,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn set_role(scene: &Scene, name: &str, role: &str) {
    scene.run(&["serve", "user", "role", name, role]).exits(0);
}

fn at(session: &str, part: &str) -> String {
    format!("/v1/sessions/{session}/{part}")
}

fn with(session: &str, mut more: Value) -> Value {
    more["session"] = session.into();
    more
}

fn put(session: &str, path: &str, text: &str) -> Value {
    with(session, json!({ "path": path, "base64": STANDARD.encode(text) }))
}

/// The status of a download.
fn status(member: &Member<'_>, session: &str, path: &str) -> u16 {
    member.ask("GET", &at(session, &format!("files/{path}")), None).status
}

/// Folders of people in which there is a file of this name, at any depth.
fn files_named(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs_err::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_named(&path, ending, found);
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
}

#[test]
fn a_lower_role_ends_sessions_elsewhere_and_takes_back_what_was_allowed() {
    let (first, second) = (cell("python", "print(6 * 7)"), cell("python", "print(1)"));
    let reaches = "import urllib.request\ntry:\n    \
                   urllib.request.urlopen('http://files.example.org/')\nexcept Exception:\n    pass";
    let reaches = cell("python", reaches);
    let scene = Scene::new().model_says(&[&first, "Done.", &reaches, "Done.", &second, "Done."]);
    let scene = scripted(scene).file("mine.txt", "mine");
    let other = scene.home().join("other");
    fs_err::create_dir(&other).unwrap();
    fs_err::write(other.join("theirs.txt"), "theirs").unwrap();
    for path in [other.clone(), other.join("theirs.txt")] {
        scene.give(&path);
    }
    let serving = team(&scene, &[("ada", "admin"), ("ben", "approver")]);
    let [ada, ben] = ["ada", "ben"].map(|name| Member::new(&serving, name));
    let elsewhere = ada.ok("open", json!({ "mode": "run", "folder": other }));
    let elsewhere = elsewhere["session"].as_str().unwrap();
    let here = ada.open("run");
    assert_eq!(status(&ada, elsewhere, "theirs.txt"), 200);
    // A standing answer, by which nothing more is asked.
    let chat = ben.open("chat");
    let mut seen = ben.follow(&chat);
    ben.ok("prompt", with(&chat, json!({ "text": "compute" })));
    let asked = seen.record("question");
    let stand = json!({
        "question": asked["id"], "hash": asked["hash"], "decision": "stand", "span": "session",
        "covers": "all",
    });
    ben.ok("answer", with(&chat, stand));
    seen.record("turn_finished");
    // A host for the session.
    ben.ok("prompt", with(&chat, json!({ "text": "fetch" })));
    let allows = |asked: &Value, more: Value| {
        let mut answer = json!({ "question": asked["id"], "hash": asked["hash"] });
        answer.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        ben.ok("answer", with(&chat, answer));
    };
    allows(&seen.record("question"), json!({ "decision": "run" }));
    allows(&seen.record("question"), json!({ "decision": "allow", "for": "session" }));
    seen.record("turn_finished");
    let standing = ben.ok("grant", with(&chat, json!({ "list": true })));
    assert_eq!(standing["standing"].as_array().unwrap().len(), 1, "{standing}");
    assert_eq!(standing["hosts"], json!(["files.example.org:80"]));
    // Whoever may open a host may close it, if it was opened.
    assert_eq!(ben.refused("grant", with(&chat, json!({ "close": "example.org:80" }))), "refused");
    assert_eq!(ben.refused("grant", with(&chat, json!({ "revoke": 1 }))), "not_allowed");

    set_role(&scene, "ada", "author");
    set_role(&scene, "ben", "author");
    let [ada, ben] = ["ada", "ben"].map(|name| Member::new(&serving, name));
    assert_ne!(status(&ada, elsewhere, "theirs.txt"), 200);
    let write = ada.perform("put", put(elsewhere, "planted.txt", "x"));
    assert!(write.get("error").is_some(), "{write}");
    ada.follow(elsewhere).record("session_ended");
    assert_eq!(ada.refused("put", put(elsewhere, "planted.txt", "x")), "ended");
    assert_eq!(ada.refused("resume", with(elsewhere, json!({}))), "not_allowed");
    // The control: where the role leads, the session goes on.
    assert_eq!(status(&ada, &here, "mine.txt"), 200);
    ada.ok("put", put(&here, "more.txt", "x"));
    // The yes is gone, so the next code is asked about.
    let mut seen = ben.follow(&chat);
    assert_eq!(seen.record("standing_revoked")["number"], 1);
    assert_eq!(seen.record("host_revoked")["host"], "files.example.org");
    ben.ok("prompt", with(&chat, json!({ "text": "again" })));
    seen.record("question");
    let standing = ben.ok("grant", with(&chat, json!({ "list": true })));
    assert_eq!((&standing["standing"], &standing["hosts"]), (&json!([]), &json!([])));
}

#[test]
fn a_prompt_that_is_refused_leaves_no_picture_on_the_disk() {
    let scene = scripted(Scene::new().model_says(&[&cell("python", "print(1)"), "Done.", "Red."]));
    let serving = team(&scene, &[("ben", "approver")]);
    let ben = Member::new(&serving, "ben");
    let session = ben.open("chat");
    let mut seen = ben.follow(&session);
    ben.ok("prompt", with(&session, json!({ "text": "compute" })));
    let asked = seen.record("question");
    let picture = json!({ "name": "red.png", "data": STANDARD.encode(red()) });
    let prompt = with(&session, json!({ "text": "which colour?", "images": [picture] }));
    let kept = || {
        let mut found = Vec::new();
        files_named(&scene.data().join("people"), ".lz4", &mut found);
        found.len()
    };
    assert_eq!(ben.refused("prompt", prompt.clone()), "busy");
    assert_eq!(kept(), 0);
    // The control: once it is taken, the picture is kept and on record.
    let yes = json!({ "question": asked["id"], "hash": asked["hash"], "decision": "run" });
    ben.ok("answer", with(&session, yes));
    seen.record("turn_finished");
    ben.ok("prompt", prompt);
    seen.record("image");
    assert_eq!(kept(), 1);
}

#[test]
fn whoever_may_not_answer_applies_nothing_that_runs_by_itself_later() {
    let scene = Scene::new();
    let people = [("anna", "author"), ("ben", "approver")];
    let serving = team(&scene, &people);
    let [anna, ben] = people.map(|(name, _)| Member::new(&serving, name));
    let session = anna.open("run");
    let settings = ".interpreter/config.toml";
    anna.ok("put", put(&session, settings, "nonsense"));
    anna.ok("put", put(&session, "data.csv", "1"));
    let shown = |path: Option<&str>| anna.ok("changes", with(&session, json!({ "path": path })));
    let apply = |shown: &Value, picks: Option<Value>| {
        let mut fields = json!({ "changes": shown["id"] });
        if let Some(picks) = picks {
            fields["picks"] = picks;
        }
        with(&session, fields)
    };
    for path in [settings, ".interpreter", ".interpreter/"] {
        let picks = json!([{ "path": path }]);
        assert_eq!(anna.refused("apply", apply(&shown(None), Some(picks))), "not_allowed");
        assert_eq!(anna.refused("apply", apply(&shown(Some(path)), None)), "not_allowed");
    }
    assert_eq!(anna.refused("apply", apply(&shown(None), None)), "not_allowed");
    assert_eq!(scene.read(settings), None);
    // Everybody else goes on, and the author applies the rest.
    ben.open("run");
    anna.ok("apply", apply(&shown(Some("data.csv")), None));
    assert_eq!(scene.read("data.csv").as_deref(), Some("1"));
    // The control: whoever answers questions applies it too.
    let own = ben.open("run");
    ben.ok("put", put(&own, settings, "# nothing\n"));
    let all = ben.ok("changes", with(&own, json!({})));
    ben.ok("apply", with(&own, json!({ "changes": all["id"] })));
    assert_eq!(scene.read(settings).as_deref(), Some("# nothing\n"));
}

#[test]
fn whoever_may_not_answer_applies_and_undoes_data_alone() {
    let scene = Scene::new();
    let serving = team(&scene, &[("anna", "author"), ("ben", "approver")]);
    let [anna, ben] = ["anna", "ben"].map(|name| Member::new(&serving, name));
    let session = anna.open("run");
    let code = ["app.py", "run.sh", "page.html", "drawing.svg", "settings.yaml", "README"];
    let listed = ["matplotlibrc", "Snakefile", "config/initializers/x.rb", "package.json"];
    for path in code.iter().chain(&listed) {
        anna.ok("put", put(&session, path, "x"));
        let shown = anna.ok("changes", with(&session, json!({ "path": path })));
        let apply = with(&session, json!({ "changes": shown["id"] }));
        assert_eq!(anna.refused("apply", apply), "not_allowed", "{path}");
        assert_eq!(scene.read(path), None, "{path}");
    }
    // The control: data.
    anna.ok("put", put(&session, "table.csv", "1"));
    let shown = anna.ok("changes", with(&session, json!({ "path": "table.csv" })));
    anna.ok("apply", with(&session, json!({ "changes": shown["id"] })));
    assert_eq!(scene.read("table.csv").as_deref(), Some("1"));
    anna.ok("undo", with(&session, json!({})));
    assert_eq!(scene.read("table.csv"), None);
    // And somebody who answers applies code, which the author cannot undo.
    anna.ok("grant", with(&session, json!({ "share": { "with": "ben", "as": "drive" } })));
    let shown = ben.ok("changes", with(&session, json!({ "path": "app.py" })));
    ben.ok("apply", with(&session, json!({ "changes": shown["id"] })));
    assert_eq!(scene.read("app.py").as_deref(), Some("x"));
    assert_eq!(anna.refused("undo", with(&session, json!({}))), "refused");
    assert_eq!(scene.read("app.py").as_deref(), Some("x"));
}

#[test]
fn a_change_to_a_repository_is_named_and_refused_in_plain_words() {
    let scene = Scene::new().file(".git/config", "[remote]\nurl = https://me:secret@host/\n");
    let serving = team(&scene, &[("ben", "approver")]);
    let ben = Member::new(&serving, "ben");
    let session = ben.open("run");
    ben.ok("put", put(&session, ".git/hooks/post-checkout", "id"));
    for path in [".git", ".git/hooks", ".git/hooks/post-checkout"] {
        let shown = ben.ok("changes", with(&session, json!({ "path": path })));
        assert_eq!(shown["files"], json!([]), "{path}");
        let why = shown["left_out"][0]["why"].to_string() + &shown["left_out"][0].to_string();
        assert!(why.contains("repository"), "{path}: {shown}");
        let reply = ben.perform("apply", with(&session, json!({ "changes": shown["id"] })));
        assert_eq!(reply["error"]["code"], "refused", "{reply}");
        let words = reply["error"]["message"].as_str().unwrap();
        assert!(words.contains("repository") && !words.contains("has changed"), "{words}");
    }
    assert_eq!(scene.read(".git/hooks/post-checkout"), None);
    // Its settings may hold a password: they are not handed out either.
    assert_eq!(status(&ben, &session, ".git/config"), 404);
}

#[test]
fn a_token_shares_no_more_than_it_may_do_itself() {
    let scene = Scene::new();
    let serving = team(&scene, &[("ben", "approver")]);
    let ben = Member::new(&serving, "ben");
    let caller = |name: &str, rights: &str| Caller {
        serving: &serving,
        token: new_token(&scene, name, rights),
    };
    let all = caller("all", "watch,prompt,answer,change");
    let some = caller("some", "watch,prompt");
    let session = all.open(json!({ "mode": "run" }));
    let share = |by: &Caller<'_>, kind: &str| {
        let share = json!({ "with": "ben", "as": kind });
        let grant = json!({ "id": 1, "do": "grant", "session": session, "share": share });
        by.ask("POST", "/v1/do", Some(&grant)).1
    };
    let refused = share(&some, "drive");
    assert_eq!(refused["error"]["code"], "not_allowed", "{refused}");
    assert!(ben.listed().is_empty());
    let refused = share(&caller("one", "prompt"), "watch");
    assert_eq!(refused["error"]["code"], "not_allowed", "{refused}");
    // The control: within its rights it shares, and a token that has them shares more.
    assert!(share(&some, "suggest").get("ok").is_some());
    assert_eq!(
        ben.refused("run", with(&session, json!({ "language": "python", "code": "1" }))),
        "not_allowed"
    );
    assert!(share(&all, "drive").get("ok").is_some());
    ben.ok("run", with(&session, json!({ "language": "python", "code": "1" })));
}

#[test]
fn a_guest_who_only_watches_reads_what_the_session_changed_and_nothing_else() {
    let scene = Scene::new().file("notes.txt", "mine").file("changed.txt", "old");
    let people = [("anna", "author"), ("ben", "author"), ("vera", "viewer")];
    let serving = team(&scene, &people);
    let [anna, ben, vera] = people.map(|(name, _)| Member::new(&serving, name));
    let session = anna.open("run");
    let share = |name: &str, kind: &str| {
        anna.ok("grant", with(&session, json!({ "share": { "with": name, "as": kind } })));
    };
    share("vera", "watch");
    share("ben", "suggest");
    for guest in [&vera, &ben] {
        for path in ["notes.txt", "changed.txt", "staged.txt", "%2e%2e/home", "none"] {
            assert!(status(guest, &session, path) >= 400, "{path}");
        }
    }
    anna.ok("put", put(&session, "staged.txt", "new"));
    anna.ok("put", put(&session, "changed.txt", "new"));
    let read = |guest: &Member<'_>, path: &str| {
        guest.ask("GET", &at(&session, &format!("files/{path}")), None).body
    };
    for guest in [&vera, &ben] {
        assert_eq!(read(guest, "staged.txt"), "new");
        assert_eq!(read(guest, "changed.txt"), "new");
        assert_eq!(status(guest, &session, "notes.txt"), 404);
    }
    let shown = anna.ok("changes", with(&session, json!({})));
    anna.ok("apply", with(&session, json!({ "changes": shown["id"] })));
    assert_eq!(read(&vera, "staged.txt"), "new");
    assert_eq!(status(&vera, &session, "notes.txt"), 404);
    // The control: whoever drives it, and its owner, read what code could read.
    share("ben", "drive");
    assert_eq!(read(&ben, "notes.txt"), "mine");
    assert_eq!(read(&anna, "notes.txt"), "mine");
}

#[test]
fn a_damaged_record_of_one_breaks_no_list_of_another() {
    let scene = Scene::new();
    let people = [("anna", "author"), ("ben", "author"), ("cleo", "author")];
    let serving = team(&scene, &people);
    let [anna, ben, cleo] = people.map(|(name, _)| Member::new(&serving, name));
    let mut shared = Vec::new();
    for owner in [&anna, &cleo] {
        let session = owner.open("run");
        owner.ok("grant", with(&session, json!({ "share": { "with": "ben", "as": "watch" } })));
        owner.ok("close", with(&session, json!({})));
        shared.push(session);
    }
    let own = ben.open("run");
    let mut before = ben.listed();
    before.sort();
    let mut all = [&shared[..], std::slice::from_ref(&own)].concat();
    all.sort();
    assert_eq!(before, all);
    // As many as are asked for.
    let listed = ben.ok("list", json!({ "limit": 1 }));
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1, "{listed}");
    // Of the record of one, nothing can be read.
    let mut records = Vec::new();
    files_named(&scene.data().join("people"), "record.db", &mut records);
    let holds = |path: &&PathBuf| {
        let wal = path.with_extension("db-wal");
        [path.as_path(), &wal].iter().any(|file| {
            let bytes = fs_err::read(file).unwrap_or_default();
            bytes.windows(shared[0].len()).any(|part| part == shared[0].as_bytes())
        })
    };
    let damaged = records.iter().find(holds).unwrap();
    fs_err::write(damaged, "no database").unwrap();
    _ = fs_err::remove_file(damaged.with_extension("db-wal")).is_ok();
    // A server that has the sessions in memory needs no record to list them.
    drop(serving);
    let serving = Serving::start_with(&scene, &["--team"]);
    let ben = Member::new(&serving, "ben");
    let left = ben.listed();
    assert!(left.contains(&own) && left.contains(&shared[1]) && !left.contains(&shared[0]));
    // Whoever asks for it learns nothing of where it is.
    let person = damaged.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let mut followed = ben.follow(&shared[0]);
    let refused = followed.wait_for(|line| line["id"] == 1).to_string();
    for told in [refused, ben.perform("list", with(&shared[0], json!({}))).to_string()] {
        assert!(told.contains("failed") && !told.contains(person) && !told.contains('/'), "{told}");
    }
}

#[test]
fn a_folder_that_may_not_be_opened_is_refused_whether_it_is_there_or_not() {
    let scene = Scene::new();
    let serving = team(&scene, &[("anna", "approver"), ("ada", "admin")]);
    let [anna, ada] = ["anna", "ada"].map(|name| Member::new(&serving, name));
    let open = |member: &Member<'_>, folder: &str| {
        member.perform("open", json!({ "mode": "run", "folder": folder }))
    };
    let (there, absent) = (open(&anna, "/etc"), open(&anna, "/etc/none-of-this-name"));
    assert_eq!(there["error"]["code"], "not_allowed");
    assert_eq!(there, absent);
    assert_eq!(there, open(&anna, "relative"));
    // The control: whoever may open others learns that it is not there.
    let absent = open(&ada, "/etc/none-of-this-name");
    assert_eq!(absent["error"]["code"], "refused", "{absent}");
}

#[test]
fn sessions_at_once_are_promised_no_more_of_the_disk_than_there_is() {
    const STORAGE: u64 = 96 << 20;
    let config = "[team]\nstorage = \"96M\"\n";
    let scene = Scene::new().home_file(".config/interpreter/config.toml", config);
    let serving = team(&scene, &[("ben", "approver")]);
    let ben = Member::new(&serving, "ben");
    let open = || {
        let session = ben.open("run");
        let started = ben.follow(&session).record("session_started");
        (session, started["confinement"]["limits"]["staged_bytes"].as_u64().unwrap())
    };
    let all: Vec<(String, u64)> = (0..5).map(|_| open()).collect();
    let promised: u64 = all.iter().map(|(_, staged)| staged).sum();
    assert!(promised <= STORAGE, "{all:?}");
    // The control: what a session does not need any more is there for the next one.
    let (first, most) = &all[0];
    ben.ok("close", with(first, json!({})));
    let (_, again) = open();
    assert!(again > all[1].1 && again <= *most, "{again} {all:?}");
}

#[test]
fn what_runs_later_is_undone_only_by_whoever_may_answer() {
    let scene = Scene::new();
    let people = [("anna", "author"), ("ben", "approver")];
    let serving = team(&scene, &people);
    let [anna, ben] = people.map(|(name, _)| Member::new(&serving, name));
    let session = anna.open("run");
    let share = json!({ "share": { "with": "ben", "as": "drive" } });
    anna.ok("grant", with(&session, share));
    let settings = ".interpreter/config.toml";
    let apply = |member: &Member<'_>, path: &str| {
        member.ok("put", put(&session, path, "# nothing\n"));
        let shown = member.ok("changes", with(&session, json!({ "path": path })));
        member.ok("apply", with(&session, json!({ "changes": shown["id"] })));
    };
    apply(&ben, settings);
    let undo = || with(&session, json!({}));
    let redo = || with(&session, json!({ "redo": true }));
    let refused = anna.perform("undo", undo());
    assert_eq!(refused["error"]["code"], "refused", "{refused}");
    let words = refused["error"]["message"].as_str().unwrap();
    assert!(words.contains(".interpreter") && words.contains("settings"), "{words}");
    assert!(scene.read(settings).is_some());
    // The control: whoever may answer undoes it. To put it back takes that right, too.
    ben.ok("undo", undo());
    assert_eq!(scene.read(settings), None);
    assert_eq!(anna.refused("undo", redo()), "refused");
    assert_eq!(scene.read(settings), None);
    ben.ok("undo", redo());
    assert!(scene.read(settings).is_some());
    // And any other file is undone by its author.
    apply(&anna, "data.csv");
    anna.ok("undo", undo());
    assert_eq!(scene.read("data.csv"), None);
    assert_eq!(anna.refused("undo", undo()), "refused");
}

#[test]
fn going_back_takes_the_rights_to_what_it_undoes() {
    let scene = Scene::new();
    let people = [("anna", "approver"), ("ada", "author"), ("vera", "viewer")];
    let serving = team(&scene, &people);
    let [anna, ada, vera] = people.map(|(name, _)| Member::new(&serving, name));
    let session = anna.open("run");
    for (name, kind) in [("ada", "drive"), ("vera", "watch")] {
        anna.ok("grant", with(&session, json!({ "share": { "with": name, "as": kind } })));
    }
    let run = |code: &str| {
        let mut seen = anna.follow(&session);
        let shown = anna.ok("run", with(&session, json!({ "language": "shell", "code": code })));
        let is_end = |line: &Value| {
            line["kind"] == "run_finished" && line["proposal"] == shown["proposal"]
                || line["kind"] == "question" && line["about"] == "changes"
        };
        seen.wait_for(is_end)
    };
    run("true");
    // Whoever watches sees what it would mean, and does not do it.
    let plan = |member: &Member<'_>| {
        member.ok("rewind", with(&session, json!({ "before": "p1" })))["hash"].clone()
    };
    let wish =
        |undo: bool| with(&session, json!({ "before": "p1", "hash": plan(&anna), "undo": undo }));
    assert_eq!(plan(&vera), plan(&anna));
    assert_eq!(vera.refused("rewind", wish(false)), "not_allowed");
    assert_eq!(ada.refused("rewind", wish(true)), "not_allowed");
    // The control.
    ada.ok("rewind", wish(false));
    let mut seen = anna.follow(&session);
    let rewound = seen.record("rewound");
    assert_eq!((&rewound["who"], &rewound["to"]), (&json!("ada"), &json!("p1")));
}

/// A stream of them is no more than a page of them: for somebody else the session is like none.
#[test]
fn nobody_else_hears_the_records_of_a_session() {
    let scene = Scene::new();
    let serving = team(&scene, &[("anna", "approver"), ("ben", "admin")]);
    let (anna, ben) = (Member::new(&serving, "anna"), Member::new(&serving, "ben"));
    let operator = Member { serving: &serving, login: serving.log_in() };
    let session = anna.open("run");
    let host = serving.host();
    for other in [&ben, &operator] {
        let [cookie, key] = other.login.lines();
        for more in ["Cache-Control: no-cache", "Last-Event-ID: 0", "Last-Event-ID: 9"] {
            let ask = |session: &str| {
                let first = format!("GET /v1/sessions/{session}/records HTTP/1.1");
                let kind = "Accept: text/event-stream";
                let head = [first.as_str(), &host, "Connection: close", kind, more, &cookie, &key];
                let answer = serving.send(&head, "");
                (answer.status, answer.body.replace(session, "S"))
            };
            let seen = ask(&session);
            assert_eq!(seen, ask(NONE), "{more}");
            assert_eq!(seen.0, 404, "{more}: {}", seen.1);
        }
    }
    // The control: their owner hears them.
    let [cookie, key] = anna.login.lines();
    let mut events = Events::open(&serving, &session, &[&cookie, &key]);
    assert_eq!(events.status, 200);
    assert_eq!(events.next().unwrap()["kind"], "session_started");
}
