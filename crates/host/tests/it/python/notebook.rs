//! Lines that notebooks have and Python does not.

use super::python;
use crate::scene::{End, Outcome};

fn printed(outcome: &Outcome) -> String {
    String::from_utf8(outcome.stdout.clone()).unwrap()
}

#[test]
fn a_command_prints_as_it_runs_and_its_failure_is_no_error() {
    let mut scene = python();
    scene
        .run("print('a', end='')\n!echo b; echo c >&2; exit 3")
        .prints("ab\n")
        .complains("c\n")
        .ends(End::Finished(0));
    scene.run("_exit_code").succeeds().results("3");
    scene
        .run("for i in range(2):\n    !echo {i} \\\n      and more\n\nprint('end')")
        .succeeds()
        .prints("0 and more\n1 and more\nend\n");
}

#[test]
fn what_a_command_prints_can_be_a_list_of_lines() {
    let mut scene = python();
    scene.run("lines = !printf 'a\\n\\nb'\nlines").succeeds().results("['a', '', 'b']");
    scene.run("lines = !true\nlines").succeeds().results("[]");
}

#[test]
fn values_of_the_code_stand_in_commands_and_all_else_is_the_shells() {
    let mut scene = python();
    scene.run("name, parts = 'a b', [1, 2]").succeeds();
    scene
        .run("!echo $name {name.upper()} {len(parts)} $HOME{missing} ${name:-shell}")
        .succeeds()
        .prints("a b A B 2 {missing} shell\n");
    scene.run("!echo 1 | awk '{print $1}'; echo {x,y}").succeeds().prints("1\nx y\n");
    scene.run("def f(inner):\n    !echo {inner}\nf(5)").succeeds().prints("5\n");
}

#[test]
fn strings_brackets_and_comments_stay_as_they_are() {
    let mut scene = python();
    scene
        .run("text = '''\n!echo no\n%cd /\n''' + \"\"\"\n!a \"b\"\n%time\n\"\"\"\nb = 3\nx = (7\n%b)\n# it's\n!echo \"it's (fine\" # {b\nprint(text, x)")
        .succeeds()
        .prints("it's (fine\n\n!echo no\n%cd /\n\n!a \"b\"\n%time\n 1\n");
    // Python as it stands is never touched.
    scene.run("b = 2\nx = [5\n%b]\nx, '!ls', 5 %b").succeeds().results("([1], '!ls', 1)");
}

#[test]
fn lines_keep_their_numbers_and_errors_show_them_as_they_were_written() {
    let mut scene = python();
    let outcome = scene.run("!true \\\n  # more\n%cd /no/such/folder").ends(End::Finished(1));
    let text = String::from_utf8(outcome.stderr).unwrap();
    assert!(text.starts_with("Traceback (most recent call last):\n  File \"<cell 1>\", line 3, in <module>\n    %cd /no/such/folder\n"), "{text}");
    assert!(
        text.ends_with(
            "FileNotFoundError: [Errno 2] No such file or directory: '/no/such/folder'\n"
        ),
        "{text}"
    );
    let outcome = scene.run("!echo never\nprint(1").prints("").ends(End::Finished(1));
    assert!(String::from_utf8(outcome.stderr).unwrap().contains("line 2\n    print(1\n"));
}

#[test]
fn an_unknown_magic_is_named_and_nothing_runs() {
    let mut scene = python();
    for (code, name) in [("print('never')\n%nope 1", "%nope"), ("%%nope\nprint('never')", "%%nope")]
    {
        let outcome = scene.run(code).prints("").ends(End::Finished(1));
        assert!(
            outcome.raised[0]
                .starts_with(&format!("SyntaxError: there is no `{name}` here; there are ")),
            "{outcome:?}"
        );
    }
}

#[test]
fn folders_and_variables_of_the_environment_are_the_kernels() {
    let mut scene = python();
    scene.run("import os\nhome = os.getcwd()\n%cd /usr").succeeds().prints("/usr\n");
    scene.run("%cd {home}\n%cd -\n%pwd").succeeds().results("'/usr'");
    scene.run("%env NAME=a value").succeeds().prints("env: NAME=a value\n");
    scene.run("!echo $NAME").succeeds().prints("a value\n");
    scene.run("value = %env NAME\nvalue").succeeds().results("'a value'");
}

#[test]
fn time_is_told_and_the_value_is_kept() {
    let mut scene = python();
    let outcome = scene.run("%time 1 + 1").succeeds().results("2");
    assert!(printed(&outcome).starts_with("CPU times: user "));
    scene.run("%time x = 5\n%time import math; y = 6").succeeds();
    let outcome =
        scene.run("%%time\nassert (x, y) == (5, 6)\nmath.floor(7.5)").succeeds().results("7");
    assert!(printed(&outcome).contains("\nWall time: "));
    scene.run("import asyncio\n%time await asyncio.sleep(0, 8)").succeeds().results("8");
    // Even of code that fails.
    assert!(printed(&scene.run("%%time\n1 / 0").ends(End::Finished(1))).contains("Wall time: "));
    assert!(printed(&scene.run("%timeit x + 1").succeeds()).contains(" per loop (5 runs of "));
}

#[test]
fn a_script_in_another_shell_fails_as_a_cell() {
    let mut scene = python();
    scene
        .run("%%bash\nfor i in 1 2; do echo $i; done\n[[ a == a ]] && echo \"$0 {x}\"")
        .succeeds()
        .prints("1\n2\nbash {x}\n");
    scene
        .run("%%sh\necho on; exit 3")
        .prints("on\n")
        .ends(End::Finished(1))
        .raises("CalledProcessError: Command 'sh' returned non-zero exit status 3.");
}

#[test]
fn a_cell_can_be_a_file_or_a_page() {
    let mut scene = python();
    scene.run("%%writefile note.txt\n!not a command\n").succeeds().prints("Wrote note.txt\n");
    scene.run("%%writefile -a note.txt\nmore").succeeds().prints("Appended to note.txt\n");
    scene.run("open('note.txt').read()").succeeds().results("'!not a command\\nmore\\n'");
    assert_eq!(scene.run("%%html\n<b>x</b>").succeeds().bundles[0]["text/html"], "<b>x</b>");
}

#[test]
fn pip_is_that_of_the_kernels_own_python() {
    let mut scene = python();
    // The first `pip` there is would be this one.
    scene.run("import os, sys\nwith open('pip', 'w') as file: file.write('#!/bin/sh\\necho wrong')\nos.chmod('pip', 0o755)\nos.environ['PATH'] = os.getcwd() + ':' + os.environ['PATH']\nwith open('pip.py', 'w') as file: file.write('import sys; print(sys.executable, sys.argv[1:])')").succeeds();
    for code in ["!pip install a-b", "%pip install a-b", "!pip3 install a-b"] {
        let outcome = scene.run(&format!("{code}\nprint(sys.executable, ['install', 'a-b'])"));
        let text = printed(&outcome.succeeds());
        let lines: Vec<_> = text.lines().collect();
        assert!(lines.len() == 2 && lines[0] == lines[1], "{text}");
    }
}

#[test]
fn the_plainest_settings_of_plots_are_accepted() {
    python().run("%matplotlib inline\nprint('fine')").succeeds().prints("fine\n");
}
