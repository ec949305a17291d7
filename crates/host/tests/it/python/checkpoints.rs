//! Copies of a Python kernel's memory: taken between cells, gone back to, and attacked by the code
//! that they are copies of.

use super::python;
use crate::scene::{
    End,
    Language::{Python, Shell},
    Place, Scene,
};
use interpreter_host::{Claim, Heard, Inward, Outward};
use std::path::Path;

/// Bytes that a test lets copies take.
const MUCH: u64 = 1 << 40;

/// The claim of a copy.
#[derive(Debug, PartialEq, Eq)]
struct Copy {
    process: u32,
    threads: u32,
    sockets: u32,
    files: u32,
    programs: u32,
}

impl Copy {
    fn beside(&self) -> (u32, u32, u32, u32) {
        (self.threads, self.sockets, self.files, self.programs)
    }

    fn is_alive(&self) -> bool {
        is_alive(self.process)
    }
}

fn is_alive(process: u32) -> bool {
    Path::new("/proc").join(process.to_string()).exists()
}

/// The next thing that a driver claims.
#[track_caller]
fn claimed(scene: &mut Scene) -> Claim {
    loop {
        if let Heard::Claim { claim, .. } = scene.next()
            && let Ok(claim) = Claim::parse(&claim)
        {
            return claim;
        }
    }
}

#[track_caller]
fn copied(scene: &mut Scene, expected: u32) -> Copy {
    let claim = claimed(scene);
    let Claim::Checkpointed { number, process, threads, sockets, files, programs } = claim else {
        panic!("not taken: {claim:?}")
    };
    assert_eq!(number, expected);
    Copy { process, threads, sockets, files, programs }
}

#[track_caller]
fn held(scene: &mut Scene, number: u32, process: u32, most: u64) -> bool {
    scene.send(&Inward::Hold { kernel: 1, number, process, most });
    let told = scene.told();
    let Outward::Held { kernel: 1, held, .. } = told else { panic!("{told:?}") };
    held
}

/// Takes a checkpoint of kernel 1, which the host holds.
#[track_caller]
fn checkpoint(scene: &mut Scene, number: u32) -> Copy {
    scene.link().checkpoint(1, number);
    let copy = copied(scene, number);
    assert!(held(scene, number, copy.process, MUCH));
    copy
}

/// Asks for a rewind of kernel 1: the process that it is by then.
#[track_caller]
fn asks_to_rewind(scene: &mut Scene, to: u32) -> u32 {
    scene.send(&Inward::Rewind { kernel: 1, number: to });
    let told = scene.told();
    let Outward::Rewound { kernel: 1, number, process } = told else { panic!("{told:?}") };
    assert_eq!(number, to);
    process
}

/// Goes back, and holds the copy that takes the place of the one that was woken.
#[track_caller]
fn rewind(scene: &mut Scene, to: u32) -> u32 {
    scene.send(&Inward::Rewind { kernel: 1, number: to });
    // The host and the copy speak on wires of their own, in either order.
    let (mut rewound, mut copy) = (None, None);
    while rewound.is_none() || copy.is_none() {
        match scene.next() {
            Heard::Told(Outward::Rewound { kernel: 1, number, process }) => {
                assert_eq!(number, to);
                assert!(process > 0, "there is no copy {to}");
                rewound = Some(process);
            }
            Heard::Claim { claim, .. } => {
                let claim = Claim::parse(&claim).unwrap();
                let Claim::Checkpointed { number, process, .. } = claim else {
                    panic!("{claim:?}")
                };
                assert_eq!(number, to);
                copy = Some(process);
            }
            other @ (Heard::Stdout { .. }
            | Heard::Stderr { .. }
            | Heard::Lost { .. }
            | Heard::Told(_)) => panic!("unexpected: {other:?}"),
        }
    }
    assert!(held(scene, to, copy.unwrap(), MUCH));
    rewound.unwrap()
}

