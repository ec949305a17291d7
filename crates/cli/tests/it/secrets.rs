//! Places of secrets in the work folder: covered at any depth, in every kind of workspace, under
//! every name that code can give them; shown by their exact path alone; never applied unnamed.

use crate::{
    backends::{LANDLOCK, NATIVE, present},
    engines::is_engine,
    scene::{Scene, Seen, Who},
};
use interpreter_core::Backend;
use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

const MODES: [&str; 3] = ["stage", "read-only", "direct"];

/// Tries to read what is covered, as it is and under names of its own making, and then shows that
/// reading works.
const READS: &str = r#"
cat .env sub/deep/.env keys/id_rsa home/.ssh/config token/.npmrc linked real/env /run/interpreter/lower/sub/deep/.env
ln sub/deep/.env hard; cat hard
cp -r sub copy; cat copy/deep/.env
mv sub/deep/.env moved; cat moved
mv sub/deep sub2; cat sub2/.env
mv sub sub3; cat sub3/deep/.env
mv keys/id_rsa plain; cat plain
chmod 777 .env sub/deep/.env; cat .env sub/deep/.env
chmod -R u+rwx locked; cat locked/.env
mkdir -p a/b && mv keys a/b/; cat a/b/keys/id_rsa
python3 - <<'END'
import ctypes, glob, os
for path in glob.glob("**/.env", recursive=True, include_hidden=True) + [".env", "keys/id_rsa"]:
    for flags in (os.O_RDONLY, os.O_RDWR, os.O_RDONLY | os.O_DIRECT):
        try:
            print(os.read(os.open(path, flags), 100))
        except OSError:
            pass
libc = ctypes.CDLL(None)
print("unmounted" if libc.umount2(b".env", 2) == 0 else "")
try:
    os.rename(".env", "renamed")
    print(open("renamed").read())
except OSError:
    pass
END
cat plain/.npmrc open.txt
"#;

fn scene(who: Who) -> Scene {
    let scene = Scene::of(who)
        .file("open.txt", "readable\n")
        .file(".env", "KEY=canary\n")
        .file("sub/deep/.env", "KEY=canary\n")
        .file("sub/file", "x\n")
        .file("keys/id_rsa", "canary\n")
        .file("home/.ssh/config", "canary\n")
        .file("token/.npmrc", "//host/:_authToken=canary\n")
        .file("plain/.npmrc", "loglevel=warn\n")
        .file("real/env", "KEY=canary\n")
        .file("locked/.env", "KEY=canary\n");
    std::os::unix::fs::symlink("env", scene.work().join("real/.env.link")).unwrap();
    std::os::unix::fs::symlink(".env", scene.work().join("linked")).unwrap();
    let locked = std::fs::Permissions::from_mode(0o000);
    std::fs::set_permissions(scene.work().join("locked"), locked).unwrap();
    scene
}

fn run(scene: &Scene, mode: &str, flags: &[&str], code: &str) -> Seen {
    let arguments = ["run", "--workspace", mode, "-l", "shell", "-c", code];
    scene.run(&[&arguments, flags].concat())
}

#[test]
fn nothing_reads_them_in_any_workspace() {
    for who in Who::all() {
        for mode in MODES {
            let scene = scene(who);
            let seen = run(&scene, mode, &[], READS);
            // The control: what is beside them is read.
            seen.lacks("canary").lacks("unmounted").mentions("loglevel=warn\nreadable\n");
            // And again, after whatever was moved: where writes are real they stay covered.
            let again = run(&scene, mode, &[], "cat $(find . -type f); echo tried");
            again.lacks("canary").mentions("tried");
            let kept = ["sub/deep/.env", "keys/id_rsa", ".env"];
            for path in kept.iter().filter(|_| mode != "direct") {
                assert!(scene.read(path).unwrap().contains("canary"), "{path}");
            }
        }
    }
}

