//! Packages: a real installer, in a real sandbox, from an index of our own on loopback.

use self::index::{Index, locked, npm_package, source, wheel, wheel_that_says};
use crate::{
    scene::{Scene, Who, cell},
    terminal::Terminal,
};
use std::path::{Path, PathBuf};

mod attacks;
mod built;
mod exact;
mod index;
mod lies;

/// The folder that packages of one kind are in, where there is only one.
fn environment(scene: &Scene) -> PathBuf {
    let folders = scene.home().join(".local/share/interpreter/packages");
    let own = std::fs::read_dir(folders).unwrap().next().unwrap().unwrap().path().join("env");
    let mut all = std::fs::read_dir(own).unwrap();
    all.next().unwrap().unwrap().path()
}

/// A package with one module that has a word.
fn tiny() -> Index {
    Index::of(&[wheel("tiny-thing", "1.0", &[("tiny_thing.py", "word = 42\n")])])
}

const USES_IT: &str = "import tiny_thing\nprint('the word is', tiny_thing.word)";

/// The question, and the answer that installs.
const QUESTION: &str = "Install it for this folder?";

#[test]
fn a_missing_package_is_one_question_and_the_code_runs_again() {
    for who in Who::all() {
        let index = tiny();
        let code = "kept = globals().get('kept', 0) + 1\nimport tiny_thing\n\
                    print('the word is', tiny_thing.word, kept)";
        let scene = index.scene(who).model_says(&[&cell("python", code), "Done."]);
        let terminal = Terminal::open(&scene, &[]);
        terminal.types("go").shows("Run it?").types("y");
        terminal.shows("tiny_thing is not installed.").shows(QUESTION).types("y");
        // The kernel is the same one: it remembers the first attempt.
        terminal.shows("tiny-thing 1.0").shows("the word is 42 2").shows("Done.");
        terminal.types("/quit").exits(0);
        let seen = scene.run(&["history", "show", "--json"]);
        assert_eq!(seen.of_kind("packages_wanted")[0]["packages"][0], "tiny_thing");
        assert_eq!(seen.of_kind("packages_granted")[0]["by"], "person");
        let changed = &seen.of_kind("packages_changed")[0];
        assert_eq!(changed["installed"][0]["name"], "tiny-thing");
        assert_eq!(changed["installed"][0]["version"], "1.0");
        assert_eq!(changed["installed"][0]["hash"].as_str().unwrap().len(), 64);
        assert_eq!(changed["network"][0]["host"], "127.0.0.1");
        // Nothing of it is in the person's folder, staged or not.
        assert_eq!(std::fs::read_dir(scene.work()).unwrap().count(), 0);
        assert_eq!(seen.of_kind("changes").len(), 0);
        let told = seen.of_kind("request").last().unwrap()["newest"].to_string();
        assert!(told.contains("the user has installed tiny-thing 1.0"), "{told}");
        // It lasts, and is nobody else's.
        scene.code("python", USES_IT).prints("the word is 42\n").exits(0);
        let shell = "python3 -c 'import tiny_thing; print(tiny_thing.word)'";
        scene.code("shell", shell).prints("42\n").exits(0);
        scene.run(&["packages"]).mentions("tiny-thing 1.0").exits(0);
        let elsewhere = scene.work().join("other");
        std::fs::create_dir(&elsewhere).unwrap();
        let mut command = scene.command(&["packages", "list", "--json"]);
        let listed = command.current_dir(&elsewhere).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&listed.stdout), "[]\n");
    }
}