#[test]
fn memory_goes_back_to_any_checkpoint_and_forth_from_there() {
    for place in [Place::Here, Place::Namespace] {
        let mut scene = Scene::new(place);
        scene.start(1, Python);
        checkpoint(&mut scene, 1);
        scene.run("x = [1]").succeeds();
        checkpoint(&mut scene, 2);
        scene.run("x.append(2); y = 'later'").succeeds();
        checkpoint(&mut scene, 3);
        scene.run("del x").succeeds();
        rewind(&mut scene, 3);
        scene.run("(x, y)").succeeds().results("([1, 2], 'later')");
        rewind(&mut scene, 2);
        scene.run("x.append(9); x, 'y' in globals()").succeeds().results("([1, 9], False)");
        // Once more, and then to the first.
        rewind(&mut scene, 2);
        scene.run("x").succeeds().results("[1]");
        rewind(&mut scene, 1);
        scene.run("'x' in globals()").succeeds().results("False");
        assert_eq!(asks_to_rewind(&mut scene, 2), 0);
        scene.run("x = 'on'").succeeds();
        checkpoint(&mut scene, 2);
        scene.run("x = 'off'").succeeds();
        rewind(&mut scene, 2);
        scene.run("x").succeeds().results("'on'");
    }
}

/// Memory that a fork would share goes back as well: anonymous, of an unlinked file, by a name.
#[test]
fn shared_memory_goes_back_too() {
    for place in [Place::Here, Place::Namespace] {
        let mut scene = Scene::new(place);
        scene.start(1, Python);
        let makes = "import mmap, multiprocessing\nfrom multiprocessing import shared_memory\n\
            a = mmap.mmap(-1, 3 << 20)\nb = multiprocessing.RawArray('c', 5)\n\
            c = shared_memory.SharedMemory(create=True, size=4096, track=False) \
            if __import__('sys').version_info > (3, 13) else \
            shared_memory.SharedMemory(create=True, size=4096)\n\
            d = multiprocessing.Lock(); e = bytearray(5)\n\
            a[-5:] = b'first'; b.raw = b'first'; c.buf[:5] = b'first'; e[:] = b'first'";
        let show = "a[-5:], b.raw, bytes(c.buf[:5]), d.acquire(False), bytes(e)";
        scene.run(makes).succeeds();
        checkpoint(&mut scene, 1);
        let changes = "a[-5:] = b'later'; b.raw = b'later'; c.buf[:5] = b'later'; e[:] = b'later'\n\
            d.acquire(False)";
        scene.run(changes).succeeds();
        let later = "(b'later', b'later', b'later', False, b'later')";
        scene.run(show).succeeds().results(later);
        for _ in 0..2 {
            rewind(&mut scene, 1);
            let first = "(b'first', b'first', b'first', True, b'first')";
            scene.run(show).succeeds().results(first);
            scene.run(changes).succeeds();
        }
        // By its name alone: what counts such names was a program, and has ended.
        scene.run("__import__('os').unlink('/dev/shm/' + c.name)").succeeds();
    }
}

/// Memory that cannot be put back is not kept, and the kernel says why.
#[test]
fn no_copy_is_made_of_memory_that_cannot_be_put_back() {
    for (code, why) in [
        ("m = mmap.mmap(-1, 17 << 20)", "more than 16 MiB"),
        ("f = tempfile.TemporaryFile(); f.truncate(9); m = mmap.mmap(f.fileno(), 9, access=1)", ""),
        ("f = open(path, 'wb+'); f.truncate(9); m = mmap.mmap(f.fileno(), 9)", "a file mapped"),
        ("f = open(path, 'rb'); m = mmap.mmap(f.fileno(), 9, access=1)", "a file mapped"),
    ] {
        let mut scene = python();
        scene.run("import mmap, os, tempfile\npath = tempfile.mktemp()").succeeds();
        scene.run("open(path, 'wb').write(bytes(9))").succeeds();
        scene.run(code).succeeds();
        scene.link().checkpoint(1, 1);
        let claim = claimed(&mut scene);
        let Claim::NotCheckpointed { number: 1, reason } = claim else {
            panic!("{code}: {claim:?}")
        };
        assert!(reason.contains(why), "{code}: {reason}");
        // The control: without it there is a copy.
        scene.run("m.close(); del m; 'f' in globals() and f.close(); os.unlink(path)").succeeds();
        checkpoint(&mut scene, 2);
    }
}

