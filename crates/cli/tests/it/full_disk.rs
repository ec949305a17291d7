//! A full disk can always be freed by discarding what is staged.

use crate::scene::{Scene, Seen, Who};
use std::process::Command;

/// Runs a script in mounts of its own, where `$1` is the data folder on a small disk and the rest
/// is the program.
fn on_a_small_disk(scene: &Scene, script: &str) -> Seen {
    let data = scene.data();
    let made = format!(
        "set -e; mkdir -p \"$1\"; mount -t tmpfs -o size=48m,mode=700 small \"$1\"
         data=$1; shift; set +e\n{script}"
    );
    let inner = scene.command(&[]);
    let mut command = Command::new("unshare");
    // Root has the right to mount; anybody else has it in a namespace of their own.
    if scene.user().is_some() || !rustix::process::geteuid().is_root() {
        command.args(["--user", "--map-current-user", "--keep-caps"]);
    }
    command
        .args(["--mount", "sh", "-c", &made, "sh"])
        .arg(&data)
        .arg(inner.get_program())
        .current_dir(scene.work())
        .env_clear()
        .envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    Seen(scene.as_its_user(&mut command).output().unwrap())
}

#[test]
fn what_is_staged_can_be_discarded_on_a_full_disk() {
    for who in Who::all() {
        let scene = Scene::of(who);
        let seen = on_a_small_disk(
            &scene,
            "\"$@\" run -l shell -c 'head -c 15M /dev/zero > big' || exit 11
             cat /dev/zero > \"$data/filler\" 2> /dev/null
             \"$@\" run --workspace direct -l shell -c 'touch ran'; [ $? = 4 ] || exit 12
             \"$@\" changes discard || exit 13
             [ \"$(df --output=avail -k \"$data\" | tail -1)\" -gt 14000 ] || exit 14
             [ -z \"$(\"$@\" changes list)\" ] || exit 15
             \"$@\" audit verify || exit 16
             rm \"$data/filler\"
             # With room again, everything goes on, and the reserve is there for the next time.
             \"$@\" run -l shell -c 'echo goes on' || exit 17
             [ \"$(stat -c %s \"$data/record.reserve\")\" = 1048576 ] || exit 18",
        );
        let seen = seen.exits(0).mentions("the disk is full").mentions("Discarded 1 change");
        seen.mentions("interpreter changes discard").lacks("nothing was run").mentions("goes on");
        assert_eq!(scene.read("ran"), None);
    }
}

#[test]
fn without_the_reserve_the_same_is_refused() {
    // The control: what the reserve is for.
    let scene = Scene::new();
    let seen = on_a_small_disk(
        &scene,
        "\"$@\" run -l shell -c 'head -c 15M /dev/zero > big' || exit 11
         rm \"$data/record.reserve\"
         cat /dev/zero > \"$data/filler\" 2> /dev/null
         \"$@\" changes discard",
    );
    seen.mentions("the disk is full").exits(4);
}
