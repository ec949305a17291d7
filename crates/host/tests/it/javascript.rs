//! The JavaScript driver.

use crate::scene::{End, Language::JavaScript, Scene, lines};

#[test]
fn declarations_are_kept_and_can_be_made_again() {
    let mut scene = Scene::with(JavaScript);
    scene.run("const x = 1; let y = 2; class A {}; function f() { return x + y }").succeeds();
    scene.run("f()").succeeds().results("3");
    scene.run("const x = 10; let y = 20; class A {}; f()").succeeds().results("30");
    scene.run("({ a: 1, b: [1, 2] })").succeeds().results("{ a: 1, b: [ 1, 2 ] }");
    assert!(scene.run("undefined").succeeds().results.is_empty());
}

#[test]
fn await_works_at_the_top_and_a_promise_left_over_is_waited_for() {
    let mut scene = Scene::with(JavaScript);
    scene.run("console.log(await Promise.resolve(5))").succeeds().prints("5\n");
    scene.run("async function main() { await new Promise(setImmediate); console.log('ran'); return 7 }\nmain()")
        .succeeds()
        .prints("ran\n")
        .results("7");
}

#[test]
fn output_and_template_strings_come_out_exactly() {
    let mut scene = Scene::with(JavaScript);
    scene.run("console.log(`a\n  ${1 + 1} \\` é\n`)").succeeds().prints("a\n  2 ` é\n\n");
    let bytes = scene.run("process.stdout.write(Buffer.from([0, 255, 13])); undefined").succeeds();
    assert_eq!(bytes.stdout, [0, 255, 13]);
    let outcome = scene.run("for (let i = 0; i < 200000; i++) console.log(i)").succeeds();
    assert!(outcome.stdout == lines(0..200_000).as_bytes());
}

#[test]
fn modules_are_found_from_the_folder() {
    let mut scene = Scene::with(JavaScript)
        .file("common.js", "module.exports = { value: 1 }")
        .file("module.mjs", "export default 2");
    scene.run("require('./common').value").succeeds().results("1");
    scene.run("(await import('./module.mjs')).default").succeeds().results("2");
    scene
        .run("`import('x') ${typeof await import('node:fs')}` // import('y')")
        .succeeds()
        .results("\"import('x') object\"");
    scene.run("({ import(x) { return x } }).import(3)").succeeds().results("3");
    scene
        .run("const fs = require('fs'); fs.existsSync(path.join(__dirname, 'common.js'))")
        .succeeds()
        .results("true");
}

#[test]
fn an_error_shows_the_cells_own_frames() {
    let mut scene = Scene::with(JavaScript);
    scene
        .run("function f() {\n  throw new TypeError('no')\n}\nf()")
        .complains("Uncaught TypeError: no\n    at f (cell-1:2:9)\n    at cell-1:4:1\n")
        .raises("TypeError: no")
        .ends(End::Finished(1));
    scene
        .run("console.log(1)\nx = = 1")
        .prints("")
        .complains("cell-2:2\nx = = 1\n    ^\n\nUncaught SyntaxError: Unexpected token '='\n")
        .ends(End::Finished(1));
    scene.run("throw 'text'").complains("Uncaught 'text'\n").ends(End::Finished(1));
}

#[test]
fn what_fails_on_the_side_fails_the_cell_and_spares_the_kernel() {
    let mut scene = Scene::with(JavaScript);
    scene
        .run("Promise.reject(new Error('aside')); 5")
        .results("5")
        .complains("Uncaught Error: aside\n    at cell-1:1:16\n")
        .ends(End::Finished(1));
    let outcome = scene
        .run("await new Promise((r) => { setTimeout(r, 5); setTimeout(() => { throw new Error('late') }, 0) })")
        .ends(End::Finished(1));
    assert!(outcome.stderr.starts_with(b"Uncaught Error: late\n"));
    scene.run("'alive'").succeeds().results("'alive'");
}

#[test]
fn leaving_ends_the_kernel_with_its_status() {
    Scene::with(JavaScript)
        .run("console.log('bye'); process.exit(3)")
        .prints("bye\n")
        .ends(End::Exited(3));
    Scene::with(JavaScript)
        .run("process.kill(process.pid, 'SIGKILL'); for (;;) {}")
        .ends(End::Killed(9));
}

