//! `input()` and its like: the person is asked, and nobody else.

use super::python;
use crate::scene::{End, Outcome, Scene};
use interpreter_host::{Claim, Heard, Inward};

/// Runs a cell until it asks.
#[track_caller]
fn run_until_it_asks(scene: &mut Scene, code: &str) {
    scene.execute(1, code);
    loop {
        if let Heard::Claim { claim, .. } = scene.next()
            && matches!(Claim::parse(&claim), Ok(Claim::Asks { .. }))
        {
            return;
        }
    }
}

fn answer(scene: &mut Scene, text: &str) {
    scene.link().answer(1, Some(text.as_bytes()));
}

#[test]
fn a_line_is_asked_for_and_given_exactly() {
    let mut scene = python();
    scene.answers.extend([Some("Zoë \\ \"x\"".into()), Some(String::new())]);
    let outcome = scene.run("print('before', end='')\n[input('Name? '), input()]").succeeds();
    let outcome = outcome.prints("before").results("['Zoë \\\\ \"x\"', '']");
    assert_eq!(outcome.asked, [("Name? ".into(), false), (String::new(), false)]);
}

#[test]
fn a_secret_is_asked_for_as_one() {
    let mut scene = python();
    scene.answers.extend([Some("s3cret".into()), Some("more".into())]);
    let outcome = scene
        .run("import getpass\nfrom getpass import getpass as ask\n[getpass.getpass(), ask(prompt='Key: ')]")
        .succeeds()
        .results("['s3cret', 'more']");
    assert_eq!(outcome.asked, [("Password: ".into(), true), ("Key: ".into(), true)]);
}

#[test]
fn no_answer_is_the_end_of_input_and_stdin_is_empty() {
    let mut scene = python();
    scene
        .run("input('name? ')")
        .prints("")
        .ends(End::Finished(1))
        .raises("EOFError: EOF when reading a line");
    scene.run("import sys; sys.stdin.read()").succeeds().results("''");
}

#[test]
fn a_long_answer_comes_whole() {
    let mut scene = python();
    let long = "ä".repeat(500_000);
    scene.answers.push_back(Some(long));
    scene.run("text = input()\nlen(text), set(text)").succeeds().results("(500000, {'ä'})");
}

#[test]
fn threads_ask_one_after_the_other() {
    let mut scene = python();
    scene.answers.extend(["1", "2", "3"].map(|text| Some(text.into())));
    scene
        .run(
            "import threading\ngot = []\n\
             threads = [threading.Thread(target=lambda: got.append(input('?'))) for _ in range(3)]\n\
             for t in threads: t.start()\nfor t in threads: t.join()\nsorted(got)",
        )
        .succeeds()
        .results("['1', '2', '3']");
    scene.answers.push_back(Some("4".into()));
    scene
        .run("import asyncio\nawait asyncio.get_running_loop().run_in_executor(None, input, '?')")
        .succeeds()
        .results("'4'");
}

#[test]
fn a_thread_whose_cell_has_ended_is_told_so() {
    let mut scene = python();
    scene
        .run("import threading\nerrors, go, done = [], threading.Event(), threading.Event()\ndef ask():\n    try: input('?')\n    except RuntimeError as error: errors.append(str(error))\ndef late():\n    go.wait(); ask(); done.set()")
        .succeeds();
    // It asks when no cell runs any more: the cell's last act lets it go on.
    scene.run("threading.Thread(target=late).start()").succeeds();
    scene.run("import sys\nclass Last:\n    def flush(self):\n        if threading.current_thread() is threading.main_thread(): go.set(); done.wait()\n    def write(self, text): pass\nsys.stdout = Last()").succeeds();
    scene
        .run("sys.stdout = sys.__stdout__\nerrors")
        .succeeds()
        .results("['nobody can be asked when no cell runs; ask while one does']");
    // It waits for an answer when the cell ends.
    run_until_it_asks(&mut scene, "errors.clear()\nt = threading.Thread(target=ask)\nt.start()");
    scene.outcome(1).succeeds();
    scene
        .run("t.join()\nerrors")
        .succeeds()
        .results("['the cell ended before the question was answered']");
}

#[test]
fn an_interrupt_ends_a_question_and_the_state_stays() {
    let mut scene = python();
    scene.run("import asyncio\nx = 1").succeeds();
    for code in ["input('?')", "await asyncio.sleep(0)\ninput('?')"] {
        run_until_it_asks(&mut scene, code);
        scene.send(&Inward::Interrupt { kernel: 1 });
        scene.outcome(1).complains("KeyboardInterrupt\n").ends(End::Finished(130));
    }
    scene.answers.push_back(Some("fine".into()));
    scene.run("x, input()").succeeds().results("(1, 'fine')");
}

#[test]
fn code_that_catches_the_interrupt_of_a_question_goes_on() {
    let mut scene = python();
    run_until_it_asks(
        &mut scene,
        "try: input('?')\nexcept KeyboardInterrupt: print('caught')\nawait_answer = input('again?')\nawait_answer",
    );
    scene.send(&Inward::Interrupt { kernel: 1 });
    let mut outcome = Outcome::default();
    scene.answers.push_back(Some("yes".into()));
    while outcome.end.is_none() {
        scene.collect(1, &mut outcome);
    }
    outcome.succeeds().prints("caught\n").results("'yes'");
}

#[test]
fn a_forked_process_cannot_ask() {
    let mut scene = python();
    scene
        .run("import os\npid = os.fork()\nif pid == 0:\n    try: input('?')\n    except RuntimeError as error: print(error, flush=True); os._exit(0)\nelse: os.waitpid(pid, 0)[1]")
        .succeeds()
        .prints("a forked process cannot ask; ask in the kernel's own process\n");
}

#[test]
fn an_answer_is_used_once() {
    let mut scene = python();
    run_until_it_asks(&mut scene, "input('?')");
    answer(&mut scene, "1 + 1");
    scene.outcome(1).succeeds().results("'1 + 1'");
    scene.run("'next'").succeeds().results("'next'");
}