/// The kernel looks for shared memory when its memory has another size. A copy looks always.
#[test]
fn no_copy_is_made_of_shared_memory_that_the_kernel_did_not_notice() {
    let mut scene = python();
    scene.run("import mmap\nm = mmap.mmap(-1, 1 << 20)").succeeds();
    // Until nothing is new in it but what it is made to share.
    for number in 1..5 {
        scene.run("m.close(); m = mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE)").succeeds();
        checkpoint(&mut scene, number);
    }
    scene.run("m.close(); m = mmap.mmap(-1, 1 << 20, mmap.MAP_SHARED)").succeeds();
    scene.link().checkpoint(1, 5);
    let claim = claimed(&mut scene);
    let Claim::NotCheckpointed { number: 5, reason } = claim else { panic!("{claim:?}") };
    assert!(reason.contains("was not kept"), "{reason}");
    // It is kept once the kernel has noticed.
    scene.run("more = mmap.mmap(-1, 1 << 20)\nm[:5] = b'first'").succeeds();
    checkpoint(&mut scene, 6);
    scene.run("m[:5] = b'later'").succeeds();
    rewind(&mut scene, 6);
    scene.run("m[:5]").succeeds().results("b'first'");
}

#[test]
fn a_rewound_kernel_is_a_kernel_like_any_other() {
    let mut scene = python();
    scene.run("import os, sys\nprint('before')").succeeds().prints("before\n");
    checkpoint(&mut scene, 1);
    scene.run("print('between')").succeeds().prints("between\n");
    let process = rewind(&mut scene, 1);
    scene.run("os.getpid() == os.getpgrp()").succeeds().results("True");
    scene.run("os.getpid()").succeeds().results(&process.to_string());
    scene
        .run("print('out')\nprint('error', file=sys.stderr)")
        .prints("out\n")
        .complains("error\n")
        .ends(End::Finished(0));
    scene.run("os.system('echo program')").succeeds().prints("program\n");
    scene
        .interrupt("print('go')\nwhile True: pass", "go\n")
        .complains("KeyboardInterrupt\n")
        .ends(End::Finished(130));
    scene.run("input('name? ')").ends(End::Finished(1)).raises("EOFError: EOF when reading a line");
    scene.link().complete(1, b"sys.getrecursionl", 17);
    let Claim::Completions { matches, .. } = claimed(&mut scene) else { panic!() };
    assert_eq!(matches, ["getrecursionlimit"]);
    scene.run("sys.exit(7)").ends(End::Exited(7));
    scene.start(1, Python);
    scene.run("1 + 1").succeeds().results("2");
}

#[test]
fn random_numbers_go_back_and_a_fork_by_code_stays_its_own() {
    let mut scene = python();
    scene.run("import os, random\nrandom.seed(7)").succeeds();
    checkpoint(&mut scene, 1);
    let first = scene.run("random.random()").succeeds().results;
    rewind(&mut scene, 1);
    assert_eq!(scene.run("random.random()").succeeds().results, first);
    scene
        .run("child = os.fork()\nif child == 0: os._exit(3)\nos.waitpid(child, 0)[1] >> 8")
        .succeeds()
        .results("3");
}

#[test]
fn code_that_waits_for_its_children_meets_no_copy() {
    let mut scene = python();
    scene.run("import os, signal\nseen = []").succeeds();
    checkpoint(&mut scene, 1);
    scene.run("os.wait()").raises("ChildProcessError: [Errno 10] No child processes");
    let handler = "h = signal.signal(signal.SIGCHLD, lambda *_: seen.append(os.wait()))";
    scene.run(handler).succeeds();
    checkpoint(&mut scene, 2);
    scene.run("seen").succeeds().results("[]");
    scene.run("h = signal.signal(signal.SIGCHLD, signal.SIG_IGN)").succeeds();
    checkpoint(&mut scene, 3);
    scene.run("seen").succeeds().results("[]");
}

#[test]
fn what_does_not_come_back_is_counted() {
    let mut scene = python();
    assert_eq!(checkpoint(&mut scene, 1).beside(), (0, 0, 0, 0));
    scene
        .run(
            "import socket, subprocess, sys, threading\n\
             pair = socket.socketpair()\n\
             file = open('file', 'w')\n\
             program = subprocess.Popen(['sleep', '1000'])\n\
             wait = threading.Event()\n\
             thread = threading.Thread(target=wait.wait)\n\
             thread.start()",
        )
        .succeeds();
    assert_eq!(checkpoint(&mut scene, 2).beside(), (1, 2, 1, 1));
    rewind(&mut scene, 2);
    scene.run("program.poll() is None, thread.is_alive()").ends(End::Finished(0));
    // The driver's own loop is not the code's.
    rewind(&mut scene, 1);
    scene.run("import asyncio\nawait asyncio.sleep(0)").succeeds();
    assert_eq!(checkpoint(&mut scene, 2).beside(), (0, 0, 0, 0));
    rewind(&mut scene, 2);
    scene.run("await asyncio.sleep(0, 'awaited')").succeeds().results("'awaited'");
}