/// Folders on the way to a secret are links, as where such files are kept in a repository; and a
/// link leads from one folder that is shown into another.
#[test]
fn nothing_reads_them_behind_links_on_any_backend() {
    for (backend, who) in present() {
        let scene = Scene::of(who)
            .file("docker/config.json", "canary\n")
            .file("docker/open.json", "readable\n")
            .file("dot/config/gh/hosts.yml", "canary\n")
            .file("dot/share/keyrings/login", "canary\n")
            .file("dot/config/git/ignore", "ignored\n")
            .file("x/.local/here", "local\n")
            .file("plain.txt", "canary\n")
            .home_file("granted/docker/config.json", "canary\n")
            .home_file("granted/open.txt", "granted\n");
        let granted = scene.home().join("granted");
        let link = |to: &Path, at: PathBuf| std::os::unix::fs::symlink(to, at).unwrap();
        link(Path::new("docker"), scene.work().join(".docker"));
        link(Path::new("dot/config"), scene.work().join(".config"));
        link(Path::new("../../dot/share"), scene.work().join("x/.local/share"));
        link(&granted.join("docker"), scene.work().join("x/.docker"));
        link(&scene.work().join("plain.txt"), granted.join(".env"));
        let code = "cat .docker/config.json docker/config.json .config/gh/hosts.yml \
            dot/config/gh/hosts.yml x/.local/share/keyrings/login dot/share/keyrings/login \
            x/.docker/config.json GRANTED/docker/config.json GRANTED/.env plain.txt 2>/dev/null
            { cp -rL .config/gh gh; cat gh/*; mv dot dot2; cat dot2/config/gh/hosts.yml
            mv dot2 dot; } 2>/dev/null
            cat .docker/open.json .config/git/ignore x/.local/here
            cat GRANTED/open.txt 2>/dev/null; echo tried";
        let code = code.replace("GRANTED", granted.to_str().unwrap());
        let grant = ["--allow-read", granted.to_str().unwrap()];
        let modes = match backend {
            NATIVE => &MODES[..],
            Backend::NONE => &["direct"],
            // Root's code is another user there, who can only read.
            _ if who.is_root() => &["read-only"],
            _ => &["read-only", "stage"],
        };
        for mode in modes {
            let mut on = scene.on(backend);
            match on.last_mut() {
                Some(last) => *last = mode,
                None => on.extend(["--workspace", mode]),
            }
            let arguments = [&["run"], &on[..], &grant, &["-l", "shell", "-c", &code]].concat();
            let seen = scene.run(&arguments).mentions("tried");
            if backend == Backend::NONE {
                seen.mentions("canary");
                continue;
            }
            let seen = seen.lacks("canary");
            // Another user than root may not enter these folders.
            if backend == NATIVE || !who.is_root() {
                seen.mentions("readable\nignored\nlocal\ngranted\n");
            }
        }
    }
}

#[test]
fn what_belongs_to_another_and_is_closed_to_us_is_in_nobodys_way() {
    if !Who::Ourselves.is_root() {
        return eprintln!("not tried: only root can make what belongs to another");
    }
    for mode in MODES {
        let scene = Scene::of(Who::Ordinary).file("open.txt", "readable\n");
        let theirs = scene.work().join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        std::fs::write(theirs.join(".env"), "KEY=canary\n").unwrap();
        std::fs::set_permissions(&theirs, std::fs::Permissions::from_mode(0o700)).unwrap();
        let reads = "chmod -R 777 theirs; mv theirs ours; cat theirs/.env ours/.env; cat open.txt";
        run(&scene, mode, &[], reads).lacks("canary").mentions("readable");
    }
}

#[test]
fn one_is_shown_by_its_exact_path_and_the_others_are_not() {
    for who in Who::all() {
        for mode in MODES {
            let scene = scene(who);
            let reads = "cat sub/deep/.env; cat .env keys/id_rsa home/.ssh/config; echo done";
            let seen = run(&scene, mode, &["--allow-read", "sub/deep/.env"], reads);
            assert_eq!(seen.stdout(), "KEY=canary\ndone\n", "{mode}: {}", seen.stderr());
            let below = ["--allow-read", "./home/.ssh/config"];
            let seen = run(&scene, mode, &below, "cat home/.ssh/config .env; echo done");
            assert_eq!(seen.stdout(), "canary\ndone\n", "{mode}: {}", seen.stderr());
        }
    }
    let scene = scene(Who::Ourselves)
        .home_file(".config/interpreter/config.toml", "[files]\nallow = [\".env\"]\n");
    run(&scene, "stage", &[], "cat .env sub/deep/.env").mentions("canary").lacks("canary\nKEY");
}

#[test]
fn a_project_cannot_show_them() {
    let scene =
        scene(Who::Ourselves).file(".interpreter/config.toml", "[files]\nallow = [\".env\"]\n");
    run(&scene, "stage", &[], "cat .env").exits(2).mentions("files.allow").lacks("canary");
}

#[test]
fn a_new_one_is_told_and_applied_by_name_alone() {
    for who in Who::all() {
        let scene = Scene::of(who).file("a.txt", "1\n");
        let code =
            "echo KEY=made > new.txt; mkdir d; cp new.txt d/.env.production; ln new.txt id_rsa";
        let seen = scene.code("shell", code).exits(0);
        seen.mentions("created  d/.env.production").mentions("created  id_rsa");
        let applied = scene.run(&["changes", "apply"]).exits(0);
        applied.mentions("left out d/.env.production: it has the name of a secret");
        assert_eq!(scene.read("new.txt").unwrap(), "KEY=made\n");
        assert_eq!((scene.read("d/.env.production"), scene.read("id_rsa")), (None, None));
        scene.run(&["changes", "apply", "d/.env.production"]).exits(0);
        assert_eq!(scene.read("d/.env.production").unwrap(), "KEY=made\n");
        assert_eq!(scene.read("id_rsa"), None);
    }
}

#[test]
fn what_is_covered_stands_in_the_plan() {
    let scene = scene(Who::Ourselves);
    let explained = scene.run(&["run", "--explain", "-l", "shell", "-c", ""]).exits(0);
    explained.mentions("cover").mentions("/sub/deep/.env\n").lacks("plain/.npmrc");
}

/// Where secrets are that have their names only together with the folder above.
const HALVES: [(&str, &str, &str); 6] = [
    (".config", "gh/hosts.yml", "plain/hosts.yml"),
    (".config", "gcloud/credentials.db", "plain/credentials.db"),
    (".docker", "config.json", "daemon.json"),
    (".cargo", "credentials.toml", "config.toml"),
    (".local/share", "keyrings/login.keyring", "plain.txt"),
    (".streamlit", "secrets.toml", "config.toml"),
];

#[test]
fn a_work_folder_that_begins_inside_of_their_path_shows_them_to_no_backend() {
    for (backend, who) in present().filter(|(backend, _)| *backend != Backend::NONE) {
        // Root's code is another user there, who may not enter the folder at all.
        if backend == LANDLOCK && who.is_root() {
            continue;
        }
        let mut scene = Scene::of(who);
        for (above, secret, beside) in HALVES {
            scene = scene
                .file(&format!("{above}/{secret}"), "canary\n")
                .file(&format!("{above}/{beside}"), "readable\n");
        }
        for (above, secret, beside) in HALVES {
            // Nor may root's code in a container, but for the copy, which is its own.
            let read_only = (!is_engine(backend) || !who.is_root()).then_some("read-only");
            for mode in ["stage"].into_iter().chain(read_only) {
                let mut options = scene.on(backend);
                if let Some(at) = options.iter().position(|word| *word == "--workspace") {
                    options.truncate(at);
                }
                let code = format!("cat {secret}; cp {secret} other && cat other; cat {beside}");
                let all =
                    [&["run", "--workspace", mode], &options[..], &["-l", "shell", "-c", &code]];
                let mut command = scene.command(&all.concat());
                let seen = Seen(command.current_dir(scene.work().join(above)).output().unwrap());
                seen.lacks("canary").mentions("readable");
            }
        }
    }
}

#[test]
fn a_place_of_secrets_is_no_work_folder_and_the_message_says_what_is() {
    for (backend, who) in present().filter(|(backend, _)| *backend != Backend::NONE) {
        let scene = Scene::of(who)
            .file(".ssh/old/config", "canary\n")
            .file(".aws/credentials", "canary\n")
            .file(".config/gh/hosts.yml", "canary\n");
        for (folder, named) in
            [(".ssh", ".ssh"), (".ssh/old", ".ssh"), (".aws", ".aws"), (".config/gh", ".config/gh")]
        {
            let options = [&["run"], &scene.on(backend)[..], &["-l", "shell", "-c", "cat *"]];
            let mut command = scene.command(&options.concat());
            let seen = Seen(command.current_dir(scene.work().join(folder)).output().unwrap());
            let place = scene.work().join(named);
            seen.lacks("canary")
                .mentions(&format!("{} is a place of secrets", place.display()))
                .mentions("`--allow-read PATH`")
                .exits(4);
        }
    }
}

#[test]
fn a_new_one_is_withheld_wherever_the_work_folder_begins() {
    for who in Who::all() {
        let scene = Scene::of(who).file(".config/plain.txt", "1\n");
        let here = scene.work().join(".config");
        let run = |arguments: &[&str]| {
            Seen(scene.command(arguments).current_dir(&here).output().unwrap())
        };
        run(&["run", "-l", "shell", "-c", "mkdir gh; echo k > gh/hosts.yml; echo 2 > plain.txt"])
            .exits(0);
        run(&["changes", "apply"]).mentions("left out gh/hosts.yml").exits(0);
        assert_eq!(scene.read(".config/plain.txt").as_deref(), Some("2\n"));
        assert_eq!(scene.read(".config/gh/hosts.yml"), None);
        run(&["changes", "apply", "gh/hosts.yml"]).exits(0);
        assert_eq!(scene.read(".config/gh/hosts.yml").as_deref(), Some("k\n"));
    }
}
