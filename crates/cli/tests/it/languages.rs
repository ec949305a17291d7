//! Languages that are declared: ours, and those of the person's own.
//!
//! Perl, Lua, C and SQL must be installed. The others are tested if they are, and skipped with a
//! message.

use crate::scene::{Scene, Who, without};
use std::{
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::Stdio,
};

const CONFIG: &str = ".config/interpreter/config.toml";

const FENCE: &str = "```";

/// A program of each language, what it prints, and whether it must be there.
const PROGRAMS: &[(&str, Need, &str, &str)] = &[
    ("perl", Need::Always, "print 6*7, qq{\\n};", "42\n"),
    ("lua", Need::Always, "print(6*7)", "42\n"),
    ("c", Need::Always, "#include <stdio.h>\nint main() { printf(\"%d\\n\", 6*7); }", "42\n"),
    ("sql", Need::Always, "-- a comment\nselect 6*7 as x;", "x\n42\n"),
    ("html", Need::Always, "<p>42</p>", "42\n"),
    ("cpp", Need::No, "#include <iostream>\nint main() { std::cout << 6*7 << '\\n'; }", "42\n"),
    ("ruby", Need::No, "puts 6*7", "42\n"),
    ("php", Need::No, "<?php echo 6*7, \"\\n\";", "42\n"),
    ("r", Need::No, "cat(6*7, '\\n', sep = '')", "42\n"),
    ("julia", Need::No, "println(6*7)", "42\n"),
    ("powershell", Need::No, "Write-Output (6*7)", "42\n"),
    ("go", Need::No, "package main\nimport \"fmt\"\nfunc main() { fmt.Println(6*7) }", "42\n"),
    ("rust", Need::No, "fn main() { println!(\"{}\", 6*7); }", "42\n"),
    ("typescript", Need::No, "const x: number = 6*7; console.log(x);", "42\n"),
    ("shell", Need::Always, "echo $((6*7))", "42\n"),
    ("javascript", Need::Always, "import { sep } from 'node:path'; sep.length * 42", "42\n"),
    ("java", Need::No, JAVA, "42\n"),
];

/// The class that must name the file is neither the first one nor called `Main`.
const JAVA: &str = "class Helper { static int answer() { return 6*7; } }\n\
                    public class Answer {\n  static class Main {}\n  \
                    public static void main(String[] a) { System.out.println(Helper.answer()); }\n}";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Always,
    No,
}

fn is_here(scene: &Scene, language: &str) -> bool {
    let seen = scene.run(&["languages", "--json"]).exits(0);
    let list: serde_json::Value = serde_json::from_str(&seen.stdout()).unwrap();
    let found = list.as_array().unwrap().iter().find(|one| one["name"] == language).unwrap();
    found["hint"].is_null()
}

#[test]
fn a_program_of_each_language_that_is_here_runs() {
    for who in Who::all() {
        let scene = Scene::of(who);
        for (language, need, code, printed) in PROGRAMS {
            if is_here(&scene, language) {
                scene.code(language, code).prints(printed).exits(0);
            } else {
                assert!(*need == Need::No, "{language} must be here; `scripts/test` installs it");
                eprintln!("not here and not tried: {language}");
            }
        }
    }
}

#[test]
fn a_toolchain_of_rustup_in_the_home_is_seen() {
    // The home of whoever runs the tests, with settings and records elsewhere.
    let Some(home) = std::env::var_os("HOME").map(PathBuf::from) else { return };
    let scene = Scene::new();
    let ours = scene.home().join("interpreter");
    let scene = scene
        .variable("HOME", home.to_str().unwrap())
        .variable("INTERPRETER_HOME", ours.to_str().unwrap())
        .variable("PATH", &format!("{}/.cargo/bin:/usr/bin:/bin", home.display()));
    if home.join(".cargo/bin/rustup").exists() && is_here(&scene, "rust") {
        scene.code("rust", "fn main() { println!(\"42\"); }").prints("42\n").exits(0);
    } else {
        eprintln!("not here and not tried: rustup");
    }
}

#[test]
fn code_is_written_byte_for_byte() {
    let head = "open F, '<', $0; binmode F; local $/; print unpack 'H*', <F>;\n__END__\n";
    let tail = "'\"\\ $x $(y) `z` <<'EOF'\nEOF\n%s {file} {folder} \t\r\n\u{1}\u{7f}é\u{1f600}\n\n";
    let code = format!("{head}{tail}");
    let hex: String = code.bytes().map(|byte| format!("{byte:02x}")).collect();
    let scene = Scene::new().file("code.pl", &code);
    scene.code("perl", &code).prints(&hex).exits(0);
    scene.run(&["run", "code.pl"]).prints(&hex).exits(0);
}

