//! Where the value of a secret that code may use comes from: Vault, the sealed file, a variable.

use super::{VALUE, is_unseen, person, run, world::World};
use crate::{
    scene::{Scene, Seen, Who},
    sources::VaultDouble,
};
use std::net::TcpListener;

const OLDER: &str = "an-older-value-of-it";
const ASK: &str = "ask('https://api.example/echo', bearer)\nask('https://other.example/', bearer)";
const HELD: &str = "import os; print(os.environ.get('MY_TOKEN'))";

fn vault_at(scene: Scene, address: &str) -> Scene {
    let lines = "secrets = ['MY_TOKEN=secret/team/github#token']";
    let config = format!("[vault]\naddress = '{address}'\n{lines}\n");
    scene.home_file(".config/interpreter/config.toml", &config)
}

fn allow(scene: &Scene) -> Seen {
    scene.run(&["secret", "allow", "MY_TOKEN", "api.example"]).exits(0)
}

#[test]
fn a_secret_in_vault_is_used_and_never_seen() {
    let (world, vault) = (World::start(), VaultDouble::start());
    let scene = vault_at(person(Who::Ourselves, &world), &vault.address);
    let scene = scene.home_file(".vault-token", "hvs.test-token-1234\n");
    allow(&scene).mentions("Its value is read from Vault (secret/team/github#token)").lacks(VALUE);
    scene.run(&["secret", "list"]).prints(
        "MY_TOKEN  (in Vault: secret/team/github#token)\n  code can use it for GET and HEAD to \
         api.example, in the header `authorization`\n",
    );
    let seen = is_unseen(run(&scene, &[], ASK)).exits(0);
    seen.mentions("used MY_TOKEN for GET api.example/echo");
    assert_eq!(world.heard_at("api.example:443").matches(VALUE).count(), 1);
    assert!(!world.heard_at("other.example:443").contains(VALUE));
    // The one in Vault is meant, whatever else has that name.
    scene.run_with_input(&["secret", "set", "MY_TOKEN"], OLDER.as_bytes()).exits(0);
    let scene = scene.variable("MY_TOKEN", "another-value-of-it");
    run(&scene, &[], ASK).exits(0);
    let heard = world.heard();
    assert_eq!(heard.matches(VALUE).count(), 2, "{heard}");
    assert!(!heard.contains("-value-of-it"), "{heard}");
    scene.run(&["secret", "disallow", "MY_TOKEN"]).exits(0);
    scene.code("python", HELD).prints("None\n").exits(0);
}

#[test]
fn if_vault_does_not_answer_code_gets_nothing_in_its_place() {
    let (world, vault) = (World::start(), VaultDouble::start());
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let scene = vault_at(person(Who::Ourselves, &world), &format!("http://{nobody}"));
    let scene = scene.variable("VAULT_TOKEN", "hvs.test-token-1234");
    scene.run_with_input(&["secret", "set", "MY_TOKEN"], OLDER.as_bytes()).exits(0);
    allow(&scene);
    let unanswered = |scene: &Scene, why: &str| {
        let seen = scene.code("python", HELD).prints("None\n").exits(0);
        seen.mentions("MY_TOKEN could not be read from Vault (secret/team/github)")
            .mentions(why)
            .mentions("Code cannot use MY_TOKEN in this session.");
    };
    unanswered(&scene, "cannot be reached");
    let scene = vault_at(scene, &vault.address).variable("VAULT_TOKEN", "hvs.another");
    unanswered(&scene, "refuses: the token is not valid");
    assert_eq!(world.heard(), "");
    // The control.
    let scene = scene.variable("VAULT_TOKEN", "hvs.test-token-1234");
    is_unseen(run(&scene, &[], ASK)).exits(0);
    let heard = world.heard();
    assert!(heard.contains(VALUE) && !heard.contains(OLDER), "{heard}");
}

#[test]
fn a_variable_is_used_if_there_is_no_other() {
    let world = World::start();
    let scene = person(Who::Ourselves, &world).variable("MY_TOKEN", VALUE);
    allow(&scene).mentions("Its value is a variable of your environment.").lacks(VALUE);
    scene.run(&["secret", "list"]).prints(
        "MY_TOKEN  (a variable of your environment)\n  code can use it for GET and HEAD to \
         api.example, in the header `authorization`\n",
    );
    is_unseen(run(&scene, &[], ASK)).exits(0);
    assert_eq!(world.heard().matches(VALUE).count(), 1);
    let unset = |arguments: &[&str]| {
        Seen(scene.command(arguments).env_remove("MY_TOKEN").output().unwrap())
    };
    let seen = unset(&["run", "-l", "python", "-c", HELD]).prints("None\n").exits(0);
    seen.mentions("Code cannot use MY_TOKEN in this session: it has no value");
    unset(&["secret", "list"]).mentions("it has no value: the variable is not set").exits(0);
    // One that is kept comes first for code.
    scene.run_with_input(&["secret", "set", "MY_TOKEN"], OLDER.as_bytes()).exits(0);
    scene.run(&["secret", "list"]).mentions("is used instead, except by code").exits(0);
    run(&scene, &[], ASK).exits(0);
    let heard = world.heard_at("api.example:443");
    assert_eq!((heard.matches(VALUE).count(), heard.matches(OLDER).count()), (1, 1), "{heard}");
}

#[test]
fn a_variable_that_code_may_use_is_redacted_whatever_its_name() {
    let scene = Scene::new().variable("MY_THING", VALUE);
    let printing = format!("print('{}' + '{}')", &VALUE[..7], &VALUE[7..]);
    // The control: its name is not that of a secret.
    scene.code("python", &printing).prints(&format!("{VALUE}\n")).exits(0);
    scene.run(&["secret", "allow", "MY_THING", "api.example"]).exits(0);
    scene.code("python", &printing).prints("[secret:MY_THING]\n").exits(0);
}
