//! Code that attacks the driver it shares a process with: it harms only its own kernel, which
//! either goes on or ends with a word.

use super::python;
use crate::scene::End;

const TAKEN: &str = "the code took the kernel's control socket away; the kernel ends\n";

#[test]
fn leaving_at_once_or_becoming_another_program_ends_the_kernel() {
    python().run("import os; os._exit(4)").ends(End::Exited(4));
    python()
        .run("import os; os.execv('/bin/echo', ['echo', 'other'])")
        .prints("other\n")
        .ends(End::Exited(0));
}

#[test]
fn without_its_standard_descriptors_a_kernel_still_answers() {
    let mut scene = python();
    let outcome = scene.run("import os\nfor descriptor in range(3): os.close(descriptor)");
    let said = String::from_utf8(outcome.ends(End::Finished(0)).stderr).unwrap();
    assert!(said.contains("closed this interpreter's standard output"), "{said}");
    assert!(said.contains("closed this interpreter's standard error"), "{said}");
    scene.run("print(1)").ends(End::Finished(1)).raises("OSError: [Errno 9] Bad file descriptor");
    scene.run("1 / 0").ends(End::Finished(1)).raises("ZeroDivisionError: division by zero");
    scene.run("raise KeyboardInterrupt").ends(End::Finished(130));
    scene.run("1 + 1").succeeds().results("2");
}

#[test]
fn without_its_streams_a_kernel_still_answers() {
    let mut scene = python();
    scene.run("import sys\ndel sys.stdout, sys.stderr, sys.excepthook").succeeds();
    scene.run("1 + 1").succeeds().results("2");
    scene
        .run("1 / 0")
        .complains(
            "  File \"<cell 3>\", line 1, in <module>\nZeroDivisionError: division by zero\n",
        )
        .ends(End::Finished(1));
}

#[test]
fn a_kernel_whose_control_socket_is_taken_away_says_so_and_ends() {
    for code in [
        "import os; os.close(40)",
        "import os; os.dup2(os.open('/dev/null', os.O_RDWR), 40)",
        "import os\nwith open('noise', 'wb') as file: file.write(b'x' * 99 + b'\\n' + b'y' * 99)\ndescriptor = os.open('noise', os.O_RDWR)\nos.dup2(descriptor, 40)",
    ] {
        python().run(code).complains(TAKEN).ends(End::Exited(1));
    }
    // There is nowhere left to say it.
    python().run("import os; os.closerange(0, 100)").complains("").ends(End::Exited(1));
}

#[test]
fn noise_on_the_control_socket_is_no_claim() {
    let mut scene = python();
    let outcome = scene.run("import os\nn = os.write(40, b'noise\\n{}\\n')").succeeds();
    assert_eq!(outcome.noise, 2);
    scene.run("1 + 1").succeeds().results("2");
}

#[test]
fn without_built_ins_a_kernel_still_answers() {
    let mut scene = python();
    scene.run("import builtins\nvars(builtins).clear()").succeeds();
    scene.run("1 + 1").succeeds().results("2");
    scene.run("x = [1]\nx").succeeds().results("[1]");
    scene.run("print(1)").ends(End::Finished(1)).raises("NameError: name 'print' is not defined");
}

#[test]
fn without_modules_a_kernel_still_answers() {
    for code in [
        "import sys; sys.modules.clear()",
        "import sys; sys.modules = {}; sys.path.clear(); sys.meta_path.clear()",
    ] {
        let mut scene = python();
        scene.run(code).succeeds();
        scene.run("1 + 1").succeeds().results("2");
        scene.run("print('on')").succeeds().prints("on\n");
        let outcome =
            scene.run("1 / 0").ends(End::Finished(1)).raises("ZeroDivisionError: division by zero");
        let text = String::from_utf8(outcome.stderr).unwrap();
        assert!(text.contains("File \"<cell 4>\", line 1, in <module>\n"), "{text}");
        scene.run("class Rich:\n    def _repr_html_(self): return 'h'\nRich()").succeeds();
    }
}

#[test]
fn little_room_for_calls_is_enough_to_tell_of_it() {
    let mut scene = python();
    scene.run("import sys; sys.setrecursionlimit(60)").succeeds();
    scene.run("def f(): f()\nf()").ends(End::Finished(1));
    scene.run("1 + 1").succeeds().results("2");
}

#[test]
fn values_that_lie_about_what_they_have_harm_only_their_cell() {
    let mut scene = python();
    scene
        .run("class Meta(type):\n    def __getattr__(cls, name): raise RuntimeError(name)\nclass Odd(metaclass=Meta): pass\nOdd()")
        .ends(End::Finished(1))
        .raises("RuntimeError: _repr_mimebundle_");
    scene
        .run("from unittest.mock import MagicMock\nlen(repr(MagicMock())) > 9")
        .succeeds()
        .results("True");
    assert_eq!(scene.run("MagicMock()").succeeds().bundles[0].len(), 1);
    scene
        .run("class Error(Exception):\n    def __str__(self): raise self\nraise Error")
        .ends(End::Finished(1))
        .raises("Error: ");
}
