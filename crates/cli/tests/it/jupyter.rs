//! Jupyter kernels through the whole program: found by their kernelspecs, run in the sandbox.
//!
//! The kernels are ipykernel and xeus-python; `scripts/test` installs both.

use crate::scene::{Scene, Who, cell};
use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};
use tempfile::TempDir;

/// The folder of Jupyter's data in the environment that `scripts/test` makes, where every user can
/// read it.
fn kernels(who: Who) -> PathBuf {
    static COPY: OnceLock<TempDir> = OnceLock::new();
    let made = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools/jupyter"));
    let made = std::fs::canonicalize(made).expect("`scripts/test` makes it");
    let is_open = |folder: &Path| {
        let metadata = std::fs::metadata(folder).unwrap();
        metadata.permissions().mode() & 0o005 == 0o005
    };
    if who == Who::Ourselves || made.ancestors().all(is_open) {
        return made.join("share/jupyter");
    }
    let copy = COPY.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        let status = Command::new("cp").arg("-rp").arg(&made).arg(folder.path()).status();
        assert!(status.unwrap().success());
        folder
    });
    copy.path().join("jupyter/share/jupyter")
}

/// A scene in which the kernels are known.
pub(crate) fn scene(who: Who) -> Scene {
    Scene::of(who).variable("JUPYTER_PATH", kernels(who).to_str().unwrap())
}

const CONFIG: &str = ".config/interpreter/config.toml";

#[test]
fn kernels_are_found_and_named() {
    for who in Who::all() {
        let seen = scene(who).run(&["languages", "--json"]).exits(0);
        let list: serde_json::Value = serde_json::from_str(&seen.stdout()).unwrap();
        let named = |name: &str| list.as_array().unwrap().iter().find(|one| one["name"] == name);
        let kernel = named("jupyter:python3").unwrap();
        assert_eq!(kernel["state"], "kept");
        assert_eq!(kernel["note"], "runs in the Jupyter kernel Python 3 (ipykernel)");
        assert!(kernel["program"].as_str().unwrap().ends_with("bin/python"), "{kernel}");
        assert!(named("jupyter:xpython").unwrap()["hint"].is_null());
    }
}

#[test]
fn code_runs_in_a_kernel_with_all_that_it_says() {
    for who in Who::all() {
        for kernel in ["jupyter:python3", "jupyter:xpython"] {
            let code = "import sys\nprint('out')\nprint('err', file=sys.stderr)\n6 * 7";
            let seen = scene(who).code(kernel, code).prints("out\n42\n").exits(0);
            assert_eq!(seen.stderr(), "err\n");
            let raised = scene(who).code(kernel, "1 / 0").exits(1);
            assert!(raised.stderr().contains("ZeroDivisionError"), "{}", raised.stderr());
        }
    }
}

#[test]
fn twenty_thousand_lines_arrive_whole() {
    let lines: String = (0..20_000).map(|number| format!("{number}\n")).collect();
    let code = "for i in range(20_000): print(i, flush=True)";
    let seen = scene(Who::Ourselves).code("jupyter:python3", code).exits(0);
    assert!(seen.stdout() == lines, "{} of {} bytes", seen.stdout().len(), lines.len());
}

#[test]
fn results_have_all_their_forms_and_can_be_replaced() {
    let code = "from IPython.display import HTML, display\n\
                handle = display(HTML('<b>1</b>'), display_id='d')\nhandle.update(HTML('<b>2</b>'))";
    let seen = scene(Who::Ourselves).run(&["run", "--json", "-l", "jupyter:python3", "-c", code]);
    let results: Vec<_> =
        seen.of_kind("output").into_iter().filter(|one| one["stream"] == "result").collect();
    let html: Vec<_> =
        results.iter().map(|one| one["bundle"]["text/html"].as_str().unwrap()).collect();
    assert_eq!(html, ["<b>1</b>", "<b>2</b>"]);
    assert!(results.iter().all(|one| one["display"] == "d"));
    seen.exits(0);
}

#[test]
fn state_lasts_until_the_kernel_dies_and_then_it_is_said() {
    let kernel = |code: &str| cell("jupyter:python3", code);
    for (death, how) in
        [("os._exit(3)", "status 3"), ("os.kill(os.getpid(), 9)", "ended by signal 9")]
    {
        let scene = scene(Who::Ourselves).model_says(&[
            &kernel("import os\nx = 41"),
            &kernel("print('x is', x + 1)"),
            &kernel(death),
            &kernel("print('x' in globals())"),
            "Done.",
        ]);
        let seen = scene.chat(&["--yes", "--json", "go"]);
        assert_eq!(seen.printed_by("p2"), "x is 42\n");
        assert_eq!(seen.printed_by("p4"), "False\n");
        let ended = &seen.of_kind("run_finished")[2];
        assert_eq!(ended["kernel_ended"], true, "{ended}");
        let (status, signal) = (&ended["status"], &ended["signal"]);
        assert!(if how == "status 3" { status == 3 } else { signal == 9 }, "{ended}");
        seen.exits(0);
    }
}

