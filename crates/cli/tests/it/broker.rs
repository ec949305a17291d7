//! Secrets that code uses and never sees: real code in a real sandbox, a real TLS server outside.
//!
//! Output is redacted in any case, so code shows what it got backwards, which nothing redacts.

use self::world::World;
use crate::{
    backends::{BUBBLEWRAP, DOCKER, NATIVE, PODMAN},
    scene::{Scene, Seen, Who},
};

mod fields;
mod origins;
mod world;

const VALUE: &str = "Zq8-Wx3_Lm5.vB7nK2rT";

/// The person, on a machine that trusts that world.
fn person(who: Who, world: &World) -> Scene {
    let scene = Scene::of(who).home_file("ca.pem", &world.pem);
    let ca = scene.home().join("ca.pem").display().to_string();
    scene.variable("HTTPS_PROXY", &world.proxy()).variable("SSL_CERT_FILE", &ca)
}

/// The person, their secret, and the one place where code may use it.
fn scene(who: Who, world: &World) -> Scene {
    let scene = person(who, world);
    scene.run_with_input(&["secret", "set", "MY_TOKEN"], VALUE.as_bytes()).exits(0);
    scene.run(&["secret", "allow", "MY_TOKEN", "api.example"]).exits(0);
    scene
}

/// Asks for something and shows what came, backwards.
const ASKING: &str = r"
import os, urllib.request, urllib.error
token = os.environ['MY_TOKEN']
def ask(url, headers={}, method='GET', data=None):
    request = urllib.request.Request(url, headers=headers, method=method, data=data)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            came = f'{answer.status} {dict(answer.headers)} {answer.read().decode()}'
    except urllib.error.HTTPError as error:
        came = f'{error.code} {error.reason}'
    except OSError as error:
        came = f'failed: {error}'
    print(came[::-1])
bearer = {'Authorization': f'Bearer {token}'}
";

fn run(scene: &Scene, options: &[&str], code: &str) -> Seen {
    let code = format!("{ASKING}{code}\nprint('tried')");
    let hosts = ["--allow-host", "api.example", "--allow-host", "other.example"];
    let more = ["--allow-host", "api.example:8443", "--allow-host", "api.example:80"];
    let arguments = [&["run"], options, &hosts, &more, &["-l", "python", "-c", &code]].concat();
    scene.run(&arguments).mentions("tried")
}

fn backwards(text: &str) -> String {
    text.chars().rev().collect()
}

/// Whatever code could see of the value would be in its output, and some of it backwards.
fn is_unseen(seen: Seen) -> Seen {
    seen.lacks(VALUE).lacks("[secret:").lacks(&backwards(VALUE)).lacks(&backwards(&VALUE[..8]))
}

#[test]
fn code_uses_a_secret_and_never_sees_it() {
    for who in Who::all() {
        let world = World::start();
        let scene = scene(who, &world);
        let code = "ask('https://api.example/echo?q=1', bearer)\n\
                    ask('https://api.example/chunked', bearer)\n\
                    ask('https://api.example/headers', bearer)";
        let seen = is_unseen(run(&scene, &[], code)).exits(0);
        let heard = world.heard_at("api.example:443");
        assert_eq!(heard.matches(&format!("Bearer {VALUE}\r\n")).count(), 3, "{heard}");
        // The answer is whole, but for the value.
        let stars = "*".repeat(VALUE.len());
        assert_eq!(seen.stdout().matches(&format!("{stars} reraeB")).count(), 3);
        seen.mentions("used MY_TOKEN for GET api.example/echo\n")
            .mentions("used MY_TOKEN for GET api.example/chunked\n");
        // It is on record, by name, and the value is nowhere in it.
        let record = scene.run(&["history", "show", "--json"]).lacks(VALUE).exits(0);
        let used = record.of_kind("secret_used");
        assert_eq!(used.len(), 3);
        assert_eq!(
            (&used[0]["name"], &used[0]["verdict"]),
            (&"MY_TOKEN".into(), &"allowed".into())
        );
        assert_eq!((&used[0]["path"], &used[0]["proposal"]), (&"/echo".into(), &"p1".into()));
        let shown = scene.run(&["history", "show"]).lacks(VALUE).exits(0);
        shown.mentions("used MY_TOKEN for GET api.example/echo");
        scene.run(&["audit", "verify"]).exits(0);
    }
}

