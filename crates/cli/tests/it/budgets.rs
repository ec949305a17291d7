//! Budgets: of a session, and of a day over several processes.

use crate::{
    models::servers::{Paced, Plain},
    scene::{Scene, Seen, cell},
};
use std::net::TcpListener;

mod attacked;

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
fn a_model_does_not_outlive_the_budget_of_time() {
    // It listens, and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", silent.local_addr().unwrap());
    for span in ["session", "day"] {
        let scene = Scene::new();
        let limit = format!("budget.{span}.time=2s");
        let ask = ["--base-url", &url, "-m", "slow", "--set", &limit, "--json", "hello there"];
        let seen = scene.run(&ask).exits(5);
        let said = refused(&seen);
        assert!(said.starts_with(&format!("`budget.{span}.time` is used up: ")), "{said}");
        assert_eq!(seen.of_kind("error").len(), 1);
        assert_eq!(seen.of_kind("turn_finished")[0]["end"], "over_budget");
    }
}

#[test]
fn a_reply_that_is_cut_by_the_budget_of_time_is_kept_and_its_code_does_not_run() {
    let server = Paced::start();
    let scene = selling(&server.address, FREE);
    server.says("I will\n```python\nprint('RAN' + ' ONCE')\n```\n");
    let ask = ["--yes", "-m", "dear/m", "--set", "budget.session.time=3s", "go"];
    scene.run(&ask).mentions("I will").mentions("is used up: ").lacks("RAN ONCE").exits(5);
    scene.run(&["history", "show"]).mentions("I will").lacks("RAN ONCE");
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

const FREE: &str = "";
const DEAR: &str = "price = { input = 100_000.0, output = 100_000.0, as_of = '2025-11-01' }";

/// A home with a provider of one model, `dear/m`, of this price.
fn selling(address: &str, price: &str) -> Scene {
    let provider = format!(
        "title = 'Dear'\nformat = 'openai'\nbase_url = '{address}/v1'\n\n\
         [[model]]\nname = '*'\ntools = false\n{price}\n"
    );
    Scene::new().home_file(".config/interpreter/providers/dear.toml", &provider)
}

fn refused(seen: &Seen) -> String {
    seen.of_kind("error")[0]["message"].as_str().unwrap().to_owned()
}

/// The server does not count tokens, as many do not.
#[test]
fn money_that_is_spent_stops_the_session_and_the_day() {
    let server = Plain::streaming(&cell("python", "print('RAN' + ' ONCE')"));
    let scene = selling(&server.address, DEAR);
    let model = ["--yes", "-m", "dear/m", "--json"];
    let ask = |more: &[&str]| scene.run(&[&model, more, &["go"]].concat());
    let seen = ask(&["--set", "budget.session.cost=0.5"]).exits(5);
    assert_eq!(seen.of_kind("run_started").len(), 1);
    let said = refused(&seen);
    assert!(said.starts_with("`budget.session.cost` is used up: $"), "{said}");
    assert_eq!(server.asked().len(), 1);

    // Another session has not spent anything, but the day has.
    let seen = ask(&["--set", "budget.day.cost=0.5"]).exits(5);
    let said = refused(&seen);
    assert!(said.starts_with("`budget.day.cost` is used up: $"), "{said}");
    assert_eq!(server.asked().len(), 1);

    let server = Plain::streaming("Hello.");
    let free = selling(&server.address, FREE);
    let told = ["--set", "budget.session.cost=0.000001", "-m", "dear/m", "go"];
    free.run(&told).mentions("Hello.").lacks("price").exits(0);
}

#[test]
fn a_call_that_broke_off_costs_money_all_the_same() {
    let server = Paced::start();
    let scene = selling(&server.address, DEAR);
    server.says("I will");
    scene.run(&["-m", "dear/m", "--time-limit", "3s", "go"]).mentions("I will").exits(124);
    let limited = ["--set", "budget.day.cost=0.5", "-m", "dear/m", "--json", "go"];
    let said = refused(&scene.run(&limited).exits(5));
    assert!(said.starts_with("`budget.day.cost` is used up: $"), "{said}");
}

#[test]
fn a_budget_of_money_says_if_it_cannot_know_the_price() {
    let scene = selling("https://model.invalid", FREE);
    let ask = ["--set", "budget.day.cost=0.5", "-m", "dear/m", "--time-limit", "1s", "go"];
    scene.run(&ask).mentions("the price of dear/m is not known, so `budget.day.cost` counts only");
    scene.run(&ask[2..]).lacks("the price of");
    let scene = selling("https://model.invalid", DEAR);
    scene.run(&ask).lacks("the price of");
}

#[test]
fn calls_of_a_minute_are_counted_over_all_processes() {
    let server = Plain::streaming("Hello.");
    let scene = selling(&server.address, FREE);
    let paced = ["--set", "requests_per_minute=1", "--time-limit", "3s", "-m", "dear/m", "hi"];
    scene.run(&paced).mentions("Hello.").exits(0);
    // The next one waits for its turn, and nobody is asked meanwhile.
    let seen = scene.run(&paced).exits(124);
    seen.mentions("as `requests_per_minute` has it").lacks("Hello.");
    assert_eq!(server.asked().len(), 1);
    scene.run(&["-m", "dear/m", "hi"]).mentions("Hello.").exits(0);
    assert_eq!(server.asked().len(), 2);
}