#[test]
fn a_language_runs_by_a_kernel_if_the_person_says_so() {
    let scene = scene(Who::Ourselves).home_file(CONFIG, "[language.python]\njupyter = 'python3'\n");
    let code = "type(get_ipython()).__name__";
    scene.code("python", code).prints("'ZMQInteractiveShell'\n").exits(0);
    let scene = scene.file("a.py", "print(get_ipython() is not None)");
    scene.run(&["run", "a.py"]).prints("True\n").exits(0);
    // A project may not choose what runs.
    let scene = scene.file(".interpreter/config.toml", "[language.python]\njupyter = 'x'\n");
    scene.code("python", "1").exits(2);
}

#[test]
fn a_kernel_sees_no_more_than_any_other_code() {
    for who in Who::all() {
        let scene = scene(who)
            .home_file(".ssh/id_ed25519", "SECRET")
            .home_file(".local/share/jupyter/kernels/evil/kernel.json", "{}");
        let home = scene.home();
        let code = format!(
            "import os, socket\n\
             for path in ('{home}/.ssh/id_ed25519', '/etc/shadow'):\n\
             \u{20}   try: print('ESCAPED', open(path).read())\n\
             \u{20}   except OSError: print('refused')\n\
             try: socket.create_connection(('1.1.1.1', 53), 2); print('ESCAPED')\n\
             except OSError: print('refused')\n\
             print([name for name in os.environ if 'CANARY' in name], os.listdir('/run/interpreter'))",
            home = home.display()
        );
        let seen = scene.code("jupyter:python3", &code).lacks("ESCAPED").exits(0);
        assert_eq!(seen.stdout().matches("refused").count(), 3, "{}", seen.stdout());
        assert!(seen.stdout().contains("[] ["), "{}", seen.stdout());
        assert!(scene.left_running().is_empty());
    }
}

#[test]
fn rules_and_analysis_take_it_for_the_language_that_it_is() {
    let rule = "[[rule]]\ndecision = 'deny'\nlanguage = 'python'\n";
    let scene = scene(Who::Ourselves).home_file(CONFIG, rule);
    scene.code("jupyter:python3", "1").exits(3);
    let scene = self::scene(Who::Ourselves);
    let code = "import shutil; shutil.rmtree('x', ignore_errors=True)";
    let seen = scene.run(&["run", "--json", "-l", "jupyter:python3", "-c", code]);
    let findings = &seen.of_kind("findings")[0]["capabilities"];
    assert_eq!(findings[0]["name"], "deletes", "{findings}");
}

#[test]
fn what_is_written_is_staged() {
    let scene = scene(Who::Ourselves);
    let code = "open('out.txt', 'w').write('hi')";
    scene.code("jupyter:python3", code).mentions("created  out.txt").exits(0);
    assert_eq!(scene.read("out.txt"), None);
    scene.run(&["changes", "apply"]).exits(0);
    assert_eq!(scene.read("out.txt").unwrap(), "hi");
}

#[test]
fn a_kernel_that_does_not_start_says_why() {
    let spec = r#"{"argv": ["python3", "-c", "import sys; sys.exit('no such module')",
        "{connection_file}"], "language": "broken", "display_name": "Broken"}"#;
    let scene = Scene::new().home_file(".local/share/jupyter/kernels/broken/kernel.json", spec);
    scene.code("broken", "1").mentions("no such module").mentions("did not start").exits(1);
    let scene = scene.home_file(".local/share/jupyter/kernels/broken/kernel.json", "nonsense");
    scene.run(&["languages"]).mentions("is not a kernelspec").exits(0);
}

#[test]
fn a_projects_kernel_runs_nothing_before_it_may() {
    // A kernel that leaves a file behind whenever it is started.
    let spec = r#"{"argv": ["python3", "-c", "open('started', 'w')", "{connection_file}"],
        "language": "theirs", "display_name": "Theirs"}"#;
    let path = ".venv/share/jupyter/kernels/theirs/kernel.json";
    let rule = "[[rule]]\ndecision = 'deny'\nlanguage = 'theirs'\n";
    let scene = Scene::new().file(path, spec).home_file(CONFIG, rule);
    scene.code("theirs", "1").exits(3).lacks("started");
    scene.run(&["languages", "--check"]).lacks("theirs: does not start");
    scene.run(&["changes", "list"]).lacks("staged");
}