#[test]
fn an_interrupt_ends_loops_and_waits_and_what_would_come_after_them() {
    let mut scene = Scene::with(JavaScript);
    // Those that wait print only when they have begun to: an interrupt at the very moment between
    // what runs at once and what waits is lost or ends Node (the driver says why).
    scene.run("let x = 1; const sleep = (ms) => new Promise((r) => setTimeout(r, ms))").succeeds();
    for code in [
        "console.log('on'); while (true) {}",
        "await null; console.log('on'); await new Promise(() => {})",
        "sleep(0).then(() => { console.log('on'); return sleep(1e6) })",
        "await sleep(1); console.log('on'); for (;;) { await sleep(1e6) }",
    ] {
        scene.interrupt(code, "on\n").prints("on\n").complains("").ends(End::Finished(130));
    }
    // Wherever in a write it comes, what is printed later is not lost.
    for _ in 0..20 {
        let code = "for (;;) console.log('on')";
        scene.interrupt(code, "on\n").ends(End::Finished(130));
        scene.run("console.log('later')").succeeds().prints("later\n");
    }
    let mut outcome = scene.interrupt("for (;;) { await sleep(20); console.log('on') }", "on\n");
    outcome.stdout.clear();
    outcome.ends(End::Finished(130));
    scene.run("await sleep(100); x").succeeds().prints("").results("1");
}

#[test]
fn an_interrupt_between_cells_is_nobodys() {
    let mut scene = Scene::with(JavaScript);
    for _ in 0..3 {
        scene.send(&interpreter_host::Inward::Interrupt { kernel: 1 });
    }
    scene.run_behind("'fine'").succeeds().results("'fine'");
}

#[test]
fn programs_get_no_control_and_an_empty_stdin() {
    let mut scene = Scene::with(JavaScript);
    scene.run("require('child_process').execSync('ls /proc/self/fd; cat', { stdio: 'inherit' }); undefined")
        .succeeds()
        .prints("0\n1\n2\n3\n");
    scene.run("require('fs').readFileSync(0, 'utf8')").succeeds().results("''");
}

#[test]
fn a_cell_ends_when_its_timers_and_requests_have() {
    let mut scene = Scene::with(JavaScript);
    scene
        .run("setTimeout(() => setTimeout(() => console.log('late'), 10), 10); 0")
        .succeeds()
        .prints("late\n")
        .results("0");
    let outcome = scene.run("setTimeout(() => {}, 1)").succeeds();
    assert!(outcome.results.is_empty(), "{outcome:?}");
    let read = "fs.promises.readFile(__filename).catch(() => console.log('read')); undefined";
    scene.run(read).succeeds().prints("read\n");
    scene
        .run("const t = setTimeout(() => {}, 1e6); setTimeout(() => clearTimeout(t), 10); 1")
        .succeeds()
        .results("1");
    // Interrupted, they are gone. The line comes from a timer, when the cell surely waits.
    let code = "setTimeout(() => console.log('no'), 1e6); setTimeout(() => console.log('on'), 1)";
    scene.interrupt(code, "on\n").ends(End::Finished(130)).prints("on\n");
}

#[test]
fn what_may_go_on_for_ever_holds_no_cell_up() {
    let mut scene = Scene::with(JavaScript);
    for code in [
        "child_process.spawn('sleep', ['1000']); 0",
        "setInterval(() => {}, 1000); 0",
        "net.createServer().listen(0); 0",
        "setTimeout(() => {}, 1e6).unref(); 0",
    ] {
        scene.run(code).succeeds().results("0");
    }
    let mut outcome = scene.run("let n = 0; setInterval(() => n++ || console.log('late'), 5); 0");
    while outcome.stdout != b"late\n" {
        scene.collect(1, &mut outcome);
    }
}

#[test]
fn imports_are_declared_as_in_a_module_and_kept() {
    let mut scene = Scene::with(JavaScript)
        .file("module.mjs", "export default 2; export const three = 3; export { three as 'a b' }")
        .file("data.json", "{\"x\": 4}");
    scene
        .run("import two, { three, three as drei } from './module.mjs'\ntwo + three + drei")
        .results("8");
    scene
        .run("import * as all from \"./module.mjs\"; import d, * as more from './module.mjs'")
        .succeeds();
    scene.run("import { default as e, 'a b' as f } from './module.mjs'; [two, all.three, d, more.three, e, f]")
        .results("[ 2, 3, 2, 3, 2, 3 ]");
    scene
        .run("import 'node:os'; import data from './data.json' with { type: 'json' }; data.x")
        .results("4");
    scene
        .run("`\nimport x from 'y'\n` // import z from 'z'\n")
        .results("\"\\nimport x from 'y'\\n\"");
    scene
        .run("import {\n  join, // of paths\n} from 'node:path'\nthrow new Error(join('a', 'b'))")
        .complains("Uncaught Error: a/b\n    at cell-6:4:7\n")
        .ends(End::Finished(1));
    scene
        .run("import { nothing } from './module.mjs'")
        .raises("SyntaxError: The requested module './module.mjs' does not provide an export named 'nothing'")
        .ends(End::Finished(1));
    scene.run("import x from 'node:fs'\nlet y = = 1").raises("SyntaxError: Unexpected token '='");
}

#[test]
fn text_that_is_not_unicode_is_still_a_claim() {
    let mut scene = Scene::with(JavaScript);
    scene.run("throw new Error('\\ud800')").ends(End::Finished(1)).raises("Error: \u{fffd}");
}
