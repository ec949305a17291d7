//! The model is changed in the middle of a chat: what was said stays, and what the next model is
//! sent is what it can read.

use crate::{
    models::{
        FORMATS, at,
        servers::{Mock, Plain},
    },
    scene::{Scene, Who},
    terminal::Terminal,
};
use serde_json::Value;

const CONFIG: &str = ".config/interpreter/config.toml";

/// A model with tools that runs one thing.
const CALLING: &str = "[[reply]]\ncall = { language = 'python', code = 'x = 6 * 7; print(x)' }\n\
                       [[reply]]\ntext = 'It was forty-two.'\n";

/// The same, later.
const CALLING_AGAIN: &str = "[[reply]]\ncall = { language = 'python', code = 'print(x + 1)' }\n\
     [[reply]]\nexpect = \"43\\n[status 0]\"\ntext = 'And one more.'\n";

/// A model that copies what it sees.
const SMALL: &str = "small = true\n[[reply]]\ntext = \"```python\\nprint(x + 2)\\n```\"\n";

/// The request that a server received at this position.
fn sent(server: &Plain, at: usize) -> Value {
    let asked = server.asked();
    let body = &asked[at][asked[at].find('{').unwrap()..];
    serde_json::from_str(body).unwrap()
}

/// The roles and words of it.
fn told(body: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let messages = body["messages"].as_array().unwrap();
    messages.iter().map(|one| (text(&one["role"]), text(&one["content"]))).collect()
}

fn endpoint(name: &str, server: &Plain, more: &str) -> String {
    let address = &server.address;
    format!(
        "[endpoint.{name}]\nbase_url = '{address}/v1'\nformat = 'openai'\nmodel = 'm'\n{more}\n"
    )
}

#[test]
fn a_conversation_goes_from_tools_to_fences_and_back_whole() {
    let fences = Plain::streaming("It stays forty-two.");
    let tools = Plain::streaming("Still.");
    let config = endpoint("fences", &fences, "tools = false") + &endpoint("tools", &tools, "");
    let scene = Scene::new().script(CALLING).home_file(CONFIG, &config);
    let scene = scene.file("again.toml", CALLING_AGAIN);
    let terminal = Terminal::open(&scene, &["--yes", "compute"]);
    terminal.shows("It was forty-two.");
    terminal.types("/model").shows("Model: scripted:script.toml");

    terminal.types("/model fences").shows("┆ fences/m");
    terminal.types("%model").shows("Model: fences/m");
    terminal.types("are you sure?").shows("It stays forty-two.");
    let body = sent(&fences, 0);
    assert!(body.get("tools").is_none(), "{body}");
    let messages = told(&body);
    assert!(messages[0].1.contains("write exactly one fenced code block"), "{body}");
    assert!(!messages[0].1.contains("call the tool"), "{body}");
    assert_eq!(messages[1], ("user".into(), "compute".into()));
    let code = "```python\nx = 6 * 7; print(x)\n```";
    assert!(messages[2].0 == "assistant" && messages[2].1.contains(code), "{body}");
    assert!(messages[3].0 == "user" && messages[3].1.contains("42\n[status 0]"), "{body}");
    assert_eq!(messages[4].1, "It was forty-two.");
    assert_eq!(messages[5], ("user".into(), "are you sure?".into()));
    assert_eq!(messages.len(), 6);

    terminal.types("%model tools/other").shows("┆ tools/other");
    terminal.types("really?").shows("Still.");
    let body = sent(&tools, 0);
    assert_eq!((&body["model"], body["tools"].as_array().unwrap().len()), (&"other".into(), 1));
    let messages = told(&body);
    assert!(messages[0].1.contains("call the tool `execute`"), "{body}");
    assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["name"], "execute");
    assert!(messages[3].0 == "tool" && messages[3].1.contains("42\n[status 0]"), "{body}");
    let words: Vec<_> = messages[4..].iter().map(|(_, words)| words.as_str()).collect();
    let expected = ["It was forty-two.", "are you sure?", "It stays forty-two.", "really?"];
    assert_eq!(words, expected);

    // Variables are not the model's: they stay too.
    terminal.types("/model scripted:again.toml").shows("┆ scripted:again.toml");
    terminal.types("more").shows("43").shows("And one more.");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    let changed = seen.of_kind("model_changed");
    let names: Vec<_> = changed.iter().map(|record| record["model"].as_str().unwrap()).collect();
    assert_eq!(names, ["fences/m", "tools/other", "scripted:again.toml"]);
    scene.run(&["history", "show"]).mentions("switched model").mentions("fences/m").exits(0);
    scene.run(&["audit", "verify"]).exits(0);
}

