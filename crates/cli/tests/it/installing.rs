//! Installing and removing: `scripts/install`, the wheel, the Debian package and the image, all with
//! the binary of the tests, so that nothing is compiled again.

use crate::{
    engines::people,
    pages::root,
    scene::{Scene, Seen, binary, without},
};
use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tempfile::{TempDir, tempdir};

/// Runs a script of the repository.
fn script(name: &str, arguments: &[&str]) -> Seen {
    let mut command = Command::new(root().join("scripts").join(name));
    Seen(command.args(arguments).env("SHELL", "/bin/sh").output().unwrap())
}

/// Runs a program that is not ours, and gives its output.
fn output(program: &str, arguments: &[&str]) -> String {
    Seen(Command::new(program).args(arguments).output().unwrap()).exits(0).stdout()
}

/// Programs that `scripts/test` installs.
const PROMISED: [&str; 5] = ["zsh", "fish", "man", "checkmodule", "semodule_package"];

fn is_there(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output();
    let is_there = found.unwrap().status.success();
    if !is_there && PROMISED.contains(&program) {
        without(program);
    } else if !is_there {
        let text = format!("not tried: {program} is not installed\n");
        io::stderr().write_all(text.as_bytes()).unwrap();
    }
    is_there
}

/// All files below a folder, by their paths in it.
fn files(folder: &Path) -> BTreeSet<String> {
    let (mut found, mut open) = (BTreeSet::new(), vec![folder.to_owned()]);
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.insert(path.strip_prefix(folder).unwrap().display().to_string());
            }
        }
    }
    found
}

fn install(prefix: &Path) -> Seen {
    let (prefix, binary) = (prefix.to_str().unwrap(), binary().to_str().unwrap());
    script("install", &["--prefix", prefix, "--binary", binary])
}

fn uninstall(prefix: &Path) -> Seen {
    script("install", &["--prefix", prefix.to_str().unwrap(), "--uninstall"])
}

/// A prefix with a blank in its name and somebody else's file in it.
fn prefix() -> (TempDir, PathBuf) {
    let folder = tempdir().unwrap();
    let prefix = folder.path().join("my programs");
    fs::create_dir_all(prefix.join("share/doc")).unwrap();
    fs::write(prefix.join("share/doc/other"), "theirs").unwrap();
    (folder, prefix)
}

#[test]
fn the_script_installs_what_its_manifest_lists_and_removes_exactly_that() {
    let (_folder, prefix) = prefix();
    let before = files(&prefix);
    let program = prefix.join("bin/interpreter");
    install(&prefix)
        .mentions("Installed interpreter")
        .mentions("is not in your PATH")
        .mentions("Remove it with")
        .exits(0);
    let manifest = fs::read_to_string(prefix.join("share/doc/interpreter/manifest")).unwrap();
    let listed: BTreeSet<_> =
        manifest.lines().filter(|line| !line.ends_with('/')).map(str::to_owned).collect();
    let installed = files(&prefix);
    assert_eq!(installed.difference(&before).cloned().collect::<BTreeSet<_>>(), listed);
    assert!(listed.contains("share/doc/interpreter/LICENSE-MIT"), "{listed:?}");
    assert!(listed.contains("share/man/man1/interpreter-changes-apply.1"), "{listed:?}");
    // The hidden commands of packages have no page.
    assert!(!listed.contains("share/man/man1/interpreter-man.1"), "{listed:?}");
    output(program.to_str().unwrap(), &["--version"]);

    // Once more gives the same, and what an earlier version had besides is gone.
    fs::write(prefix.join("bin/older"), "").unwrap();
    let older = manifest.clone() + "bin/older\n";
    fs::write(prefix.join("share/doc/interpreter/manifest"), older).unwrap();
    install(&prefix).exits(0);
    assert_eq!(files(&prefix), installed);
    assert_eq!(
        fs::read_to_string(prefix.join("share/doc/interpreter/manifest")).unwrap(),
        manifest
    );

    uninstall(&prefix).mentions("are not touched").mentions("share/interpreter").exits(0);
    assert_eq!(files(&prefix), before);
    let left: Vec<_> = fs::read_dir(&prefix).unwrap().map(|one| one.unwrap().file_name()).collect();
    assert_eq!(left, ["share"], "folders are left");
    uninstall(&prefix).mentions("Nothing is installed").exits(1);
}

