//! Two people of a team are apart: each has a system user, a share of the sessions and of the disk,
//! and a day's budget of their own. Without any sandbox the system user is the only fence, so that is
//! where the attacks are tried.

use crate::{
    people::{Followed, Member, add, team},
    scene::{Scene, cell},
    serving::Serving,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::Command,
};

mod containers;

/// The user of root's own sessions.
const SHARED: u32 = 0x7000_0000;

const CONFIG: &str = ".config/interpreter/config.toml";

const NO_SANDBOX: &str = "workspace = \"direct\"\n[sandbox]\nbackend = \"none\"\n";

/// Whether only root could try it, and we are not.
#[expect(clippy::print_stderr, reason = "who runs the tests should know")]
fn is_not_tried() -> bool {
    let ordinary = !rustix::process::geteuid().is_root();
    if ordinary {
        eprintln!("not tried: only root runs code as somebody else");
    }
    ordinary
}

/// A session of somebody, in which code runs.
struct Desk<'a> {
    member: &'a Member<'a>,
    session: String,
    followed: Followed,
}

impl<'a> Desk<'a> {
    fn new(member: &'a Member<'a>) -> Self {
        let session = member.open("run");
        let followed = member.follow(&session);
        Self { member, session, followed }
    }

    /// Runs shell code, decides later on what it staged, and gives its output.
    #[track_caller]
    fn run(&mut self, code: &str) -> String {
        let session = &self.session;
        let run = json!({ "session": session, "language": "shell", "code": code });
        self.member.ok("run", run);
        let mut printed = String::new();
        loop {
            let record = self.followed.wait_for(|line| line.get("kind").is_some());
            match record["kind"].as_str().unwrap() {
                "output" => printed += record["text"].as_str().unwrap(),
                "question" => {
                    let answer = json!({
                        "session": session, "question": record["id"],
                        "hash": record["hash"], "decision": "later",
                    });
                    self.member.ok("answer", answer);
                }
                "turn_finished" => return printed,
                _ => {}
            }
        }
    }

    /// Leaves a process that holds a file and a socket open. Gives its number and its folder as the
    /// code sees them.
    #[track_caller]
    fn leave(&mut self, mark: &str) -> (String, PathBuf) {
        let held = "$|=1; my $at=$ENV{TMPDIR}; my $s=IO::Socket::UNIX->new(Local=>\"$at/socket\",\
                    Listen=>1) or die; open F,\">\",\"$at/file\"; print F \"canary\"; close F; \
                    print \"$$ $at\\n\"; sleep 1000";
        let code = format!(
            "export TMPDIR=${{TMPDIR:-/tmp}}; read -r line < <(perl -MIO::Socket::UNIX -e '{held}' \
             {mark} 2>/dev/null); echo \"$line\""
        );
        let said = self.run(&code);
        let (process, folder) = said.trim().split_once(' ').unwrap_or_else(|| panic!("{said:?}"));
        (process.to_owned(), folder.into())
    }
}

/// The user of the one process that has this mark, as the machine sees it.
#[track_caller]
fn user_of(mark: &str) -> u32 {
    let found = Command::new("pgrep").args(["-f", &format!("perl .*{mark}$")]).output().unwrap();
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    let users: BTreeSet<_> = found
        .split_whitespace()
        .map(|process| std::fs::metadata(format!("/proc/{process}")).unwrap().uid())
        .collect();
    assert_eq!(users.len(), 1, "{mark}: {users:?}");
    *users.first().unwrap()
}

fn mark(number: u32) -> String {
    format!("apart-{}-{number}", std::process::id())
}

/// The folders of the people, by how they are called.
fn people_folders(scene: &Scene) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(scene.data().join("people")).unwrap();
    folders.map(|entry| entry.unwrap().path()).collect()
}

fn files_named(folder: &Path, name: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            files_named(&entry.path(), name, found);
        } else if entry.file_name() == name {
            found.push(entry.path());
        }
    }
}

