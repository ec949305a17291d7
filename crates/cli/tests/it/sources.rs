//! Other places that secrets come from: the system keyring and HashiCorp Vault.

use crate::scene::{Scene, Seen};
use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Output, Stdio},
    sync::{Arc, Mutex},
    thread,
};

const VALUE: &str = "Zq8-Wx3_Lm5.vB7nK2rT";

/// Code that prints the value without holding it.
fn printing() -> String {
    format!("print('{}' + '{}')", &VALUE[..7], &VALUE[7..])
}

fn set(scene: &Scene, name: &str) -> Seen {
    scene.run_with_input(&["secret", "set", name], VALUE.as_bytes())
}

fn key(scene: &Scene) -> String {
    fs::read_to_string(scene.home().join(".config/interpreter/secrets.key")).unwrap()
}

/// A bus as a desktop session has one, with a real keyring that is open.
struct Desktop {
    bus: Child,
    address: String,
}

impl Desktop {
    fn start(scene: &Scene) -> Self {
        let mut bus = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--print-address"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("`scripts/test` installs it");
        let mut address = String::new();
        BufReader::new(bus.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let address = address.trim().to_owned();
        let mut keyring = Command::new("gnome-keyring-daemon")
            .args(["--unlock", "--components=secrets"])
            .env("DBUS_SESSION_BUS_ADDRESS", &address)
            .env("HOME", scene.home())
            .env_remove("XDG_DATA_HOME")
            .env_remove("XDG_RUNTIME_DIR")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("`scripts/test` installs it");
        keyring.stdin.take().unwrap().write_all(b"password of the desktop").unwrap();
        // It goes on in the background, and ends with the bus.
        keyring.wait().unwrap();
        let desktop = Self { bus, address };
        let waited = desktop.gdbus(&["wait", "--session", "org.freedesktop.secrets"]);
        assert!(waited.status.success(), "{waited:?}");
        desktop
    }

    fn gdbus(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("gdbus");
        command.args(arguments).env("DBUS_SESSION_BUS_ADDRESS", &self.address).output().unwrap()
    }

    fn call(&self, to: &str, object: &str, method: &str, argument: &str) -> String {
        let head = ["call", "--session", "--dest", to, "--object-path", object];
        let done = self.gdbus(&[&head[..], &["--method", method, argument]].concat());
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    }

    /// The number of the keyring's process.
    fn keyring(&self) -> String {
        let (bus, method) = ("org.freedesktop.DBus", "GetConnectionUnixProcessID");
        let said = self.call(bus, "/", &format!("{bus}.{method}"), "org.freedesktop.secrets");
        said.chars().filter(char::is_ascii_digit).skip("32".len()).collect()
    }

    fn lock(&self) {
        let (service, root) = ("org.freedesktop.secrets", "/org/freedesktop/secrets");
        let collection = format!("['{root}/collection/login']");
        self.call(service, root, "org.freedesktop.Secret.Service.Lock", &collection);
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        // It may have ended by itself.
        _ = self.bus.kill();
        _ = self.bus.wait();
    }
}

#[test]
fn the_key_is_in_the_keyring_where_there_is_one() {
    let scene = Scene::new();
    let desktop = Desktop::start(&scene);
    let scene = scene.variable("DBUS_SESSION_BUS_ADDRESS", &desktop.address);
    set(&scene, "MY_API_KEY").prints("MY_API_KEY is kept.\n").exits(0);
    assert!(key(&scene).starts_with("keyring "), "{}", key(&scene));
    scene.run(&["secret", "key"]).mentions("is in the system keyring").exits(0);
    set(&scene, "OTHER_TOKEN").exits(0);
    scene.run(&["secret", "list"]).prints("MY_API_KEY\nOTHER_TOKEN\n").exits(0);
    scene.code("python", &printing()).prints("[secret:MY_API_KEY]\n").exits(0);

    // The attack: code asks the keyring itself.
    let path = desktop.address.split(['=', ',']).nth(1).unwrap();
    let connect = format!(
        "import socket\ns = socket.socket(socket.AF_UNIX)\ntry:\n    s.connect({path:?})\n    \
         print('con' + 'nected')\nexcept OSError as error:\n    print('ref' + 'used')"
    );
    scene.code("python", &connect).prints("refused\n").exits(0);
    let control = Command::new("python3").args(["-c", &connect]).output().unwrap();
    assert_eq!(control.stdout, b"connected\n");

    // Locked, it costs the secrets and nothing else.
    desktop.lock();
    let locked = scene.code("python", "print(1)").prints("1\n").exits(0);
    locked.mentions("Your secrets are not available").mentions("it is locked");
    set(&scene, "MORE").mentions("it is locked").mentions("secret key file").exits(2);
    scene.run(&["secret", "list"]).mentions("it is locked").exits(2);
}

#[test]
fn the_key_moves_between_the_keyring_and_a_file() {
    let scene = Scene::new();
    let desktop = Desktop::start(&scene);
    set(&scene, "MY_API_KEY").exits(0);
    scene.run(&["secret", "key"]).mentions("secrets.key`").exits(0);
    scene.run(&["secret", "key", "keyring"]).mentions("there is none in this session").exits(2);
    let digits = key(&scene);
    let scene = scene.variable("DBUS_SESSION_BUS_ADDRESS", &desktop.address);
    scene.run(&["secret", "key", "keyring"]).mentions("is in the system keyring").exits(0);
    assert!(!key(&scene).contains(digits.trim()));
    scene.run(&["secret", "list"]).prints("MY_API_KEY\n").exits(0);
    // A copy of the folders, or a session without the desktop, does not open it.
    let elsewhere = |arguments: &[&str]| {
        let mut command = scene.command(arguments);
        Seen(command.env_remove("DBUS_SESSION_BUS_ADDRESS").output().unwrap())
    };
    elsewhere(&["secret", "list"]).mentions("there is none in this session").exits(2);
    // One that never answers is not waited for.
    let number = desktop.keyring();
    Command::new("kill").args(["-STOP", &number]).status().unwrap();
    scene.run(&["secret", "list"]).mentions("it did not answer within 3 s").exits(2);
    Command::new("kill").args(["-CONT", &number]).status().unwrap();
    scene.run(&["secret", "key", "file"]).mentions("secrets.key`").exits(0);
    assert_eq!(key(&scene), digits);
    elsewhere(&["secret", "list"]).prints("MY_API_KEY\n").exits(0);
}

/// A double of Vault's key-value engine, version 2, as its documentation has it. Keeps the heads of
/// all requests.
pub(crate) struct VaultDouble {
    pub(crate) address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl VaultDouble {
    /// Starts it. It has one secret for whoever has the token `hvs.test-token-1234`:
    /// `secret/team/github#token`.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heads = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let heads = Arc::clone(&heads);
                thread::spawn(move || heads.lock().unwrap().push(answer(stream)));
            }
        });
        Self { address, asked }
    }

    fn asked(&self) -> String {
        std::mem::take(&mut *self.asked.lock().unwrap()).join("\n")
    }
}