#[test]
fn a_running_program_is_replaced_whole() {
    let (_folder, prefix) = prefix();
    install(&prefix).exits(0);
    let program = prefix.join("bin/interpreter");
    // It waits for its code.
    let mut running = Command::new(&program);
    running.args(["run", "-l", "python", "-"]).stdin(Stdio::piped()).stdout(Stdio::null());
    let home = Scene::new();
    let mut running = running.env("INTERPRETER_HOME", home.home()).spawn().unwrap();
    // The control: its file cannot be written to.
    let busy = fs::OpenOptions::new().write(true).open(&program).unwrap_err();
    assert_eq!(busy.kind(), io::ErrorKind::ExecutableFileBusy);
    let before = fs::metadata(&program).unwrap().ino();
    install(&prefix).exits(0);
    assert_ne!(fs::metadata(&program).unwrap().ino(), before);
    assert!(running.try_wait().unwrap().is_none(), "the program has ended");
    running.kill().unwrap();
    running.wait().unwrap();
    assert!(!files(&prefix).iter().any(|file| file.contains(".new")));
}

#[test]
fn an_edited_manifest_removes_nothing_outside_the_prefix() {
    let (folder, prefix) = prefix();
    install(&prefix).exits(0);
    let victim = folder.path().join("victim");
    fs::write(&victim, "").unwrap();
    let manifest = prefix.join("share/doc/interpreter/manifest");
    let original = fs::read_to_string(&manifest).unwrap();
    for name in ["../victim", "bin/../../victim", victim.to_str().unwrap()] {
        fs::write(&manifest, format!("{original}{name}\n")).unwrap();
        uninstall(&prefix).mentions("outside").exits(1);
        assert!(victim.exists() && prefix.join("bin/interpreter").exists());
    }
    // The control: without that line it goes.
    fs::write(&manifest, original).unwrap();
    uninstall(&prefix).exits(0);
    assert!(!prefix.join("bin/interpreter").exists());
}

#[test]
fn a_file_that_is_no_program_installs_nothing() {
    let (folder, prefix) = prefix();
    let before = files(&prefix);
    let broken = folder.path().join("broken");
    fs::write(&broken, "").unwrap();
    let arguments = ["--prefix", prefix.to_str().unwrap(), "--binary", broken.to_str().unwrap()];
    script("install", &arguments).mentions("is no program").exits(2);
    script("install", &["--prefix"]).mentions("needs a value").exits(2);
    script("install", &["--nonsense"]).mentions("Unknown argument").exits(2);
    assert_eq!(files(&prefix), before);
}

#[test]
fn shells_complete_commands_options_and_choices() {
    let (_folder, prefix) = prefix();
    install(&prefix).exits(0);
    let share = prefix.join("share");
    let at = |name: &str| share.join(name).display().to_string();
    let complete = "source \"$1\"; COMP_WORDS=(interpreter $2); COMP_CWORD=${#COMP_WORDS[@]}-1
        _interpreter interpreter \"${COMP_WORDS[-1]}\" \"${COMP_WORDS[-2]}\"
        echo \"${COMPREPLY[*]}\"";
    let bash = |words: &str| {
        let script = at("bash-completion/completions/interpreter");
        output("bash", &["--norc", "-c", complete, "bash", &script, words])
    };
    assert_eq!(bash("doct").trim(), "doctor");
    assert_eq!(bash("--sandbox land").trim(), "landlock");
    assert_eq!(bash("completions z").trim(), "zsh");
    if is_there("zsh") {
        let load = "fpath=($1 $fpath); autoload -Uz compinit; compinit -D -u; \
                    print $_comps[interpreter]; autoload +X _interpreter && print loaded";
        let said = output("zsh", &["-f", "-c", load, "zsh", &at("zsh/site-functions")]);
        assert_eq!(said, "_interpreter\nloaded\n");
    }
    if is_there("fish") {
        let script = at("fish/vendor_completions.d/interpreter.fish");
        let fish = |words: &str| {
            let complete = format!("source '{script}'; complete -C 'interpreter {words}'");
            output("fish", &["--no-config", "-c", &complete])
        };
        assert!(fish("doct").starts_with("doctor"), "{}", fish("doct"));
        assert!(fish("--sandbox land").contains("landlock"), "{}", fish("--sandbox land"));
    }
}

