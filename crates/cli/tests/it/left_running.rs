//! Programs and connections that a cell leaves behind: what they reach is on record, and a later
//! cell that may reach less cannot use them.

use crate::{
    network::Outside,
    scene::{Scene, Seen, Who, cell},
    terminal::Terminal,
};
use serde_json::Value;
use std::process::Command;

/// A program that begins, goes on when the test lets it, reaches a host, and says that it has.
fn left_running(host: &str) -> String {
    format!(
        "import os, socket\nbegun, begins = os.pipe()\nif os.fork() == 0:\n    os.setsid()\n    \
         os.write(begins, b'1')\n    open('go').read()\n    try:\n        \
         s = socket.create_connection(('127.0.0.1', 3128))\n        \
         s.sendall(b'GET http://{host}/hello HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n')\n        \
         while s.recv(1000): pass\n    finally:\n        open('went', 'w').close()\n        \
         os._exit(0)\nos.read(begun, 1)"
    )
}

fn kind<'a>(records: &'a [Value], kind: &str) -> &'a Value {
    records.iter().find(|one| one["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"))
}

/// The records of the newest session, which nothing has tampered with.
fn recorded(scene: &Scene) -> Seen {
    scene.run(&["audit", "verify"]).exits(0);
    scene.run(&["history", "show", "--json"])
}

/// It is on record as what it was, wherever the session goes from there, and never as a contact of
/// the next cell.
#[test]
fn a_contact_after_its_run_is_on_record_and_nobody_elses() {
    for then in ["/quit", "again", "/restart"] {
        for who in Who::all() {
            let outside = Outside::with(&[("/hello", b"hello")]);
            let host = format!("127.0.0.1:{}", outside.port);
            let scene = Scene::of(who).model_says(&[
                &cell("python", &left_running(&host)),
                "Done.",
                &cell("python", "print('next')"),
                "Again.",
            ]);
            for name in ["go", "went"] {
                let pipe = scene.work().join(name);
                assert!(
                    Command::new("mkfifo")
                        .args(["-m", "666"])
                        .arg(&pipe)
                        .status()
                        .unwrap()
                        .success()
                );
            }
            let options = ["--yes", "--workspace", "direct", "--allow-host", &host, "go"];
            let terminal = Terminal::open(&scene, &options);
            terminal.shows("Done.").waits();
            fs_err::write(scene.work().join("go"), "now").unwrap();
            fs_err::read(scene.work().join("went")).unwrap();
            assert_eq!(outside.asked().len(), 1);
            if then != "/quit" {
                terminal.types(then).shows("Programs left running since p1:");
                terminal.shows(&format!("reached {host}")).waits();
            }
            terminal.types("/quit").exits(0);
            let seen = recorded(&scene);
            let records = seen.records();
            let late = kind(&records, "tried_late");
            assert_eq!(
                (&late["after"], late["network"].as_array().unwrap().len()),
                (&"p1".into(), 1)
            );
            let contact = &late["network"][0];
            assert_eq!(
                (&contact["host"], &contact["verdict"]),
                (&"127.0.0.1".into(), &"allowed".into())
            );
            assert_eq!((&contact["count"], &contact["port"]), (&1.into(), &outside.port.into()));
            assert!(contact["sent"].as_u64() > Some(50) && contact["received"].as_u64() > Some(50));
            assert!(late["seq"].as_u64() < kind(&records, "session_ended")["seq"].as_u64());
            // The control: nothing else says that it has reached anything.
            let effects = seen.of_kind("effects");
            assert_eq!(effects.len(), if then == "again" { 2 } else { 1 });
            assert!(
                effects.iter().all(|one| one["network"].as_array().unwrap().is_empty()),
                "{effects:?}"
            );
            assert_eq!(seen.of_kind("tried_late").len(), 1);
            let told = scene.run(&["history", "show"]).mentions("programs left running since p1");
            told.mentions(&format!("reached {host}")).exits(0);
            let events = scene.run(&["audit", "export", "--format", "ocsf"]);
            assert_eq!(events.stdout().matches("\"class_uid\":4001").count(), 1);
        }
    }
}

/// A connection that an approved cell has opened is not a narrower one's to use.
#[test]
fn an_open_connection_ends_when_a_run_begins_that_may_not_reach_its_host() {
    for (mode, narrows) in [("auto", true), ("ask", false)] {
        let outside = Outside::with(&[("/hello", b"hello")]);
        let (scene, host) = (Scene::new(), format!("127.0.0.1:{}", outside.port));
        let opens = format!(
            "import socket, threading, time\n\
             s = socket.create_connection(('127.0.0.1', 3128))\n\
             s.sendall(b'CONNECT {host} HTTP/1.1\\r\\n\\r\\n')\n\
             print(s.recv(100)[9:12])\ngo = False\n\
             def later():\n    while not go: time.sleep(0.01)\n    \
             s.sendall(b'GET /hello HTTP/1.1\\r\\n\\r\\n')\n\
             threading.Thread(target=later, daemon=True).start()"
        );
        let unasked = "import time\ngo = True\ntime.sleep(2)\nprint('slept')";
        scene.play(&[&cell("python", &opens), &cell("python", unasked), "Done with it."]);
        let mode = format!("approval.mode={mode}");
        let options = ["--allow-host", &host, "--set", &mode, "go"];
        let terminal = Terminal::open(&scene, &options);
        terminal.shows("Run it?").types("y").shows("b'200'");
        if !narrows {
            terminal.shows("Run it?").types("y");
        }
        terminal.shows("slept").shows("Done with it.").types("/quit").exits(0);
        assert_eq!(outside.asked().len(), usize::from(!narrows));
    }
}
