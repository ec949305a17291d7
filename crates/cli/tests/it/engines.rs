//! Containers of docker and podman: what their engines, images and left-overs must not do. The attacks
//! on them are in [`crate::attacks`], and what they share with other backends in
//! [`crate::backends`].
//!
//! `scripts/test` starts the engines and makes the image that these tests use.

use crate::{
    backends::{DOCKER, PODMAN},
    scene::{Scene, Who, cell},
};
use interpreter_core::Backend;
use std::{
    io::{BufRead as _, BufReader, Write as _},
    os::unix::fs::MetadataExt as _,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// The image of the tests.
pub(crate) const IMAGE: &str = "interpreter:test";

/// Where the images of an ordinary user are, whatever their home is in a test.
pub(crate) const ROOTLESS: &str = "/var/tmp/interpreter-test-podman";

pub(crate) fn is_engine(backend: Backend) -> bool {
    backend == DOCKER || backend == PODMAN
}

/// Everyone who can use an engine here, with the image.
pub(crate) fn people(engine: Backend) -> Vec<Who> {
    if !said(engine, &["image", "inspect", IMAGE]).1 {
        return vec![];
    }
    let named = Who::named().filter(|who| {
        if engine == PODMAN {
            return Path::new(ROOTLESS).join("overlay-images").exists();
        }
        let group = std::fs::metadata("/var/run/docker.sock").map(|data| data.gid());
        group.is_ok_and(|group| Some(group) == who.user())
    });
    let named = named.filter(|who| *who != Who::Ourselves);
    [Who::Ourselves].into_iter().chain(named).collect()
}

/// The engines that are here, one after the other.
fn engines() -> impl Iterator<Item = Backend> {
    [DOCKER, PODMAN].into_iter().filter(|engine| {
        let is_here = !people(*engine).is_empty();
        if !is_here {
            let text = format!("not tried: {engine} does not run here, or has no {IMAGE}\n");
            std::io::stderr().write_all(text.as_bytes()).unwrap();
        }
        is_here
    })
}

/// Output of an engine's client, and whether it succeeded.
fn said(engine: Backend, arguments: &[&str]) -> (String, bool) {
    let output = Command::new(engine.word()).args(arguments).output();
    output.map_or_else(
        |_| (String::new(), false),
        |output| (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success()),
    )
}

/// The containers of this process's tests cannot be told from those of others: those that name a
/// work folder of ours can.
fn mounting(engine: Backend, scene: &Scene) -> Vec<String> {
    let (names, _) = said(
        engine,
        &["ps", "--all", "--filter", "label=interpreter.sandbox", "--format", "{{.Names}}"],
    );
    let work = scene.work().display().to_string();
    let ours = |name: &&str| said(engine, &["inspect", name]).0.contains(&work);
    names.lines().filter(ours).map(str::to_owned).collect()
}

/// Asks for an engine with another image.
fn with_image(scene: &Scene, engine: Backend, image: &'static str) -> Vec<&'static str> {
    let on = scene.on(engine).into_iter();
    on.map(|word| if word == IMAGE { image } else { word }).collect()
}

/// Waits until something is so.
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_missing_image_is_named_with_what_helps_and_never_fetched() {
    for engine in engines() {
        let scene = Scene::new();
        let on = with_image(&scene, engine, "interpreter:no-such-image");
        let run = [&["run"], &on[..], &["-l", "shell", "-c", "echo ran"]];
        let seen = scene.run(&run.concat()).lacks("ran\n").exits(4);
        seen.mentions("no-such-image").mentions("`scripts/make-image` makes the default image");
    }
}

#[test]
fn a_project_may_not_name_an_image() {
    let project = "[sandbox]\nimage = \"interpreter:theirs\"\n";
    let scene = Scene::new().file(".interpreter/config.toml", project);
    scene.code("shell", "echo ran").lacks("ran\n").mentions("sandbox.image").exits(2);
}

#[test]
fn one_container_serves_a_session_in_three_languages() {
    for engine in engines() {
        for who in people(engine) {
            let scene = Scene::of(who).model_says(&[
                &cell("python", "x = 6\nprint(x * 7)"),
                &cell("python", "print(x)\n_ = open('out.txt', 'w').write('new\\n')"),
                &cell("shell", "cat out.txt; hostname"),
                &cell("javascript", "console.log(6 * 7)"),
                "Done.",
            ]);
            let mut options = scene.on(engine);
            *options.last_mut().unwrap() = "stage";
            let seen = scene.chat(&[&["--yes", "--json"], &options[..], &["go"]].concat());
            let printed: Vec<_> = (1..=4).map(|at| seen.printed_by(&format!("p{at}"))).collect();
            assert_eq!(printed, ["42\n", "6\n", "new\nsandbox\n", "42\n"], "{engine} {who:?}");
            scene.run(&["changes", "apply"]).exits(0);
            assert_eq!(scene.read("out.txt").as_deref(), Some("new\n"));
            let owner = std::fs::metadata(scene.work().join("out.txt")).unwrap().uid();
            assert_eq!(owner, who.user().unwrap_or_else(|| rustix::process::geteuid().as_raw()));
        }
    }
}

#[test]
fn an_images_own_settings_are_not_obeyed() {
    for engine in engines() {
        let image = "interpreter:test-hostile";
        let name = format!("hostile-{}", std::process::id());
        let (_, made) = said(engine, &["create", "--name", &name, "--network=none", IMAGE, "true"]);
        let changes = [
            "ENTRYPOINT [\"/bin/echo\", \"ESCAPED\"]",
            "USER root",
            "ENV CANARY=canary",
            "WORKDIR /root",
            "VOLUME /volume",
        ];
        let changes: Vec<_> = changes.iter().flat_map(|change| ["--change", change]).collect();
        let commit = [&["commit"], &changes[..], &[&name, image]].concat();
        assert!(made && said(engine, &commit).1, "{engine}");
        said(engine, &["rm", "--force", &name]);
        let code =
            "id -u; env; pwd; echo x > /volume/x; echo x > /etc/x; cat /proc/1/environ; true";
        for who in people(engine).into_iter().filter(|who| *who == Who::Ourselves) {
            let scene = Scene::of(who);
            let run = [&["run"], &with_image(&scene, engine, image)[..]].concat();
            let seen = scene.run(&[&run[..], &["-l", "shell", "-c", code]].concat()).exits(0);
            let seen = seen.lacks("ESCAPED").lacks("canary");
            assert!(!seen.stdout().starts_with("0\n"), "{engine}: {}", seen.stdout());
            for refused in ["/volume/x: ", "/etc/x: Read-only", "/proc/1/environ: Permission"] {
                assert!(seen.stderr().contains(refused), "{engine}: {}", seen.stderr());
            }
        }
        said(engine, &["rmi", "--force", image]);
    }
}

#[test]
fn the_engines_own_socket_is_not_inside() {
    for engine in engines() {
        let code = "ls /var/run/docker.sock /run/docker.sock /run/podman /run/user 2>/dev/null; \
                    find / -xdev -name '*.sock' -o -type s 2>/dev/null | grep -v ^/proc; true";
        let seen = Scene::new().code_on(engine, "shell", code).exits(0);
        let said = seen.stdout();
        let sockets: Vec<_> = said.lines().filter(|line| line.contains("sock")).collect();
        assert_eq!(sockets, Vec::<&str>::new(), "{engine}");
    }
}

#[test]
fn an_interpreter_that_is_killed_leaves_no_container() {
    for engine in engines() {
        let scene = Scene::new();
        let run = [&["run"], &scene.on(engine)[..], &["-l", "shell", "-c", "echo up; sleep 1000"]];
        let mut child = scene.command(&run.concat()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "up\n", "{engine}");
        // The control: there is one to be left.
        assert_eq!(mounting(engine, &scene).len(), 1, "{engine}");
        child.kill().unwrap();
        child.wait().unwrap();
        eventually("the container is still there", || mounting(engine, &scene).is_empty());
    }
}

#[test]
fn a_container_that_an_engine_left_is_removed_and_no_other() {
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap();
    let namespace = namespace.to_str().unwrap().trim_matches(|c: char| !c.is_ascii_digit());
    for engine in engines() {
        let own = std::process::id();
        let gone = format!("interpreter-{namespace}-999999999-{own}");
        let kept = [
            format!("interpreter-{namespace}-{own}-mine"),
            // Its process is where this one cannot see it.
            format!("interpreter-1-999999999-{own}"),
        ];
        for name in [&kept[..], std::slice::from_ref(&gone)].concat() {
            let create = ["create", "--network=none", "--label", "interpreter.sandbox", "--name"];
            assert!(said(engine, &[&create[..], &[&name, IMAGE, "true"]].concat()).1, "{engine}");
        }
        let scene = Scene::new();
        let is_there = |name: &str| said(engine, &["container", "inspect", name]).1;
        // A session that lasts until the other is gone: it removes aside.
        let run = [&["run"], &scene.on(engine)[..], &["-l", "shell", "-c", "echo up; sleep 1000"]];
        let mut child = scene.command(&run.concat()).stdout(Stdio::null()).spawn().unwrap();
        eventually("the container is still there", || !is_there(&gone));
        assert!(kept.iter().all(|name| is_there(name)), "{engine}");
        child.kill().unwrap();
        child.wait().unwrap();
        said(engine, &["rm", "--force", &kept[0], &kept[1]]);
    }
}

#[test]
fn doctor_attacks_a_container_and_says_what_one_lacks() {
    for engine in engines() {
        let config = format!("[sandbox]\nimage = \"{IMAGE}\"\n");
        let scene = Scene::new().home_file(".config/interpreter/config.toml", &config);
        let built = |scene: &Scene| -> serde_json::Value {
            let seen = scene.run(&["doctor", "--json"]);
            let report: serde_json::Value = serde_json::from_str(&seen.stdout()).unwrap();
            let all = report["sandboxes"].as_array().unwrap().clone();
            all.into_iter().find(|one| one["name"] == engine.word()).unwrap()
        };
        let sandbox = built(&scene);
        assert_eq!(sandbox["built"], true, "{sandbox}");
        let attacks = sandbox["attacks"].as_array().unwrap();
        assert!(attacks.iter().all(|one| one["outcome"] != "got_through"), "{sandbox}");
        let config = "[sandbox]\nimage = \"interpreter:no-such-image\"\n";
        let scene = Scene::new().home_file(".config/interpreter/config.toml", config);
        let sandbox = built(&scene);
        assert_eq!(sandbox["built"], false, "{sandbox}");
        assert!(sandbox["fix"].as_str().unwrap().contains("scripts/make-image"), "{sandbox}");
    }
}