/// They keep whatever a later cell put into them.
#[test]
fn pipes_and_counters_are_counted() {
    let mut scene = python();
    scene.run("import ctypes, os, select\nlibc = ctypes.CDLL(None)").succeeds();
    let all = [
        ("a, b = os.pipe()", 2),
        ("a, b = libc.eventfd(0, 0), libc.timerfd_create(1, 0)", 2),
        ("e = select.epoll(); a, b = os.dup(e.fileno()), e.fileno()", 2),
        // The control: nothing is in a folder.
        ("a, b = os.open('/', os.O_RDONLY), os.open('/', os.O_RDONLY)", 0),
    ];
    for (number, (made, count)) in (1..).zip(all) {
        scene.run(made).succeeds();
        assert_eq!(checkpoint(&mut scene, number).beside(), (0, count, 0, 0), "{made}");
        scene.run("os.close(a); os.close(b)").succeeds();
    }
}

/// Signals of a later cell reach neither the handlers of the memory gone back to nor itself.
#[test]
fn a_copy_forgets_what_a_later_cell_sent_it() {
    let mut scene = python();
    let handled = "import os, signal\nhits = []\n\
        for one in (signal.SIGUSR1, signal.SIGCHLD): \
        signal.signal(one, lambda number, _: hits.append(number))";
    scene.run(handled).succeeds();
    let Copy { process, .. } = checkpoint(&mut scene, 1);
    let sends = format!(
        "for one in ('USR1', 'CHLD', 'TERM', 'INT', 'RTMIN', 'RTMIN', 'RTMAX'):\n    \
         os.kill({process}, getattr(signal, 'SIG' + one))"
    );
    scene.run(&sends).succeeds();
    for _ in 0..2 {
        rewind(&mut scene, 1);
        scene.run("hits").succeeds().results("[]");
    }
    // The control: its handlers are there, and take what is sent from now on.
    let own = "os.kill(os.getpid(), signal.SIGUSR1); hits == [signal.SIGUSR1]";
    scene.run(own).succeeds().results("True");
}

/// The process between a kernel and its copy takes its time to end.
#[test]
fn a_copy_is_told_of_once_it_can_be_gone_back_to() {
    let mut scene = python();
    let lingers = "import os, time\nos.register_at_fork(after_in_parent=lambda: time.sleep(0.5))";
    scene.run(lingers).succeeds();
    checkpoint(&mut scene, 1);
    rewind(&mut scene, 1);
    scene.run("1 + 1").succeeds().results("2");
}

/// A thread that ends after the fork, and before its copy looks, may have changed what the copy lacks.
#[test]
fn a_thread_that_ends_after_the_fork_is_counted() {
    let mut scene = python();
    scene
        .run(
            "import os, threading\n\
             wait, kernel = threading.Event(), os.getpid()\n\
             threading.Thread(target=wait.wait).start()\n\
             os.register_at_fork(after_in_parent=wait.set)\n\
             def until_alone():\n    \
                 while len(os.listdir(f'/proc/{kernel}/task')) > 1: pass\n\
             os.register_at_fork(after_in_child=until_alone)",
        )
        .succeeds();
    assert_eq!(checkpoint(&mut scene, 1).threads, 1);
    // It was the only one.
    assert_eq!(checkpoint(&mut scene, 2).threads, 0);
}

#[test]
fn a_rewind_ends_what_the_later_cells_started() {
    let mut scene = python();
    checkpoint(&mut scene, 1);
    let started = scene
        .run(
            "import subprocess\n\
             one = subprocess.Popen(['sleep', '1000'])\n\
             two = subprocess.Popen(['sleep', '1000'], start_new_session=True)\n\
             print(one.pid, two.pid)",
        )
        .succeeds();
    let programs: Vec<u32> = String::from_utf8(started.stdout)
        .unwrap()
        .split_whitespace()
        .map(|pid| pid.parse().unwrap())
        .collect();
    assert!(programs.iter().all(|&pid| is_alive(pid)));
    let later = checkpoint(&mut scene, 2);
    rewind(&mut scene, 1);
    // A killed process is buried a moment later.
    for pid in programs.iter().chain([&later.process]) {
        let wait =
            format!("import os, time\nwhile os.path.exists('/proc/{pid}'): time.sleep(0.001)");
        scene.run(&wait).succeeds();
    }
}

