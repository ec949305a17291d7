//! Conversations that are longer than the model takes.

use crate::scene::{Scene, Seen, cell};
use serde_json::{Value, json};

/// A model that takes so many tokens and says these things.
fn model(context: u64, replies: &[Value]) -> String {
    let mut script = format!("context = {context}\n");
    for reply in replies {
        script.push_str("[[reply]]\n");
        for (key, value) in reply.as_object().unwrap() {
            let value = match value.as_object() {
                Some(usage) => {
                    format!("{{ input = {}, output = {} }}", usage["input"], usage["output"])
                }
                None => value.to_string(),
            };
            script.push_str(&format!("{key} = {value}\n"));
        }
    }
    script
}

fn notes(seen: &Seen) -> Vec<String> {
    let texts = seen.of_kind("note");
    texts.iter().map(|note| note["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn old_output_is_told_in_short_and_can_still_be_read() {
    let printing = |run: u32| json!({"text": cell("python", &format!("print('{run}' * 6000)"))});
    let looking = json!({"text": cell("output", "p1 2001-2010"), "expect": "3333"});
    let told = json!({"text": "Done.", "expect": "1111111111\n[characters 2001 to 2010"});
    let replies = [printing(1), printing(2), printing(3), looking, told];
    let scene = Scene::new().script(&model(6_000, &replies));
    let seen = scene.chat(&["--yes", "--json", "print a lot"]).exits(0);
    let notes = notes(&seen);
    assert!(notes.iter().any(|note| note.contains("are shortened from now on")), "{notes:?}");
    assert!(seen.of_kind("summary").is_empty());
}

#[test]
fn what_cannot_be_shortened_is_summed_up_on_record_and_unseen() {
    let long = "The quick brown fox jumps over the lazy dog. ".repeat(120);
    let talking = |run: u32| {
        let text = format!("{long}\n{}", cell("python", &format!("print({run})")));
        json!({ "text": text })
    };
    let replies = [
        talking(1),
        talking(2),
        talking(3),
        json!({"text": "Foxes jumped, twice.", "expect": "Write that summary now"}),
        json!({"text": "All done.", "expect": "3\n[status 0]",
               "usage": {"input": 2000, "output": 100}}),
    ];
    let scene = Scene::new().script(&model(6_000, &replies));
    let seen = scene.chat(&["--yes", "--json", "jump"]).exits(0);
    assert_eq!(seen.of_kind("summary")[0]["text"], "Foxes jumped, twice.");
    let notes = notes(&seen);
    assert!(notes.iter().any(|note| note.contains("older messages were summed up")), "{notes:?}");
    let last = seen.of_kind("request").last().unwrap()["newest"].clone();
    let said: Vec<_> = last.as_array().unwrap().iter().map(|one| one["role"].clone()).collect();
    assert_eq!(said[..2], ["earlier", "user"], "{last}");
    assert_eq!(last[1]["text"], "jump", "what was asked stays");
    assert_eq!(seen.of_kind("usage")[0]["context"], 6_000);

    let scene = Scene::new().script(&model(6_000, &replies));
    let seen = scene.chat(&["--yes", "jump"]).exits(0);
    seen.mentions("summed up").mentions("context 35 % full").lacks("Foxes jumped, twice.");
}

#[test]
fn what_cannot_be_summed_up_is_left_out_and_everybody_is_told() {
    let long = "The quick brown fox jumps over the lazy dog. ".repeat(120);
    let talking = json!({ "text": format!("{long}\n{}", cell("python", "print(1)")) });
    let failing = json!({ "fail": "no room on the server" });
    let done = json!({ "text": "All done." });
    let replies = [talking.clone(), talking.clone(), talking, failing, done];
    let scene = Scene::new().script(&model(6_000, &replies));
    let seen = scene.chat(&["--yes", "--json", "jump"]).exits(0);
    let notes = notes(&seen).join("\n");
    assert!(notes.contains("no summary: no room on the server"), "{notes}");
    assert!(notes.contains("are left out of what the model is sent"), "{notes}");
    let last = seen.of_kind("request").last().unwrap()["newest"].clone();
    let told = last[0]["text"].as_str().unwrap();
    assert!(told.contains("older messages were left out here"), "{told}");
}
