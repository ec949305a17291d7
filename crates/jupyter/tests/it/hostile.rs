//! Kernels that do not speak as kernels do. The bridge ends them, and says why.

use crate::scene::{End, Scene, python};
use interpreter_host::Claim;
use interpreter_jupyter::{Interrupt, Launch};

/// A kernel written by hand, with pyzmq. `cell` is what it does with every execute request; it
/// has `send(kind, content)` for the iopub channel and `raw(frames)` for anything.
fn kernel(prelude: &str, cell: &str) -> Launch {
    let code = format!(
        r#"
import hashlib, hmac, json, os, sys, uuid, zmq
connection = json.load(open(sys.argv[1]))
context = zmq.Context()
def bound(kind, name):
    made = context.socket(kind)
    made.sndhwm = int(os.environ.get("HWM", "0"))
    made.bind(f"ipc://{{connection['ip']}}-{{connection[name + '_port']}}")
    return made
key = connection["key"].encode()
{prelude}
shell, iopub = bound(zmq.ROUTER, "shell"), bound(zmq.PUB, "iopub")
stdin, control = bound(zmq.ROUTER, "stdin"), bound(zmq.ROUTER, "control")
def frames(kind, parent, content):
    header = {{"msg_id": uuid.uuid4().hex, "session": "s", "msg_type": kind, "version": "5.3"}}
    parts = [json.dumps(one).encode() for one in (header, parent, {{}}, content)]
    return [b"<IDS|MSG>", hmac.new(key, b"".join(parts), hashlib.sha256).hexdigest().encode(), *parts]
def raw(frames): iopub.send_multipart(frames)
while True:
    address, _, _, header, *_rest = shell.recv_multipart()
    parent = json.loads(header)
    def send(kind, content): raw(frames(kind, parent, content))
    def reply(content): shell.send_multipart([address, *frames(parent["msg_type"].replace("request", "reply"), parent, content)])
    send("status", {{"execution_state": "busy"}})
    if parent["msg_type"] == "kernel_info_request":
        reply({{"status": "ok", "language_info": {{"name": "x", "version": "1"}}}})
        send("status", {{"execution_state": "idle"}})
        continue
{cell}
    reply({{"status": "ok"}})
    send("status", {{"execution_state": "idle"}})
"#,
        cell = cell.lines().map(|line| format!("    {line}\n")).collect::<String>(),
    );
    let python = python().display().to_string();
    let argv = [&python, "-c", &code, "{connection_file}"].map(str::to_owned).to_vec();
    Launch { argv, environment: [].into(), interrupt: Interrupt::Signal }
}

fn started(launch: &Launch) -> Scene {
    let mut scene = Scene::starting(launch);
    let claim = scene.claim();
    assert!(matches!(claim, Some(Claim::Ready { .. })), "{claim:?}");
    scene
}

#[test]
fn a_kernel_written_by_hand_works() {
    let mut scene = started(&kernel("", "send('stream', {'name': 'stdout', 'text': 'hi'})"));
    scene.run("x").succeeds().prints("hi");
}

#[test]
fn what_is_not_signed_or_not_the_protocol_ends_the_kernel() {
    for (cell, reason) in [
        (
            "f = frames('stream', parent, {'name': 'stdout', 'text': 'hi'}); f[-1] += b' '; raw(f)",
            "the wrong signature",
        ),
        (
            "f = frames('stream', parent, {'name': 'stdout', 'text': 'hi'}); f[1] = b''; raw(f)",
            "the wrong signature",
        ),
        ("raw([b'garbage'])", "too few frames"),
        ("raw([b'<IDS|MSG>', b'', b'{}'])", "too few frames"),
        ("raw([b'x'] * 100)", "too many frames"),
        ("raw([b'<IDS|MSG>', bytes(300 << 20)])", "too long"),
    ] {
        let outcome = started(&kernel("", cell)).run("x").ends(End::Exited(1));
        assert_eq!(outcome.stdout, "", "{cell}");
        outcome.complains("is not the Jupyter protocol").complains(reason);
    }
}

