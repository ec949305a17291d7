//! The verb `look`: what the commands show, for whoever has the right and nobody else. It changes
//! nothing.

use crate::{
    protocol_client::{Client, Server, scripted},
    scene::{Scene, cell},
    serving::Serving,
};
use serde_json::{Value, json};

/// The file of the embedded default, while it is downloaded.
const PART: &str = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf.part";

fn printed(scene: &Scene, arguments: &[&str]) -> Value {
    serde_json::from_str(&scene.run(arguments).stdout()).unwrap()
}

/// A session that ran some code and has ended.
fn ended(client: &mut Client) -> String {
    let session = client.open(json!({ "mode": "run" }));
    client.run(&session, "python", "print('needle')");
    client.run(&session, "python", "print('hay')");
    client.ok("close", json!({ "session": session }));
    session
}

#[test]
fn settings_are_those_of_the_command_and_have_no_secret() {
    let scene = Scene::new()
        .home_file(".config/interpreter/config.toml", "max_tokens = 777\n")
        .variable("INTERPRETER_MODEL", "ollama/a-model")
        .variable("OPENAI_API_KEY", "sk-never-shown");
    let (_server, mut client) = Server::stdio(&scene);
    let seen = client.ok("look", json!({ "at": "settings" }));
    let row = |of: &Value, name: &str| {
        let all = of.as_array().unwrap();
        all.iter().find(|row| row["name"] == name).unwrap().clone()
    };
    let of = |name: &str| row(&seen["settings"], name);
    // All of them but three: a server ends what no one may be there to end, or to be asked about.
    let mut told = printed(&scene, &["config", "show", "--json"]);
    for (name, usual, bound) in [
        ("limits.turn", "none", "30m"),
        ("limits.wall", "none", "10m"),
        ("limits.ask_after", "10m", "none"),
    ] {
        assert_eq!(
            (&row(&told, name)["value"], &of(name)["value"]),
            (&json!(usual), &json!(bound))
        );
        let rows = told.as_array_mut().unwrap();
        *rows.iter_mut().find(|row| row["name"] == name).unwrap() = of(name);
    }
    assert_eq!(seen["settings"], told);
    assert_eq!(of("max_tokens")["value"], 777);
    assert_eq!(of("max_tokens")["origin"]["layer"], "user");
    assert_eq!(of("max_tokens")["origin"]["line"], 1);
    assert_eq!(of("model")["origin"]["layer"], "environment");
    assert!(!of("max_tokens")["meaning"].as_str().unwrap().is_empty());
    assert!(!seen.to_string().contains("sk-never-shown"));
}

#[test]
fn the_machine_is_examined_as_by_the_command_and_once_at_a_time() {
    let scene = Scene::new();
    let (server, mut client) = Server::stdio(&scene);
    let look = |id: i64| json!({ "id": id, "do": "look", "at": "doctor" });
    client.send_raw(format!("{}\n{}\n", look(901), look(902)).as_bytes());
    let reply = |id: i64| move |line: &Value| line["id"] == id;
    let second = client.wait_for(reply(902));
    assert_eq!(second["error"]["code"], "busy", "{second}");
    let seen = client.wait_for(reply(901));
    let told = printed(&scene, &["doctor", "--json"]);
    // On a busy machine a sandbox may fail one of two examinations, so only the fields are compared.
    let fields = |report: &Value| report.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(&seen["ok"]["doctor"]["report"]), fields(&told), "{seen}");
    assert_eq!(seen["ok"]["doctor"]["rows"][0]["name"], "sandbox");
    assert!(!seen["ok"]["doctor"]["verdict"].as_str().unwrap().is_empty());
    // Another one may follow.
    assert!(client.ok("look", json!({ "at": "doctor" }))["doctor"]["ready"].is_boolean());
    drop(server);
    assert_eq!(scene.left_running(), Vec::<String>::new());
}

#[test]
fn the_record_is_verified_and_held_against_an_anchor() {
    let scene = Scene::new();
    let (_server, mut client) = Server::stdio(&scene);
    ended(&mut client);
    let seen = client.ok("look", json!({ "at": "record" }))["record"].clone();
    assert_eq!(
        (&seen["whole"], &seen["breaks"], &seen["anchor"]),
        (&json!(true), &json!([]), &Value::Null)
    );
    assert_eq!(seen["sessions"], 1);
    let anchor = scene.run(&["audit", "anchor"]).exits(0).stdout().trim().to_owned();
    let seen = client.ok("look", json!({ "at": "record", "anchor": anchor }))["record"].clone();
    assert_eq!((&seen["whole"], &seen["anchor"]["holds"]), (&json!(true), &json!(true)), "{seen}");
    // One that this record never had.
    let (rest, hash) = anchor.rsplit_once(' ').unwrap();
    let other = format!("{rest} {}", "0".repeat(hash.len()));
    let seen = client.ok("look", json!({ "at": "record", "anchor": other }))["record"].clone();
    assert_eq!(seen["whole"], false);
    assert_eq!(seen["anchor"]["faults"].as_array().unwrap().len(), 1, "{seen}");
    assert_eq!(client.refused("look", json!({ "at": "record", "anchor": "x" })), "malformed");
}

