//! Folders above what is shown in another way, in a folder that code may change: not renamed, so
//! that code puts nothing of its own in their place. On every backend.

use crate::{
    backends::{NATIVE, present},
    scene::{Scene, Seen, Who},
};
use interpreter_core::Backend;
use std::path::Path;

/// Renames folders and makes them anew, each by two steps; and then one that nothing is below.
const RENAMES: &str = r#"
for folder in FOLDERS; do
  mv "$folder" "$folder-moved" 2>/dev/null && mkdir -p "$folder" && echo "renamed"
done
{ mkdir -p "$(dirname PLANTED)" && echo forged > PLANTED; } 2>/dev/null
mv FREE FREE-moved 2>/dev/null && echo "control renamed"
echo tried
"#;

/// Whether code may change anything there at all: of root's folders another user may not.
fn is_able(backend: Backend, who: Who) -> bool {
    !who.is_root() || matches!(backend, NATIVE | Backend::NONE)
}

/// Runs it where `granted` may be changed. `None` if the backend refuses such a grant.
fn attempt(
    scene: &Scene,
    backend: Backend,
    work: &Path,
    [granted, planted, free]: [&Path; 3],
    folders: &[&Path],
) -> Option<Seen> {
    let words = |paths: &[&Path]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ")
    };
    let code = RENAMES.replace("FOLDERS", &words(folders));
    let code = code.replace("PLANTED", &words(&[planted])).replace("FREE", &words(&[free]));
    let granted = granted.to_str().unwrap();
    let mut arguments = vec!["run", "--time-limit", "60s"];
    arguments.extend(scene.on(backend));
    if let Some(at) = arguments.iter().position(|word| *word == "--workspace") {
        // Without a sandbox there is no other.
        arguments[at + 1] = if backend == Backend::NONE { "direct" } else { "read-only" };
    }
    arguments.extend(["--allow-write", granted, "-l", "shell", "-c", &code]);
    let mut command = scene.command(&arguments);
    let seen = Seen(command.current_dir(work).output().unwrap());
    if seen.0.status.code() == Some(4) {
        seen.mentions("in a folder that code may change");
        return None;
    }
    Some(seen.mentions("tried"))
}

#[test]
fn this_programs_own_folders_stay_where_they_are() {
    for (backend, who) in present().filter(|(backend, who)| is_able(*backend, *who)) {
        // It would take the record from under this program, which then ends.
        if backend == Backend::NONE {
            continue;
        }
        let scene = Scene::of(who)
            .home_file(".config/interpreter/config.toml", "[limits]\nwall = \"1h\"\n")
            .home_file("docs/sub/.env", "canary\n")
            .home_file("free/file", "x\n");
        let home = scene.home();
        let planted = home.join(".config/interpreter/config.toml");
        let folders = [".config", ".local/share", ".local", ".cache", "docs/sub", "docs"];
        let folders: Vec<_> = folders.map(|name| home.join(name)).into();
        let folders: Vec<_> = folders.iter().map(AsRef::as_ref).collect();
        let free = home.join("free");
        let paths = [home.as_path(), &planted, &free];
        let Some(seen) = attempt(&scene, backend, &scene.work(), paths, &folders) else { continue };
        let seen = seen.lacks("canary");
        assert_eq!(
            seen.stdout().matches("renamed").count(),
            seen.stdout().matches("control").count()
        );
        let kept = std::fs::read_to_string(&planted).unwrap();
        assert!(kept.contains("wall"), "{backend} as {who:?}: {kept}");
        assert!(home.join("docs/sub/.env").exists() && !home.join(".config-moved").exists());
        seen.mentions("control renamed");
    }
}

#[test]
fn what_is_above_the_work_folder_stays_where_it_is() {
    for (backend, who) in present().filter(|(backend, who)| is_able(*backend, *who)) {
        let scene = Scene::of(who)
            .home_file("code/a/proj/main.py", "original\n")
            .home_file("code/free/file", "x\n");
        let granted = scene.home().join("code");
        let (above, work) = (granted.join("a"), granted.join("a/proj"));
        let (planted, free) = (work.join("main.py"), granted.join("free"));
        let paths = [granted.as_path(), &planted, &free];
        let Some(seen) = attempt(&scene, backend, &work, paths, &[&above]) else { continue };
        if backend == Backend::NONE {
            seen.mentions("renamed");
            continue;
        }
        assert_eq!(
            seen.stdout().matches("renamed").count(),
            seen.stdout().matches("control").count()
        );
        let kept = std::fs::read_to_string(&planted).unwrap();
        assert_eq!(kept, "original\n", "{backend} as {who:?}");
        assert!(!granted.join("a-moved").exists(), "{backend} as {who:?}");
        seen.mentions("control renamed");
    }
}

/// A folder or a file of settings that is a link: no session in which code could replace it.
#[test]
fn a_link_to_our_settings_is_not_codes_to_replace() {
    for who in Who::all() {
        let scene = Scene::of(who)
            .home_file("dots/interpreter/config.toml", "[limits]\nwall = \"1h\"\n")
            .home_file("dots/free", "x\n")
            .home_file("other/file", "x\n");
        let home = scene.home();
        std::fs::create_dir_all(home.join(".config")).unwrap();
        scene.give(&home.join(".config"));
        std::os::unix::fs::symlink("../dots/interpreter", home.join(".config/interpreter"))
            .unwrap();
        let code = "print('ran')";
        let run = |granted: &str| {
            let granted = home.join(granted);
            let granted = ["run", "--allow-write", granted.to_str().unwrap(), "-l", "python", "-c"];
            scene.run(&[&granted[..], &[code]].concat())
        };
        run(".config").exits(4).mentions("which leads to this program's own settings").lacks("ran");
        // The controls: the folder that it leads to is covered, and another has nothing of ours.
        run("dots").exits(0).mentions("ran");
        run("other").exits(0).mentions("ran");
    }
}