#[test]
fn one_conversation_goes_from_each_format_to_the_next() {
    let Some(mock) = Mock::start() else { return };
    let scene = at(&mock.address);
    let terminal = Terminal::start(&scene, &["--model", FORMATS[0], "--yes", "two and two?"]);
    terminal.shows("The answer is four");
    for model in FORMATS[1..].iter().chain(&FORMATS[..1]) {
        terminal.types(&format!("/model {model}")).shows(&format!("┆ {model}"));
        // Each makes a call, in its own format, after those that the others made in theirs.
        terminal.types("sure?").shows("The answer is four").lacks("error");
    }
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    assert!(seen.of_kind("error").is_empty());
    assert_eq!(seen.of_kind("model_changed").len(), 5);
    let requests = seen.of_kind("request");
    assert_eq!(seen.of_kind("run_started").len(), 6);
    assert_eq!(requests.last().unwrap()["messages"], 24);
}

#[test]
fn a_small_model_is_shown_examples_and_the_next_one_is_not() {
    let usual = Plain::streaming("Forty-four.");
    let scene = Scene::new().script(CALLING).file("small.toml", SMALL);
    let scene = scene.home_file(CONFIG, &endpoint("usual", &usual, ""));
    let terminal = Terminal::open(&scene, &["--yes", "compute"]);
    terminal.shows("It was forty-two.");
    terminal.types("/model scripted:small.toml").shows("┆ scripted:small.toml");
    // Its turn ends with what was printed: another call would fail.
    terminal.types("more").shows("┆ 44").lacks("error");
    terminal.types("/model usual").shows("┆ usual/m");
    terminal.types("what was that?").shows("Forty-four.");
    terminal.types("/quit").exits(0);
    let seen = scene.run(&["history", "show", "--json"]);
    let requests = seen.of_kind("request");
    let small = requests.iter().find(|one| one["model"] == "scripted:small.toml").unwrap();
    let newest = small["newest"].as_array().unwrap();
    assert!(newest[0]["text"].as_str().unwrap().contains("exactly one fenced code block"));
    assert!(newest.len() > 10, "there are no examples: {small}");
    let at = newest.iter().position(|one| one["text"] == "compute").unwrap();
    assert_eq!(newest[at + 1]["calls"][0]["name"], "execute");
    assert_eq!(newest.last().unwrap()["text"], "more");
    let messages = told(&sent(&usual, 0));
    assert_eq!(messages[1], ("user".into(), "compute".into()), "the examples stayed");
    let last = &messages.last().unwrap().1;
    assert!(last.contains("44\n[status 0]") && last.ends_with("what was that?"), "{last}");
}