#[test]
fn each_persons_code_and_what_it_leaves_is_a_user_of_their_own() {
    if is_not_tried() {
        return;
    }
    let scene = Scene::new();
    let serving = team(&scene, &[("anna", "approver"), ("ben", "approver")]);
    let people = ["anna", "ben"].map(|name| Member::new(&serving, name));
    let operator = Member { serving: &serving, login: serving.log_in() };
    let mut users = Vec::new();
    for (number, member) in (0..).zip(people.iter().chain([&people[0], &operator])) {
        let mut desk = Desk::new(member);
        desk.leave(&mark(number));
        assert_eq!(desk.run("echo own > own.txt; id -u"), "1000\n");
        users.push(user_of(&mark(number)));
    }
    let [anna, ben, again, own] = users[..] else { panic!("{users:?}") };
    // The same person is the same user in every session, and nobody else is.
    assert_eq!(anna, again);
    assert_eq!(BTreeSet::from([anna, ben, own, 0]).len(), 4, "{users:?}");
    assert_eq!(own, SHARED);
    // Staged files are root's, where only root may enter.
    for folder in people_folders(&scene) {
        let mut staged = Vec::new();
        files_named(&folder, "own.txt", &mut staged);
        let of: BTreeSet<_> =
            staged.iter().map(|path| std::fs::metadata(path).unwrap().uid()).collect();
        assert_eq!(of, BTreeSet::from([0]), "{staged:?}");
        assert_eq!(std::fs::metadata(folder).unwrap().mode() & 0o777, 0o700);
    }
    assert!(serving.stop().success());
}

/// Attempts on a process and a folder of somebody; each line that is printed got through.
fn attacks(process: &str, folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "try() {{ name=$1; shift; if \"$@\" >/dev/null 2>&1; then echo \"$name\"; fi; }}\n\
         try signal kill -0 {process}\n\
         try environment cat /proc/{process}/environ\n\
         try memory dd if=/proc/{process}/mem bs=1 count=0\n\
         try descriptors ls /proc/{process}/fd/\n\
         try maps ls /proc/{process}/map_files/\n\
         try root ls /proc/{process}/root/\n\
         try list ls {folder}\n\
         try read cat {folder}/file\n\
         try write sh -c 'echo x >> {folder}/file'\n\
         try make sh -c ': > {folder}/new'\n\
         try socket perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer=>\"{folder}/socket\") or exit 1'\n"
    )
}

const ALL: &str =
    "signal\nenvironment\nmemory\ndescriptors\nmaps\nroot\nlist\nread\nwrite\nmake\nsocket\n";

#[test]
fn where_the_user_is_the_only_fence_it_holds_between_two_people() {
    if is_not_tried() {
        return;
    }
    let scene = Scene::new().home_file(CONFIG, NO_SANDBOX);
    let serving = team(&scene, &[("anna", "approver"), ("ben", "approver")]);
    let [anna, ben] = ["anna", "ben"].map(|name| Member::new(&serving, name));
    let mut annas = Desk::new(&anna);
    let (process, folder) = annas.leave(&mark(10));
    let mut bens = Desk::new(&ben);
    assert_eq!(bens.run(&attacks(&process, &folder)), "");
    // Nor what is on the disk, of either of them or of the server.
    for path in people_folders(&scene).into_iter().chain([scene.data()]) {
        let path = path.display();
        let code = format!("ls {path} 2>/dev/null; cat {path}/record.db 2>/dev/null; true");
        assert_eq!(bens.run(&code), "");
    }
    // It is no way to become somebody either.
    let become_other = "perl -e '$>=$ARGV[0]; $<=$ARGV[0]; print qq($< $>\\n)' 0; grep -E \
                        '^(CapEff|CapBnd|NoNewPrivs)' /proc/self/status | tr -s '\\t\\n' '  '";
    let mine = user_of(&mark(10));
    let said = bens.run(become_other);
    assert!(!said.contains(&format!("{mine}")) && !said.starts_with('0'), "{said}");
    assert!(said.contains("CapEff: 0000000000000000 CapBnd: 0000000000000000"), "{said}");
    assert!(said.contains("NoNewPrivs: 1"), "{said}");
    // The control: in another session of hers all of it works.
    let mut second = Desk::new(&anna);
    let yama = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    let is_strict = !matches!(yama.trim(), "" | "0");
    // Some systems let nobody read the memory of a process that is not their child.
    let all = if is_strict { ALL.replace("memory\n", "") } else { ALL.to_owned() };
    assert_eq!(second.run(&attacks(&process, &folder)), all);
    assert!(serving.stop().success());
}

