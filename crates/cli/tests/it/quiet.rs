//! `--quiet` and `--output-schema`: the answer alone, for programs.

use crate::scene::{Scene, cell};

const SCHEMA: &str = r#"{
    "type": "object", "required": ["total"], "additionalProperties": false,
    "properties": { "total": { "type": "integer" } }
}"#;

#[test]
fn the_answer_stands_alone_on_standard_output() {
    let code = cell("python", "open('made.txt', 'w').write('x')\nprint('noise')");
    let scene = Scene::new().model_says(&[&format!("First I look.\n{code}"), "It is 42."]);
    let seen = scene.chat(&["--quiet", "-y", "what is it?"]);
    seen.prints("It is 42.\n").mentions("made.txt").mentions("interpreter changes").exits(0);
}

#[test]
fn without_an_answer_there_is_nothing_on_standard_output() {
    let scene = Scene::new().model_says(&[&cell("python", "print(1)")]);
    let seen = scene.chat(&["-q", "do it"]).prints("");
    seen.mentions("Not run: no terminal to ask on").exits(3);
}

#[test]
fn data_comes_in_and_the_answer_goes_out() {
    let code = cell("python", "import sys\nprint(sum(map(int, sys.stdin)))");
    let scene = Scene::new().model_says(&[&code, "The sum is 6."]);
    let arguments = scene.chat_arguments(&["-qy", "add them up"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    scene.run_with_input(&arguments, b"1\n2\n3\n").prints("The sum is 6.\n").exits(0);
}

#[test]
fn an_answer_is_asked_for_again_until_it_fits() {
    let scene = Scene::new().file("schema.json", SCHEMA).model_says(&[
        "The total is six.",
        "```json\n{\"total\": \"6\"}\n```",
        "{\"total\": 6}",
    ]);
    let seen = scene.chat(&["-y", "--output-schema", "schema.json", "add"]);
    seen.prints("{\"total\":6}\n").exits(0);
    let shown = scene.run(&["history", "show"]);
    shown.mentions("fits this JSON Schema").mentions("it is not JSON").mentions("expected integer");
}

#[test]
fn an_answer_that_never_fits_is_a_failure_of_the_model() {
    let scene = Scene::new().file("schema.json", SCHEMA).model_says(&["no", "{}", "[]"]);
    let seen = scene.chat(&["-y", "--output-schema", "schema.json", "add"]).prints("");
    seen.mentions("the answer does not fit the schema").mentions("expected object").exits(5);
}

#[test]
fn a_schema_that_cannot_be_checked_is_refused_before_anything_is_sent() {
    let scene = Scene::new().file("schema.json", "{\"pattern\": \"x\"}").model_says(&["no"]);
    let seen = scene.chat(&["--output-schema", "schema.json", "add"]);
    seen.mentions("the keyword `pattern` is not supported").exits(2);
    scene.chat(&["--output-schema", "none.json", "add"]).mentions("none.json").exits(2);
}

#[test]
fn calls_of_the_model_can_be_counted_by_either_name() {
    let code = cell("python", "print(1)");
    for option in ["--max-turns", "--max-calls"] {
        let scene = Scene::new().model_says(&[&code, &code, "Done."]);
        scene.chat(&["-y", option, "2", "go"]).mentions("which is the limit").exits(5);
    }
}
