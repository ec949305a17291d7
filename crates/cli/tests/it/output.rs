//! The whole output is stored and available again, to the person and to the model.

use crate::scene::Scene;
use std::path::PathBuf;

/// Written at once, so that it comes in large pieces however busy the machine is.
const MUCH: &str =
    "import sys; _ = sys.stdout.write(''.join(f'line {i}\\n' for i in range(40_000)))";

fn much() -> String {
    (0..40_000).map(|i| format!("line {i}\n")).collect()
}

/// The files that hold outputs.
fn kept(scene: &Scene) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(scene.data().join("outputs")).into_iter().flatten();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    files.map(|file| file.unwrap().path()).collect()
}

#[test]
fn a_large_output_is_printed_and_kept_whole() {
    let scene = Scene::new();
    scene.code("python", MUCH).prints(&much()).exits(0);
    assert!(!kept(&scene).is_empty());
    scene.run(&["history", "show", "--output", "p1"]).prints(&much()).exits(0);
    let again = scene.run(&["history", "show", "--json"]).exits(0);
    let texts = again.of_kind("output").into_iter().map(|r| r["text"].as_str().unwrap().to_owned());
    assert_eq!(texts.collect::<String>(), much());
    scene.run(&["history", "show"]).mentions("line 39999").exits(0);
    scene.run(&["audit", "verify"]).mentions("stored output").mentions("all as recorded").exits(0);
    scene.run(&["history", "show", "--output", "p9"]).mentions("has no run `p9`").exits(2);
}

#[test]
fn streams_and_bytes_come_back_as_they_were() {
    let scene = Scene::new();
    let code = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 200); \
                sys.stdout.flush(); print('e' * 20_000, file=sys.stderr)";
    let first = scene.code("python", code).exits(0);
    let again = scene.run(&["history", "show", "--output", "p1"]).exits(0);
    assert_eq!(first.0.stdout.len(), 256 * 200);
    assert_eq!(again.0.stdout, first.0.stdout);
    assert_eq!(again.stderr(), format!("{}\n", "e".repeat(20_000)));
}

#[test]
fn an_output_that_was_changed_is_found() {
    let scene = Scene::new();
    scene.code("python", MUCH).exits(0);
    let file = kept(&scene).pop().unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    scene.run(&["audit", "verify"]).mentions("was changed after it was recorded").exits(1);
    let seen = scene.run(&["history", "show", "--output", "p1"]);
    assert_ne!(seen.0.status.code(), Some(0), "{}", seen.stderr());
    seen.mentions("was changed after it was recorded");
}

#[test]
fn an_output_that_is_gone_is_told_as_such() {
    let scene = Scene::new();
    scene.code("python", "print('x' * 20_000)").exits(0);
    for file in kept(&scene) {
        std::fs::remove_file(file).unwrap();
    }
    scene.run(&["history", "show"]).mentions("bytes no longer stored").exits(0);
    scene.run(&["audit", "verify"]).mentions("was removed, but not by this program").exits(1);
    scene.run(&["history", "show", "--output", "p1"]).mentions("no longer stored").exits(1);
}

#[test]
fn a_model_asks_for_the_part_that_was_left_out() {
    let scene = Scene::new().script(
        r#"
[[reply]]
call = { language = "python", code = "print('a' * 5000 + 'needle' + 'b' * 10000)" }
[[reply]]
expect = "[… 7007 characters omitted, 4001 to 11007; to see some of them, run `p1 4001-11007` in the language `output` …]"
call = { language = "output", code = "p1 4996-5010" }
[[reply]]
expect = "aaaaaneedlebbbb\n[characters 4996 to 5010 of 15007 printed by p1]"
text = "Found it."
"#,
    );
    scene
        .chat(&["--yes", "look"])
        .mentions("the model looks at what p1 printed, characters 4996 to 5010")
        .mentions("Found it.")
        .exits(0);
}
