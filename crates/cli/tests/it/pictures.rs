//! Pictures that models see: those that code makes, and those that the person shows.

use crate::{
    scene::{Scene, cell},
    terminal::Terminal,
};
use base64::{Engine, engine::general_purpose::STANDARD};

/// A red square of 32 pixels, as PNG.
const RED: &str = "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkAAAjAsP7/tF7hIASyp6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC";

pub(crate) fn red() -> Vec<u8> {
    STANDARD.decode(RED).unwrap()
}

/// A model with or without sight.
fn model(sees: bool, replies: &[&str]) -> String {
    let quoted =
        |text: &&str| format!("[[reply]]\ntext = {}\n", serde_json::to_string(text).unwrap());
    let replies: String = replies.iter().map(quoted).collect();
    format!("images = {sees}\n{replies}")
}

#[test]
fn what_code_draws_is_shown_to_a_model_that_sees() {
    let code = format!(
        "import base64\nclass Red:\n  def _repr_png_(self):\n    return base64.b64decode('{RED}')\nRed()"
    );
    let draw = cell("python", &code);
    for sees in [true, false] {
        let scene = Scene::new().script(&model(sees, &[&draw, "A square."]));
        let seen = scene.chat(&["--yes", "--json", "draw"]).exits(0);
        let requests = seen.of_kind("request");
        let result = &requests[1]["newest"][0];
        assert!(!result.to_string().contains("iVBOR"), "{result}");
        if sees {
            let image = &result["images"][0];
            assert_eq!((&image["mime"], &image["width"]), (&"image/png".into(), &32.into()));
            assert_eq!(image["hash"].as_str().unwrap().len(), 64);
        } else {
            assert_eq!(result.get("images"), None);
            let told = result["text"].as_str().unwrap();
            assert!(told.contains("pictures that the user saw and you cannot see: 1"), "{told}");
        }
    }
}

#[test]
fn a_picture_goes_with_a_prompt_and_is_kept_beside_the_record() {
    let scene = Scene::new().script(&model(true, &["Red."])).file("red.png", red());
    let seen = scene.chat(&["--json", "--image", "red.png", "which colour?"]).exits(0);
    let shown = &seen.of_kind("image")[0];
    assert_eq!((&shown["name"], &shown["mime"]), (&"red.png".into(), &"image/png".into()));
    let newest = seen.of_kind("request")[0]["newest"].as_array().unwrap().clone();
    let prompt = newest.last().unwrap();
    assert_eq!(prompt["text"], "which colour?");
    assert_eq!(prompt["images"][0]["hash"], shown["hash"]);
    assert!(!seen.stdout().contains("iVBOR"));
    scene.run(&["audit", "verify"]).mentions("1 stored output, all as recorded").exits(0);
}

#[test]
fn what_is_no_picture_is_refused_before_anything_is_sent() {
    let scene = Scene::new().script(&model(true, &["Red."])).file("notes.png", "no picture");
    let refused = |path: &str| scene.chat(&["--image", path, "which colour?"]).exits(2);
    refused("notes.png").mentions("cannot send the image `notes.png`: it is not a PNG");
    refused("gone.png").mentions("it does not exist");
    refused(".").mentions("it is not a regular file");
    let scene = Scene::new().script(&model(false, &["I do not see."])).file("red.png", red());
    let seen = scene.chat(&["--image", "red.png", "which colour?"]).exits(0);
    seen.mentions("the model does not see pictures; this one is not sent");
}

#[test]
fn a_person_can_show_a_picture_in_a_chat() {
    let scene = Scene::new().script(&model(true, &["Red."])).file("red.png", red());
    let terminal = Terminal::open(&scene, &[]);
    terminal.types("/image nowhere.png").shows("it does not exist");
    terminal.types("/image red.png").shows(
        "Attached to your next prompt: red.png (image/png, 32 \
                                            × 32",
    );
    terminal.types("which colour?").shows("Red.");
    terminal.types("/quit").exits(0);
    scene.run(&["audit", "verify"]).mentions("1 stored output").exits(0);
}
