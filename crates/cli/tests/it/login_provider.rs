//! The login provider of a team in the settings and on the command line. Logins themselves are driven
//! in a browser, with a real provider: `crates/web/page/tests/provider.mjs`.

use crate::{scene::Scene, serving::Serving};
use serde_json::Value;

const CONFIG: &str = ".config/interpreter/config.toml";

const PROVIDER: &str =
    "[login]\nissuer = \"https://id.example\"\nclient = \"us\"\nsecret = \"LOGIN_SECRET\"\n";

fn provider() -> Scene {
    Scene::new().home_file(CONFIG, PROVIDER).variable("LOGIN_SECRET", "canary-0123456789")
}

fn ways(scene: &Scene, more: &[&str]) -> Value {
    let serving = Serving::start_with(scene, more);
    serde_json::from_str(&serving.get("/v1/login", &[]).body).unwrap()
}

#[test]
fn the_page_offers_the_provider_of_a_team_and_its_secret_is_nowhere() {
    let scene = provider();
    let team = ways(&scene, &["--team"]);
    assert_eq!(team["ways"], serde_json::json!(["link", "password", "provider"]));
    assert_eq!(team["provider"], "id.example");
    assert!(!team.to_string().contains("canary"));
    // One person has no use for it, and a team without one does not offer it.
    assert_eq!(ways(&scene, &[])["ways"], serde_json::json!(["link"]));
    assert_eq!(ways(&Scene::new(), &["--team"])["ways"], serde_json::json!(["link", "password"]));
    scene.run(&["config", "show"]).mentions("LOGIN_SECRET").lacks("canary").exits(0);
}

#[test]
fn a_project_names_no_login_provider() {
    for line in
        ["issuer = \"https://evil.example\"", "client = \"x\"", "secret = \"PATH\"", "name = \"x\""]
    {
        let project = format!("[login]\n{line}\n");
        provider()
            .file(".interpreter/config.toml", project)
            .run(&["serve", "--team", "--json"])
            .mentions("a project may not set `login.")
            .exits(2);
    }
}

#[test]
fn a_team_whose_provider_is_not_in_order_is_not_served() {
    for (config, words) in [
        ("[login]\nissuer = \"https://id.example\"\n", "`login.client` is not"),
        (PROVIDER, "there is no secret `LOGIN_SECRET`"),
        (
            "[login]\nissuer = \"http://id.example\"\nclient = \"us\"\n",
            "`login.issuer` is no address",
        ),
        (
            "[login]\nissuer = \"https://id.example/?x\"\nclient = \"us\"\n",
            "`login.issuer` is no address",
        ),
        ("[login]\nissuer = \"https://me@id.example\"\nclient = \"us\"\n", "no user or password"),
        (
            "[login]\nissuer = \"https://id.example\"\nclient = \"us\"\nscopes = [\"a b\"]\n",
            "is no scope",
        ),
        ("[login]\nsecret = \"sk-canary!\"\n", "does not belong in this file"),
        (
            "offline = true\n[login]\nissuer = \"https://id.example\"\nclient = \"us\"\n",
            "`offline` is set",
        ),
    ] {
        let scene = Scene::new().home_file(CONFIG, config);
        scene.run(&["serve", "--team", "--json"]).mentions(words).lacks("canary").exits(2);
    }
}

#[test]
fn somebody_is_added_by_their_subject_without_a_password() {
    let scene = provider();
    let add = |name: &str, subject: &str| {
        scene.run(&["serve", "user", "add", name, "--role", "author", "--subject", subject])
    };
    add("anna", "7").mentions("They can log in.").exits(0);
    add("ben", "7").mentions("somebody else logs in as that subject").exits(2);
    for wrong in ["", " 7", "7\n", "ä"] {
        add("ben", wrong).mentions("visible characters").exits(2);
    }
    let listed = scene.run(&["serve", "user", "list", "--json"]).exits(0).stdout();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(
        (listed[0]["issuer"].as_str(), listed[0]["subject"].as_str()),
        (Some("https://id.example"), Some("7"))
    );
    // No password opens: not even an empty one.
    let serving = Serving::start_with(&scene, &["--team"]);
    for password in ["", "7", "correct-horse-battery"] {
        let body = serde_json::json!({ "name": "anna", "password": password }).to_string();
        assert_eq!(serving.post("/v1/login", &[], &body).status, 401, "{password}");
    }
    scene.run(&["serve", "user", "subject", "anna", "8"]).exits(0);
    scene.run(&["serve", "user", "subject", "eve", "9"]).mentions("nobody").exits(1);
    scene.run(&["serve", "user", "list"]).mentions("8").exits(0);
    Scene::new()
        .run(&["serve", "user", "add", "anna", "--role", "author", "--subject", "7"])
        .mentions("there is no login provider")
        .exits(2);
}
