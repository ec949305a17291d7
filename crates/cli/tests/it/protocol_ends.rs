//! How a server ends, and what its socket is.

use crate::{
    protocol_client::{Server, scripted},
    scene::{Scene, Who, cell},
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::{os::unix::fs::PermissionsExt, process::Stdio};

fn kinds(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter_map(|line| line["kind"].as_str()).collect()
}

/// Nothing is left running, and the record is whole.
fn is_in_order(scene: &Scene) {
    assert_eq!(scene.left_running(), Vec::<String>::new());
    scene.run(&["audit", "verify"]).mentions("all linked").exits(0);
}

#[test]
fn a_signal_ends_every_session_in_order() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT] {
        let scene = Scene::new();
        let (mut server, mut client) = Server::stdio(&scene);
        let session = client.open(json!({ "mode": "run" }));
        client.open(json!({ "mode": "run" }));
        let code = "echo started; sleep 1000 & sleep 1000";
        client.ok("run", json!({ "session": session, "language": "shell", "code": code }));
        client.record("output");
        server.signal(signal);
        let rest = client.rest();
        let ends = kinds(&rest).into_iter().filter(|kind| *kind == "session_ended").count();
        assert_eq!(ends, 2, "{signal:?}: {rest:?}");
        assert!(server.wait().success(), "{signal:?}");
        is_in_order(&scene);
    }
}

#[test]
fn what_is_under_way_is_finished_when_the_input_ends() {
    let scene = scripted(Scene::new().model_says(&["A first reply.", "A second one."]));
    let (mut server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    // Nobody reads the reply before the input ends.
    client.send(&json!({ "id": "p", "do": "prompt", "session": session, "text": "hello" }));
    client.end_input();
    let rest = client.rest();
    let told = kinds(&rest);
    let place =
        |kind: &str| told.iter().position(|one| *one == kind).unwrap_or_else(|| panic!("{told:?}"));
    assert!(place("reply") < place("turn_finished"));
    assert!(place("turn_finished") < place("session_ended"));
    assert!(rest.iter().any(|line| line["id"] == "p" && line.get("ok").is_some()));
    assert!(server.wait().success());
    is_in_order(&scene);
}

#[test]
fn a_question_that_nobody_can_answer_any_more_holds_nothing_up() {
    let scene = scripted(Scene::new().model_says(&[&cell("python", "print(1)")]));
    let (mut server, mut client) = Server::stdio(&scene);
    let session = client.open(json!({}));
    client.ok("prompt", json!({ "session": session, "text": "go" }));
    client.record("question");
    client.end_input();
    let rest = client.rest();
    // It stays open on record, for the next server.
    assert!(!kinds(&rest).contains(&"question_closed"), "{rest:?}");
    assert!(kinds(&rest).contains(&"session_ended"), "{rest:?}");
    assert!(server.wait().success());
    is_in_order(&scene);
}

#[test]
fn whoever_may_ends_the_server() {
    let scene = Scene::new();
    let mut server = Server::socket(&scene);
    let (mut one, mut two) = (server.client(), server.client());
    let session = one.open(json!({ "mode": "run" }));
    two.ok("shut", json!({}));
    assert!(kinds(&one.rest()).contains(&"session_ended"), "{session}");
    two.rest();
    assert!(server.wait().success());
    assert!(!server.socket.exists());
    is_in_order(&scene);
}

#[test]
fn a_socket_is_private_and_never_takes_the_place_of_a_file() {
    let scene = Scene::new().home_file("mine/file", "mine");
    let start = |path: &std::path::Path| {
        let mut command = scene.command(&["serve", "--json", "--socket", path.to_str().unwrap()]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        crate::scene::Seen(child.output().unwrap())
    };
    let file = scene.home().join("mine/file");
    start(&file).mentions("is there already").exits(2);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    // A folder that others can enter is none for it.
    let open = scene.home().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, PermissionsExt::from_mode(0o755)).unwrap();
    start(&open.join("s")).mentions("open to other users").exits(2);
    assert!(!open.join("s").exists());

    let mut server = Server::socket(&scene);
    let mode = |path: &std::path::Path| {
        std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode(&server.socket), 0o600);
    assert_eq!(mode(server.socket.parent().unwrap()), 0o700);
    start(&server.socket).mentions("another program listens").exits(2);
    if let Some(user) = Who::unprivileged().user() {
        // Even where the folder lets them in, they are not served.
        let folder = server.socket.parent().unwrap();
        for path in [&scene.home(), folder] {
            std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).unwrap();
        }
        std::fs::set_permissions(&server.socket, PermissionsExt::from_mode(0o666)).unwrap();
        let code = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\ntry:\n    s.sendall(b'{\"id\":1,\"do\":\"list\"}\\n')\n    got = s.recv(1)\nexcept OSError:\n    got = b''\nprint('got', len(got))";
        let mut other = std::process::Command::new("python3");
        std::os::unix::process::CommandExt::uid(&mut other, user);
        other.args(["-c", code]).arg(&server.socket).current_dir("/");
        crate::scene::Seen(other.output().unwrap()).prints("got 0\n").exits(0);
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o700)).unwrap();
    }
    assert_eq!(server.client().ok("list", json!({}))["sessions"], json!([]));
    // One that was killed leaves its socket, and the next takes its place.
    server.signal(Signal::KILL);
    server.wait();
    assert!(server.socket.exists());
    let again = Server::socket(&scene);
    again.client().ok("list", json!({}));
}