#[test]
fn manual_pages_are_rendered() {
    let pages = tempdir().unwrap();
    let folder = pages.path().to_str().unwrap();
    Scene::new().run(&["man", "--output", folder]).exits(0);
    let printed = Scene::new().run(&["man", "changes", "apply"]).exits(0).stdout();
    let written = fs::read_to_string(pages.path().join("interpreter-changes-apply.1")).unwrap();
    assert_eq!(printed, written);
    Scene::new().run(&["man", "nonsense"]).mentions("no command `nonsense`").exits(2);
    if is_there("man") {
        for page in files(pages.path()) {
            let mut command = Command::new("man");
            let path = pages.path().join(&page);
            command.args(["--warnings", "--encoding=UTF-8", "-l"]).arg(path).env("MANWIDTH", "80");
            let seen = Seen(command.output().unwrap()).exits(0);
            assert_eq!(seen.stderr(), "", "{page}");
            assert!(seen.stdout().contains("SYNOPSIS"), "{}", seen.stdout());
        }
    }
}

#[test]
fn a_wheel_installs_into_an_environment_and_leaves_it_again() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let arguments = ["--binary", binary().to_str().unwrap(), "--output", &at("dist")];
    let wheel = script("package/wheel", &arguments).exits(0).stdout();
    let wheel = wheel.trim();
    assert!(wheel.contains("-py3-none-manylinux_2_"), "{wheel}");
    // Every file is on the record with its hash and size.
    let check = "
import base64, csv, hashlib, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
record = next(name for name in wheel.namelist() if name.endswith('.dist-info/RECORD'))
rows = {name: (sum, size) for name, sum, size in csv.reader(wheel.read(record).decode().split())}
assert set(rows) == set(wheel.namelist()) and rows.pop(record) == ('', '')
for name, (sum, size) in rows.items():
    content = wheel.read(name)
    found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
    assert (sum, int(size)) == ('sha256=' + found, len(content)), name
print(len(rows))";
    let python =
        if Path::new("/usr/bin/python3").exists() { "/usr/bin/python3" } else { "python3" };
    let count: usize = output(python, &["-c", check, wheel]).trim().parse().unwrap();
    assert!(count > 20, "{count}");

    output(python, &["-m", "venv", &at("environment")]);
    let before = files(&folder.path().join("environment"));
    let pip = at("environment/bin/pip");
    let quiet = ["--quiet", "--disable-pip-version-check"];
    output(&pip, &[&["install"], &quiet[..], &["--no-index", wheel]].concat());
    let version = output(&at("environment/bin/interpreter"), &["--version"]);
    assert_eq!(version.trim(), concat!("interpreter ", env!("CARGO_PKG_VERSION")));
    assert!(Path::new(&at("environment/share/man/man1/interpreter.1")).exists());
    output(&pip, &[&["uninstall", "--yes"], &quiet[..], &["open-interpreter"]].concat());
    assert_eq!(files(&folder.path().join("environment")), before);
}

