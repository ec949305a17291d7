//! How kernels and the host live and die.

use crate::scene::{
    End,
    Language::{Python, Shell},
    Place, Scene, lines,
};
use interpreter_host::{Claim, Heard, Inward, KernelInput, KernelSpec, Outward};
use std::collections::BTreeMap;
use std::path::Path;

fn is_alive(pid: &str) -> bool {
    Path::new("/proc").join(pid.trim()).exists()
}

#[test]
fn a_kernel_that_cannot_start_says_why() {
    let mut scene = Scene::new(Place::Here);
    let spec = KernelSpec {
        program: "/nowhere/python3".into(),
        arguments: Vec::new(),
        environment: BTreeMap::new(),
        folder: "/".into(),
        input: KernelInput::Empty,
    };
    scene.send(&Inward::Start { kernel: 4, spec });
    let message = "cannot start `/nowhere/python3` in `/`: No such file or directory (os error 2)";
    assert_eq!(scene.told(), Outward::Failed { kernel: 4, message: message.into() });
}

#[test]
fn a_number_is_used_once_until_its_kernel_has_exited() {
    let mut scene = Scene::with(Shell);
    let spec = scene.spec(Shell);
    scene.send(&Inward::Start { kernel: 1, spec });
    assert!(matches!(scene.told(), Outward::Failed { kernel: 1, .. }));
    scene.run("exit 3").ends(End::Exited(3));
    scene.execute(1, "echo nobody hears this");
    scene.start(1, Shell);
    scene.run("echo again").succeeds().prints("again\n");
}

#[test]
fn kernels_live_side_by_side() {
    let mut scene = Scene::with(Shell);
    scene.start(2, Python);
    scene.execute(2, "print('two')");
    scene.outcome(2).succeeds().prints("two\n");
    scene.run("kill -9 $$").ends(End::Killed(9));
    scene.execute(2, "'alive'");
    scene.outcome(2).succeeds().results("'alive'");
}

#[test]
fn the_environment_is_exactly_the_given_one() {
    let mut scene = Scene::with(Python);
    scene
        .run("import os; print(sorted(os.environ.items()))")
        .succeeds()
        .prints("[('LANG', 'C.UTF-8'), ('PATH', '/usr/local/bin:/usr/bin:/bin')]\n");
}

#[test]
fn a_driver_without_control_ends_when_its_cell_does() {
    Scene::with(Python)
        .run("import os; os.closerange(3, 256); print('closed')")
        .prints("closed\n")
        .ends(End::Exited(1));
}

#[test]
fn a_kernel_that_gives_up_control_between_cells_is_killed() {
    let mut scene = Scene::with(Python);
    scene.execute(
        1,
        // In a function, so that the driver has nothing to say after the socket is gone.
        "import os, socket\n\
         def give_up():\n\
         \u{20} os.write(40, b'{\"kind\":\"finished\",\"status\":0}\\n')\n\
         \u{20} socket.socket(fileno=40).shutdown(socket.SHUT_RDWR)\n\
         \u{20} while True: pass\n\
         give_up()",
    );
    scene.outcome(1).succeeds();
    scene.outcome(1).ends(End::Killed(9));
}

#[test]
fn noise_on_the_control_socket_is_passed_on_as_it_is() {
    let mut scene = Scene::with(Python);
    let outcome = scene
        .run("import os\nn = os.write(40, b'garbage\\n\\xff\\x00\\n{\"kind\":\"granted\"}\\n\\n')")
        .succeeds();
    assert_eq!(outcome.noise, 4);
    scene.run("'alive'").succeeds().results("'alive'");
}

#[test]
fn what_is_not_ended_on_the_control_socket_swallows_no_claim() {
    let mut scene = Scene::with(Python);
    for noise in ["garbage", "{\\x22kind\\x22:", "{\\x22kind\\x22:\\x22finished\\x22,"] {
        let outcome = scene.run(&format!("import os\nn = os.write(40, b'{noise}')")).succeeds();
        assert_eq!(outcome.noise, 1);
        scene.run("'alive'").succeeds().results("'alive'");
    }
}

#[test]
fn a_forged_end_keeps_what_was_printed_before_it_before_it() {
    let mut scene = Scene::with(Python);
    scene.execute(1, "import os\nos.write(1, b'before')\nn = os.write(40, b'{\"kind\":\"finished\",\"status\":0}\\n')\nos.write(1, b'after')\nn = os.write(40, b'{\"kind\":\"finished\",\"status\":0}\\n')");
    let mut printed = scene.outcome(1).succeeds().stdout;
    assert!(printed.starts_with(b"before"));
    printed.extend(scene.outcome(1).succeeds().stdout);
    assert_eq!(printed, b"beforeafter");
    scene.outcome(1).succeeds().prints("");
}

