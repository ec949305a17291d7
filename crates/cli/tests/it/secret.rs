//! `interpreter secret`: values go in hidden, are used as keys, and never come out.

use crate::{
    models::servers::Plain,
    scene::{Scene, Seen},
    terminal::Terminal,
};
use std::{fs, os::unix::fs::PermissionsExt};

const VALUE: &str = "Zq8-Wx3_Lm5.vB7nK2rT";

fn set(scene: &Scene, name: &str, value: &str) -> Seen {
    scene.run_with_input(&["secret", "set", name], value.as_bytes())
}

#[test]
fn a_secret_is_set_listed_and_removed_and_its_value_never_shown() {
    let scene = Scene::new();
    scene.run(&["secret", "list"]).mentions("There are no secrets.").exits(0);
    set(&scene, "MY_API_KEY", &format!("{VALUE}\n")).prints("MY_API_KEY is kept.\n").exits(0);
    set(&scene, "MY_API_KEY", VALUE).prints("MY_API_KEY is replaced.\n").exits(0);
    set(&scene, "SHORT", "x").mentions("it is not redacted").exits(0);
    scene.run(&["secret", "list"]).prints("MY_API_KEY\nSHORT\n").exits(0);
    let json = scene.run(&["secret", "list", "--json"]).lacks(VALUE).exits(0);
    let rows: serde_json::Value = serde_json::from_str(&json.stdout()).unwrap();
    assert_eq!(
        rows[0],
        serde_json::json!({ "name": "MY_API_KEY", "kept": true, "overridden": false, "allowed": [] })
    );
    scene.run(&["secret", "remove", "SHORT"]).prints("SHORT is removed.\n").exits(0);
    scene.run(&["secret", "remove", "SHORT"]).mentions("there is no secret `SHORT`").exits(2);
    let scene = scene.variable("MY_API_KEY", "another-value-1");
    scene.run(&["secret", "list"]).mentions("the variable in your environment").exits(0);
}

#[test]
fn a_value_that_is_typed_is_not_shown() {
    let scene = Scene::new();
    let terminal = Terminal::start(&scene, &["secret", "set", "MY_API_KEY"]);
    terminal.shows("Value of MY_API_KEY").types(VALUE).shows("MY_API_KEY is kept").lacks(VALUE);
    terminal.exits(0);
    let code = format!("print('{}' + '{}')", &VALUE[..7], &VALUE[7..]);
    scene.code("python", &code).prints("[secret:MY_API_KEY]\n").exits(0);
}

#[test]
fn wrong_names_and_values_are_refused() {
    let scene = Scene::new();
    set(&scene, "WITH SPACE", VALUE).mentions("is no name for a secret").exits(2);
    set(&scene, "1KEY", VALUE).mentions("is no name for a secret").exits(2);
    set(&scene, "KEY", " \n").mentions("the value of `KEY` is empty").exits(2);
    set(&scene, "KEY", &"x".repeat(100_000)).mentions("longer than 64 KiB").exits(2);
    // The value is no argument.
    scene.run(&["secret", "set", "KEY", VALUE]).exits(2);
    scene.run(&["secret", "list"]).mentions("There are no secrets.");
}

#[test]
fn secrets_are_imported_by_name_from_a_file_of_variables() {
    let scene = Scene::new().file(".env", format!("# mine\nONE_TOKEN={VALUE}\nTWO='b b'\n"));
    scene.run(&["secret", "import", ".env"]).exits(2);
    scene.run(&["secret", "import", ".env", "THREE"]).mentions("has no `THREE`").exits(2);
    let one = scene.run(&["secret", "import", ".env", "ONE_TOKEN"]).lacks(VALUE);
    one.prints("Kept ONE_TOKEN.\n").exits(0);
    let all = scene.run(&["secret", "import", "--all", ".env"]).exits(0);
    all.prints("Kept ONE_TOKEN, TWO.\nNot redacted, as shorter than 8 characters: TWO.\n");
    scene.run(&["secret", "list"]).prints("ONE_TOKEN\nTWO\n");
    let scene = scene.file("bad.env", "A=1\nnonsense\n");
    scene.run(&["secret", "import", "--all", "bad.env"]).mentions("line 2 of `bad.env`").exits(2);
}

#[test]
fn kept_secrets_are_redacted_and_never_inside() {
    let scene = Scene::new();
    set(&scene, "MY_API_KEY", VALUE).exits(0);
    let code = format!("print('{}' + '{}')", &VALUE[..7], &VALUE[7..]);
    let seen = scene.run(&["run", "--json", "-l", "python", "-c", &code]).exits(0);
    seen.lacks(VALUE).mentions("[secret:MY_API_KEY]");
    // Neither as a variable, nor in a file that code can read.
    let code = "env; cat ~/.config/interpreter/* ~/.local/share/interpreter/*; \
                find / -name 'secrets.*' -not -path '/proc/*' -not -path '/usr/*' 2>/dev/null; \
                echo tried";
    let seen = scene.code("shell", code).mentions("tried");
    seen.lacks("MY_API_KEY").lacks("secrets.sealed").lacks("secrets.key");
    let key = fs::read_to_string(scene.home().join(".config/interpreter/secrets.key")).unwrap();
    assert_eq!(key.trim().len(), 64, "the control: there is one");
}

#[test]
fn a_secret_serves_as_the_key_of_a_provider() {
    let server = Plain::streaming("Hello.");
    let config = format!("[provider.openai]\nbase_url = '{}/v1'\n", server.address);
    let scene = Scene::new().home_file(".config/interpreter/config.toml", &config);
    let call = || scene.run(&["-m", "openai/gpt-x", "--json", "hello"]).lacks(VALUE);
    // This machine's own servers need no key.
    call().mentions("Hello.").exits(0);
    let asked = server.asked().join("\n");
    assert!(!asked.contains("Bearer"), "{asked}");
    set(&scene, "OPENAI_API_KEY", VALUE).exits(0);
    call().mentions("Hello.").exits(0);
    let asked = server.asked().join("\n");
    assert!(asked.contains(&format!("Bearer {VALUE}")), "{asked}");
}

#[test]
fn a_lost_key_is_named_and_nothing_is_replaced() {
    let scene = Scene::new();
    set(&scene, "MY_API_KEY", VALUE).exits(0);
    let key = scene.home().join(".config/interpreter/secrets.key");
    let content = fs::read(&key).unwrap();
    fs::remove_file(&key).unwrap();
    set(&scene, "OTHER", VALUE).mentions("cannot be decrypted").exits(2);
    scene.code("python", "1").mentions("cannot be decrypted").exits(2);
    scene.put(&key, &content);
    fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    scene.run(&["secret", "list"]).prints("MY_API_KEY\n").exits(0);
}