#[test]
fn behind_the_weaker_fence_each_person_is_a_user_of_their_own_too() {
    if is_not_tried() {
        return;
    }
    let missing = ["network", "reading", "writing", "processes", "privileges", "ending", "limits"];
    let missing = format!("{missing:?}");
    let config = format!(
        "workspace = \"read-only\"\n[sandbox]\nbackend = \"landlock\"\nallow_missing = {missing}\n"
    );
    let scene = Scene::new().home_file(CONFIG, &config);
    let serving = team(&scene, &[("anna", "approver"), ("ben", "approver")]);
    let [anna, ben] = ["anna", "ben"].map(|name| Member::new(&serving, name));
    let [mut annas, mut bens] = [&anna, &ben].map(Desk::new);
    let look = "id -u; echo $TMPDIR; stat -c %u $TMPDIR; echo canary > $TMPDIR/file; echo $$";
    let [of_anna, of_ben] = [&mut annas, &mut bens].map(|desk| desk.run(look));
    let lines: Vec<_> = of_anna.lines().collect();
    let [user, folder, owner, process] = lines[..] else { panic!("{of_anna}") };
    assert_eq!(user, owner);
    assert_ne!(of_ben.lines().next(), Some(user));
    assert_eq!(bens.run(&attacks(process, Path::new(folder))), "");
    // The control: it is there, and hers to read.
    assert_eq!(annas.run("cat $TMPDIR/file"), "canary\n");
    assert!(serving.stop().success());
}

#[test]
fn the_user_of_somebody_who_was_removed_is_nobody_elses() {
    if is_not_tried() {
        return;
    }
    let scene = Scene::new();
    let user = |serving: &Serving, name: &str, number: u32| {
        let member = Member::new(serving, name);
        Desk::new(&member).leave(&mark(number));
        user_of(&mark(number))
    };
    let serving = team(&scene, &[("anna", "approver")]);
    let first = user(&serving, "anna", 20);
    scene.run(&["serve", "user", "remove", "anna"]).exits(0);
    add(&scene, "anna", "approver").exits(0);
    add(&scene, "ben", "approver").exits(0);
    let second = user(&serving, "anna", 21);
    assert_ne!(first, second);
    assert!(serving.stop().success());
    // Nor after a new start; and everybody keeps the one that they have.
    let serving = Serving::start_with(&scene, &["--team"]);
    let third = user(&serving, "ben", 22);
    assert_eq!(BTreeSet::from([first, second, third]).len(), 3);
    assert_eq!(user(&serving, "anna", 23), second);
    assert!(serving.stop().success());
}

#[test]
fn a_range_that_is_not_only_ours_is_refused() {
    if is_not_tried() {
        return;
    }
    let start = |range: &str| {
        let config = format!("[team]\nuids = \"{range}\"\n");
        let scene = Scene::new().home_file(CONFIG, &config);
        add(&scene, "anna", "approver").exits(0);
        scene.run(&["serve", "--team", "--json"])
    };
    // Everybody has an account `nobody`, and the group of it.
    start("65534-65534").mentions("65534").exits(2);
    start("0-100").exits(2);
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap();
    let users = passwd.lines().filter_map(|line| line.split(':').nth(2)?.parse::<u32>().ok());
    if let Some(user) = users.filter(|user| (1000..65_000).contains(user)).min() {
        start(&format!("{user}-{user}")).mentions("`team.uids`").exits(2);
    }
    // One for a single person: the second has none, and nothing of theirs begins.
    let config = "[team]\nuids = \"1879113000-1879113000\"\n";
    let scene = Scene::new().home_file(CONFIG, config);
    let serving = team(&scene, &[("anna", "approver"), ("ben", "approver")]);
    let [anna, ben] = ["anna", "ben"].map(|name| Member::new(&serving, name));
    Desk::new(&anna).leave(&mark(30));
    assert_eq!(user_of(&mark(30)), 1_879_113_000);
    let reply = ben.perform("open", json!({ "mode": "run" }));
    let message = reply["error"]["message"].as_str().unwrap_or_else(|| panic!("{reply}"));
    assert!(message.contains("every system user of the range"), "{reply}");
    assert!(serving.stop().success());
}

fn refusal(reply: &Value) -> (&str, String) {
    let error = &reply["error"];
    (error["code"].as_str().unwrap_or_else(|| panic!("{reply}")), error.to_string())
}

#[test]
fn a_person_has_so_many_sessions_and_leaves_room_for_others() {
    let scene = Scene::new().home_file(CONFIG, "[team]\nsessions = 2\n");
    let serving = team(&scene, &[("anna", "approver"), ("ben", "approver")]);
    scene.run(&["serve", "user", "limit", "ben", "team.sessions=1"]).exits(0);
    let [anna, ben] = ["anna", "ben"].map(|name| Member::new(&serving, name));
    let open = json!({ "mode": "run" });
    let sessions = [anna.open("run"), anna.open("run")];
    let reply = anna.perform("open", open.clone());
    let (code, error) = refusal(&reply);
    assert_eq!(code, "too_many");
    assert!(error.contains("2 sessions") && error.contains("`team.sessions`"), "{error}");
    assert!(error.contains("whoever keeps the server"), "{error}");
    // Others have room all the same, each as much as they were given.
    ben.open("run");
    assert_eq!(ben.refused("open", open.clone()), "too_many");
    // The operator is no person of the team.
    let operator = Member { serving: &serving, login: serving.log_in() };
    for _ in 0..3 {
        operator.open("run");
    }
    // The control: when one has ended there is room for another.
    anna.ok("close", json!({ "session": sessions[0] }));
    anna.open("run");
    assert!(serving.stop().success());
}