#[test]
fn elsewhere_the_placeholder_is_worthless() {
    for who in Who::all() {
        let world = World::start();
        let scene = scene(who, &world);
        let code = "
ask('https://api.example/control', bearer)
ask('https://other.example/', bearer)
ask('https://api.example:8443/', bearer)
ask('https://api.example/', bearer, 'POST', b'')
ask('https://api.example/', bearer, 'DELETE')
ask('https://api.example/', {'X-Token': token, 'Cookie': token})
ask('https://api.example/?' + token)
ask('https://api.example/', {}, 'POST', token.encode())
ask('https://api.example/away', bearer)
ask('http://api.example/', bearer)
ask('https://api.example/', {'Host': 'other.example', **bearer})
ask('https://api.example/', {'Authorization': token + token})
ask('https://api.example/packed', bearer)
ask('https://api.example/part', {'Range': 'bytes=0-3', **bearer})";
        let seen = is_unseen(run(&scene, &[], code)).exits(0);
        let heard = world.heard();
        // The control, the redirect that the host itself answers, the packed one, and the whole of
        // which a part was asked for.
        assert_eq!(heard.matches(VALUE).count(), 4, "{heard}");
        for place in ["other.example:443", "api.example:8443", "api.example:80"] {
            let heard = world.heard_at(place);
            assert!(heard.contains("placeholder-MY_TOKEN-") && !heard.contains(VALUE), "{place}");
        }
        assert!(!heard.to_lowercase().contains("range:"), "{heard}");
        let came = backwards(&seen.stdout());
        for words in ["400 the Host is not the one", "502 it is compressed"] {
            assert!(came.contains(words), "{came}");
        }
        seen.mentions(
            "did not use MY_TOKEN for POST api.example/: you allowed it for GET and HEAD",
        )
        .mentions("a body carries no secrets")
        .mentions("an address carries no secrets")
        .mentions("plain HTTP carries no secrets")
        .mentions("in the header `authorization` only");
    }
}

