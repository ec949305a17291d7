//! A model that runs in the program, through the program as it is released: `scripts/test` builds that one, with the engine in it, and
//! fetches the weights of a tiny model that writes little sense. Where these are missing, these tests say that they were not tried.
//!
//! The details of the engine are tested beside it (`model/tests/engine.rs`).

use crate::{
    scene::{Scene, Seen, without},
    terminal::Terminal,
};
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};

const TOOLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/test-tools/models");
const FILE: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
const MODEL: &str = "embedded/smollm2-135m";

/// A scene with the weights installed, or `None` if they were not fetched.
fn scene() -> Option<Scene> {
    let weights = Path::new(TOOLS).join(FILE);
    if !weights.exists() {
        without(FILE);
        return None;
    }
    let scene = Scene::new()
        .with_engine()
        .home_file(".config/interpreter/config.toml", "max_tokens = 16\n");
    let from = ["model", "pull", MODEL, "--offline", "--from", weights.to_str().unwrap()];
    scene.run(&from).mentions("SHA-256 checked").exits(0);
    Some(scene)
}

/// Asks the model one thing.
fn ask(scene: &Scene) -> Seen {
    scene.run(&["--model", MODEL, "--offline", "--json", "--yes", "--max-calls", "1", "Hello."])
}

/// The one record of a kind.
fn the(seen: &Seen, kind: &str) -> Value {
    let mut all = seen.of_kind(kind);
    assert_eq!(all.len(), 1, "{kind}: {}{}", seen.stdout(), seen.stderr());
    all.remove(0)
}

fn saved(scene: &Scene) -> Vec<PathBuf> {
    fn all(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                all(&entry.path(), found);
            } else if entry.path().extension().is_some_and(|ending| ending == "prefix") {
                found.push(entry.path());
            }
        }
    }
    let mut found = Vec::new();
    all(&scene.data(), &mut found);
    found
}

#[test]
fn it_answers_without_a_network_and_says_how_fast() {
    let Some(scene) = scene() else { return };
    let seen = ask(&scene);
    assert!(!the(&seen, "reply")["text"].as_str().unwrap().is_empty());
    let usage = the(&seen, "usage");
    assert!(usage["input"].as_u64().unwrap() > 20, "{usage}");
    assert!((1..=16).contains(&usage["output"].as_u64().unwrap()), "{usage}");
    let notes = seen.of_kind("note");
    assert!(
        notes.iter().any(|note| note["text"].as_str().unwrap().contains(" tokens/s (")),
        "{notes:?}"
    );
    // The library has nothing to say at the terminal.
    assert_eq!(seen.stderr(), "");
}

#[test]
fn the_download_reads_the_beginning_and_no_question_reads_it_again() {
    let Some(scene) = scene() else { return };
    let cached = |seen: &Seen| the(seen, "usage")["cached"].as_u64().unwrap_or(0);
    let files = saved(&scene);
    assert_eq!(files.len(), 1);
    let first = ask(&scene);
    assert!(cached(&first) > 50, "{}", first.stdout());
    let second = ask(&scene);
    assert!(cached(&second) > 50, "{}", second.stdout());
    assert_eq!(the(&first, "reply")["text"], the(&second, "reply")["text"]);
    // A damaged file is no harm: it is read anew, and written anew.
    let whole = fs::read(&files[0]).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() - 1] ^= 1;
    for bytes in [&damaged[..], &whole[..whole.len() / 2], b""] {
        fs::write(&files[0], bytes).unwrap();
        let again = ask(&scene);
        assert_eq!(the(&first, "reply")["text"], the(&again, "reply")["text"]);
        assert_eq!(saved(&scene), files);
        assert_eq!(fs::read(&files[0]).unwrap().len(), whole.len());
    }
    assert!(cached(&ask(&scene)) > 50);
    scene.run(&["model", "remove", MODEL]).mentions("was removed").exits(0);
    assert_eq!(saved(&scene).len(), 0);
}

#[test]
fn other_bytes_than_the_weights_are_not_run() {
    let Some(scene) = scene() else { return };
    let place = scene.data().join("models").join(FILE);
    let mut bytes = fs::read(&place).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&place, bytes).unwrap();
    let seen = ask(&scene);
    assert!(seen.of_kind("reply").is_empty(), "{}", seen.stdout());
    assert!(!seen.0.status.success());
}

#[test]
fn a_chat_goes_on_with_it_and_with_another_after_it() {
    let Some(scene) = scene() else { return };
    let scene = scene.model_says(&["One."]).file("next.toml", "[[reply]]\ntext = 'Three.'\n");
    let more = ["--offline", "--yes", "--max-calls", "1", "first"];
    let terminal = Terminal::open(&scene, &more);
    terminal.shows("One.");
    terminal.types(&format!("/model {MODEL}")).shows(&format!("┆ {MODEL}"));
    terminal.types("Hello.").shows(" tokens/s (");
    terminal.types("/model scripted:next.toml").shows("┆ scripted:next.toml");
    terminal.types("third").shows("Three.");
    terminal.types("/quit").exits(0);
    let requests = scene.run(&["history", "show", "--json"]).of_kind("request");
    let told = |model: &str| {
        let request = requests.iter().find(|request| request["model"] == model).unwrap();
        let newest = request["newest"].as_array().unwrap().iter();
        newest.map(|message| message["text"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let small = told(MODEL);
    assert_eq!(small[small.len() - 3..], ["first", "One.", "Hello."]);
    let next = told("scripted:next.toml");
    assert_eq!(next[1..4], ["first", "One.", "Hello."]);
    assert_eq!(next.last().unwrap(), "third");
}