#[test]
fn descriptors_that_code_sends_are_taken_by_nobody() {
    let mut scene = Scene::with(Python);
    // The other end of a pipe ends when nobody has it any more.
    let code = "import os, socket\nr, w = os.pipe()\ncontrol = socket.socket(fileno=os.dup(40))\n\
                n = socket.send_fds(control, [b'noise\\n'], [w])\nos.close(w)\nos.read(r, 1)";
    assert_eq!(scene.run(code).succeeds().results("b''").noise, 1);
}

#[test]
fn urgent_bytes_on_the_control_socket_keep_nobody_busy() {
    let mut scene = Scene::with(Python);
    let code = "import os, socket\ncontrol = socket.socket(fileno=os.dup(40))\n\
                n = control.send(b'!', socket.MSG_OOB)";
    scene.run(code).ends(End::Finished(0));
    scene.run("'alive'").succeeds().results("'alive'");
    scene.is_quiet();
}

#[test]
fn a_claim_without_end_ends_its_kernel() {
    let mut scene = Scene::with(Python);
    scene
        .run("import os\nwhile True: os.write(40, b'x' * 65536)")
        .complains("the code wrote too much to the kernel's control socket; the kernel ends\n")
        .ends(End::Killed(9));
}

#[test]
fn a_program_that_never_stops_printing_cannot_keep_a_cell_from_ending() {
    let mut scene = Scene::with(Shell);
    let outcome = scene.run("yes & :");
    assert_eq!(outcome.end, Some(End::Finished(0)));
    scene.send(&Inward::Stop { kernel: 1 });
    scene.outcome(1).ends(End::Killed(9));
}

#[test]
fn a_slow_reader_slows_the_program_and_loses_nothing() {
    let mut scene = Scene::with(Python);
    // Far more than the pipes hold; nothing is read until the program says it is done.
    scene.execute(1, "import sys\nfor i in range(64): n = sys.stdout.write('x' * (1 << 20))");
    // Requests get through although nobody reads.
    scene.send(&Inward::Restore {
        work: "/nowhere".into(),
        lower: "/nowhere".into(),
        paths: vec![],
        scratch: ".new".into(),
    });
    let mut length = 0;
    let mut restored = false;
    loop {
        match scene.next() {
            Heard::Stdout { bytes, .. } => length += bytes.len(),
            Heard::Told(Outward::Restored { errors }) => restored = errors.is_empty(),
            Heard::Claim { claim, .. }
                if matches!(Claim::parse(&claim), Ok(Claim::Line { .. })) => {}
            Heard::Claim { .. } => break,
            other @ (Heard::Stderr { .. } | Heard::Lost { .. } | Heard::Told(_)) => {
                panic!("{other:?}")
            }
        }
    }
    assert_eq!((length, restored), (64 << 20, true));
}

#[test]
fn much_on_both_pipes_at_once_comes_out_whole() {
    let mut scene = Scene::with(Shell);
    let code = "seq 1 400000 & seq 1 400000 >&2 & wait; echo end";
    let all = lines(1..400_001);
    let outcome = scene.run(code).ends(End::Finished(0));
    assert!(outcome.stdout == format!("{all}end\n").into_bytes());
    assert!(outcome.stderr == all.into_bytes());
}

#[test]
fn code_that_takes_back_what_it_printed_harms_itself_alone() {
    let mut scene = Scene::with(Python);
    let code = "
import os, threading
own = os.open('/proc/self/fd/1', os.O_RDONLY | os.O_NONBLOCK)
done = False
def take():
    while not done:
        try: os.read(own, 1 << 20)
        except BlockingIOError: pass
thread = threading.Thread(target=take)
thread.start()
for _ in range(500): os.write(1, b'x' * 65536)
done = True
thread.join()
os.close(own)
";
    scene.run(code).ends(End::Finished(0));
    scene.run("print('still here')").succeeds().prints("still here\n");
}

#[test]
fn output_in_packets_is_told_before_the_end_too() {
    // A pipe in packet mode gives one write at a time, however much is in it.
    let code = "import os, fcntl\n\
                fcntl.fcntl(1, fcntl.F_SETFL, fcntl.fcntl(1, fcntl.F_GETFL) | os.O_DIRECT)\n\
                for _ in range(100): n = os.write(1, b'x')";
    Scene::with(Python).run(code).succeeds().prints(&"x".repeat(100));
}

#[test]
fn stop_kills_the_kernel_and_what_left_its_group() {
    for place in [Place::Here, Place::Namespace] {
        for others in [0, 1] {
            let mut scene = Scene::new(place);
            scene.start(1, Shell);
            if others == 1 {
                scene.start(2, Shell);
            }
            // One in the group, one with a session of its own, one that ignores what it can.
            let outcome = scene.run("setsid sleep 1000 & sleep 1000 & (trap '' INT TERM HUP; exec sleep 1000) & jobs -p");
            let pids = String::from_utf8(outcome.ends(End::Finished(0)).stdout).unwrap();
            assert_eq!(pids.lines().count(), 3);
            scene.execute(1, "sleep 1000");
            scene.send(&Inward::Stop { kernel: 1 });
            scene.outcome(1).ends(End::Killed(9));
            if others == 1 {
                // Asked inside, where the numbers mean something; the dead are buried by then.
                scene.execute(
                    2,
                    &format!(
                        "for p in {}; do while kill -0 $p 2>/dev/null; do :; done; done",
                        pids.replace('\n', " ")
                    ),
                );
                scene.outcome(2).ends(End::Finished(0));
            }
        }
    }
}