#[test]
fn a_key_of_its_own_is_a_wrong_key() {
    Scene::starting(&kernel("key = b'mine'", ""))
        .outcome()
        .complains("the wrong signature")
        .ends(End::Exited(1));
}

#[test]
fn garbage_on_a_socket_ends_the_kernel() {
    for (bytes, reason) in [
        ("b'HTTP/1.1 200 OK\\r\\n' + bytes(100)", "does not greet"),
        ("b'\\xff' + bytes(8) + b'\\x7f\\x01' + bytes(60)", "a version of ZeroMQ before 3"),
        ("b'\\xff' + bytes(8) + b'\\x7f\\x03\\x00CURVE' + bytes(60)", "a secured connection"),
    ] {
        let fake = format!(
            "import socket\nlisteners = []\n\
             for port in range(1, 5):\n\
             \u{20}   s = socket.socket(socket.AF_UNIX); s.bind(f\"{{connection['ip']}}-{{port}}\")\n\
             \u{20}   s.listen(); listeners.append(s)\n\
             held = [s.accept()[0] for s in listeners]\n\
             for one in held: one.sendall({bytes})\n\
             import time; time.sleep(1000)"
        );
        let outcome = Scene::starting(&kernel(&fake, "")).outcome().ends(End::Exited(1));
        outcome.complains(reason);
    }
}

#[test]
fn messages_that_say_nothing_sensible_are_passed_over() {
    let cell = "for content in (None, 1, 'x', [], {}, {'data': 1}, {'name': 1, 'text': 2}, {'data': {'a/b': None}}):\n\
        \u{20}   for kind in ('stream', 'display_data', 'error', 'status', 'nonsense'): send(kind, content)\n\
        stdin.send_multipart([address, *frames('input_request', parent, 'x')])\n\
        send('stream', {'name': 'stdout', 'text': 'still here'})";
    let outcome = started(&kernel("", cell)).run("x").ends(End::Finished(0));
    assert!(outcome.stdout.ends_with("still here"), "{outcome:?}");
}

#[test]
fn a_result_that_is_too_large_is_named_and_not_shown() {
    let cell = "send('display_data', {'data': {'text/plain': 'x' * (20 << 20), 'text/html': 'y'}})\n\
        send('display_data', {'data': {'text/plain': 'x' * (20 << 20)}})";
    let outcome = started(&kernel("", cell)).run("x").succeeds();
    assert_eq!(outcome.results[0].0.keys().collect::<Vec<_>>(), ["text/html"]);
    let said = &outcome.results[1].0["text/plain"];
    assert_eq!(said, "[a result of 20971520 bytes, too large to be shown]");
}

#[test]
fn a_cell_ends_even_if_the_kernel_drops_what_it_published() {
    let cell = "lost = True\nreply({'status': 'ok'})\ncontinue";
    let outcome = started(&kernel("", cell)).run("x").ends(End::Finished(0));
    outcome.complains("dropped some of what it published");
}

#[test]
fn replies_that_nobody_asked_for_are_passed_over() {
    let cell = "other = {'msg_id': 'other'}\n\
        shell.send_multipart([address, *frames('execute_reply', other, {'status': 'error'})])\n\
        shell.send_multipart([address, *frames('complete_reply', other, {'matches': ['x'], 'cursor_start': 0, 'cursor_end': 0})])\n\
        raw(frames('status', other, {'execution_state': 'idle'}))\n\
        send('stream', {'name': 'stderr', 'text': 'e'})";
    let outcome = started(&kernel("", cell)).run("x").ends(End::Finished(0));
    assert_eq!((outcome.stderr.as_str(), outcome.completions), ("e", None));
}

#[test]
fn a_kernel_that_wants_to_end_and_does_not_is_ended() {
    let cell = "reply({'status': 'ok', 'payload': [{'source': 'ask_exit', 'keepkernel': False}]})\n\
        send('status', {'execution_state': 'idle'})\ncontinue";
    started(&kernel("", cell)).run("exit").ends(End::Exited(0));
    // It may also say that it only seems so.
    let cell = cell.replace("False", "True");
    started(&kernel("", &cell)).run("exit").ends(End::Finished(0));
}
