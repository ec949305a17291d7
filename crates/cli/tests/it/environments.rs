//! Virtual environments of Python: the project's is used, and can do nothing before it may.

use crate::scene::{Scene, Who};
use std::os::unix::fs::symlink;

/// The name of the system's Python, such as `python3.11`.
fn python() -> String {
    let real = std::fs::canonicalize("/usr/bin/python3").unwrap();
    real.file_name().unwrap().to_str().unwrap().to_owned()
}

const OWN: &str = "include-system-site-packages = false\n";

/// A project with an environment that says it was made by the interpreter in `home`, and that
/// holds a module and a file which runs when the environment is entered.
fn project(who: Who, home: &str) -> Scene {
    let python = python();
    let version = python.trim_start_matches("python");
    let packages = format!(".venv/lib/{python}/site-packages");
    let scene = Scene::of(who)
        .file(".venv/pyvenv.cfg", format!("home = {home}\n{OWN}version = {version}.1\n"))
        .file(&format!("{packages}/of_the_environment.py"), "answer = 42\n")
        .file(&format!("{packages}/runs.pth"), "import os; open('entered', 'a').write('x')\n")
        .file(".venv/bin/activate", "");
    symlink("/usr/bin/python3", scene.work().join(".venv/bin/python3")).unwrap();
    symlink("python3", scene.work().join(".venv/bin/python")).unwrap();
    scene
}

#[test]
fn the_projects_environment_is_used() {
    for who in Who::all() {
        let scene = project(who, "/usr/bin");
        let folder = scene.work().join(".venv");
        let folder = folder.to_str().unwrap();
        let code = "import of_the_environment, os, sys\n\
                    print(of_the_environment.answer, sys.prefix, sys.executable)\n\
                    print(os.environ['VIRTUAL_ENV'], sys.base_prefix, '' in sys.path)\n\
                    print([path for path in sys.path if path.endswith('dist-packages')], exit)";
        let printed = format!(
            "42 {folder} {folder}/bin/python3\n{folder} /usr True\n\
             [] Use exit() or Ctrl-D (i.e. EOF) to exit\n"
        );
        scene.code("python", code).prints(&printed).exits(0);
        let inside = "python -c 'import of_the_environment, sys; print(sys.prefix)'";
        scene.code("shell", inside).prints(&format!("{folder}\n")).exits(0);
        scene.run(&["languages"]).mentions(&format!("uses the environment {folder}")).exits(0);
    }
}

#[test]
fn an_environment_may_show_the_systems_packages() {
    let scene = project(Who::Ourselves, "/usr/bin");
    let config = std::fs::read_to_string(scene.work().join(".venv/pyvenv.cfg")).unwrap();
    let scene = scene.file(".venv/pyvenv.cfg", config.replace("false", "true"));
    let code = "import site; print(len(set(site.PREFIXES)))";
    scene.code("python", code).prints("2\n").exits(0);
}

#[test]
fn nothing_of_an_environment_runs_before_the_yes() {
    for who in Who::all() {
        let reply = "```python\nprint(1)\n```\n";
        let scene = project(who, "/usr/bin").model_says(&[reply]);
        // The kernel stands ready while the question waits; the answer is no.
        scene.chat(&["go"]).exits(3);
        scene.run(&["changes", "list"]).lacks("entered").exits(0);
        // With a yes it is entered.
        let seen = scene.run(&["run", "--apply", "-l", "python", "-c", "1\n2"]);
        seen.mentions("entered").exits(0);
        assert!(scene.read("entered").is_some());
    }
}

#[test]
fn a_planted_program_is_not_started() {
    for who in Who::all() {
        let scene = project(who, "/usr/bin");
        for name in ["python3", "python"] {
            let planted = scene.work().join(".venv/bin").join(name);
            std::fs::remove_file(&planted).unwrap();
            std::fs::copy("/bin/false", &planted).unwrap();
        }
        scene.code("python", "print(6*7)").prints("42\n").exits(0);
    }
}

#[test]
fn what_the_environment_names_stays_out_of_sight() {
    for who in Who::all() {
        let scene = project(who, "/usr/bin").home_file(".ssh/id", "sk-canary");
        let ssh = scene.home().join(".ssh");
        let config = format!("home = {}\nversion = {}\n", ssh.display(), &python()[6..]);
        let scene = scene.file(".venv/pyvenv.cfg", config);
        let code = format!("import os; print(os.path.exists('{}'))", ssh.display());
        scene.code("python", &code).prints("False\n").exits(0);
        // The whole environment is a link to it.
        std::fs::rename(scene.work().join(".venv"), scene.work().join("old")).unwrap();
        symlink(&ssh, scene.work().join(".venv")).unwrap();
        let version = format!("home = /usr/bin\nversion = {}\n", &python()[6..]);
        let scene = scene.home_file(".ssh/pyvenv.cfg", &version);
        scene.code("python", &code).prints("False\n").exits(0);
        scene.run(&["languages"]).mentions("it is a symbolic link").exits(0);
    }
}

#[test]
fn an_error_on_the_way_in_is_told_and_the_cell_runs() {
    let python = python();
    let scene = project(Who::Ourselves, "/usr/bin")
        .file(&format!(".venv/lib/{python}/site-packages/broken.pth"), "import no_such_module\n");
    scene.code("python", "print(6*7)").prints("42\n").mentions("no_such_module").exits(0);
}