#[test]
fn a_person_has_so_much_of_the_disk() {
    let scene = Scene::new().home_file(CONFIG, "[team]\nstorage = \"24M\"\n");
    let serving = team(&scene, &[("anna", "approver"), ("ben", "approver")]);
    let [anna, ben] = ["anna", "ben"].map(|name| Member::new(&serving, name));
    let session = anna.open("run");
    let started = anna.follow(&session).record("session_started");
    // No limit was set for staged files: what is left bounds them.
    let staged = started["confinement"]["limits"]["staged_bytes"].as_u64().unwrap();
    assert!((1 << 20..24 << 20).contains(&staged), "{started}");
    let mut small = Desk::new(&ben);
    assert_eq!(small.run("head -c 1000 /dev/zero > small.bin; echo done"), "done\n");
    let put = |desk: &Desk<'_>| {
        let fields = json!({ "session": desk.session, "path": "a.txt", "base64": "eA==" });
        desk.member.perform("put", fields)
    };
    assert!(put(&small).get("ok").is_some());
    scene.run(&["serve", "user", "limit", "ben", "team.storage=1K"]).exits(0);
    let ben = Member::new(&serving, "ben");
    small.member = &ben;
    let reply = put(&small);
    let (code, error) = refusal(&reply);
    assert_eq!(code, "too_many");
    assert!(error.contains("1K") && error.contains("`team.storage`"), "{error}");
    assert!(error.contains("raise the limit"), "{error}");
    assert_eq!(ben.refused("open", json!({ "mode": "run" })), "too_many");
    // The control: with the limit taken back there is room again.
    scene.run(&["serve", "user", "limit", "ben", "team.storage="]).exits(0);
    let ben = Member::new(&serving, "ben");
    small.member = &ben;
    assert!(put(&small).get("ok").is_some());
    assert!(serving.stop().success());
}

#[test]
fn the_budget_of_a_day_is_each_persons() {
    let config = "[budget.day]\nturns = 1\n";
    let scene = Scene::new().home_file(CONFIG, config).model_says(&["Hello."]);
    let script = scene.work().parent().unwrap().join("script.toml");
    let config = format!("model = \"scripted:{}\"\n{config}", script.display());
    let scene = scene.home_file(CONFIG, &config);
    let serving = team(&scene, &[("anna", "approver"), ("ben", "approver")]);
    scene.run(&["serve", "user", "limit", "ben", "budget.day.turns=2"]).exits(0);
    let turns = |name: &str| {
        let member = Member::new(&serving, name);
        let mut turns = 0;
        loop {
            let session = member.open("chat");
            let mut followed = member.follow(&session);
            member.ok("prompt", json!({ "session": session, "text": "hi" }));
            let is_end = |line: &Value| line["kind"] == "turn_finished";
            let first = followed.wait_for(|line| line["kind"] == "reply" || is_end(line));
            if is_end(&first) {
                return turns;
            }
            followed.wait_for(is_end);
            turns += 1;
            assert!(turns < 4, "it has no end");
        }
    };
    assert_eq!(turns("anna"), 1);
    // Her use is nothing of his, and he has another limit.
    assert_eq!(turns("ben"), 2);
    assert!(serving.stop().success());
}

#[test]
fn only_limits_can_be_given_to_a_person() {
    let scene = Scene::new().model_says(&[&cell("shell", "true")]);
    add(&scene, "anna", "author").exits(0);
    for wrong in [
        "sandbox.backend=none",
        "team.uids=2000-3000",
        "model=x",
        "limits.nothing=1",
        "team.sessions=0",
        "team.sessions=none",
        "limits.memory=lots",
        "team.sessions",
        "approval.mode=auto",
    ] {
        scene.run(&["serve", "user", "limit", "anna", wrong]).exits(2);
    }
    scene.run(&["serve", "user", "limit", "ben", "team.sessions=1"]).exits(1);
    scene.run(&["serve", "user", "limit", "anna", "limits.memory=1G", "team.sessions=3"]).exits(0);
    scene.run(&["serve", "user", "limit", "anna", "team.sessions="]).exits(0);
    scene
        .run(&["serve", "user", "list"])
        .mentions("limits.memory=1G")
        .lacks("team.sessions")
        .exits(0);
}
