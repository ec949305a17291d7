//! How kernels and their bridge live and die.

use crate::scene::{End, Kernel, Scene};
use interpreter_host::Claim;
use interpreter_jupyter::Launch;

#[test]
fn a_kernel_that_dies_takes_the_bridge_along_as_it_died() {
    for kernel in Kernel::ALL {
        for (code, end) in [
            ("print('last', flush=True); os._exit(3)", End::Exited(3)),
            ("os.kill(os.getpid(), 9)", End::Killed(9)),
            // xeus ends itself then, with a status.
            ("import ctypes; ctypes.string_at(0)", End::Killed(11)),
        ] {
            if kernel == Kernel::Xeus && end == End::Killed(11) {
                continue;
            }
            let mut scene = Scene::of(kernel);
            scene.run("import os").succeeds();
            scene.run(code).ends(end);
            assert_eq!(scene.left(), 0);
        }
    }
}

#[test]
fn code_that_leaves_ends_the_kernel() {
    for kernel in [Kernel::Ipykernel, Kernel::ByMessage] {
        Scene::of(kernel).run("print('bye')\nexit()").prints("bye\n").ends(End::Exited(0));
    }
}

#[test]
fn a_kernel_that_dies_between_cells_is_told_too() {
    let mut scene = Scene::of(Kernel::Ipykernel);
    let code = "import os, threading\nthreading.Timer(0.05, os._exit, [5]).start()";
    scene.run(code).succeeds();
    scene.outcome().ends(End::Exited(5));
}

#[test]
fn when_the_host_hangs_up_everything_ends() {
    for kernel in Kernel::ALL {
        let mut scene = Scene::of(kernel);
        scene.execute("while True: pass");
        assert!(scene.hang_up().success());
        assert_eq!(scene.left(), 0);
    }
}

#[test]
fn a_fresh_kernel_knows_nothing_of_the_last() {
    Scene::of(Kernel::Ipykernel).run("x = 1").succeeds();
    let mut scene = Scene::of(Kernel::Ipykernel);
    assert_eq!(scene.run("x").raised, ["NameError: name 'x' is not defined"]);
}

#[test]
fn sockets_are_unix_sockets_and_nothing_listens_on_a_port() {
    for (kernel, own) in
        [(Kernel::Ipykernel, "get_ipython().kernel.iopub_thread"), (Kernel::Xeus, "None")]
    {
        // ipykernel has a port of its own, over which programs that it forks print.
        let code = "import os, socket\nkinds = set()\n\
             for fd in range(3, 256):\n\
             \u{20}   try: s = socket.socket(fileno=os.dup(fd))\n\
             \u{20}   except OSError: continue\n\
             \u{20}   if s.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 0: continue\n\
             \u{20}   if s.family == socket.AF_INET and s.getsockname()[1] == port: continue\n\
             \u{20}   kinds.add(s.family.name)\nkinds";
        let own = format!("port = getattr({own}, '_pipe_port', None)\n");
        Scene::of(kernel).run(&(own + code)).results("{'AF_UNIX'}");
    }
}

#[test]
fn a_program_that_is_not_there_or_no_kernel_is_said_to_be() {
    let launch = |argv: &[&str]| Launch {
        argv: argv.iter().map(|&word| word.into()).collect(),
        environment: [].into(),
        interrupt: interpreter_jupyter::Interrupt::Signal,
    };
    let outcome = Scene::starting(&launch(&["/nowhere/kernel"])).outcome().ends(End::Exited(1));
    assert_eq!(
        outcome.stderr,
        "cannot start `/nowhere/kernel`: No such file or directory (os error 2)\n"
    );
    let words = ["/bin/sh", "-c", "echo no module >&2; exit 4"];
    Scene::starting(&launch(&words)).outcome().complains("no module").ends(End::Exited(4));
    Scene::starting(&launch(&[])).outcome().ends(End::Exited(1));
}

#[test]
fn raw_output_of_the_process_comes_out() {
    let launch = Launch {
        argv: ["/bin/sh", "-c", "echo noise; exec \"$0\" \"$@\""]
            .map(str::to_owned)
            .into_iter()
            .chain(Kernel::Xeus.launch().argv)
            .collect(),
        ..Kernel::Xeus.launch()
    };
    let mut scene = Scene::starting(&launch);
    assert!(matches!(scene.claim(), Some(Claim::Ready { .. })));
    // Its output during the start belongs to no cell.
    let print = "import os, subprocess\nos.write(1, b'raw\\n'); os.write(2, b'bare\\n')\n\
                 subprocess.run(['echo', 'child']).returncode";
    let outcome = scene.run(print).prints("raw\nchild\n").results("0");
    assert_eq!(outcome.stderr, "bare\n");
}

#[test]
fn a_bridge_whose_kernel_never_speaks_ends_with_its_host() {
    let launch = Launch {
        argv: ["/bin/sleep", "1000"].map(str::to_owned).to_vec(),
        environment: [].into(),
        interrupt: interpreter_jupyter::Interrupt::Signal,
    };
    let mut scene = Scene::starting(&launch);
    assert!(scene.hang_up().success());
    assert_eq!(scene.left(), 0);
}
