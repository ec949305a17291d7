//! Every command line of the documents is run: by a shell, in a work folder with an earlier session.
//!
//! `interpreter` is the program itself, with a scripted model; its exit must be 0. Commands that would
//! go to the network are stopped behind the parsing of their arguments, by settings that cannot be
//! read. Of other programs there are only those that [`REAL`] and [`STUBS`] name, so a line cannot
//! reach this machine; a script of the repository stands for itself with the options that it knows.

use crate::{
    pages,
    scene::{Scene, Seen, put_program},
};
use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// Programs that do what they always do.
const REAL: &[&str] = &["cat", "head", "mkdir", "sha256sum", "sqlite3"];

/// Programs that would change this machine or are not on every one, and what they do here instead.
const STUBS: &[(&str, &str)] = &[
    ("apparmor_parser", ""),
    ("apt", ""),
    ("brew", ""),
    ("cargo", ""),
    // Into folders that `brew` makes.
    ("cp", ""),
    ("curl", ""),
    ("pip", ""),
    ("podman", ""),
    ("ssh", "while [ \"$1\" != interpreter ]; do shift; done; exec \"$@\""),
    ("sudo", "exec \"$@\""),
    ("systemd-run", "while [ \"$1\" != interpreter ]; do shift; done; exec \"$@\""),
    ("tee", "exec cat > /dev/null"),
];

/// Commands that go to the network, ask a server or are one: of these only the arguments are read. A
/// `*` stands for the rest of the second word.
const PARSED: &[&str] =
    &["model list", "model test", "packages add", "packages remove", "serve ", "serve --*"];

/// Files of the work folder that lines name.
const FILES: &[&str] =
    &["sales.csv", "data.csv", "input.csv", "access.log", "clean.py", "tidy.py", ".env"];

/// `interpreter`: a failure is noted, wherever in a pipe it happens.
const PROGRAM: &str = r#"PATH=/usr/local/bin:/usr/bin:/bin
note() { echo "interpreter $*: $(cat "$WORLD/said")" >> "$WORLD/faults"; exit 2; }
case "${1-} ${2-}" in PARSED)
    HOME=$WORLD/unread "$PROGRAM" "$@" < /dev/null > "$WORLD/said" 2>&1 && note "$@"
    grep -q 'config.toml:1:' "$WORLD/said" || note "$@"
    exit 0 ;;
esac
# A person who has piped nothing types a prompt.
[ /dev/stdin -ef /dev/null ] && exec < "$WORLD/typed"
timeout 300 "$PROGRAM" "$@" 2> "$WORLD/said" || note "$@""#;

/// A script of the repository: an option that is nowhere in its text is noted.
const SCRIPT: &str = r#"PATH=/usr/bin:/bin
for word; do
    case $word in -*) grep -qwFe "$word" "$REPOSITORY/$0" && continue ;; *) continue ;; esac
    echo "$0 $word" >> "$WORLD/faults"
    exit 2
done"#;

/// The world that a document speaks of: a home and a work folder, and programs.
struct World {
    scene: Scene,
    session: String,
}

impl World {
    fn new() -> Self {
        let mut scene = Scene::new().model_says(&["Done."]);
        for name in FILES {
            scene = scene.file(name, "");
        }
        let provider = "[login]\nissuer = \"https://login.example.org\"\nclient = \"x\"\n";
        scene = scene.home_file(".config/interpreter/config.toml", provider);
        let notes: String = (1..60).map(|number| format!("{number}\n")).collect();
        scene = scene.file("top.sh", "cat").file("notes.txt", notes);
        for place in ["home/data.csv", "home/papers/paper.txt", "home/out/kept.txt"] {
            scene.put(&scene.work().parent().unwrap().join(place), b"");
        }
        let edits = "sed -i -e '/^[1-5]0$/d' notes.txt; mkdir plots; touch report.csv plots/a.png";
        let seen = scene.run(&["run", "--json", "-l", "shell", "-c", edits]).exits(0);
        let session = seen.records()[0]["session"].as_str().unwrap().to_owned();
        let cleo = ["serve", "user", "add", "cleo", "--role", "author"];
        scene.run_with_input(&cleo, b"correct-horse-battery\n").exits(0);
        symlink(scene.data().join("record.db"), scene.work().join("record.db")).unwrap();
        let world = Self { scene, session };
        world.programs();
        world
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.scene.work().with_file_name(name)
    }

