//! The Python driver.

use crate::scene::{End, Language::Python, Scene, lines};

mod asks;
mod checkpoints;
mod completion;
mod hostile;
mod notebook;
mod shown;

/// A host with one Python kernel, number 1, that is ready.
fn python() -> Scene {
    Scene::with(Python)
}

#[test]
fn state_is_kept_and_the_last_expression_is_the_result() {
    let mut scene = python();
    scene.run("import math\nx = 5").succeeds().prints("");
    scene.run("print(x)\nx + 1").succeeds().prints("5\n").results("6");
    scene.run("_ * 2").succeeds().results("12");
    assert!(scene.run("None").succeeds().results.is_empty());
}

#[test]
fn output_comes_out_exactly() {
    let mut scene = python();
    scene.run("print('no newline', end='')").succeeds().prints("no newline");
    let bytes =
        scene.run("import sys\nn = sys.stdout.buffer.write(b'\\x00\\xff\\r\\n')").succeeds();
    assert_eq!(bytes.stdout, b"\x00\xff\r\n");
    scene
        .run("import os\nos.system('echo shell')\nprint('after', file=sys.stderr)")
        .prints("shell\n")
        .complains("after\n");
    let outcome = scene.run("for i in range(200_000): print(i)").succeeds();
    assert!(outcome.stdout == lines(0..200_000).as_bytes());
}

#[test]
fn an_error_shows_the_cells_own_lines_and_nothing_of_the_driver() {
    let mut scene = python();
    scene.run("def f(a):\n    return a[9]").succeeds();
    let outcome = scene
        .run("# one\nf([])")
        .ends(End::Finished(1))
        .raises("IndexError: list index out of range");
    let text = String::from_utf8(outcome.stderr).unwrap();
    let lines: Vec<_> =
        text.lines().filter(|line| !line.trim_matches([' ', '~', '^']).is_empty()).collect();
    assert_eq!(
        lines,
        [
            "Traceback (most recent call last):",
            "  File \"<cell 2>\", line 2, in <module>",
            "    f([])",
            "  File \"<cell 1>\", line 2, in f",
            "    return a[9]",
            "IndexError: list index out of range",
        ]
    );
}

#[test]
fn a_syntax_error_is_shown_as_python_shows_it_and_nothing_runs() {
    let mut scene = python();
    scene
        .run("print('before')\nx = = 1")
        .prints("")
        .complains(
            "  File \"<cell 1>\", line 2\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n",
        )
        .ends(End::Finished(1));
    let outcome = scene.run("print('before')\nreturn 5").prints("").ends(End::Finished(1));
    assert!(String::from_utf8(outcome.stderr).unwrap().contains("    return 5\n"));
}

#[test]
fn the_line_that_runs_is_told_before_it_runs() {
    let mut scene = python();
    let outcome =
        scene.run("import time\n\nx = [\n    1]\ndef f():\n    pass\nf(); f()\n").succeeds();
    assert_eq!(outcome.lines, [1, 3, 5, 7]);
    assert_eq!(scene.run("\n\n1 / 0").ends(End::Finished(1)).lines, [3]);
    assert_eq!(scene.run("import asyncio\nawait asyncio.sleep(0)").succeeds().lines, [1, 2]);
    // A lone statement on the first line goes without saying.
    assert!(scene.run("for i in range(9):\n    f()").succeeds().lines.is_empty());
    // Of many statements that take no time, only the first are reported.
    let outcome = scene.run(&"x = 1\n".repeat(1000)).succeeds();
    assert!((64..100).contains(&outcome.lines.len()), "{:?}", outcome.lines);
    let outcome = scene.run(&format!("{}time.sleep(0.1)\nx", "x = 1\n".repeat(1000))).succeeds();
    assert_eq!(outcome.lines.last(), Some(&1002));
}