#[test]
fn a_debian_package_installs_and_leaves_a_root() {
    if !is_there("dpkg-deb") {
        return;
    }
    let folder = tempdir().unwrap();
    let (root, dist) = (folder.path().join("root"), folder.path().join("dist"));
    let binary = binary().to_str().unwrap();
    let arguments =
        ["--binary", binary, "--output", dist.to_str().unwrap(), "--compression", "none"];
    let package = script("package/debian", &arguments).exits(0).stdout();
    let package = package.trim();
    let field = |name: &str| output("dpkg-deb", &["--field", package, name]).trim().to_owned();
    assert_eq!(field("Package"), "open-interpreter");
    assert_eq!(field("Version"), concat!(env!("CARGO_PKG_VERSION"), "-1"));
    assert!(field("Depends").starts_with("libc6 (>= 2."), "{}", field("Depends"));
    let control = output("dpkg-deb", &["--field", package]);
    assert!(control.lines().all(|line| line.matches('@').count() < 2), "{control}");

    fs::create_dir_all(root.join("var/lib/dpkg")).unwrap();
    fs::write(root.join("var/lib/dpkg/status"), "").unwrap();
    let dpkg = |arguments: &[&str]| {
        let at = format!("--root={}", root.display());
        let force = "--force-script-chrootless,not-root,depends,bad-path";
        let log = format!("--log={}", folder.path().join("log").display());
        output("dpkg", &[&[at.as_str(), force, &log], arguments].concat());
    };
    // Only root can give files to root.
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        dpkg(&["--install", package]);
    } else {
        output("dpkg-deb", &["--extract", package, root.to_str().unwrap()]);
    }
    let found = files(&root.join("usr"));
    for file in [
        "bin/interpreter",
        "share/bash-completion/completions/interpreter",
        "share/zsh/vendor-completions/_interpreter",
        "share/fish/vendor_completions.d/interpreter.fish",
        "share/man/man1/interpreter.1.gz",
        "share/man/man1/interpreter-run.1.gz",
        "share/doc/open-interpreter/copyright",
        "share/doc/open-interpreter/changelog.gz",
        "share/doc/open-interpreter/changelog.Debian.gz",
        "share/doc/open-interpreter/THIRD-PARTY-LICENSES.gz",
        "share/open-interpreter/apparmor-profile",
        "share/open-interpreter/selinux/interpreter.te",
    ] {
        assert!(found.contains(file), "{file} is missing: {found:#?}");
    }
    let version = output(root.join("usr/bin/interpreter").to_str().unwrap(), &["--version"]);
    assert!(version.contains(env!("CARGO_PKG_VERSION")));
    if is_root {
        dpkg(&["--remove", "open-interpreter"]);
        assert!(!root.join("usr").exists(), "{:?}", files(&root.join("usr")));
    }
}

#[test]
fn an_image_file_runs_in_an_engine_and_has_a_sandbox_in_it() {
    let system = root().join("target/test-tools/image.tar");
    for engine in [crate::backends::DOCKER, crate::backends::PODMAN] {
        if people(engine).is_empty() || !system.exists() {
            io::stderr().write_all(b"not tried: an engine or its image is not here\n").unwrap();
            continue;
        }
        let dist = tempdir().unwrap();
        let arguments = [
            "--rootfs",
            system.to_str().unwrap(),
            "--binary",
            binary().to_str().unwrap(),
            "--output",
            dist.path().to_str().unwrap(),
        ];
        let file = script("package/image", &arguments).exits(0).stdout();
        output(engine.word(), &["load", "--quiet", "--input", file.trim()]);
        let image = concat!("open-interpreter:", env!("CARGO_PKG_VERSION"));
        let mut run = vec!["run", "--rm", "--network", "none"];
        // As `engines.rs` starts containers where the limits of the machine cannot be raised.
        run.extend(["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"]);
        run.extend(["--security-opt", "seccomp=unconfined"]);
        if engine == crate::backends::PODMAN {
            run.extend(["--runtime", "runc", "--security-opt", "unmask=ALL"]);
        } else {
            run.extend(["--security-opt", "apparmor=unconfined"]);
            run.extend(["--security-opt", "systempaths=unconfined"]);
        }
        run.push(image);
        let version = output(engine.word(), &[&run[..], &["--version"]].concat());
        assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
        let code = ["run", "-l", "python", "-c", "open('x', 'w').write('y'); print(6 * 7)"];
        let said = output(engine.word(), &[&run[..], &code].concat());
        assert!(said.contains("42"), "{said}");
        output(engine.word(), &["image", "rm", "--force", image]);
    }
}

