//! This program's own folders: code sees none of them, whatever the work folder is, in every kind
//! of workspace and on every backend. The files beside them are the control.

use crate::{
    backends::{BUBBLEWRAP, NATIVE, present},
    scene::{Scene, Who},
};
use interpreter_core::Backend;
use std::path::{Path, PathBuf};

/// Reads and changes whatever it finds by these names, and then what stands beside them.
const ATTACK: &str = r#"
for folder in OWN; do
  find "$folder" 2>/dev/null
  cat "$folder"/* "$folder"/*/* "$folder"/*/*/* 2>/dev/null
  mkdir -p "$folder" 2>/dev/null
  mv "$folder" "$folder.moved" 2>/dev/null && cat "$folder.moved"/*
  { echo forged > "$folder"/forged; } 2>/dev/null
done
cat BESIDE
"#;

/// A person whose work folder holds all folders of ours, each with a canary in it.
struct Home {
    scene: Scene,
    own: Vec<PathBuf>,
    /// The fallback of the data folder, which is in nobody's home.
    beside: PathBuf,
    /// A file of the test's own beside that one.
    neighbour: PathBuf,
}

impl Home {
    fn of(who: Who) -> Self {
        let scene = Scene::of(who);
        let user = scene.user().unwrap_or_else(|| rustix::process::geteuid().as_raw());
        let beside = Path::new("/var/tmp").join(format!("interpreter-{user}"));
        let home = scene.home();
        let own = [".config", ".local/share", ".local/state", ".cache"];
        let own: Vec<_> = own.iter().map(|name| home.join(name).join("interpreter")).collect();
        for folder in &own {
            scene.put(&folder.join("secret.txt"), b"canary\n");
        }
        scene.put(&beside.join("changes/undo/secret.txt"), b"canary\n");
        let unique = home.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
        let neighbour = Path::new("/var/tmp").join(format!("beside-{user}-{unique}"));
        scene.put(&neighbour, b"readable\n");
        scene.put(&home.join("beside.txt"), b"readable\n");
        Self { scene, own, beside, neighbour }
    }

    fn attack(&self, backend: Backend, work: &Path, mode: &str, own: &[PathBuf], beside: &Path) {
        let own: Vec<_> = own.iter().map(|path| path.display().to_string()).collect();
        let code = ATTACK.replace("OWN", &own.join(" "));
        // By its name alone: where code works in a copy, that is elsewhere.
        let code = code.replace("BESIDE", beside.file_name().unwrap().to_str().unwrap());
        let mut arguments = vec!["run", "--time-limit", "60s"];
        arguments.extend(self.scene.on(backend));
        if let Some(at) = arguments.iter().position(|word| *word == "--workspace") {
            arguments.truncate(at);
        }
        arguments.extend(["--workspace", mode, "-l", "shell", "-c", &code]);
        let mut command = self.scene.command(&arguments);
        let seen = crate::scene::Seen(command.current_dir(work).output().unwrap());
        // Some have no way to show all but a part of a folder, and then nothing runs.
        if seen.0.status.code() == Some(4) {
            seen.mentions("cannot");
            return;
        }
        let seen = seen.lacks("canary").mentions("readable");
        // Landlock hides what is in a file, and not its name.
        if matches!(backend, NATIVE | BUBBLEWRAP) {
            seen.lacks("secret.txt");
        }
        for folder in self.own.iter().chain([&self.beside]) {
            assert!(!folder.join("forged").exists(), "{backend} {mode} {}", folder.display());
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.neighbour);
        _ = std::fs::remove_dir_all(self.beside.join("changes/undo"));
    }
}

#[test]
fn a_home_shows_none_of_them() {
    for (backend, who) in present().filter(|(backend, _)| *backend != Backend::NONE) {
        let home = Home::of(who);
        for mode in ["stage", "direct", "read-only"] {
            let beside = home.scene.home().join("beside.txt");
            home.attack(backend, &home.scene.home(), mode, &home.own, &beside);
        }
    }
}

#[test]
fn the_fallback_of_the_data_folder_is_shown_nowhere() {
    for (backend, who) in present().filter(|(backend, _)| *backend != Backend::NONE) {
        let home = Home::of(who);
        let own = [home.beside.clone()];
        for mode in ["direct", "read-only"] {
            home.attack(backend, Path::new("/var/tmp"), mode, &own, &home.neighbour);
        }
    }
}

#[test]
fn one_that_is_not_there_cannot_be_put_there() {
    for who in Who::all() {
        let scene = Scene::of(who).home_file("beside.txt", "readable\n");
        let plant = "mkdir -p .config/interpreter && echo 'approval = \"never\"' > \
                     .config/interpreter/config.toml; cat beside.txt";
        let arguments = ["run", "--workspace", "direct", "-l", "shell", "-c", plant];
        let seen = scene.command(&arguments).current_dir(scene.home()).output().unwrap();
        crate::scene::Seen(seen).mentions("readable");
        assert!(!scene.home().join(".config/interpreter/config.toml").exists(), "{who:?}");
        // The control: any other folder is made.
        let other = ["run", "--workspace", "direct", "-l", "shell", "-c", "mkdir -p .config/other"];
        scene.command(&other).current_dir(scene.home()).output().unwrap();
        assert!(scene.home().join(".config/other").exists(), "{who:?}");
    }
}

#[test]
fn one_of_them_is_no_work_folder() {
    for who in Who::all() {
        let home = Home::of(who);
        for folder in home.own.iter().map(PathBuf::as_path).chain([&*home.beside.join("changes")]) {
            let mut command = home.scene.command(&["run", "-l", "shell", "-c", "cat *"]);
            let seen = crate::scene::Seen(command.current_dir(folder).output().unwrap());
            seen.lacks("canary").mentions("code may not see").exits(4);
        }
    }
}

#[test]
fn mounts_do_not_tell_where_changes_are_kept() {
    for who in Who::all() {
        let scene = Scene::of(who);
        let code = "cd /proc/self && cat mountinfo mounts mountstats; touch $OLDPWD/made";
        let seen = scene.run(&["run", "-l", "shell", "-c", code]);
        // The control: there is such a place, and it is mounted.
        assert!(std::fs::read_dir(scene.data().join("changes")).unwrap().next().is_some());
        let seen = seen.mentions(" overlay ").stdout();
        // Files that a rewind puts back are laid out in a folder of the set, which is shown alone
        // and read-only.
        let told = seen.lines().filter(|line| !line.contains("/back /run/interpreter/back ro,"));
        assert_eq!(told.filter(|line| line.contains("/changes/")).count(), 0, "{seen}");
    }
}

/// A home that is mounted a second time shows no more of them by its other path. Only root can
/// mount.
#[test]
fn a_home_shows_none_of_them_by_another_path() {
    if !Who::Ourselves.is_root() {
        return eprintln!("not tried: only root can mount a folder twice");
    }
    let scene = Scene::new().home_file(".config/interpreter/key", "canary\n");
    let scene = scene.home_file("beside.txt", "readable\n");
    let second = scene.home().parent().unwrap().join("second");
    std::fs::create_dir(&second).unwrap();
    let reads = "cat .config/interpreter/key .local/share/interpreter/record.end SECOND/.config/interpreter/key; \
                 cat SECOND/beside.txt; echo forged > SECOND/.config/interpreter/forged";
    let reads = reads.replace("SECOND", second.to_str().unwrap());
    for granted in [false, true] {
        let mut arguments = vec!["run", "-l", "shell", "-c", &reads];
        let work = if granted {
            arguments.splice(1..1, ["--allow-write", second.to_str().unwrap()]);
            scene.work()
        } else {
            second.clone()
        };
        let inner = scene.command(&arguments);
        let mount = "mount --bind \"$1\" \"$2\" && cd \"$3\" && shift 3 && exec \"$@\"";
        let mut command = std::process::Command::new("unshare");
        command.args(["-m", "--propagation", "private", "sh", "-c", mount, "sh"]);
        command.args([scene.home(), second.clone(), work]);
        command.arg(inner.get_program()).args(inner.get_args()).env_clear();
        command.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let seen = crate::scene::Seen(command.output().unwrap());
        seen.lacks("canary").mentions("readable");
        assert!(!scene.home().join(".config/interpreter/forged").exists());
    }
}