/// A program that has left its parents and its group, and that nothing leads back to the kernel.
const DAEMON: &str = "import os\n\
    reading, writing = os.pipe()\n\
    if os.fork() == 0:\n    \
        os.setsid()\n    \
        if os.fork() == 0:\n        \
            os.write(writing, str(os.getpid()).encode())\n        \
            os.close(writing)\n        \
            os.execvp('sleep', ['sleep', '1000'])\n    \
        os._exit(0)\n\
    os.wait()\n\
    os.close(writing)\n\
    print(os.read(reading, 20).decode())";

#[track_caller]
fn programs(scene: &mut Scene) -> u32 {
    scene.send(&Inward::Count);
    let told = scene.told();
    let Outward::Programs { count } = told else { panic!("{told:?}") };
    count
}

#[test]
fn a_rewind_ends_daemons_and_nothing_of_another_kernel() {
    for place in [Place::Here, Place::Namespace] {
        let mut scene = Scene::new(place);
        scene.start(1, Python);
        scene.start(2, Shell);
        scene.execute(2, "sleep 1000 &");
        scene.outcome(2).complains("still running: sleep 1000 &\n").ends(End::Finished(0));
        scene.run("x = 1").succeeds();
        checkpoint(&mut scene, 1);
        assert_eq!(programs(&mut scene), 1);
        scene.run("x = 2").succeeds();
        checkpoint(&mut scene, 2);
        let daemon = scene.run(DAEMON).succeeds().stdout;
        let daemon: u32 = String::from_utf8(daemon).unwrap().trim().parse().unwrap();
        let is_there = format!("import os; os.path.exists('/proc/{daemon}')");
        scene.run(&is_there).succeeds().results("True");
        assert_eq!(programs(&mut scene), 2);
        rewind(&mut scene, 2);
        scene.run(&is_there).succeeds().results("False");
        assert_eq!(programs(&mut scene), 1);
        // An earlier copy is none of what is ended.
        rewind(&mut scene, 1);
        scene.run("x").succeeds().results("1");
        scene.execute(2, "jobs");
        let jobs = scene.outcome(2).stdout;
        assert!(String::from_utf8_lossy(&jobs).contains("Running"), "{jobs:?}");
    }
}

/// Nothing of the same user can open the memory of a copy. A kernel is as it was.
#[test]
fn a_copy_is_shut_and_a_kernel_is_open() {
    let mut scene = python();
    scene
        .run(
            "import ctypes, os\nis_open = lambda: ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)\n\
             seen = []\nos.register_at_fork(after_in_child=lambda: seen.append(is_open()))",
        )
        .succeeds();
    // The control: a child that is no copy.
    scene.run("if os.fork() == 0: os._exit(seen[-1])\nos.wait()[1] >> 8").results("1");
    checkpoint(&mut scene, 1);
    scene.run("is_open(), open('/proc/self/oom_score_adj').read()").succeeds();
    scene.run("is_open(), seen").succeeds().results("(1, [])");
    rewind(&mut scene, 1);
    // Both forks that lead to a copy.
    scene.run("is_open(), seen").succeeds().results("(1, [0, 0])");
    scene.run("os.fork() == 0 and os._exit(0)\nos.wait()[1] >> 8").succeeds().results("0");
}

/// Where its memory cannot be shut off, it is not kept.
#[test]
fn no_copy_is_made_that_could_be_opened() {
    let mut scene = python();
    scene.run("import sys\nsys.modules['_ctypes'] = None").succeeds();
    scene.link().checkpoint(1, 1);
    let claim = claimed(&mut scene);
    let Claim::NotCheckpointed { number: 1, reason } = claim else { panic!("{claim:?}") };
    assert!(reason.contains("cannot be shut off"), "{reason}");
    scene.run("1 + 1").succeeds().results("2");
}