/// Answers one request, and gives its head.
fn answer(mut stream: TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap();
    let is_known = head.contains("x-vault-token: hvs.test-token-1234\r\n");
    let (status, more, body) = match path {
        _ if !is_known => ("403 Forbidden", "", r#"{"errors":["permission denied"]}"#.to_owned()),
        "/v1/secret/data/team/github" => {
            let data = format!(
                r#"{{"request_id":"1","data":{{"data":{{"token":"{VALUE}","n":7}},"metadata":{{"version":3}}}}}}"#
            );
            ("200 OK", "", data)
        }
        "/v1/secret/data/moved" => {
            ("307 Temporary Redirect", "location: http://127.0.0.1:9/\r\n", String::new())
        }
        "/v1/secret/data/odd" => ("200 OK", "", "<html>".to_owned()),
        _ => ("404 Not Found", "", r#"{"errors":[]}"#.to_owned()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nconnection: close\r\n{more}content-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    head
}

fn with_vault(lines: &str) -> Scene {
    Scene::new().home_file(".config/interpreter/config.toml", &format!("[vault]\n{lines}\n"))
}

#[test]
fn a_secret_in_vault_is_used_as_if_it_was_kept_here() {
    let vault = VaultDouble::start();
    let scene = with_vault(&format!(
        "address = '{}'\nsecrets = ['MY_API_KEY=secret/team/github#token']",
        vault.address
    ));
    let untold = scene.code("python", "print(1)").prints("1\n").exits(0);
    untold.mentions("MY_API_KEY could not be read from Vault").mentions("run `vault login`");
    assert_eq!(vault.asked(), "");
    let scene = scene.home_file(".vault-token", "hvs.test-token-1234\n");
    let seen = scene.code("python", &printing()).prints("[secret:MY_API_KEY]\n").exits(0);
    seen.lacks(VALUE).lacks("hvs.test");
    let asked = vault.asked();
    assert!(asked.starts_with("GET /v1/secret/data/team/github HTTP/1.1\r\n"), "{asked}");
    let list = scene.run(&["secret", "list"]).exits(0);
    list.prints("MY_API_KEY  (in Vault: secret/team/github#token)\n");
    // Nothing of it is kept.
    let code = "env; cat ~/.vault-token ~/.config/interpreter/*; echo tried";
    scene.code("shell", code).mentions("tried").lacks(VALUE).lacks("hvs.test");
    assert!(!scene.home().join(".local/share/interpreter/secrets.sealed").exists());
    // A variable comes first, and then nobody is asked.
    vault.asked();
    let scene = scene.variable("MY_API_KEY", "another-value-1");
    scene.code("python", "print(1)").prints("1\n").exits(0);
    assert_eq!(vault.asked(), "");
}

#[test]
fn a_vault_that_does_not_give_it_costs_that_secret_and_no_token() {
    let vault = VaultDouble::start();
    let secrets = "secrets = ['A=secret/none#token', 'B=secret/moved#token', 'C=secret/odd#token', \
                   'D=secret/team/github#other', 'E=secret/team/github#n', \
                   'MY_API_KEY=secret/team/github#token']";
    let scene = with_vault(&format!("address = '{}'\n{secrets}", vault.address))
        .variable("VAULT_TOKEN", "hvs.test-token-1234");
    let seen = scene.code("python", &printing()).prints("[secret:MY_API_KEY]\n").exits(0);
    seen.mentions("A could not be read from Vault (secret/none)")
        .mentions("has nothing there")
        .mentions("redirects are not followed")
        .mentions("answered something else (HTTP 200)")
        .mentions("D could not be read from Vault (secret/team/github)")
        .mentions("E could not be read from Vault")
        .lacks(VALUE);
    let scene = scene.variable("VAULT_TOKEN", "hvs.another");
    scene.code("python", "1").mentions("refuses: the token is not valid").exits(0);
    vault.asked();
    let offline = scene.run(&["run", "--offline", "-l", "python", "-c", "print(1)"]);
    offline.prints("1\n").mentions("`offline` is set").exits(0);
    assert_eq!(vault.asked(), "");
    // The attack: the token in the clear, to another machine.
    let scene = with_vault(&format!("address = 'http://192.0.2.1:8200'\n{secrets}"))
        .variable("VAULT_TOKEN", "hvs.test-token-1234");
    scene.code("python", "1").mentions("its address has no https").exits(0);
    // The attack: a project that says where secrets come from.
    let scene = Scene::new()
        .file(".interpreter/config.toml", format!("[vault]\naddress = '{}'\n", vault.address))
        .variable("VAULT_TOKEN", "hvs.test-token-1234");
    scene.code("python", "1").mentions("it decides where your secrets come from");
    assert_eq!(vault.asked(), "");
}
