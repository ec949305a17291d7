//! Capabilities of every kernel through the bridge.

use crate::scene::{End, Kernel, Scene};
use std::fmt::Write as _;

#[test]
fn values_output_and_state() {
    for kernel in Kernel::ALL {
        let mut scene = Scene::of(kernel);
        let code = "import os, sys\nx = 41\nprint('out')\nprint('err', file=sys.stderr)\nx + 1";
        let outcome = scene.run(code).prints("out\n").results("42").ends(End::Finished(0));
        assert_eq!(outcome.stderr, "err\n");
        scene.run("x, 'ä€😀'").succeeds().results("(41, 'ä€😀')");
        scene.run("x += 1;").succeeds().prints("");
        let home = scene.folder.path().display().to_string();
        scene.run("os.environ['TOLD']").results(&format!("'by {home}'"));
    }
}

#[test]
fn twenty_thousand_lines_arrive_whole() {
    let lines = (0..25_000).fold(String::new(), |mut all, number| {
        writeln!(all, "{number}").unwrap();
        all
    });
    let mut scene = Scene::of(Kernel::Ipykernel);
    let outcome = scene.run("for i in range(25_000): print(i, flush=True)").succeeds();
    assert!(outcome.stdout == lines, "{} of {} bytes", outcome.stdout.len(), lines.len());
    scene.run("print('next')").succeeds().prints("next\n");
}

#[test]
fn a_cell_of_many_lines_ends_even_where_the_kernel_drops_some() {
    // xeus drops what its socket does not take at once, and nobody can tell it not to.
    let mut scene = Scene::of(Kernel::Xeus);
    let outcome = scene.run("for i in range(25_000): print(i, flush=True)");
    let outcome = outcome.ends(End::Finished(0));
    assert!(outcome.stdout.starts_with("0\n1\n2\n"));
    scene.run("print('next')").succeeds().prints("next\n");
}

#[test]
fn a_display_can_be_updated_and_has_all_its_forms() {
    for kernel in Kernel::ALL {
        let mut scene = Scene::of(kernel);
        let outcome = scene
            .run(
                "from IPython.display import display, HTML, clear_output\n\
                 handle = display(HTML('<b>1</b>'), display_id='d')\n\
                 display({'text/plain': 'plain', 'application/json': {'a': 1}}, raw=True)\n\
                 clear_output()\nhandle.update(HTML('<b>2</b>'))",
            )
            .succeeds();
        let shown: Vec<_> = outcome
            .results
            .iter()
            .map(|(bundle, display)| (bundle.get("text/html").cloned(), display.clone()))
            .collect();
        let named = |text: &str| (Some(text.to_owned()), Some("d".to_owned()));
        assert_eq!(shown, [named("<b>1</b>"), (None, None), named("<b>2</b>")], "{kernel:?}");
        assert_eq!(outcome.results[1].0["application/json"], "{\"a\":1}");
    }
}

#[test]
fn an_error_is_raised_and_told_and_the_state_stays() {
    for kernel in Kernel::ALL {
        let mut scene = Scene::of(kernel);
        let outcome = scene.run("x = 1\ndef f(): return 1 / 0\nf()").ends(End::Finished(1));
        let outcome = outcome.complains("ZeroDivisionError");
        let name = match kernel {
            Kernel::Ipykernel | Kernel::ByMessage | Kernel::Bash => "ZeroDivisionError",
            Kernel::Xeus => "<class 'ZeroDivisionError'>",
        };
        assert_eq!(outcome.raised, [format!("{name}: division by zero")]);
        assert_eq!(scene.run("x +").ends(End::Finished(1)).raised.len(), 1, "{kernel:?}");
        scene.run("x").succeeds().results("1");
    }
}

#[test]
fn code_asks_for_lines_and_for_secrets() {
    for kernel in Kernel::ALL {
        let mut scene = Scene::of(kernel);
        scene.answers.extend([Some("Zoë".into()), Some("s3cret".into())]);
        let outcome = scene
            .run("import getpass\nprint('before')\n[input('Name? '), getpass.getpass('Word? ')]")
            .prints("before\n")
            .results("['Zoë', 's3cret']");
        assert_eq!(outcome.asked, [("Name? ".into(), false), ("Word? ".into(), true)]);
        // Unanswered requests and unexpected replies do no harm.
        scene.send("+4", "late");
        scene.run("1").succeeds().results("1");
    }
}