#[test]
fn no_copy_outlives_its_kernel() {
    let ends: [fn(&mut Scene); 5] = [
        |scene| drop(scene.run("import os; os.kill(os.getpid(), 9)").ends(End::Killed(9))),
        |scene| drop(scene.run("import os; os._exit(3)").ends(End::Exited(3))),
        |scene| drop(scene.run("import os; os.execv('/bin/true', ['true'])").ends(End::Exited(0))),
        |scene| {
            scene.send(&Inward::Stop { kernel: 1 });
            scene.outcome(1).ends(End::Killed(9));
        },
        |scene| assert!(scene.hang_up().success()),
    ];
    for end in ends {
        let mut scene = python();
        let copies: Vec<_> = (1..4).map(|number| checkpoint(&mut scene, number)).collect();
        assert!(copies.iter().all(Copy::is_alive));
        end(&mut scene);
        if scene.is_up() {
            // The host has buried everything that died before it says this.
            scene.start(2, Python);
            scene.send(&Inward::Stop { kernel: 2 });
            scene.outcome(2).ends(End::Killed(9));
        }
        assert!(!copies.iter().any(Copy::is_alive));
    }
}

#[test]
fn the_copies_of_a_kernel_outlive_others() {
    for place in [Place::Here, Place::Namespace] {
        let mut scene = Scene::new(place);
        scene.start(1, Python);
        scene.run("x = 'kept'").succeeds();
        checkpoint(&mut scene, 1);
        scene.start(2, Shell);
        scene.send(&Inward::Stop { kernel: 2 });
        scene.outcome(2).ends(End::Killed(9));
        scene.run("x = 'lost'").succeeds();
        rewind(&mut scene, 1);
        scene.run("x").succeeds().results("'kept'");
    }
}

#[test]
fn copies_are_released_by_number_and_by_memory() {
    let mut scene = python();
    let copies: Vec<_> = (1..5).map(|number| checkpoint(&mut scene, number)).collect();
    scene.send(&Inward::Release { kernel: 1, number: 1 });
    scene.send(&Inward::Release { kernel: 1, number: 4 });
    assert_eq!(asks_to_rewind(&mut scene, 1), 0);
    assert_eq!(asks_to_rewind(&mut scene, 4), 0);
    // A copy that shares everything takes next to nothing; the kernel's writes end the sharing.
    scene.run("big = bytearray(b'x' * (100 << 20))").succeeds();
    scene.link().checkpoint(1, 5);
    let copy = copied(&mut scene, 5);
    assert!(held(&mut scene, 5, copy.process, 64 << 20));
    scene.run("for at in range(0, len(big), 4096): big[at] = 0").succeeds();
    scene.link().checkpoint(1, 6);
    let copy = copied(&mut scene, 6);
    assert!(held(&mut scene, 6, copy.process, 64 << 20));
    for dropped in [2, 3, 5] {
        assert_eq!(asks_to_rewind(&mut scene, dropped), 0, "{dropped}");
    }
    rewind(&mut scene, 6);
    scene.run("big[0], big[1]").succeeds().results("(0, 120)");
    drop(copies);
}

#[test]
fn a_process_that_is_no_copy_of_this_kernel_is_not_held() {
    let mut scene = python();
    scene.start(2, Python);
    scene.execute(
        2,
        "import os, subprocess\nprint(os.getpid(), subprocess.Popen(['sleep', '1000']).pid)",
    );
    let other = String::from_utf8(scene.outcome(2).succeeds().stdout).unwrap();
    let mut other: Vec<u32> = other.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    scene.link().checkpoint(2, 1);
    let copy = copied(&mut scene, 1);
    scene.send(&Inward::Hold { kernel: 2, number: 1, process: copy.process, most: MUCH });
    assert_eq!(scene.told(), Outward::Held { kernel: 2, number: 1, held: true });
    other.push(copy.process);
    let own = scene.run("import os\nprint(os.getpid(), os.getppid())").succeeds().stdout;
    let own = String::from_utf8(own).unwrap();
    let own = own.split_whitespace().map(|pid| pid.parse::<u32>().unwrap());
    for process in own.chain(other).chain([0, 1, std::process::id(), u32::MAX]) {
        assert!(!held(&mut scene, 1, process, MUCH), "{process}");
    }
    scene.run("'alive'").succeeds().results("'alive'");
    scene.execute(2, "'alive'");
    scene.outcome(2).succeeds().results("'alive'");
}

