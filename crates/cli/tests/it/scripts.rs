//! `interpreter run FILE ARGUMENT…`: a script runs as its own interpreter would run it.

use crate::{
    backends::{LANDLOCK, NATIVE},
    scene::{Scene, Who, put_program},
};

const PYTHON: &str = "\
import sys, beside
print(sys.argv, __name__)
print(__file__)
print(beside.VALUE)
'a value that no script shows'
sys.exit(7)
";

#[test]
fn a_python_script_gets_its_words_its_file_and_what_lies_beside_it() {
    let scene =
        Scene::new().file("tools/main.py", PYTHON).file("tools/beside.py", "VALUE = 'found'");
    let at = scene.work().join("tools/main.py");
    let expected =
        format!("['tools/main.py', 'x y', '--json'] __main__\n{}\nfound\n", at.display());
    scene.run(&["run", "tools/main.py", "x y", "--json"]).prints(&expected).exits(7);
}

#[test]
fn a_traceback_has_the_files_name_and_lines() {
    let scene = Scene::new().file("broken.py", "def f():\n    return 1 / 0\n\n\nf()\n");
    let at = scene.work().join("broken.py");
    let place = |line| format!("File \"{}\", line {line}, in ", at.display());
    let seen = scene.run(&["run", "broken.py"]).exits(1);
    seen.mentions(&place(5)).mentions(&place(2)).mentions("return 1 / 0").lacks("<cell");
}

#[test]
fn a_script_ends_as_its_interpreter_would_end() {
    let threads = "import atexit, threading\natexit.register(print, 'last')\n\
                   threading.Thread(target=print, args=('thread',)).start()\n";
    let scene = Scene::new()
        .file("threads.py", threads)
        .file("message.py", "import sys; sys.exit('sorry')")
        .file("fine.py", "import sys; sys.exit()")
        .file("trap.sh", "trap 'echo cleaned' EXIT\nset -e\nfalse\necho never\n")
        .file("late.js", "setTimeout(() => { console.log('late'); process.exitCode = 4; }, 10)\n");
    scene.run(&["run", "threads.py"]).prints("thread\nlast\n").exits(0);
    scene.run(&["run", "message.py"]).prints("").mentions("sorry").exits(1);
    scene.run(&["run", "fine.py"]).prints("").exits(0);
    scene.run(&["run", "trap.sh"]).prints("cleaned\n").exits(1);
    scene.run(&["run", "late.js"]).prints("late\n").exits(4);
}

#[test]
fn the_exit_status_of_code_is_its_own_and_a_refusal_is_ours() {
    let scene = Scene::new().home_file(
        ".config/interpreter/config.toml",
        "[[rule]]\ndecision = \"deny\"\nline = \"rm *\"\n",
    );
    for status in [1, 2, 3, 7, 255] {
        scene.code("shell", &format!("exit {status}")).prints("").exits(status);
        scene.code("python", &format!("import sys; sys.exit({status})")).exits(status);
    }
    scene.code("javascript", "process.exit(5)").exits(5);
    scene.code("shell", "false").exits(1);
    scene.code("python", "import os; os.kill(os.getpid(), 9)").mentions("SIGKILL").exits(137);
    scene.code("shell", "rm -r build").mentions("refused by").exits(3);
}

#[test]
fn scripts_of_every_kind_get_their_arguments_and_their_input() {
    let scene = Scene::new()
        .file("a.sh", "echo \"$0 $1 $# ${BASH_SOURCE[0]}\"\ncat\n. ./lib.sh\n")
        .file("lib.sh", "echo lib\n")
        .file("a.js", "const { value } = require('./lib.js');\nconsole.log(process.argv.slice(2), __filename.endsWith('/a.js'), value);\nprocess.stdin.pipe(process.stdout);\n")
        .file("lib.js", "exports.value = 'lib';\n")
        .file("a.pl", "require './lib.pl'; print \"$0 @ARGV \", lib(), \"\\n\", <STDIN>;\n")
        .file("lib.pl", "sub lib { 'lib' } 1;\n")
        .file("a.c", "#include <stdio.h>\nint main(int n, char **v) { int c; printf(\"%s\\n\", v[1]); while ((c = getchar()) != EOF) putchar(c); return n; }\n");
    let run = |file| scene.run_with_input(&["run", file, "x y"], b"data\n");
    run("a.sh").prints("a.sh x y 1 a.sh\ndata\nlib\n").exits(0);
    run("a.js").prints("[ 'x y' ] true lib\ndata\n").exits(0);
    run("a.pl").prints("a.pl x y lib\ndata\n").exits(0);
    run("a.c").prints("x y\ndata\n").exits(2);
}

#[test]
fn typed_code_gets_arguments_too_and_is_python_unless_said_otherwise() {
    let scene = Scene::new();
    scene.run(&["run", "-c", "import sys; sys.argv", "a", "-b"]).prints("['-c', 'a', '-b']\n");
    scene.run(&["run", "-l", "sh", "-c", "echo $2 $#", "a", "b c"]).prints("b c 2\n").exits(0);
    let seen = scene.run_with_input(&["run", "-", "x"], b"import sys; print(sys.argv)");
    seen.prints("['-', 'x']\n").exits(0);
    let refused = scene.run(&["run", "-l", "html", "-c", "<p>", "x"]);
    refused.mentions("html code takes no arguments").exits(2);
}