#[test]
fn no_answer_is_the_end_of_input() {
    let mut scene = Scene::of(Kernel::Ipykernel);
    let outcome = scene.run("input('name? ')").ends(End::Finished(1));
    assert!(outcome.raised[0].starts_with("EOFError"), "{outcome:?}");
}

#[test]
fn loops_and_sleeps_and_questions_are_interrupted_and_the_state_stays() {
    // A signal ends xeus, whoever sends it.
    for kernel in [Kernel::Ipykernel, Kernel::ByMessage] {
        let mut scene = Scene::of(kernel);
        scene.run("import time\nx = 7").succeeds();
        for rest in ["while True: pass", "time.sleep(1000)"] {
            let code = format!("print('on', flush=True)\n{rest}");
            let outcome = scene.interrupt(&code, "on").ends(End::Finished(130));
            let is_interrupt = |raised: &String| raised.starts_with("KeyboardInterrupt");
            assert!(outcome.raised.iter().all(is_interrupt), "{outcome:?}");
        }
        // Between cells it is nobody's. Once something else has been answered, it has come.
        scene.signal();
        scene.complete("x|");
        scene.run("x").succeeds().results("7");
    }
}

#[test]
fn a_program_that_the_code_runs_is_interrupted_too() {
    let mut scene = Scene::of(Kernel::Ipykernel);
    let code = "import subprocess, sys\nprint('on', flush=True)\n\
                subprocess.run([sys.executable, '-c', 'import time; time.sleep(1000)']).returncode";
    scene.interrupt(code, "on").ends(End::Finished(130));
}

#[test]
fn what_could_come_next_is_completed() {
    for kernel in Kernel::ALL {
        let mut scene = Scene::of(kernel);
        scene.run("import os\nwonderful_name = 1\nclass A: wonderful_part = 2").succeeds();
        let (start, end, matches) = scene.complete("'ä'; wonderf| + 1");
        assert_eq!((start, end), (6, 13), "{kernel:?} {matches:?}");
        assert!(matches.contains(&"wonderful_name".into()), "{kernel:?} {matches:?}");
        let (start, end, matches) = scene.complete("A.wonder|");
        let whole: Vec<_> =
            matches.iter().map(|one| "A.wonder"[..start].to_owned() + one).collect();
        assert!(whole.contains(&"A.wonderful_part".into()), "{kernel:?} {start} {matches:?}");
        assert_eq!(end, 8);
        assert_eq!(scene.complete("nothing_begins_so|").2.len(), 0);
        scene.run("1").succeeds();
    }
}

#[test]
fn two_questions_at_once_have_two_answers_and_the_first_says_nothing() {
    let mut scene = Scene::of(Kernel::Ipykernel);
    scene.send("?2 2", "pr?4 4\nprin");
    let mut both = Vec::new();
    while both.len() < 2 {
        let mut outcome = crate::scene::Outcome::default();
        scene.collect(&mut outcome);
        both.extend(outcome.completions);
    }
    assert_eq!(both[0], (0, 0, vec![]));
    assert!(both[1].2.contains(&"print".into()), "{both:?}");
}

#[test]
fn a_kernel_of_another_language_does_it_all() {
    let mut scene = Scene::of(Kernel::Bash);
    scene.run("x=41; echo $((x + 1)); echo bad >&2").prints("42\nbad\n").ends(End::Finished(0));
    scene.run("false").ends(End::Finished(1));
    scene.run("echo $x").succeeds().prints("41\n");
    // Said by the very program that is to be interrupted: this kernel hangs for good if an interrupt
    // comes between two programs, and is then ended by the outside.
    scene.interrupt("bash -c 'echo on; exec sleep 1000'; echo off", "on").ends(End::Finished(130));
    scene.run("echo $x").succeeds().prints("41\n");
    let (start, end, matches) = scene.complete("ech|");
    assert!((start, end) == (0, 3) && matches.contains(&"echo".into()), "{matches:?}");
}