#[test]
fn the_text_of_code_is_found_by_whoever_looks_for_it() {
    let mut scene = python();
    scene.run("def f():\n    return 1 / 0").succeeds();
    scene
        .run("import inspect\nprint(inspect.getsource(f), end='')")
        .succeeds()
        .prints("def f():\n    return 1 / 0\n");
    // A form feed is no end of a line.
    let outcome = scene.run("x = '\x0c'\nimport traceback\ntry: f()\nexcept Exception: print(traceback.format_exc())").succeeds();
    assert!(
        String::from_utf8(outcome.stdout).unwrap().contains("line 3, in <module>\n    try: f()\n")
    );
}

#[test]
fn a_statement_in_the_middle_is_no_documentation_and_a_first_one_is() {
    let mut scene = python();
    scene.run("'one'\nx = 1\n'two'\nx = 2").succeeds();
    scene.run("__doc__").succeeds().results("'one'");
}

#[test]
fn a_future_statement_holds_for_later_cells() {
    let mut scene = python();
    scene.run("from __future__ import annotations\ndef f(a: nowhere): pass").succeeds();
    scene.run("def g(a: nowhere): pass\ng.__annotations__").succeeds().results("{'a': 'nowhere'}");
}

#[test]
fn await_works_at_the_top_and_tasks_live_on() {
    let mut scene = python();
    scene.run("import asyncio\ntask = asyncio.ensure_future(asyncio.sleep(0, 'done')) if False else None\nawait asyncio.sleep(0, 7)")
        .succeeds()
        .results("7");
    scene.run("task = asyncio.get_event_loop().create_task(asyncio.sleep(0, 'done'))\nawait asyncio.sleep(0)").succeeds();
    scene.run("await task").succeeds().results("'done'");
    // A statement can await a task that another one started.
    scene
        .run("task = asyncio.create_task(asyncio.sleep(0, 9))\nawait task")
        .succeeds()
        .results("9");
    scene.run("asyncio.run(asyncio.sleep(0, 8))").succeeds().results("8");
    scene
        .run("async def f(): raise ValueError('v')\nawait f()")
        .ends(End::Finished(1))
        .raises("ValueError: v");
}

#[test]
fn the_namespace_is_a_main_module_of_its_own() {
    let mut scene = python().file("beside.py", "value = 3");
    scene
        .run("names = sorted(n for n in globals() if not n.startswith('__'))\nnames")
        .succeeds()
        .results("[]");
    scene.run("import sys, beside\n__name__, sys.argv, '' in sys.path, beside.value, sys.modules['__main__'].names")
        .succeeds()
        .results("('__main__', [''], True, 3, [])");
}

#[test]
fn code_that_breaks_builtins_and_modules_breaks_only_itself() {
    let mut scene = python();
    scene.run("import builtins, os, json, signal, traceback, sys\nfor name in ['len', 'repr', 'isinstance', 'type', 'str']: delattr(builtins, name)\nos.write = os.read = json.dumps = signal.signal = traceback.format_exception = sys.exit = None\ndel sys.modules['os']").succeeds();
    scene.run("1 + 1").succeeds().results("2");
    scene.run("1 / 0").ends(End::Finished(1)).raises("ZeroDivisionError: division by zero");
    scene.run("print('still here')").succeeds().prints("still here\n");
}

#[test]
fn code_means_the_text_that_is_shown_whatever_encoding_it_names() {
    let mut scene = python();
    scene.run("print('é')").succeeds().prints("é\n");
    scene.run("# coding: latin-1\nprint('é')").succeeds().prints("é\n");
    // By these encodings the comment would be code.
    for hides in [
        "# coding: utf-7\n# +AAo-print('hidden')\n",
        "# coding: unicode_escape\n# \\nprint('hidden')\n",
    ] {
        for more in ["", "%time 1\n"] {
            let ran = scene.run(&format!("{hides}{more}print('shown')")).succeeds();
            assert!(!String::from_utf8_lossy(&ran.stdout).contains("hidden"), "{hides}{more}");
        }
    }
    scene.run("\u{feff}print('marked')").succeeds().prints("marked\n");
    scene.link().execute(1, b"'\xff'", &[]);
    scene.outcome(1).ends(End::Finished(1));
    scene
        .run("class Odd:\n    def __repr__(self): return '\\udc80'\nOdd()")
        .succeeds()
        .results("\\udc80");
}

