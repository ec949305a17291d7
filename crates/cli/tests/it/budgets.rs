//! Budgets: of a session, and of a day over several processes.

use crate::scene::{Scene, cell};

#[test]
fn a_session_stops_before_the_call_that_it_has_no_budget_for() {
    let scene = Scene::new().model_says(&[&cell("python", "print('RAN' + ' ONCE')"), "Done."]);
    let told = ["--yes", "--set", "budget.session.tokens=1", "--json", "go"];
    let seen = scene.chat(&told).exits(5);
    // The first call is answered, and its code runs; there is no second one.
    assert_eq!(seen.of_kind("run_started").len(), 1);
    assert_eq!(seen.of_kind("request").len(), 1);
    let said = seen.of_kind("error")[0]["message"].as_str().unwrap().to_owned();
    assert!(said.starts_with("`budget.session.tokens` is used up: "), "{said}");
    assert_eq!(seen.of_kind("turn_finished")[0]["end"], "over_budget");
    scene.chat(&["--yes", "--set", "budget.session.tokens=100000", "go"]).exits(0);
}

#[test]
fn code_does_not_outlive_the_budget_of_time() {
    let endless = cell("python", "import time\nprint('BEGAN', flush=True)\ntime.sleep(9999)");
    let scene = Scene::new().model_says(&[&endless, "Done."]);
    let told = ["--yes", "--set", "budget.session.time=2s", "--json", "go"];
    let seen = scene.chat(&told).exits(5);
    let limit = seen.of_kind("run_finished")[0]["limit"].as_str().unwrap().to_owned();
    assert!(limit.starts_with("time ("), "{limit}");
    let notes = seen.of_kind("note");
    let is_told = |note: &serde_json::Value| {
        note["text"].as_str().unwrap().starts_with("the budget of time leaves ")
    };
    assert!(notes.iter().any(is_told), "{notes:?}");
    let said = seen.of_kind("error")[0]["message"].as_str().unwrap().to_owned();
    assert!(said.starts_with("`budget.session.time` is used up: "), "{said}");
}

#[test]
fn a_day_is_counted_over_all_sessions() {
    let scene = Scene::new().model_says(&["Hello."]);
    let limited = ["--set", "budget.day.turns=2", "hi"];
    scene.chat(&limited).mentions("Hello.").exits(0);
    scene.chat(&limited).mentions("Hello.").exits(0);
    scene
        .chat(&limited)
        .exits(5)
        .mentions("`budget.day.turns` is used up: 2 prompts of 2")
        .lacks("Hello.")
        .mentions("--set budget.day.turns=");
    scene.chat(&["hi"]).mentions("Hello.").exits(0);
}

/// A limit that cannot be counted is a limit that is reached.
#[test]
fn without_its_file_a_budget_of_the_day_stops_the_session() {
    let scene = Scene::new().model_says(&["Hello."]);
    scene.chat(&["hi"]).exits(0);
    let file = scene.data().join("spent.json");
    fs_err::remove_file(&file).unwrap();
    fs_err::create_dir(&file).unwrap();
    scene.chat(&["--set", "budget.day.turns=9", "hi"]).mentions("spent.json").lacks("Hello.");
    scene.chat(&["hi"]).mentions("Hello.").exits(0);
}
