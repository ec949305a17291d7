//! The JavaScript driver in Deno and Bun, and TypeScript everywhere. Missing ones are skipped with
//! a message.

use crate::scene::{
    End,
    Language::{self, Bun, Deno, TypeScript},
    Scene, tool,
};

fn others() -> impl Iterator<Item = Language> {
    [("deno", Deno), ("bun", Bun)]
        .into_iter()
        .filter(|(name, _)| tool(name).is_some())
        .map(|(_, it)| it)
}

#[test]
fn state_await_and_the_last_value_are_as_in_node() {
    for language in others() {
        let mut scene = Scene::with(language).file("module.mjs", "export default 2");
        scene.run("const x = 1; let y = 2; class A {}; function f() { return x + y }").succeeds();
        for code in ["const one = 1", "let { a } = { a: 1 }", "var v = 1, w = 2", "undefined"] {
            assert!(scene.run(code).succeeds().results.is_empty(), "{code} in {language:?}");
        }
        scene.run("one + a + w").succeeds().results("4");
        scene.run("f()").succeeds().results("3");
        scene.run("const x = 10; let y = 20; class A {}; f()").succeeds().results("30");
        scene.run("({ a: await Promise.resolve(1) })").succeeds().results("{ a: 1 }");
        scene.run("import two from './module.mjs'; import { join } from 'node:path'").succeeds();
        scene.run("join('a', `${two}`)").succeeds().results("'a/2'");
        scene.run("console.log('é'); undefined").succeeds().prints("é\n");
        scene.run("async function main() { await null; return 7 }\nmain()").results("7");
        scene.run("setTimeout(() => console.log('late'), 20); 0").succeeds().prints("late\n");
        scene.run("setInterval(() => {}, 1000); 0").succeeds().results("0");
    }
}

#[test]
fn errors_fail_the_cell_and_spare_the_kernel() {
    for language in others() {
        let mut scene = Scene::with(language);
        scene.run("throw new TypeError('no')").raises("TypeError: no").ends(End::Finished(1));
        let outcome = scene.run("console.log(1)\nx = = 1").prints("").ends(End::Finished(1));
        let said = String::from_utf8(outcome.stderr).unwrap();
        assert!(said.starts_with("cell-2:2\nx = = 1\n    ^\n"), "{said}");
        scene.run("Promise.reject(new Error('aside')); 5").results("5").ends(End::Finished(1));
        scene.run("'alive'").succeeds().results("'alive'");
        scene.run("process.exit(3)").ends(End::Exited(3));
    }
}

#[test]
fn an_interrupt_ends_a_wait() {
    for language in others() {
        let mut scene = Scene::with(language);
        let code = "let x = 1; console.log('on'); await new Promise((r) => setTimeout(r, 1e6))";
        scene.interrupt(code, "on\n").ends(End::Finished(130));
        scene.run("x").succeeds().results("1");
    }
}

#[test]
fn nothing_of_the_folder_runs_at_the_start() {
    for language in others() {
        let scene = Scene::new(crate::scene::Place::Here)
            .file("bunfig.toml", "preload = [\"./planted.js\"]")
            .file("deno.json", "{\"preload\": [\"./planted.js\"], \"imports\": {}}")
            .file("planted.js", "console.log('planted')");
        let mut scene = scene;
        scene.start(1, language);
        scene.run("1").succeeds().prints("").results("1");
    }
}

/// The interpreters that read TypeScript here. Node 20 needs a package.
fn typed() -> impl Iterator<Item = Scene> {
    let packages = tool("../javascript/node_modules");
    let names = ["node", "deno", "bun"].into_iter().filter(move |name| match *name {
        "node" => packages.is_some(),
        other => tool(other).is_some(),
    });
    names.map(|name| {
        let mut scene = Scene::new(crate::scene::Place::Here);
        if let Some(packages) = tool("../javascript/node_modules") {
            std::os::unix::fs::symlink(packages, scene.path().join("node_modules")).unwrap();
        }
        scene.start(1, TypeScript(name));
        scene
    })
}

#[test]
fn types_are_blanked_out_and_state_is_kept() {
    for mut scene in typed() {
        let code = "interface A { x: number }\nconst a: A = { x: 1 };\nfunction f<T>(y: T): T { return y }";
        scene.run(code).succeeds();
        scene.run("f<string>('s') + (a as A).x").succeeds().results("'s1'");
        scene
            .run("import type { Stats } from 'node:fs'\nimport { sep } from 'node:path'\nsep")
            .results("'/'");
        scene.run("enum E { A, B }\nE.B").succeeds().results("1");
        scene.run("let z: number = await Promise.resolve(3)!; z").succeeds().results("3");
        scene.run("let q: = 3").ends(End::Finished(1));
        scene.run("z satisfies number").succeeds().results("3");
    }
}

#[test]
fn lines_of_typescript_keep_their_numbers() {
    for mut scene in typed() {
        let code = "type A = {\n  x: number\n}\n\nfunction f(a: A) {\n  throw new Error('here')\n}\nf({ x: 1 })";
        let outcome = scene.run(code).raises("Error: here").ends(End::Finished(1));
        let said = String::from_utf8(outcome.stderr).unwrap();
        // Bun counts other lines, so it shows none.
        assert!(said.contains(":6:9") || said == "Uncaught Error: here\n", "{said}");
    }
}