#[test]
fn leaving_ends_the_kernel_with_its_status() {
    for (code, status, stderr) in [
        ("import sys; print('bye'); sys.exit(3)", 3, ""),
        ("import sys; print('bye'); sys.exit('words')", 1, "words\n"),
        ("print('bye'); exit()", 0, ""),
        ("import os; os.write(1, b'bye\\n'); os._exit(4)", 4, ""),
    ] {
        python().run(code).prints("bye\n").complains(stderr).ends(End::Exited(status));
    }
}

#[test]
fn a_crash_is_told_with_its_signal() {
    python()
        .run("import ctypes; print('on', flush=True); ctypes.string_at(0)")
        .prints("on\n")
        .ends(End::Killed(11));
    // A signal that has no name.
    python().run("import os; os.kill(os.getpid(), 40)").ends(End::Killed(40));
}

#[test]
fn an_interrupt_ends_the_cell_and_not_the_kernel() {
    let mut scene = python();
    scene.run("import time, asyncio\nx = 1").succeeds();
    for code in [
        "print('on')\nwhile True: pass",
        "print('on')\ntime.sleep(1000)",
        "print('on')\nawait asyncio.sleep(1000)",
        "print('on')\nwhile True: await asyncio.sleep(0)",
        "import subprocess; subprocess.run(['sh', '-c', 'echo on; exec sleep 1000'])",
        "!echo on; sleep 1000",
        "%%bash\necho on; sleep 1000",
        "import threading\nprint('on')\nt = threading.Thread(target=threading.Event().wait, daemon=True); t.start()\nt.join()",
    ] {
        scene
            .interrupt(code, "on\n")
            .prints("on\n")
            .complains("KeyboardInterrupt\n")
            .ends(End::Finished(130));
    }
    scene.run("x").succeeds().results("1");
}

#[test]
fn an_interrupt_between_cells_is_nobodys() {
    let mut scene = python();
    for _ in 0..3 {
        scene.send(&interpreter_host::Inward::Interrupt { kernel: 1 });
    }
    scene.run_behind("'fine'").succeeds().results("'fine'");
}

#[test]
fn background_work_neither_holds_a_cell_up_nor_is_lost() {
    let mut scene = python();
    scene.run("import subprocess, threading\np = subprocess.Popen(['sleep', '1000'])").succeeds();
    scene.run("go = threading.Event()\ndef late():\n    go.wait()\n    print('late')\nthreading.Thread(target=late).start()").succeeds();
    // Output after the end of a cell still arrives.
    let mut outcome = scene.run("threading.Timer(0, go.set).start()").ends(End::Finished(0));
    while outcome.stdout != b"late\n" {
        scene.collect(1, &mut outcome);
    }
}

#[test]
fn a_forked_child_does_not_speak_for_the_kernel() {
    let mut scene = python();
    scene.run("import os\npid = os.fork()\nif pid == 0: print('child')\nelse: print('parent', os.waitpid(pid, 0)[1])")
        .succeeds()
        .prints("child\nparent 0\n");
    scene.run("'one answer'").succeeds().results("'one answer'");
}

#[test]
fn only_the_standard_descriptors_reach_programs() {
    let mut scene = python();
    scene.run("import subprocess\nprint(subprocess.run(['ls', '/proc/self/fd'], capture_output=True, close_fds=False, text=True).stdout)")
        .succeeds()
        .prints("0\n1\n2\n3\n\n"); // 3 is the folder that `ls` reads.
}

#[test]
fn a_value_too_long_to_claim_is_cut_and_says_so() {
    let mut scene = python();
    let outcome = scene.run("'é' * 20_000_000").succeeds();
    assert!(outcome.results[0].ends_with("… (20000002 characters in all)"));
}