#[test]
fn a_program_has_its_own_status_and_its_own_input() {
    let scene = Scene::new();
    scene.code("perl", "exit 7").exits(7);
    scene.code("perl", "print STDERR 'why'; exit 2").mentions("why").exits(2);
    scene.code("lua", "print(io.read('a') == '')").prints("true\n").exits(0);
    let input = b"for the code";
    scene
        .run_with_input(&["run", "-l", "perl", "-c", "print eof(STDIN) ? 'end' : 'more'"], input)
        .prints("more")
        .exits(0);
    let crash = "int main() { int *nowhere = 0; return *nowhere; }";
    scene.code("c", crash).mentions("Segmentation fault").exits(139);
}

#[test]
fn what_does_not_compile_says_why_and_does_not_run() {
    let scene = Scene::new();
    let code = "#include <stdio.h>\nint main() { puts(\"ran\"); return nothing; }";
    let seen = scene.code("c", code).prints("").mentions("main.c:2").mentions("nothing").exits(1);
    seen.lacks("once.sh");
    if is_here(&scene, "java") {
        scene.code("java", "public class X { int }").mentions("X.java:1: error").exits(1);
    }
}

#[test]
fn files_of_the_folder_that_are_called_like_the_code_stay_as_they_are() {
    let mine = "mine, and not a program";
    let names = ["Main.java", "Answer.java", "main.c", "main", "main.pl"];
    let scene = names.iter().fold(Scene::new(), |scene, name| scene.file(name, mine));
    let mut programs = vec![("c", "int main() { return 0; }"), ("perl", "1")];
    if is_here(&scene, "java") {
        let class = "public class Main { public static void main(String[] a) {} }";
        programs.extend([("java", class), ("java", JAVA)]);
    }
    for (language, code) in programs {
        let seen = scene.run(&["run", "--json", "-l", language, "-c", code]);
        let effects = seen.of_kind("effects");
        assert_eq!(effects[0]["files"].as_array().unwrap().len(), 0, "{language}: {effects:?}");
        seen.exits(0);
    }
    for name in names {
        assert_eq!(scene.read(name).as_deref(), Some(mine));
    }
}

#[test]
fn the_work_folder_is_where_a_program_runs() {
    let scene = Scene::new().file("number.h", "#define NUMBER 42\n").file("in.txt", "text");
    let code = "#include <stdio.h>\n#include \"number.h\"\nint main() { printf(\"%d\", NUMBER); }";
    scene.code("c", code).prints("42").exits(0);
    let code = "open F, '<', 'in.txt'; open O, '>', 'out.txt'; print O <F>;";
    scene.run(&["run", "--apply", "-l", "perl", "-c", code]).exits(0);
    assert_eq!(scene.read("out.txt").as_deref(), Some("text"));
}