#[test]
fn stop_kills_a_daemon_although_other_kernels_live() {
    for place in [Place::Here, Place::Namespace] {
        let mut scene = Scene::new(place);
        scene.start(1, Shell);
        scene.start(2, Shell);
        // Forked twice, in a session of its own, deaf to all that can be ignored. It must not
        // hold the pipe open, or the substitution would wait for it.
        let daemon = "d=$( (setsid bash -c 'trap \"\" INT TERM HUP; echo $$; exec >&-; \
             while :; do sleep 1000; done' &) ); echo $d";
        let outcome = scene.run(daemon).ends(End::Finished(0));
        let daemon = String::from_utf8(outcome.stdout).unwrap();
        scene.execute(2, "sleep 1000 & echo $!");
        let outcome = scene.outcome(2).ends(End::Finished(0));
        let child = String::from_utf8(outcome.stdout).unwrap();
        scene.send(&Inward::Stop { kernel: 1 });
        scene.outcome(1).ends(End::Killed(9));
        // Checked inside, where the numbers mean something. Processes of the other kernel live.
        let (daemon, child) = (daemon.trim(), child.trim());
        scene.execute(
            2,
            &format!("while kill -0 {daemon} 2>/dev/null; do :; done; kill -0 {child}"),
        );
        scene.outcome(2).ends(End::Finished(0));
    }
}

#[track_caller]
fn used(scene: &mut Scene) -> u64 {
    scene.send(&Inward::Measure);
    let Outward::Used { milliseconds } = scene.told() else { panic!("it was asked") };
    milliseconds
}

#[test]
fn processor_time_is_counted_for_the_living_and_the_dead() {
    let mut scene = Scene::with(Shell);
    let before = used(&mut scene);
    // A process of its own, which is dead by then; it knows by itself what it used.
    let burn =
        "bash -c 'while s=$(</proc/$$/stat); set -- ${s##*) }; ((${12} + ${13} < 30)); do :; done'";
    scene.run(burn).succeeds();
    let after = used(&mut scene);
    assert!(after >= before + 290, "{before} {after}");
}

#[test]
fn when_the_stream_ends_everything_ends() {
    let mut scene = Scene::with(Shell);
    // A daemon in the full sense: new session, and its parent is gone.
    let outcome =
        scene.run("(setsid sh -c 'echo $$; exec sleep 1000' &) ; sleep 1000 & echo $!; echo $$");
    let mut pids = String::from_utf8(outcome.ends(End::Finished(0)).stdout).unwrap();
    while pids.lines().count() < 3 {
        let Heard::Stdout { bytes, .. } = scene.next() else { panic!() };
        pids.push_str(&String::from_utf8(bytes).unwrap());
    }
    assert!(pids.lines().all(is_alive));
    assert!(scene.hang_up().success());
    assert!(!pids.lines().any(is_alive), "{pids}");
}

#[test]
fn a_first_process_buries_orphans_and_ends_with_its_stream() {
    let mut scene = Scene::new(Place::Namespace);
    scene.start(1, Shell);
    scene.run("orphan=$( (setsid sh -c 'echo $$; exec true' &) )").succeeds();
    scene.run("while [ -e /proc/$orphan ]; do :; done; echo $PPID").succeeds().prints("1\n");
    scene.run("setsid sleep 1000 &").ends(End::Finished(0));
    assert!(scene.hang_up().success());
}

#[test]
fn broken_frames_end_the_host() {
    let mut scene = Scene::with(Shell);
    let outcome = scene.run("sleep 1000 & echo $!").ends(End::Finished(0));
    let pid = String::from_utf8(outcome.stdout).unwrap();
    scene.send_raw(&[0xff; 64]);
    while scene.try_next().is_some() {}
    assert!(!scene.hang_up().success());
    assert!(!is_alive(&pid));
}

#[test]
fn paths_are_put_back() {
    let mut scene = Scene::with(Shell);
    scene.run("mkdir work lower; echo was >lower/a; echo is >work/a; echo new >work/b").succeeds();
    let (work, lower) = (scene.path().join("work"), scene.path().join("lower"));
    scene.send(&Inward::Restore {
        work,
        lower,
        paths: vec!["a".into(), "b".into(), "../x".into()],
        scratch: ".new".into(),
    });
    let errors = vec!["`../x` was not put back: it is not below the work folder".to_owned()];
    assert_eq!(scene.told(), Outward::Restored { errors });
    scene.run("cat work/a; ls work").succeeds().prints("was\na\n");
}