#[test]
fn a_module_is_known_by_the_name_of_its_package() {
    let index = Index::of(&[wheel("python-slugify", "9.0", &[("slugify.py", "word = 'yes'\n")])]);
    let code = cell("python", "import slugify\nprint('word:', slugify.word)");
    let scene = index.scene(Who::unprivileged()).model_says(&[&code, "Done."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.types("go").shows("Run it?").types("y");
    terminal.shows("python-slugify is not installed.").lacks("check the spelling").types("y");
    terminal.shows("word: yes").types("/quit").exits(0);
}

#[test]
fn no_is_no_and_nothing_is_installed() {
    let index = tiny();
    let code = cell("python", USES_IT);
    let again = cell("shell", "pip install tiny_thing");
    let scene = index.scene(Who::Ourselves).model_says(&[&code, &again, "Then not."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.types("go").shows("Run it?").types("y").shows(QUESTION);
    terminal.shows("check the spelling: tiny_thing is not a well-known name").types("n");
    terminal.shows("Then not.").types("/quit").exits(0);
    // The index was asked what would come, once.
    let pages = index.asked().iter().filter(|one| one.contains("/simple/")).count();
    assert_eq!(pages, 1, "{:?}", index.asked());
    scene.run(&["packages"]).mentions("No packages are installed").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("packages_refused")[0]["by"], "person");
    assert_eq!(seen.of_kind("packages_resolved")[0]["list"]["comes"][0]["name"], "tiny-thing");
    let told: Vec<_> = seen.of_kind("request").iter().map(|r| r["newest"].to_string()).collect();
    assert!(told[1].contains("the user said no. Do not try to install it again"), "{told:?}");
    assert!(told[2].contains("the user said no"), "{told:?}");
}

/// Everything that would come is in the question, with its version, for the person and on record.
#[test]
fn the_question_names_what_comes_with_a_package() {
    let index = Index::of(&[
        wheel_that_says(
            "tiny-thing",
            "1.0",
            "Requires-Dist: other-thing>=2\n",
            &[("tiny_thing.py", "import other_thing\nword = other_thing.word\n")],
        ),
        wheel("other-thing", "2.5", &[("other_thing.py", "word = 42\n")]),
    ]);
    for tool in Tool::all() {
        let scene = tool.of(index.scene(Who::Ourselves));
        let scene = scene.model_says(&[&cell("python", USES_IT), "Done."]);
        let terminal = Terminal::open(&scene, &[]);
        terminal.types("go").shows("Run it?").types("y");
        terminal.shows("2 packages: other-thing 2.5").shows("tiny-thing 1.0");
        terminal.shows(QUESTION).types("y");
        terminal.shows("the word is 42").shows("Done.").types("/quit").exits(0);
        let seen = scene.run(&["history", "show", "--json"]);
        let asked = seen.of_kind("question");
        let asked = asked.iter().find(|one| one["about"] == "packages").unwrap();
        let comes = &asked["list"]["comes"];
        assert_eq!(comes[0]["name"], "other-thing", "{comes}");
        assert_eq!(comes[0]["version"], "2.5");
        assert!(comes[0]["hash"].as_str().unwrap().starts_with("sha256:"));
        assert_eq!(seen.of_kind("packages_resolved")[0]["tool"], tool.name());
        assert_eq!(seen.of_kind("packages_changed")[0]["tool"], tool.name());
    }
}

/// The installers of Python, each with the same promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    Pip,
    Uv,
}

/// Where `scripts/test` puts uv.
const UV: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools/uv/bin");

impl Tool {
    fn all() -> Vec<Self> {
        if Path::new(UV).join("uv").exists() {
            return vec![Self::Pip, Self::Uv];
        }
        assert!(std::env::var_os("INTERPRETER_ALL_TOOLS").is_none(), "uv was not fetched");
        vec![Self::Pip]
    }

    fn name(self) -> &'static str {
        match self {
            Self::Pip => "pip",
            Self::Uv => "uv",
        }
    }

    /// A scene in which this one is found.
    fn of(self, scene: Scene) -> Scene {
        match self {
            Self::Pip => scene,
            Self::Uv => {
                let uv = std::fs::canonicalize(UV).unwrap();
                scene.variable("PATH", &format!("{}:/usr/local/bin:/usr/bin:/bin", uv.display()))
            }
        }
    }
}

#[test]
fn code_that_only_installs_is_the_same_question() {
    for (language, code) in
        [("shell", "pip install -q tiny-thing"), ("python", "%pip install tiny-thing")]
    {
        let index = tiny();
        let (code, after) = (cell(language, code), cell("python", USES_IT));
        let scene = index.scene(Who::Ourselves).model_says(&[&code, &after, "Done."]);
        let terminal = Terminal::open(&scene, &[]);
        terminal.types("go").shows("tiny-thing is not installed.").shows(QUESTION).types("y");
        terminal.shows("Run it?").types("y").shows("the word is 42").shows("Done.");
        terminal.types("/quit").exits(0);
        assert_eq!(scene.run(&["history", "show", "--json"]).of_kind("run_started").len(), 1);
    }
}

#[test]
fn a_cell_that_installs_and_goes_on_is_the_same_question() {
    let index = tiny();
    let code = cell("python", &format!("!pip install tiny-thing\n{USES_IT}"));
    let scene = index.scene(Who::Ourselves).model_says(&[&code, "Done."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.types("go").shows("Run it?").types("y").shows(QUESTION).types("y");
    terminal.shows("tiny-thing 1.0 is installed").shows("the word is 42");
    terminal.types("/quit").exits(0);
}

/// The command may stand anywhere in a cell, and what stands behind it goes on.
#[test]
fn a_cell_of_a_shell_that_installs_and_goes_on_is_the_same_question() {
    const SCRIPT: &str = "import tiny_thing\nprint('the word is', tiny_thing.word)\n";
    for code in [
        "pip install tiny-thing && python3 use.py",
        "echo begins; pip3 install -q 'tiny-thing==1.0' > /dev/null 2>&1\npython3 use.py",
        "set -e\npython3 -m pip install tiny-thing | tail -1\npython3 use.py",
    ] {
        let index = tiny();
        let scene = index.scene(Who::Ourselves).file("use.py", SCRIPT);
        scene.play(&[&cell("shell", code), "Done."]);
        let terminal = Terminal::start(&scene, &words(&scene.chat_arguments(&[])));
        terminal.types("go").shows("Run it?").types("y").shows(QUESTION).types("y");
        terminal.shows("the word is 42").shows("Done.").types("/quit").exits(0);
        let seen = scene.run(&["history", "show", "--json"]);
        assert_eq!(seen.of_kind("packages_wanted").len(), 1, "{code}");
        // It is there now, so nobody is asked again.
        scene.code("shell", code).mentions("the word is 42\n").exits(0);
    }
}

#[test]
fn a_line_of_a_notebook_that_installs_and_goes_on_is_too() {
    let index = tiny();
    let line = "!pip install tiny-thing 2>&1 | tail -1 && echo 'went on'";
    let code = cell("python", &format!("{line}\n{USES_IT}"));
    let scene = index.scene(Who::Ourselves).model_says(&[&code, "Done."]);
    let terminal = Terminal::open(&scene, &[]);
    terminal.types("go").shows("Run it?").types("y").shows(QUESTION).types("y");
    terminal.shows("went on").shows("the word is 42").types("/quit").exits(0);
}

#[test]
fn npm_in_a_shell_is_the_same_question() {
    let index = Index::of(&[npm_package("tiny-thing", "1.0.0", "exports.word = 42;\n")]);
    let code = "console.log('the word is', require('tiny-thing').word)";
    let scene = index.scene(Who::Ourselves).file("a.js", code);
    scene.play(&[&cell("shell", "npm install tiny-thing; node a.js"), "Done."]);
    let terminal = Terminal::start(&scene, &words(&scene.chat_arguments(&[])));
    terminal.types("go").shows("Run it?").types("y").shows("tiny-thing is not installed.");
    terminal.types("y").shows("the word is 42").types("/quit").exits(0);
}

/// Options, addresses and paths are the tool's own, and lead to no question.
#[test]
fn anything_but_names_leads_to_no_question() {
    let scene = tiny().scene(Who::Ourselves);
    for code in [
        "pip install --index-url=http://127.0.0.1:9/ tiny-thing",
        "pip install ./tiny-thing",
        "pip install -r requirements.txt",
        "pip install git+http://127.0.0.1:9/x",
        "npm install ./tiny-thing",
    ] {
        let code =
            format!("pip() {{ command true; }}; npm() {{ command true; }}\n{code} && echo own");
        scene.code("shell", &code).prints("own\n").exits(0);
        let code = code.lines().last().unwrap().replace(" && echo own", " 2>&1 | cat > /dev/null");
        scene.code("shell", &code).lacks("PackageNotInstalled").lacks("not installed:");
    }
}

fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

#[test]
fn a_script_at_a_terminal_is_asked_about_and_runs_again_with_its_arguments_and_input() {
    let index = tiny();
    let code = "import sys, tiny_thing\nprint('the word is', tiny_thing.word, sys.argv[1:])\n\
                print('hello', input('name? '))\n";
    let scene = index.scene(Who::Ourselves).file("use.py", code);
    let terminal = Terminal::start(&scene, &["run", "use.py", "--fast"]);
    terminal.shows("tiny_thing is not installed.").shows("install and run again").types("y");
    terminal.shows("tiny-thing 1.0").shows("the word is 42 ['--fast']").shows("name? ");
    // The terminal is the code's again.
    assert!(terminal.is_as_it_was());
    terminal.goes_on("Bob\r").shows("hello Bob").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert_eq!(seen.of_kind("packages_granted")[0]["by"], "person");
    assert_eq!(seen.of_kind("run_started").len(), 2);
    // No is no, and the status is the code's own.
    let scene = index.scene(Who::Ourselves).file("use.py", USES_IT);
    let terminal = Terminal::start(&scene, &["run", "use.py"]);
    terminal.shows(QUESTION).types("n");
    terminal.exits(1);
}

/// Data that was piped in cannot be read twice: a script that ran again would see none.
#[test]
fn a_script_in_a_pipe_is_not_run_again_without_its_data() {
    let index = tiny();
    let code = format!("import sys\nprint(len(sys.stdin.read()))\n{USES_IT}");
    let scene = index.scene(Who::Ourselves).file("use.py", &code);
    let arguments = ["run", "--install", "allow", "use.py"];
    let seen = scene.run_with_input(&arguments, b"12345");
    seen.prints("5\n").mentions("`interpreter packages add tiny_thing` does it").exits(1);
    assert_eq!(index.asked(), Vec::<String>::new());
    scene.run(&["packages", "add", "tiny_thing"]).exits(0);
    scene.run_with_input(&arguments, b"12345").prints("5\nthe word is 42\n").exits(0);
}

#[test]
fn yes_to_code_is_no_yes_to_packages() {
    let index = tiny();
    let scene = index.scene(Who::Ourselves).model_says(&[&cell("python", USES_IT), "Done."]);
    scene
        .chat(&["--yes", "go"])
        .mentions("not installed: tiny_thing; `interpreter packages add tiny_thing` does it")
        .lacks("the word is 42");
    assert_eq!(index.asked(), Vec::<String>::new());
    scene.play(&[&cell("python", USES_IT), "Done."]);
    scene
        .chat(&["--yes", "--install", "never", "go"])
        .lacks("packages add")
        .lacks("the word is 42");
    // The person can say so beforehand.
    scene.play(&[&cell("python", USES_IT), "Done."]);
    scene.chat(&["--yes", "--install", "allow", "go"]).mentions("the word is 42").exits(0);
}

#[test]
fn a_project_can_only_forbid_it() {
    let index = tiny();
    let project = |words: &str| {
        let text = format!("[packages]\ninstall = \"{words}\"\n");
        index.scene(Who::Ourselves).file(".interpreter/config.toml", text)
    };
    project("allow").code("python", USES_IT).mentions("a project may only tighten").exits(2);
    let scene = project("never").model_says(&[&cell("python", USES_IT), "Done."]);
    scene.chat(&["--yes", "go"]).lacks("packages add").mentions("ModuleNotFoundError");
}

#[test]
fn packages_are_added_listed_and_removed_by_command() {
    for who in Who::all() {
        let index = Index::of(&[
            wheel("tiny-thing", "1.0", &[("tiny_thing.py", "word = 1\n")]),
            wheel("tiny-thing", "2.0", &[("tiny_thing.py", "word = 2\n")]),
        ]);
        let scene = index.scene(who);
        scene.run(&["packages", "list"]).mentions("No packages are installed").exits(0);
        scene.run(&["packages", "add", "tiny-thing==1.0"]).mentions("tiny-thing 1.0").exits(0);
        scene.code("python", USES_IT).prints("the word is 1\n").exits(0);
        let seen = scene.run(&["packages", "add", "--json", "tiny-thing==2.0"]).exits(0);
        assert_eq!(seen.of_kind("packages_changed")[0]["installed"][0]["version"], "2.0");
        scene.code("python", USES_IT).prints("the word is 2\n").exits(0);
        let listed = scene.run(&["packages", "list", "--json"]).exits(0).stdout();
        let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
        assert_eq!(listed[0]["name"], "tiny-thing");
        assert_eq!(listed[0]["source"], "python");
        scene.run(&["packages", "remove", "tiny_thing"]).mentions("1 package removed").exits(0);
        scene.code("python", USES_IT).mentions("ModuleNotFoundError").exits(1);
        let gone = scene.run(&["packages", "remove", "tiny-thing"]);
        gone.mentions("tiny-thing is not installed for this folder").exits(1);
        scene.run(&["history", "show"]).mentions("packages not changed").exits(0);
    }
}

#[test]
fn a_list_of_packages_is_broken_between_their_names() {
    let names = ["first-thing", "second-thing", "third-thing", "fourth-thing"];
    let index = Index::of(&names.map(|name| wheel(name, "1.0", &[])));
    let scene = index.scene(Who::Ourselves);
    let arguments = [&["packages", "add"][..], &names].concat();
    let terminal = Terminal::start_at(&scene, &arguments, 30);
    terminal.shows("4 packages installed").exits(0);
    let rows = terminal.rows();
    for name in names {
        assert!(rows.iter().any(|row| row.contains(&format!("{name} 1.0"))), "{rows:#?}");
    }
}

#[test]
fn offline_is_told_at_once_and_what_the_index_lacks_too() {
    let index = tiny();
    let scene = index.scene(Who::Ourselves);
    scene.run(&["packages", "add", "no-such-thing"]).mentions("the index has no no-such-thing");
    let closed = scene.variable("PIP_INDEX_URL", "http://127.0.0.1:9/simple");
    closed.run(&["packages", "add", "tiny-thing"]).mentions("offline: 127.0.0.1").exits(1);
    let config = ".config/interpreter/config.toml";
    let none = index.scene(Who::Ourselves).home_file(config, "[network]\nmode = 'none'\n");
    let seen = none.run(&["packages", "add", "tiny-thing"]);
    seen.mentions("offline: your settings let nothing be reached").exits(1);
    let listed = none.home_file(config, "[network]\nmode = 'listed'\n");
    listed.run(&["packages", "add", "tiny-thing"]).exits(0);
}

/// The password is never shown to the installer, and the message says so.
#[test]
fn an_index_that_wants_a_password_gets_none_and_it_is_said() {
    let (port, heard) = locked();
    let npmrc = format!(
        "registry=http://127.0.0.1:{port}/npm\n//127.0.0.1:{port}/npm/:_authToken=sk-canary\n"
    );
    let scene = Scene::new()
        .variable("PIP_INDEX_URL", &format!("http://me:sk-canary@127.0.0.1:{port}/simple"))
        .home_file(".npmrc", &npmrc);
    let says = "the index wants a user name and password, and yours stay outside the sandbox";
    // pip does not say why it found nothing.
    let seen = scene.run(&["packages", "add", "tiny-thing"]).lacks("canary").exits(1);
    seen.mentions("or it wants the password in your settings, which stays outside the sandbox");
    scene.run(&["packages", "add", "--npm", "tiny-thing"]).mentions(says).lacks("canary").exits(1);
    let heard = heard.lock().unwrap().to_lowercase();
    // The control: it was asked for the package.
    assert!(heard.contains("tiny-thing"), "{heard}");
    assert!(!heard.contains("authorization") && !heard.contains("canary"), "{heard}");
}

#[test]
fn a_source_is_built_only_after_a_second_yes() {
    let index = Index::of(&[source("slow-thing", "1.0", "print('BUILDING')\n")]);
    let code = cell("python", "import slow_thing; print('built:', slow_thing.word)");
    let scene = index.scene(Who::Ourselves).model_says(&[&code, "Done.", &code, "Done."]);
    let terminal = Terminal::open(&scene, &["--install", "allow"]);
    // Even a setting that allows packages does not allow their code.
    terminal.types("go").shows("Run it?").types("y");
    terminal.shows("Run its code in the sandbox to build it?").types("n").shows("Done.");
    terminal.types("/quit").exits(0);
    scene.run(&["packages", "add", "slow-thing"]).mentions("--build").exits(1);
    scene.run(&["packages", "add", "--build", "slow-thing"]).mentions("slow-thing 1.0").exits(0);
    scene.code("python", "import slow_thing; print(slow_thing.word)").prints("built\n").exits(0);
}

#[test]
fn packages_of_a_project_come_first() {
    let index = tiny();
    let python = std::fs::canonicalize("/usr/bin/python3").unwrap();
    let python = python.file_name().unwrap().to_str().unwrap().to_owned();
    let version = python.trim_start_matches("python");
    let config =
        format!("home = /usr/bin\ninclude-system-site-packages = false\nversion = {version}.1\n");
    let scene = index
        .scene(Who::Ourselves)
        .file(".venv/pyvenv.cfg", config)
        .file(&format!(".venv/lib/{python}/site-packages/tiny_thing.py"), "word = 'project'\n");
    scene.run(&["packages", "add", "tiny-thing"]).exits(0);
    scene.code("python", USES_IT).prints("the word is project\n").exits(0);
    std::fs::remove_file(
        scene.work().join(format!(".venv/lib/{python}/site-packages/tiny_thing.py")),
    )
    .unwrap();
    scene.code("python", USES_IT).prints("the word is 42\n").exits(0);
}

#[test]
fn npm_installs_for_javascript() {
    for who in Who::all() {
        let index = Index::of(&[npm_package("tiny-thing", "1.0.0", "exports.word = 42;\n")]);
        let code = "const { word } = require('tiny-thing'); console.log('the word is', word);";
        let scene = index.scene(who).model_says(&[&cell("javascript", code), "Done."]);
        let terminal = Terminal::open(&scene, &[]);
        terminal.types("go").shows("Run it?").types("y");
        terminal.shows("tiny-thing is not installed.").types("y");
        terminal.shows("the word is 42").shows("Done.").types("/quit").exits(0);
        let imported = "import { word } from 'tiny-thing'; console.log(word)";
        scene.code("javascript", imported).prints("42\n").exits(0);
        scene.run(&["packages"]).mentions("npm     tiny-thing 1.0.0").exits(0);
        scene.run(&["packages", "remove", "--npm", "tiny-thing"]).exits(0);
        scene.code("javascript", imported).mentions("tiny-thing").exits(1);
    }
}

/// The only test that leaves the machine. Without a network, the message says so.
#[test]
fn a_real_package_is_installed_or_the_reason_is_told() {
    let scene = Scene::new();
    let scene = ["PIP_CERT", "SSL_CERT_FILE", "PIP_INDEX_URL", "HTTPS_PROXY", "https_proxy"]
        .iter()
        .filter_map(|name| Some((*name, std::env::var(name).ok()?)))
        .fold(scene, |scene, (name, value)| scene.variable(name, &value));
    let seen = scene.run(&["packages", "add", "tabulate"]);
    if seen.stderr().contains("offline: ") {
        seen.exits(1);
        return;
    }
    seen.mentions("tabulate ").exits(0);
    let code = "import tabulate; print(tabulate.tabulate([[1]], tablefmt='plain'))";
    scene.code("python", code).prints("1\n").exits(0);
}