#[test]
fn only_the_host_wakes_a_copy() {
    let mut scene = python();
    scene.run("import os, signal\nx = 'kept'").succeeds();
    let copy = checkpoint(&mut scene, 1);
    let process = copy.process;
    // It would claim something, or read the next cell.
    scene
        .run(&format!(
            "for number in set(signal.valid_signals()) - {{signal.SIGKILL, signal.SIGSTOP}}:\n\
             \u{20} for _ in range(20): os.kill({process}, number)\n\
             os.kill({process}, signal.SIGSTOP)\nx = 'lost'"
        ))
        .succeeds();
    for number in 0..20 {
        let outcome = scene.run(&number.to_string()).succeeds().results(&number.to_string());
        assert_eq!(outcome.noise, 0);
    }
    assert!(copy.is_alive());
    // It forgets the signals that it held back.
    assert_eq!(rewind(&mut scene, 1), process);
    scene.run("x").succeeds().results("'kept'");
    scene.run("x = 'lost'").succeeds();
    rewind(&mut scene, 1);
    scene.run("x").succeeds().results("'kept'");
}

#[test]
fn code_that_ends_its_copies_loses_them_alone() {
    let mut scene = python();
    scene.run("import os, time\nx = 1").succeeds();
    let copy = checkpoint(&mut scene, 1);
    checkpoint(&mut scene, 2);
    // Until it is buried.
    let process = copy.process;
    let outcome = scene.run(&format!(
        "os.kill({process}, 9)\nwhile os.path.exists('/proc/{process}'): time.sleep(0.001)\nx = 2"
    ));
    // The host tells of it, before or after the kernel has told of its cell.
    if outcome.succeeds().lost_copies.is_empty() {
        assert_eq!(scene.told(), Outward::Held { kernel: 1, number: 1, held: false });
    }
    assert_eq!(asks_to_rewind(&mut scene, 1), 0);
    scene.run("x").succeeds().results("2");
    rewind(&mut scene, 2);
    scene.run("x").succeeds().results("1");
}

#[test]
fn a_copy_that_code_stopped_is_woken_all_the_same() {
    let mut scene = python();
    scene.run("import os, signal\nx = 1").succeeds();
    let copy = checkpoint(&mut scene, 1);
    scene.run(&format!("os.kill({}, signal.SIGSTOP)\nx = 2", copy.process)).succeeds();
    rewind(&mut scene, 1);
    scene.run("x").succeeds().results("1");
}

#[test]
fn a_lie_about_a_checkpoint_harms_only_its_own_kernel() {
    let mut scene = python();
    scene.start(2, Shell);
    // A process that is no driver is held, because it is the kernel's own, and takes its place.
    let outcome = scene.run(
        "import os, subprocess\n\
         program = subprocess.Popen(['sh', '-c', 'sleep 1000 & echo $!'],\n\
         \u{20} stdout=subprocess.PIPE, start_new_session=True)\n\
         print(program.stdout.readline().decode())\nstatus = program.wait()",
    );
    let process: u32 =
        String::from_utf8(outcome.succeeds().stdout).unwrap().trim().parse().unwrap();
    assert!(held(&mut scene, 1, process, MUCH));
    assert_eq!(asks_to_rewind(&mut scene, 1), process);
    // It answers nothing, as a kernel that hangs, and is ended like one.
    scene.execute(1, "'nobody reads this'");
    scene.send(&Inward::Stop { kernel: 1 });
    scene.outcome(1).ends(End::Killed(9));
    assert!(!is_alive(process));
    scene.execute(2, "echo alive");
    scene.outcome(2).succeeds().prints("alive\n");
}

#[test]
fn a_checkpoint_amid_a_cell_is_refused() {
    let mut scene = python();
    scene.execute(1, "import os\nprint('go')\nname = input()\nname");
    let mut outcome = crate::scene::Outcome::default();
    while !outcome.stdout.ends_with(b"go\n") {
        scene.collect(1, &mut outcome);
    }
    scene.link().checkpoint(1, 1);
    scene.link().answer(1, Some(b"me"));
    let claims: Vec<_> = (0..5).map(|_| claimed(&mut scene)).collect();
    let refused = |claim: &Claim| matches!(claim, Claim::NotCheckpointed { number: 1, .. });
    assert!(claims.iter().any(refused), "{claims:?}");
}

#[test]
fn no_checkpoint_costs_nothing() {
    let mut scene = python();
    scene.run("x = 1").succeeds();
    let told = scene.run("import sys; [n for n in sys.modules if 'checkpoints' in n]");
    told.succeeds().results("[]");
    assert_eq!(asks_to_rewind(&mut scene, 1), 0);
    scene.run("x").succeeds().results("1");
}