    fn programs(&self) {
        let folder = self.beside("programs");
        fs::create_dir(&folder).unwrap();
        for name in REAL {
            symlink(Path::new("/usr/bin").join(name), folder.join(name)).unwrap();
        }
        for (name, text) in STUBS {
            script(&folder.join(name), text);
        }
        self.scene.put(&self.beside("unread/.config/interpreter/config.toml"), b"not toml");
        fs::write(self.beside("typed"), "Hello, world!\n").unwrap();
        let pattern = |words: &&str| match words.strip_suffix('*') {
            Some(start) => format!("\"{start}\"*"),
            None => format!("\"{words}\""),
        };
        let parsed: Vec<_> = PARSED.iter().map(pattern).collect();
        script(&folder.join("interpreter"), &PROGRAM.replace("PARSED", &parsed.join(" | ")));
        for path in files_below(&pages::root().join("scripts")) {
            let name = path.strip_prefix(pages::root()).unwrap();
            script(&self.scene.work().join(name), SCRIPT);
        }
    }

    /// The faults of the lines of a code block; empty if there are none.
    fn faults(&self, block: &str) -> String {
        let block = block.replace("SESSION", &self.session);
        let inner = self.scene.command(&[]);
        let seen = Command::new("/bin/sh")
            .args(["-euc", &block])
            .current_dir(self.scene.work())
            .env_clear()
            .envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .env("PATH", self.beside("programs"))
            .env("WORLD", self.beside(""))
            .env("REPOSITORY", pages::root())
            .env("PROGRAM", inner.get_program())
            // Variables of a server's clients, whose programs are stubs.
            .envs(["SERVER", "TOKEN", "QUESTION", "HASH", "CHANGES"].map(|name| (name, "x")))
            .env("INTERPRETER_MODEL", self.scene.chat_arguments(&[])[1].as_str())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let noted = fs::read_to_string(self.beside("faults")).unwrap_or_default();
        if seen.status.success() { noted } else { noted + &Seen(seen).stderr() }
    }
}

fn script(path: &Path, text: &str) {
    put_program(path, &format!("#!/bin/sh\n{text}\n"));
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// The code blocks of a page that a person would type, without prompts and without what is printed.
fn blocks(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in page.lines() {
        let line = line.trim_start();
        match (line.strip_prefix("```"), &mut open) {
            (Some(kind), None) => open = Some((kind, String::new())),
            (Some(_), Some(_)) => {
                let (kind, block) = open.take().unwrap();
                if matches!(kind, "sh" | "bash" | "console") {
                    found.push(block);
                }
            }
            (None, Some(("console", block))) => {
                let typed = line.strip_prefix("$ ").map_or_else(String::new, |l| format!("{l}\n"));
                block.push_str(&typed);
            }
            (None, Some((_, block))) => *block += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    found
}

#[test]
fn every_line_of_the_documents_can_be_run() {
    let mut wrong = String::new();
    let mut count = 0;
    for path in pages::pages() {
        for block in blocks(&fs::read_to_string(&path).unwrap()) {
            count += 1;
            let faults = World::new().faults(&block);
            if !faults.is_empty() {
                wrong += &format!("{}:\n{block}{faults}\n", path.display());
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 25, "only {count} code blocks");
}

#[test]
fn a_line_with_a_mistake_is_noticed() {
    let page = "```text\ninterpreter --nonsense\n```\n  ```console\n  $ interpreter run -c 1  # One\n  \
                printed\n  $ interpreter changes list | cat && interpreter history show SESSION\n  ```\n";
    let [block] = &blocks(page)[..] else { panic!("one block") };
    let world = World::new();
    assert_eq!(world.faults(block), "", "{block}");
    for (line, fault) in [
        ("interpreter changes lst", "unrecognized subcommand 'lst'"),
        ("interpreter run --tme-limit 5s -c 1", "unexpected argument '--tme-limit'"),
        ("cat data.csv | interpreter --network nope | head", "unknown value `nope`"),
        ("echo \"$(interpreter histroy)\"", "unknown command `histroy`"),
        ("interpreter packages add --npn lodash", "unexpected argument '--npn'"),
        ("interpreter model test --ofline", "unexpected argument '--ofline'"),
        ("interpreter run missing.py", "missing.py"),
        ("interpreter languages > missing/languages", "missing/languages"),
        ("scripts/install --prefux ~/tools", "--prefux"),
        ("sudo scripts/instal", "scripts/instal"),
        ("reboot", "reboot"),
    ] {
        let faults = World::new().faults(line);
        assert!(faults.contains(fault), "{line}: {faults}");
    }
}
