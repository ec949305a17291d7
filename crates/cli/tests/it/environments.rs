//! Virtual environments of Python: the project's is used, and can do nothing before it may.

use crate::scene::{Scene, Who, cell};
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
fn nothing_approves_an_environment_of_the_project_in_advance() {
    let config = ".config/interpreter/config.toml";
    let rule = "[[rule]]\ndecision = \"allow\"\nlanguage = [\"python\", \"shell\"]\n";
    for who in Who::all() {
        for code in [cell("python", "print(6*7)"), cell("shell", "echo 42")] {
            for (options, rules) in [(&["--approval", "auto", "go"][..], ""), (&["go"], rule)] {
                let scene = project(who, "/usr/bin").home_file(config, rules);
                let scene = scene.model_says(&[&code, "Done."]);
                let seen = scene.chat(options);
                seen.mentions("the project's own environment (.venv), whose").exits(3);
                scene.run(&["changes", "list"]).lacks("entered").exits(0);
                // Control: without the environment it runs.
                std::fs::rename(scene.work().join(".venv"), scene.work().join("other")).unwrap();
                scene.model_says(&[&code, "Done."]).chat(options).mentions("42").exits(0);
            }
        }
    }
}

#[test]
fn without_a_sandbox_nothing_of_the_project_runs_unasked_either() {
    let scene = project(Who::Ourselves, "/usr/bin");
    let options = ["--approval", "auto", "--sandbox", "none", "--workspace", "direct", "go"];
    let scene = scene.model_says(&[&cell("python", "print(6*7)")]);
    scene.chat(&options).mentions("the project's own environment (.venv)").exits(3);
    assert_eq!(scene.read("entered"), None);
}

#[test]
fn an_environment_that_is_activated_is_trusted() {
    let scene = project(Who::Ourselves, "/usr/bin");
    let folder = scene.work().join(".venv");
    let scene = scene.variable("VIRTUAL_ENV", folder.to_str().unwrap());
    let scene = scene.model_says(&[&cell("python", "print(6*7)"), "Done."]);
    scene.chat(&["--approval", "auto", "go"]).mentions("42").lacks("own environment").exits(0);
}

#[test]
fn a_yes_in_advance_is_one_and_the_record_names_the_environment() {
    let scene = project(Who::Ourselves, "/usr/bin");
    let scene = scene.model_says(&[&cell("python", "print(6*7)"), "Done."]);
    let seen = scene.chat(&["--approval", "auto", "--yes", "--json", "go"]).exits(0);
    let findings = &seen.of_kind("findings")[0];
    assert_ne!(findings["understood"], true);
    assert_eq!(findings["capabilities"][0]["name"], "starts");
    let verdict = &seen.of_kind("verdict")[0];
    assert_eq!(verdict["decision"], "ask");
    assert!(verdict["rule"].as_str().unwrap().contains("the project's own environment (.venv)"));
}

#[test]
fn a_package_of_the_project_that_reads_typescript_is_asked_about() {
    let scene = Scene::new();
    let by_itself = scene.code("typescript", "const x: number = 1; console.log(x)");
    // An interpreter that knows types loads no package of the project's.
    let knows_types = by_itself.stdout() == "1\n";
    let code = "exports.transform = (code) => ({ code: code.replace(': number', '') });\n\
                require('fs').writeFileSync('entered', 'x');\n";
    let scene = scene
        .file("node_modules/sucrase/package.json", "{ \"main\": \"index.js\" }")
        .file("node_modules/sucrase/index.js", code);
    let scene = scene.model_says(&[&cell("typescript", "console.log(6 * 7)"), "Done."]);
    let seen = scene.chat(&["--approval", "auto", "go"]);
    if knows_types {
        seen.mentions("42").exits(0);
    } else {
        seen.mentions("the project's own package (node_modules/sucrase), whose").exits(3);
    }
    scene.run(&["changes", "list"]).lacks("entered").exits(0);
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
