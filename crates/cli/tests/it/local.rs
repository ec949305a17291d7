//! `--local`: a model of this machine, whichever is here.

use crate::{models::servers::Plain, scene::Scene, terminal::Terminal};

const CONFIG: &str = ".config/interpreter/config.toml";

/// A scene in which this is LM Studio, and nobody else listens where servers usually do.
fn with_server(address: &str) -> Scene {
    let nobody = ["OLLAMA_HOST", "LLAMACPP_HOST", "VLLM_HOST", "JAN_HOST", "LOCALAI_HOST"];
    let scene = nobody
        .into_iter()
        .fold(Scene::new(), |scene, name| scene.variable(name, "http://127.0.0.1:1"));
    scene.variable("LMSTUDIO_HOST", address)
}

#[test]
fn a_server_of_this_machine_is_found_and_comes_before_the_settings() {
    let server = Plain::serving(&["text-embedding-x", "org/qwen", "other"], "From here.");
    let scene = with_server(&server.address).model_says(&["From elsewhere."]);
    let script = scene.chat_arguments(&[])[1].clone();
    let config = format!("model = '{script}'\nfallback = ['{script}']\n");
    let scene = scene.home_file(CONFIG, &config);
    for more in [&[][..], &["--offline"]] {
        let seen = scene.run(&[&["--local", "--json"], more, &["hello"]].concat()).exits(0);
        assert_eq!(seen.of_kind("request")[0]["model"], "lmstudio/org/qwen");
        assert_eq!(seen.of_kind("reply")[0]["text"], "From here.");
    }
    let terminal = Terminal::start(&scene, &["--local"]);
    terminal.shows("model   lmstudio/org/qwen").shows("Type a prompt.");
    terminal.types("/model lmstudio/other").shows("┆ lmstudio/other");
    terminal.types("hello").shows("From here.");
    terminal.types("/quit").exits(0);
}

#[test]
fn nobody_is_asked_in_its_place() {
    let broken = Plain::saying(
        "HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n{\"data\":[{\"id\":\"broken\"}]}".into(),
        "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".into(),
    );
    let scene = with_server(&broken.address).model_says(&["From elsewhere."]);
    let script = scene.chat_arguments(&[])[1].clone();
    let scene = scene.home_file(CONFIG, &format!("fallback = ['{script}']\n"));
    let seen = scene.run(&["--local", "--json", "hello"]).exits(5);
    assert!(seen.of_kind("reply").is_empty(), "{}", seen.stdout());
}

#[test]
fn where_none_is_found_it_is_said_with_the_next_step() {
    let empty = Plain::serving(&["text-embedding-x"], "Not asked.");
    let scene = with_server(&empty.address).model_says(&["Not asked."]);
    let script = scene.chat_arguments(&[])[1].clone();
    let scene = scene.home_file(CONFIG, &format!("model = '{script}'\n"));
    for arguments in [&["--local", "hello"][..], &["--local", "--offline", "--json", "hello"]] {
        scene
            .run(arguments)
            .mentions("no local model found")
            .mentions("`interpreter model list`")
            .exits(2);
    }
    assert!(empty.asked().iter().all(|request| request.starts_with("GET ")));
    scene
        .run(&["--local", "--model", "openai/x", "hello"])
        .mentions("cannot be used with")
        .exits(2);
}