#[test]
fn a_file_that_starts_by_itself_is_a_program_of_ours() {
    let scene = Scene::new();
    let program = scene.work().join("tool");
    for line in ["#!/usr/bin/env -S PROGRAM run", "#!PROGRAM run"] {
        let line = line.replace("PROGRAM", crate::scene::binary().to_str().unwrap());
        put_program(&program, &format!("{line}\nimport sys; print(sys.argv[1:])\n"));
        let mut command = scene.command(&[]);
        let command = std::process::Command::new(&program)
            .arg("x")
            .current_dir(scene.work())
            .env_clear()
            .envs(
                command
                    .env("LANG", "C")
                    .get_envs()
                    .filter_map(|(name, value)| Some((name, value?))),
            )
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&command.stdout), "['x']\n", "{command:?}");
    }
}

#[test]
fn a_script_elsewhere_sees_its_own_folder_and_nothing_around_it() {
    for who in Who::all() {
        let code = "import beside, pathlib\nprint(beside.VALUE)\n\
                    print(pathlib.Path(__file__).parent.parent.joinpath('secret').exists())\n";
        let scene = Scene::of(who)
            .home_file("bin/tool/main.py", code)
            .home_file("bin/tool/beside.py", "VALUE = 'found'")
            .home_file("bin/secret", "x")
            .home_file(
                "alone.py",
                "import os; print(sorted(os.listdir(os.path.dirname(__file__))))",
            );
        let at = |name: &str| scene.home().join(name).to_str().unwrap().to_owned();
        scene.run(&["run", &at("bin/tool/main.py")]).prints("found\nFalse\n").exits(0);
        // A home is not shown, only the script in it.
        scene.run(&["run", &at("alone.py")]).lacks("bin").exits(0);
    }
}

/// A project's link does not open the folder that it leads to.
#[test]
fn a_link_of_the_work_folder_shows_the_script_that_it_leads_to_alone() {
    let code = "import os; print(os.path.exists(os.environ['AT'] + '/beside.py'))";
    let scene = Scene::new().home_file("bin/tool/main.py", "").home_file("bin/tool/beside.py", "");
    let folder = scene.home().join("bin/tool");
    let code = code.replace("os.environ['AT']", &format!("{:?}", folder.to_str().unwrap()));
    scene.put(&folder.join("main.py"), code.as_bytes());
    let link = |from: &std::path::Path, name: &str| {
        std::os::unix::fs::symlink(from, scene.work().join(name)).unwrap();
    };
    link(&folder.join("main.py"), "file.py");
    link(&folder, "folder");
    for named in ["file.py", "folder/main.py"] {
        scene.run(&["run", named]).prints("False\n").exits(0);
    }
    // The control: named by the person.
    scene.run(&["run", folder.join("main.py").to_str().unwrap()]).prints("True\n").exits(0);
}

#[test]
fn what_was_looked_at_is_what_runs() {
    // The file changes between the look and the run: here, because it is a pipe that gives its
    // code once.
    let scene = Scene::new();
    let command =
        "mkfifo code.sh && (echo 'echo looked at' > code.sh &) && exec PROGRAM run code.sh";
    let command = command.replace("PROGRAM", crate::scene::binary().to_str().unwrap());
    let mut shell = std::process::Command::new("sh");
    let environment = scene.command(&[]);
    let seen = shell
        .args(["-c", &command])
        .current_dir(scene.work())
        .envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?))))
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&seen.stdout), "looked at\n", "{seen:?}");
}

#[test]
fn a_script_is_on_record_with_its_words() {
    let scene = Scene::new().file("a.py", "print(1)");
    let seen = scene.run(&["run", "--json", "a.py", "x"]).exits(0);
    let proposal = &seen.of_kind("proposal")[0]["invocation"];
    assert_eq!(proposal["name"], "a.py");
    assert_eq!(proposal["arguments"], serde_json::json!(["x"]));
    assert_eq!(proposal["file"], scene.work().join("a.py").to_str().unwrap());
    scene.run(&["history", "show"]).mentions("run a.py x").exits(0);
}

#[test]
fn scripts_run_in_other_sandboxes_too() {
    for backend in [NATIVE, LANDLOCK] {
        let scene = Scene::of(Who::unprivileged())
            .file("main.py", PYTHON)
            .file("beside.py", "VALUE = 'found'")
            .file("a.sh", "echo \"$1\"; cat; exit 3\n");
        let run = |words: &[&str]| {
            let options = [&["run"], &scene.on(backend)[..]].concat();
            scene.run_with_input(&[&options[..], words].concat(), b"data\n")
        };
        run(&["main.py", "x"]).mentions("found\n").exits(7);
        run(&["a.sh", "x"]).prints("x\ndata\n").exits(3);
    }
}