#[test]
fn the_other_packages_are_well_formed() {
    let dist = tempdir().unwrap();
    let at = dist.path().to_str().unwrap();
    if is_there("checkmodule") && is_there("semodule_package") {
        script("package/selinux", &["--output", at]).exits(0);
        assert!(dist.path().join("interpreter.pp").exists());
    }
    // An archive of the sources without their history has no last commit.
    if is_there("git") && root().join(".git").exists() {
        script("package/homebrew", &["--output", at]).exits(0);
        let formula = fs::read_to_string(dist.path().join("open-interpreter.rb")).unwrap();
        assert!(!formula.contains("@URL@") && !formula.contains("@SHA256@"), "{formula}");
        if is_there("ruby") {
            let path = dist.path().join("open-interpreter.rb").display().to_string();
            output("ruby", &["-c", &path]);
        }
    }
    // The profile of a package and the one that the program prints differ in the path alone.
    let packaged = fs::read_to_string(root().join("packaging/apparmor/interpreter")).unwrap();
    let printed = Scene::new().run(&["doctor", "--apparmor-profile"]).exits(0).stdout();
    let path = format!("\"{}\"", binary().display());
    assert_eq!(printed.replace(&path, "/usr/bin/interpreter"), packaged);
}

#[test]
fn the_bill_of_materials_names_what_is_compiled_in_and_nothing_else() {
    let mut command = Command::new("python3");
    command.arg(root().join("scripts/package/crates.py")).arg("sbom");
    let text = Seen(command.output().unwrap()).exits(0).stdout();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let all = document["components"].as_array().unwrap();
    let named = |name: &str| all.iter().find(|one| one["name"] == name);
    let rustls = named("rustls").unwrap();
    assert_eq!(rustls["hashes"][0]["alg"], "SHA-256");
    assert!(rustls["licenses"][0]["expression"].as_str().unwrap().contains("MIT"));
    for tool in ["insta", "proptest", "bindgen", "serde_derive"] {
        assert!(named(tool).is_none(), "{tool} is not in the program");
    }
}

#[test]
fn no_banned_crate_is_in_the_lock_file_and_every_ban_has_its_reason() {
    let text = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let (rules, lock) = (text("deny.toml"), text("Cargo.lock"));
    let bans: Vec<_> = rules.lines().filter(|line| line.starts_with("  { crate = ")).collect();
    assert!(bans.len() > 5, "{bans:?}");
    for ban in bans {
        let name = ban.split('"').nth(1).unwrap();
        assert!(ban.contains("reason = \""), "{name} is banned without a reason");
        assert!(!lock.contains(&format!("name = \"{name}\"")), "{name} is banned: deny.toml");
    }
}

#[test]
fn an_audit_finds_a_hole_that_its_database_knows() {
    if !is_there("cargo-deny") {
        return;
    }
    script("audit", &[]).mentions("NOT checked").exits(0);
    let database = tempdir().unwrap();
    let at = database.path().to_str().unwrap();
    script("audit", &[at]).mentions("no advisory database").exits(2);
    let advisory = |package: &str, id: &str| {
        let folder = database.path().join("crates").join(package);
        fs::create_dir_all(&folder).unwrap();
        let head = format!(
            "[advisory]\nid = \"{id}\"\npackage = \"{package}\"\ndate = \"2026-01-01\"\n\
             [versions]\npatched = [\">= 99.0.0\"]\n"
        );
        let text = format!("```toml\n{head}```\n\n# A hole\n\nIn it.\n");
        fs::write(folder.join(format!("{id}.md")), text).unwrap();
    };
    // The control: a crate that we do not have.
    advisory("no-crate-of-ours", "RUSTSEC-2026-9998");
    script("audit", &[at]).mentions("advisories ok").exits(0);
    advisory("rustls", "RUSTSEC-2026-9999");
    script("audit", &[at]).mentions("RUSTSEC-2026-9999").exits(1);
}