#[test]
fn nothing_but_files_is_kept_between_runs() {
    let perl = |code: &str| format!("{FENCE}perl\n{code}\n{FENCE}\n");
    let scene = Scene::new().model_says(&[
        &perl("our $x = 1; open F, '>', '/tmp/kept'; print F 'file'; print 'a';"),
        // Its own folder, and not that of the run before.
        &perl("print defined $x ? 'x' : 'no x', -e '/tmp/kept', scalar(@{[glob '/tmp/run.*']});"),
        "Done.",
    ]);
    let seen = scene.chat(&["--yes", "--json", "go"]).exits(0);
    let printed: String =
        seen.of_kind("output").iter().map(|r| r["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(printed, "ano x11");
}

#[test]
fn an_interrupt_ends_the_program() {
    let scene = Scene::new();
    let code = "$| = 1; print qq{on\\n}; sleep 600;";
    let mut child = scene
        .command(&["run", "-l", "perl", "-c", code])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "on\n");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
}

#[test]
fn a_database_is_in_memory_unless_the_first_line_names_one() {
    let scene = Scene::new();
    let make = "-- database: data.db\ncreate table t(a); insert into t values (42);";
    scene.run(&["run", "--apply", "-l", "sql", "-c", make]).prints("").exits(0);
    scene.code("sql", "-- database: data.db\nselect * from t;").prints("a\n42\n").exits(0);
    scene.code("sql", "select 1;\nselect * from t;").mentions("no such table").exits(1);
}

#[test]
fn a_page_is_a_result() {
    let page = "<!doctype html>\n<p class=\"x\">\\n & é</p>\n";
    let seen = Scene::new().run(&["run", "--json", "-l", "html", "-c", page]);
    let output = &seen.of_kind("output")[0];
    assert_eq!(output["stream"], "result");
    assert_eq!(output["mime"], "text/html");
    assert_eq!(output["text"], page);
    seen.exits(0);
}

/// A language whose programs are text, which is printed.
const ECHO: &str = "[language.echo]\naliases = ['say']\nendings = ['txt']\nprograms = ['cat']\n\
                    once = { file = 'it', run = ['{program}', '-A', '{file}'] }\n";

#[test]
fn a_language_of_ones_own_runs_by_name_alias_ending_and_fence() {
    let reply = format!("{FENCE}say\nfenced\n{FENCE}\n");
    let scene = Scene::new()
        .home_file(CONFIG, ECHO)
        .file("words.txt", "from a file")
        .model_says(&[&reply, "Done."]);
    scene.code("echo", "a\tb").prints("a^Ib").exits(0);
    scene.code("say", "said").prints("said").exits(0);
    scene.run(&["run", "words.txt"]).prints("from a file").exits(0);
    scene.chat(&["--yes", "go"]).mentions("fenced$").exits(0);
    scene.run(&["languages"]).mentions("echo").mentions("fresh  say").exits(0);
    scene.run(&["doctor", "-v"]).mentions("echo").exits(0);
    scene.code("unheard", "x").mentions("echo").exits(2);
}

#[test]
fn a_language_of_ones_own_may_replace_one_of_ours() {
    let scene = Scene::new().home_file(CONFIG, "[language.perl]\nprograms = ['cat']\n");
    scene.code("perl", "print 1").prints("print 1").exits(0);
    scene.code("pl", "1").mentions("unknown language `pl`").exits(2);
    let config = "[language.python]\ndriver = 'python'\nprograms = ['/usr/bin/python3']\n";
    let scene = Scene::new().home_file(CONFIG, config);
    scene.code("python", "6*7").prints("42\n").exits(0);
}

#[test]
fn what_a_language_needs_is_there() {
    let config = "[language.echo]\nprograms = ['~/tools/echo']\nreads = ['~/data', '~/nowhere']\n\
                  environment = { GREETING = 'hello' }\n";
    let script = "#!/bin/sh\necho \"$GREETING\"; cat \"$1\" \"${0%/tools/*}/data/file\"\n\
                  ls \"${0%/tools/*}\"\n";
    let scene = Scene::new()
        .home_file(CONFIG, config)
        .home_file("data/file", "from the home")
        .home_file("secret", "sk-canary")
        .home_file("tools/echo", script);
    // Root's sandboxes are somebody else, who sees what everyone may see.
    for open in ["tools/echo", "data"] {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(scene.home().join(open), mode).unwrap();
    }
    scene.code("echo", "code ").prints("hello\ncode from the homedata\ntools\n").exits(0);
}

#[test]
fn a_project_may_not_declare_a_language() {
    let scene = Scene::new().file(".interpreter/config.toml", ECHO);
    let seen = scene.code("echo", "x").prints("").exits(2);
    seen.mentions(".interpreter/config.toml").mentions("a project may not set `language`");
}

#[test]
fn a_wrong_declaration_names_file_key_and_fix() {
    for (config, message) in [
        ("[language.x]\nprogram = 'x'", "unknown key `program`; did you mean `programs`?"),
        ("[language.x]\nonce = {}", "missing key `programs`, such as"),
        ("[language.X]\nprograms = ['x']", "`X` is not the name of a language; use lower-case"),
        ("[language.x]\nprograms = ['./x']", "`programs` must be names such as `ruby`"),
        (
            "[language.x]\nprograms = ['x']\nonce = { run = ['{code}'] }",
            "unknown placeholder `{code}`",
        ),
    ] {
        let scene = Scene::new().home_file(CONFIG, config);
        let seen = scene.run(&["languages"]).prints("").exits(2);
        seen.mentions("config.toml:").mentions(message);
    }
}

#[test]
fn a_missing_interpreter_is_named_with_how_to_get_it() {
    let reply = format!("{FENCE}ruby\nputs 1\n{FENCE}\n");
    let scene = Scene::new().model_says(&[&reply]).home_file(
        CONFIG,
        "[language.mine]\nprograms = ['no-such-program']\nhint = 'ask Ann for it'\n",
    );
    let bin = scene.work().join("bin");
    std::fs::create_dir(&bin).unwrap();
    for program in ["bash", "python3"] {
        let real = std::fs::canonicalize(Path::new("/usr/bin").join(program)).unwrap();
        std::os::unix::fs::symlink(real, bin.join(program)).unwrap();
    }
    let scene = scene.variable("PATH", bin.to_str().unwrap());
    let hint = "no interpreter for `rb` is installed: install Ruby, for example `apt install ruby`";
    scene.code("rb", "puts 1").mentions(hint).exits(2);
    scene.run(&["run", "x.rb"]).mentions("apt install ruby").exits(2);
    scene.code("mine", "x").mentions("ask Ann for it").exits(2);
    scene.run(&["languages"]).mentions("apt install ruby").mentions("ask Ann for it").exits(0);
    let seen = scene.chat(&["--yes", "--json", "go"]);
    let reason = seen.of_kind("not_proposed")[0]["reason"].as_str().unwrap().to_owned();
    assert!(reason.contains("apt install ruby"), "{reason}");
}

#[test]
fn the_list_says_what_runs_by_what_and_whether_state_is_kept() {
    let scene = Scene::new();
    let seen = scene.run(&["languages", "--json"]).exits(0);
    let list: serde_json::Value = serde_json::from_str(&seen.stdout()).unwrap();
    let one = |name: &str| {
        list.as_array().unwrap().iter().find(|one| one["name"] == name).unwrap().clone()
    };
    assert_eq!(one("shell")["state"], "kept");
    assert_eq!(one("perl")["state"], "fresh");
    assert_eq!(one("perl")["aliases"], serde_json::json!(["pl"]));
    assert!(one("perl")["program"].as_str().unwrap().ends_with("/perl"));
    assert_eq!(one("html")["program"], serde_json::Value::Null);
    assert!(one("applescript")["hint"].as_str().unwrap().contains("macOS"));
    let table = scene.run(&["languages"]).exits(0).stdout();
    let perl = table.lines().find(|line| line.starts_with("perl ")).unwrap();
    assert!(perl.ends_with("fresh  pl"), "{perl}");
    assert!(table.contains("fresh: each run is a new program"), "{table}");
}

#[test]
fn each_interpreter_answers_with_its_version() {
    for who in Who::all() {
        let scene = Scene::of(who);
        let seen = scene.run(&["languages", "--check", "--json"]).exits(0);
        let list: serde_json::Value = serde_json::from_str(&seen.stdout()).unwrap();
        for one in list.as_array().unwrap() {
            let version = one["version"].as_str().unwrap_or_default();
            let has_program = one["program"].is_string();
            let is_number = version.starts_with(|c: char| c.is_ascii_digit());
            assert_eq!(is_number, has_program, "{one}");
        }
    }
}

#[test]
fn an_interpreter_that_does_not_start_is_named() {
    let scene = Scene::new()
        .home_file(CONFIG, "[language.broken]\nprograms = ['/bin/false']\ndriver = 'python'\n");
    let seen = scene.run(&["languages", "--check"]);
    seen.mentions("broken: does not start").exits(1);
}

/// Another program for one of our languages.
fn with(language: &str, driver: &str, program: &str) -> Scene {
    let config = format!("[language.{language}]\ndriver = '{driver}'\nprograms = ['{program}']\n");
    Scene::new().home_file(CONFIG, &config)
}

/// Cells that run one after another in a chat, and what they print.
fn cells(scene: Scene, language: &str, cells: &[&str]) -> String {
    let fenced = |code: &&str| format!("{FENCE}{language}\n{code}\n{FENCE}\n");
    let mut replies: Vec<_> = cells.iter().map(fenced).collect();
    replies.push("Done.".into());
    let replies: Vec<_> = replies.iter().map(String::as_str).collect();
    let seen = scene.model_says(&replies).chat(&["--yes", "--json", "go"]);
    let printed: String =
        seen.of_kind("output").iter().map(|r| r["text"].as_str().unwrap().to_owned()).collect();
    seen.exits(0);
    printed
}

#[test]
fn the_shell_is_the_one_that_is_configured() {
    let state = ["x=42; f() { echo $x; }", "f"];
    for (program, version) in [("zsh", "${ZSH_VERSION:+zsh}"), ("dash", "${BASH_VERSION:-dash}")] {
        let printed = cells(with("shell", "shell", program), "shell", &state);
        assert_eq!(printed, "42\n", "{program}");
        let scene = with("shell", "shell", program);
        scene.code("shell", &format!("echo {version}")).prints(&format!("{program}\n")).exits(0);
        scene.run(&["languages"]).mentions(&format!("/{program} ")).exits(0);
    }
}

#[test]
fn without_bash_the_systems_own_shell_serves() {
    let scene = Scene::new();
    let bin = scene.work().join("bin");
    std::fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink("/bin/sh", bin.join("sh")).unwrap();
    let scene = scene.variable("PATH", bin.to_str().unwrap());
    scene.code("shell", "set -e; x=4; false; echo no").prints("").exits(1);
    scene.code("bash", "echo \"${BASH_VERSION:-none}\"").prints("none\n").exits(0);
    scene.code("perl", "1").mentions("install bash").exits(2);
}

#[test]
fn programs_that_want_a_person_find_none_and_do_not_hang() {
    let scene = Scene::new();
    for code in [
        "cat",
        "read -r x; echo \"[$x]\"",
        "/usr/bin/python3",
        "sh",
        "sh -c 'read x </dev/tty'",
        "perl -e 'print <STDIN>'",
        "setsid sh -c 'read x </dev/tty'",
        "select x in a b; do echo $x; done",
    ] {
        let seen = scene.code("shell", code);
        assert!(matches!(seen.0.status.code(), Some(0..=2)), "{code}: {}", seen.stderr());
    }
}

#[test]
fn what_is_left_running_is_told() {
    let scene = Scene::new();
    scene.code("shell", "sleep 1000 & echo on").mentions("still running: sleep 1000 &").exits(0);
}

#[test]
fn javascript_runs_in_deno_and_bun_too() {
    for name in ["deno", "bun"] {
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-tools/bin");
        let Ok(program) = std::fs::canonicalize(tools.join(name)) else {
            without(name);
            continue;
        };
        let program = program.to_str().unwrap();
        let state = ["const x: number = 41", "import { sep } from 'node:path'; x + sep.length"];
        let printed = cells(with("typescript", "typescript", program), "typescript", &state);
        assert_eq!(printed, "42", "{name}");
        let scene = with("javascript", "javascript", program);
        scene.code("javascript", "setTimeout(() => console.log(6*7), 10)").prints("42\n").exits(0);
        // An endless loop cannot be interrupted there: its kernel ends, with a message.
        let code = "console.log('on'); for (;;) {}";
        let arguments = ["run", "--time-limit", "1s", "-l", "javascript", "-c", code];
        scene.run(&arguments).mentions("the limit on time").exits(1);
    }
}

#[test]
fn a_timer_holds_a_run_until_it_has_fired() {
    let scene = Scene::new();
    let code = "setTimeout(() => console.log('late'), 20); console.log('now')";
    scene.code("javascript", code).prints("now\nlate\n").exits(0);
}

/// A project's choice of a version is read as a short file and as nothing else, and the search for
/// interpreters always ends.
#[test]
fn a_projects_choice_of_a_version_is_a_short_file_or_none() {
    let scene = Scene::new();
    let root = scene.home().join("pyenv");
    for version in ["3.12.1", "3.11.2"] {
        let bin = root.join("versions").join(version).join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::copy("/bin/true", bin.join("python3")).unwrap();
    }
    crate::scene::put_program(&root.join("shims/python3"), "#!/bin/sh\n");
    std::fs::write(root.join("version"), "3.11.2\n").unwrap();
    let found = || {
        let path = format!("{}:/usr/bin:/bin", root.join("shims").display());
        let inner = scene.command(&["languages", "--json"]);
        let mut command = std::process::Command::new("sh");
        // The limits are for what would otherwise never end.
        command.args(["-c", "ulimit -v 8000000; exec timeout 60 \"$@\"", "sh"]);
        command.arg(inner.get_program()).args(inner.get_args()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = command.env("PATH", path).current_dir(scene.work()).output().unwrap();
        crate::scene::Seen(output).exits(0)
    };
    let choice = scene.work().join(".python-version");
    std::fs::write(&choice, "3.12.1\n").unwrap();
    found().mentions("versions/3.12.1/bin/python3");
    std::fs::write(scene.home().join("elsewhere"), "3.12.1\n").unwrap();
    let pipe = scene.home().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for target in [Path::new("/dev/zero"), &pipe, &scene.home().join("elsewhere")] {
        std::fs::remove_file(&choice).unwrap();
        std::os::unix::fs::symlink(target, &choice).unwrap();
        found().mentions("versions/3.11.2/bin/python3");
    }
    std::fs::remove_file(&choice).unwrap();
    std::fs::rename(&pipe, &choice).unwrap();
    found().mentions("versions/3.11.2/bin/python3");
}