#[test]
fn a_model_that_cannot_be_had_leaves_the_old_one() {
    for who in Who::all() {
        let scene = Scene::of(who).model_says(&["One.", "Two."]).file("odd.toml", "reply = 3");
        let terminal = Terminal::open(&scene, &["first"]);
        terminal.shows("One.");
        terminal.types("/model nowhere/x").shows("`nowhere` is neither a provider nor an endpoint");
        terminal.shows("hint: choose one with `--model`").shows("the model stays as it was");
        terminal.types("/model openai").shows("without a model");
        terminal.types("/model groq/x").shows("`api.groq.com` wants a key, and none is set");
        terminal.shows("hint: put the API key into the environment variable GROQ_API_KEY");
        terminal.types("/model azure/x").shows("needs `resource`").shows("hint: put `resource");
        terminal.types("/model embedded/gpt-x").shows("unknown embedded model `gpt-x`");
        terminal.types("/model embedded/qwen2.5-coder-1.5b");
        terminal.shows("┆ `embedded/qwen2.5-coder-1.5b` ").shows("hint: ");
        terminal.types("/model scripted:gone.toml").shows("the script cannot be read");
        terminal.types("/model scripted:odd.toml").shows("is not valid");
        terminal.types("/model a\u{202e}b/x").shows("\\u{202e}").shows("stays as it was");
        terminal.types("/model").shows("Model: scripted:script.toml");
        terminal.types("second").shows("Two.");
        terminal.types("/quit").exits(0);
        let seen = scene.run(&["history", "show", "--json"]);
        assert!(seen.of_kind("model_changed").is_empty());
        assert_eq!(seen.of_kind("error").len(), 9);
        assert_eq!(seen.of_kind("request")[1]["newest"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn offline_holds_for_the_next_model_too() {
    let scene = Scene::new().model_says(&["One.", "Two."]).variable("OPENAI_API_KEY", "sk-canary");
    let terminal = Terminal::open(&scene, &["--offline", "first"]);
    terminal.shows("One.");
    terminal.types("/model openai/gpt-x").shows("`api.openai.com` is not on this machine");
    terminal.shows("hint: choose a local model").shows("stays as it was");
    terminal.types("second").shows("Two.");
    terminal.types("/quit").exits(0);
}

#[test]
fn a_projects_instructions_follow_the_model_and_are_asked_about_before_it_is_told_them() {
    let usual = Plain::streaming("Yes.");
    let small = "title='Mine'\nformat='openai'\nbase_url='http://127.0.0.1:1/v1'\n\
                 [[model]]\nname='*'\nsmall=true\n";
    let scene = Scene::new()
        .home_file(".config/interpreter/providers/mine.toml", small)
        .home_file(CONFIG, &endpoint("usual", &usual, ""))
        .file("AGENTS.md", "Always use tabs.");
    let terminal = Terminal::start(&scene, &["--model", "mine/x"]);
    terminal.shows("Type a prompt.").lacks("Share these instructions");
    terminal.types("/model nowhere/x").shows("stays as it was");
    terminal.lacks("Share these instructions");
    terminal.types("/model usual").shows("Share these instructions");
    terminal.types("y").shows("┆ usual/m").shows("the model receives AGENTS.md");
    terminal.types("hello").shows("Yes.");
    terminal.types("/quit").exits(0);
    assert!(told(&sent(&usual, 0))[0].1.contains("Always use tabs."));
}

#[test]
fn others_are_asked_where_the_new_model_cannot_answer_as_at_the_start() {
    let broken = Plain::answering("404 Not Found", "text/plain", "no such model");
    let other = Plain::streaming("From the other.");
    let config = "fallback = ['other']\n".to_owned()
        + &endpoint("broken", &broken, "")
        + &endpoint("other", &other, "tools = false");
    let scene = Scene::new().script(CALLING).home_file(CONFIG, &config);
    let terminal = Terminal::open(&scene, &["--yes", "compute"]);
    terminal.shows("It was forty-two.");
    terminal.types("/model broken").shows("┆ broken/m");
    terminal.types("well?").shows("asking other/m instead").shows("From the other.");
    terminal.types("/quit").exits(0);
    let messages = told(&sent(&other, 0));
    assert_eq!(messages[1].1, "compute");
    assert_eq!(messages.last().unwrap().1, "well?");
}