#[test]
fn the_value_is_nowhere_inside() {
    for who in Who::all() {
        let world = World::start();
        let scene = scene(who, &world);
        let found = format!("'{}' + '{}'", &VALUE[..9], &VALUE[9..]);
        let code = format!(
            "
ask('https://api.example/', bearer)
import glob
value = ({found}).encode()
assert token.startswith('placeholder-MY_TOKEN-'), token
places = glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline') + glob.glob('/run/**', recursive=True)
places += glob.glob('/tmp/**', recursive=True) + glob.glob(os.path.expanduser('~/**'), recursive=True)
looked = 0
for place in places:
    try:
        text = open(place, 'rb').read() if os.path.isfile(place) else b''
    except OSError: continue
    looked += 1
    if value in text: print('FOUND', place)
print('looked', looked > 10, 'trusted', os.environ['SSL_CERT_FILE'] in places)"
        );
        let seen = run(&scene, &[], &code).lacks("FOUND").mentions("looked True trusted True");
        seen.exits(0);
        assert!(world.heard().contains(VALUE), "the control");
    }
}

#[test]
fn a_grant_is_no_permission_to_reach_a_host_and_without_a_network_there_is_nothing() {
    let world = World::start();
    let scene = scene(Who::Ourselves, &world);
    let code = format!("{ASKING}ask('https://api.example/', bearer)");
    let seen = scene.run(&["run", "-l", "python", "-c", &code]).exits(0);
    seen.mentions("refused api.example:443: it is not allowed here");
    assert_eq!(world.heard(), "");
    let code = "import os; print(os.environ.get('MY_TOKEN'), os.environ.get('SSL_CERT_FILE'))";
    scene.run(&["run", "--network", "none", "-l", "python", "-c", code]).prints("None None\n");
    // A secret without a grant is not there in any form.
    scene.run(&["secret", "disallow", "MY_TOKEN"]).exits(0);
    scene.code("python", code).prints("None None\n").exits(0);
}

#[test]
fn the_placeholder_of_another_session_is_worthless() {
    let world = World::start();
    let scene = scene(Who::Ourselves, &world);
    let first = scene.code("python", "import os; print(os.environ['MY_TOKEN'])").stdout();
    let code = format!("bearer = {{'Authorization': 'Bearer {}'}}\n", first.trim());
    run(&scene, &[], &format!("{code}ask('https://api.example/', bearer)")).exits(0);
    let heard = world.heard();
    assert!(heard.contains(first.trim()) && !heard.contains(VALUE), "{heard}");
}

#[test]
fn curl_and_git_use_it_as_a_password() {
    let world = World::start();
    let scene = scene(Who::Ourselves, &world);
    let code = "curl -sS -u me:$MY_TOKEN https://api.example/curl | rev\n\
                git ls-remote https://me:$MY_TOKEN@api.example/repository 2>&1 | rev\necho tried";
    let arguments = ["run", "--allow-host", "api.example", "-l", "shell", "-c", code];
    is_unseen(scene.run(&arguments).mentions("tried")).exits(0);
    let heard = world.heard();
    let basic = {
        use base64::{Engine, engine::general_purpose::STANDARD};
        STANDARD.encode(format!("me:{VALUE}"))
    };
    assert!(heard.contains("GET /curl ") && heard.contains(&basic), "{heard}");
    assert!(heard.contains("GET /repository/info/refs"), "{heard}");
}

#[test]
fn it_holds_in_every_sandbox_that_has_a_proxy() {
    for backend in [NATIVE, BUBBLEWRAP, DOCKER, PODMAN] {
        for who in Who::all_for(backend) {
            let world = World::start();
            let scene = scene(who, &world);
            let code = "ask('https://api.example/echo', bearer)\n\
                        ask('https://other.example/echo', bearer)";
            let seen = is_unseen(run(&scene, &scene.on(backend), code)).exits(0);
            seen.mentions("used MY_TOKEN for GET api.example/echo");
            assert_eq!(world.heard_at("api.example:443").matches(VALUE).count(), 1, "{backend}");
            assert!(!world.heard_at("other.example:443").contains(VALUE), "{backend}");
        }
    }
}

#[test]
fn grants_are_given_listed_explained_and_taken_back() {
    let scene = Scene::new();
    let allow = |more: &[&str]| scene.run(&[&["secret", "allow", "MY_TOKEN"], more].concat());
    allow(&["api.example"])
        .mentions("there is no secret `MY_TOKEN`; `interpreter secret set")
        .exits(2);
    scene.run_with_input(&["secret", "set", "MY_TOKEN"], b"short").exits(0);
    allow(&["api.example"]).mentions("fewer than 8 characters").exits(2);
    scene.run_with_input(&["secret", "set", "MY_TOKEN"], VALUE.as_bytes()).exits(0);
    for (more, why) in [
        (&["*.example"][..], "the host is not usable"),
        (&["https://api.example"], "the host is not usable"),
        (&["api.example", "--method", "TRACE"], "the method is none of"),
        (&["api.example", "--header", "Host"], "the header cannot carry a secret"),
        (&["api.example", "--field", "a b"], "the field must be a name such as"),
        (&["api.example", "--field", "a", "--method", "GET"], "GET and HEAD have no body"),
        (&["api.example", "--field", "a", "--header", "X-Key"], "cannot be used with"),
    ] {
        allow(more).mentions(why).exits(2);
    }
    allow(&["API.example"])
        .mentions("Code can use MY_TOKEN for GET and HEAD to api.example, in the header")
        .mentions("`--allow-host api.example`")
        .exits(0);
    allow(&["h.example:8443", "--method", "get,POST", "--header", "X-Api-Key"]).exits(0);
    allow(&["j.example", "--field", "auth.key"]).exits(0);
    scene.run(&["secret", "list"]).prints(
        "MY_TOKEN\n  code can use it for GET and HEAD to api.example, in the header `authorization`\n  \
         code can use it for GET and POST to h.example:8443, in the header `x-api-key`\n  \
         code can use it for POST to j.example, in the field `auth.key`\n",
    );
    let rows = scene.run(&["secret", "list", "--json"]).lacks(VALUE).exits(0);
    let rows: serde_json::Value = serde_json::from_str(&rows.stdout()).unwrap();
    assert_eq!(rows[0]["allowed"][0]["host"], "api.example");
    assert_eq!(rows[0]["allowed"][1]["methods"], serde_json::json!(["GET", "POST"]));
    assert_eq!(rows[0]["allowed"][2]["field"], "auth.key");
    let explained = scene.run(&["run", "--explain", "-l", "python", "-c", "1"]).lacks(VALUE);
    explained
        .mentions("code can use MY_TOKEN unseen: GET and HEAD to api.example")
        .mentions("/run/interpreter/trusted.pem")
        .exits(0);
    // A new value keeps its places, and must fit them.
    scene.run_with_input(&["secret", "set", "MY_TOKEN"], b"tiny").mentions("fewer than 8").exits(2);
    scene
        .run(&["secret", "disallow", "MY_TOKEN", "api.example"])
        .mentions("at api.example")
        .exits(0);
    scene.run(&["secret", "disallow", "MY_TOKEN", "api.example"]).exits(2);
    scene.run(&["secret", "disallow", "MY_TOKEN"]).mentions("no longer use MY_TOKEN anywhere");
    scene.run(&["secret", "list"]).prints("MY_TOKEN\n");
}

#[test]
fn the_person_is_told_before_code_runs_and_the_model_too() {
    let world = World::start();
    let scene = scene(Who::Ourselves, &world).model_says(&["Nothing to do."]);
    let seen = scene.chat(&["--json", "hello"]).lacks(VALUE).exits(0);
    let asked = seen.of_kind("request")[0].to_string();
    assert!(asked.contains("MY_TOKEN for GET and HEAD to api.example"), "{asked}");
    let started = seen.of_kind("session_started")[0]["confinement"]["secrets"].to_string();
    assert!(started.contains("api.example"), "{started}");
}