#[test]
fn records_of_a_session_come_in_pages_and_can_be_searched() {
    let scene = Scene::new();
    let (_server, mut client) = Server::stdio(&scene);
    let session = ended(&mut client);
    let shown = scene.run(&["history", "show", &session, "--json"]).records();
    let (mut all, mut after) = (Vec::new(), 0);
    loop {
        let wish = json!({ "at": "record", "session": session, "after": after, "limit": 3 });
        let page = client.ok("look", wish);
        assert_eq!(page["of"], shown.len());
        assert_eq!(page.get("whole").is_some(), after == 0);
        assert!(after > 0 || page["whole"] == true, "{page}");
        let records = page["records"].as_array().unwrap();
        assert!(records.len() <= 3);
        all.extend(records.clone());
        after = page["after"].as_u64().unwrap();
        if page["more"] == false {
            break;
        }
    }
    assert_eq!(all, shown);
    let wish = json!({ "at": "record", "session": session, "search": "NEEDLE" });
    let found = client.ok("look", wish);
    let found = found["records"].as_array().unwrap();
    assert!(found.iter().any(|record| record["kind"] == "output"));
    assert!(found.len() < shown.len());
    assert!(found.iter().all(|record| record.to_string().contains("needle")));
    let none = json!({ "at": "record", "session": "none" });
    assert_eq!(client.refused("look", none), "unknown_session");
    let long = json!({ "at": "record", "session": session, "search": "x".repeat(201) });
    assert_eq!(client.refused("look", long), "malformed");
}

#[test]
fn models_are_listed_and_a_download_is_followed() {
    let scene = scripted(Scene::new().model_says(&["Done."]));
    let (_server, mut client) = Server::stdio(&scene);
    client.ok("subscribe", json!({ "list": true }));
    let seen = client.ok("look", json!({ "at": "models" }));
    assert_eq!(seen["current"], "scripted:script.toml", "{seen}");
    let usual = &seen["embedded"]["models"][0];
    assert_eq!((&usual["role"], &usual["here"]), (&json!("default"), &json!(false)), "{seen}");
    assert!(seen["models"].as_array().unwrap().iter().any(|row| row["missing"].is_string()));
    // Another program downloads.
    let whole = usual["bytes"].as_u64().unwrap();
    let part = scene.data().join("models").join(PART);
    let file = std::fs::File::create(&part).unwrap();
    for hundredths in [10, 20] {
        let bytes = whole / 100 * hundredths + 1_000;
        file.set_len(bytes).unwrap();
        client.wait_for(|line| line["weights"][0]["part"] == bytes);
    }
    std::fs::remove_file(&part).unwrap();
    client.wait_for(|line| line.get("weights").is_some() && line["weights"][0]["part"].is_null());
}

#[test]
fn each_view_takes_its_right() {
    let scene = Scene::new();
    let serving = Serving::start(&scene);
    let new = ["serve", "token", "new", "watcher", "--right", "watch"];
    let token = scene.run(&new).exits(0).stdout().trim().to_owned();
    let perform = |token: &str, fields: &Value| -> Value {
        let mut request = fields.clone();
        request["id"] = 1.into();
        let line = format!("Authorization: Bearer {token}");
        let answer = serving.post("/v1/do", &[&line], &request.to_string());
        serde_json::from_str(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
    };
    let opened = perform(&serving.token, &json!({ "do": "open", "mode": "run" }));
    let session = &opened["ok"]["session"];
    for at in ["settings", "doctor", "record"] {
        let refused = perform(&token, &json!({ "do": "look", "at": at }));
        assert_eq!(refused["error"]["code"], "not_allowed", "{refused}");
    }
    for wish in [
        json!({ "do": "look", "at": "models" }),
        json!({
            "do": "look", "at": "record", "session": session,
        }),
    ] {
        let seen = perform(&token, &wish);
        assert!(seen.get("ok").is_some(), "{seen}");
    }
    // A token that opens nothing is counted and logged, without itself.
    let wrong = "wrong-token-of-somebody";
    let line = format!("Authorization: Bearer {wrong}");
    assert_eq!(serving.post("/v1/do", &[&line], "{}").status, 401);
    serving.errors.wait_for("wrong_key");
    let figures = serving.get("/metrics", &[&serving.bearer()]).body;
    assert!(figures.contains("interpreter_wrong_keys_total 1\n"), "{figures}");
    assert!(!serving.errors.text().contains(wrong));
}

#[test]
fn history_names_who_answered() {
    let scene = scripted(Scene::new().model_says(&[&cell("python", "print(1)"), "Done."]));
    let server = Server::socket(&scene);
    let mut client = server.client();
    let session = client.open(json!({}));
    client.ok("prompt", json!({ "session": session, "text": "go" }));
    let question = client.record("question");
    client.answer(&question, json!({ "decision": "run" }));
    client.record("turn_finished");
    client.ok("close", json!({ "session": session }));
    let seen = scene.run(&["history", "show", &session]).exits(0);
    seen.mentions("socket-1\n").mentions(", by socket-1\n");
}
