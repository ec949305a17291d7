//! A full disk can always be freed by discarding what is staged.

use crate::{
    scene::{Scene, Seen, Who, cell},
    terminal::Terminal,
};
use std::{fs, process::Command};

/// A script in mounts of its own, where `$1` is the data folder, now on a small disk, and the rest is
/// the program.
fn with_a_small_disk(script: &str) -> String {
    format!(
        "set -e; mkdir -p \"$1\"; mount -t tmpfs -o size=48m,nr_inodes=2000,mode=700 small \"$1\"
         data=$1; shift; set +e\n{script}"
    )
}

/// The options of `unshare` for a script that mounts: root has the right to, and anybody else has it
/// in a namespace of their own.
fn mounting(scene: &Scene) -> &'static [&'static str] {
    let is_root = scene.user().is_none() && rustix::process::geteuid().is_root();
    let own: &[_] = &["--mount", "--user", "--map-current-user", "--keep-caps"];
    if is_root { &own[..1] } else { own }
}

/// Runs a script whose data folder is on a small disk.
pub(crate) fn on_a_small_disk(scene: &Scene, script: &str) -> Seen {
    let data = scene.data();
    let made = with_a_small_disk(script);
    let inner = scene.command(&[]);
    let mut command = Command::new("unshare");
    command
        .args(mounting(scene))
        .args(["sh", "-c", &made, "sh"])
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

/// A session in which three changes are staged, on a small disk that `fill` fills and `free` frees
/// while the session waits for its person.
struct Session {
    scene: Scene,
    terminal: Terminal,
}

impl Session {
    fn new(fill: &str, free: &str) -> Self {
        let code =
            "head -c 15M /dev/zero > big; echo two > small; echo changed > old; x=5; echo ran";
        let looks = "ls; cat old small; echo \"x is [$x]\"";
        let scene = Scene::new().file("old", "as it was\n").model_says(&[
            &cell("shell", code),
            "Done.",
            &cell("shell", "echo ready; sleep 1000"),
            &cell("shell", looks),
            "Looked.",
        ]);
        let script = with_a_small_disk(&format!(
            "mkfifo ../fill ../filled ../free ../freed
             {{ cat ../fill; {fill}; echo > ../filled; cat ../free; {free}; echo > ../freed; }} \
               > /dev/null 2>&1 &
             trap : INT; \"$@\"; echo \"exit $?\"
             echo \"left: $(\"$1\" changes list)\"; \"$1\" audit verify
             \"$1\" changes discard; echo \"left: $(\"$1\" changes list)\""
        ));
        fs::write(scene.work().with_file_name("script"), script).unwrap();
        let chat = scene.chat_arguments(&["--yes"]).join(" ");
        let (options, data) = (mounting(&scene).join(" "), scene.data());
        let line = format!("unshare {options} sh ../script {} $I {chat}", data.display());
        let terminal = Terminal::shell(&scene, &line);
        terminal.types("go").shows("Keep these changes").shows("?").types("l").waits();
        Self { scene, terminal }
    }

    /// Has something done to the disk, and waits for that.
    fn has(&self, begun: &str, done: &str) {
        fs::write(self.scene.work().with_file_name(begun), "").unwrap();
        fs::read(self.scene.work().with_file_name(done)).unwrap();
    }
}

#[test]
fn a_session_that_cannot_note_a_discard_discards_from_outside() {
    // New files cannot be made, while the record can still grow.
    let session = Session::new(
        "(cd \"$data\"; seq -f filler%g 5000 | xargs touch)",
        "(cd \"$data\"; echo filler* | xargs rm)",
    );
    // Once another run has begun, nothing is kept of the question that would make room.
    session.terminal.types("wait").shows("ready");
    session.has("fill", "filled");
    let terminal = &session.terminal;
    terminal.presses(3).waits().types("/discard big old");
    terminal.shows("the shell interpreter was ended, so that changes could be discarded");
    terminal.shows("2 files discarded").waits();
    session.has("free", "freed");
    // The rest is still staged, and code sees the person's own file again.
    terminal
        .types("go on")
        .shows("as it was")
        .shows("two")
        .shows("x is []")
        .shows("Keep this change (set");
    terminal.types("l").waits().types("/quit").shows("exit 0").shows("1 file").shows("all linked");
    terminal.shows("Discarded 1 change").shows("created  small").ends();
    assert_eq!(session.scene.read("old").as_deref(), Some("as it was\n"));
}

#[test]
fn a_session_that_can_note_a_discard_goes_on_with_its_variables() {
    // The control.
    let session = Session::new(":", ":");
    let terminal = &session.terminal;
    terminal.types("wait").shows("ready").presses(3).shows("Keep").shows("?").types("l").waits();
    terminal.types("/discard big old").shows("2 files discarded").waits();
    terminal
        .types("go on")
        .shows("as it was")
        .shows("two")
        .shows("x is [5]")
        .shows("Keep this change (set");
    terminal.lacks("was ended, so that").types("l").waits().types("/quit").shows("exit 0");
    session.has("fill", "filled");
    session.has("free", "freed");
    terminal.ends();
}

#[test]
fn a_session_whose_record_is_full_ends_and_leaves_everything_staged() {
    let session = Session::new("cat /dev/zero > \"$data/filler\"", ":");
    session.has("fill", "filled");
    let terminal = &session.terminal;
    terminal.types("/discard big old").shows("the disk is full").shows("exit 4");
    // Nothing was lost or done by halves, and the hint leads out.
    terminal.shows("`interpreter changes discard` removes staged files").shows("3 files");
    terminal.shows("all linked").shows("Discarded 3 changes");
    session.has("free", "freed");
    terminal.ends();
    assert_eq!(session.scene.read("old").as_deref(), Some("as it was\n"));
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
