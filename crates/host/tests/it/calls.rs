//! Code that is called by words, as from a command line, and its standard input.

use crate::scene::{
    End,
    Language::{self, Dash, JavaScript, Python, Shell, Zsh},
    Scene,
};

#[test]
fn code_without_a_file_is_a_cell_with_arguments() {
    let cells: [(Language, &str, &str); 5] = [
        (Python, "import sys\nprint(sys.argv[1:])", "['a b', '']\n"),
        (JavaScript, "console.log(process.argv.slice(1))", "[ 'a b', '' ]\n"),
        (Shell, "echo $# \"[$2]\"", "2 []\n"),
        (Zsh, "echo $# \"[$2]\"", "2 []\n"),
        (Dash, "echo $# \"[$2]\"", "2 []\n"),
    ];
    for (language, code, printed) in cells {
        let mut scene = Scene::with(language);
        scene.call(code, &["-c", "", "a b", ""]).succeeds().prints(printed);
        // It lives on.
        scene.run(code).succeeds();
    }
}

#[test]
fn a_script_takes_the_kernels_place_and_ends_with_its_own_status() {
    let scripts: [(Language, &str); 5] = [
        (Python, "import sys\nprint(__file__)\nsys.exit(7)"),
        (JavaScript, "console.log(__filename); process.exit(7)"),
        (Shell, "echo $0; exit 7"),
        (Zsh, "echo $0; exit 7"),
        (Dash, "echo $0; exit 7"),
    ];
    for (language, code) in scripts {
        let mut scene = Scene::with(language).file("script", code);
        let path = scene.path().join("script").display().to_string();
        let seen = scene.call(code, &[&path, &path]).prints(&format!("{path}\n"));
        seen.ends(End::Exited(7));
    }
}

#[test]
fn a_file_that_has_changed_is_not_what_runs() {
    for language in [Shell, Zsh, Dash] {
        let mut scene = Scene::with(language).file("script", "echo changed");
        let path = scene.path().join("script").display().to_string();
        scene.call("echo as it was", &[&path, &path]).prints("as it was\n").ends(End::Exited(0));
    }
}
