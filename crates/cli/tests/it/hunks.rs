//! Hunks of staged changes: chosen by key and by number, applied, undone, attacked.

use crate::{
    scene::{Scene, cell},
    terminal::Terminal,
};

/// Forty lines, of which those of these numbers are changed.
fn text(changed: &[usize]) -> String {
    let mark = |number| if changed.contains(&number) { " changed" } else { "" };
    let line = |number: usize| format!("line {number}{}\n", mark(number));
    (0..40).map(line).collect()
}

/// Changes three places of a file, and makes another file.
const CHANGES: &str = "text = open('a.txt').read()\n\
    for n in (2, 20, 35): text = text.replace(f'line {n}\\n', f'line {n} changed\\n')\n\
    open('a.txt', 'w').write(text)\nopen('new.txt', 'w').write('new\\n')";

fn scene() -> Scene {
    Scene::new().file("a.txt", text(&[]))
}

#[test]
fn hunks_are_applied_by_the_numbers_of_the_diff() {
    let scene = scene();
    scene.code("python", CHANGES).exits(0);
    let diff = scene.run(&["changes", "diff"]).exits(0);
    diff.mentions("@@ -1,6 +1,6 @@ hunk 1").mentions("hunk 2").mentions("hunk 3").lacks("hunk 4");
    let applied = scene.run(&["changes", "apply", "a.txt:1,3"]).exits(0);
    applied.mentions("Applied 1 change").mentions("hunks 1, 3 of 3; the rest stays staged");
    assert_eq!(scene.read("a.txt").unwrap(), text(&[2, 35]));
    assert_eq!(scene.read("new.txt"), None);
    let rest = scene.run(&["changes", "diff"]).exits(0);
    rest.mentions("+line 20 changed").lacks("+line 2 changed").mentions("+new");
    scene.run(&["changes", "undo"]).exits(0);
    assert_eq!(scene.read("a.txt").unwrap(), text(&[]));
    scene.run(&["changes", "redo"]).exits(0);
    assert_eq!(scene.read("a.txt").unwrap(), text(&[2, 35]));
    scene.run(&["changes", "apply"]).mentions("Applied 2 changes").exits(0);
    assert_eq!(scene.read("a.txt").unwrap(), text(&[2, 20, 35]));
    scene.run(&["changes", "diff"]).mentions("Nothing is staged").exits(0);
}

/// The attack: a number of a diff that is out of date. The control is the diff of now.
#[test]
fn a_number_means_the_lines_that_the_diff_showed() {
    let scene = scene().model_says(&["Hello."]);
    scene.code("python", CHANGES).exits(0);
    let not_shown = "the hunks of `a.txt` have not been shown as they are now";
    let refused = |word: &str, has: &[usize]| {
        let seen = scene.run(&["changes", "apply", word]);
        seen.mentions(not_shown).mentions("`interpreter changes diff`");
        assert_eq!(scene.read("a.txt").unwrap(), text(has));
    };
    refused("a.txt:1", &[]);
    scene.run(&["changes", "diff"]).mentions("hunk 3").exits(0);
    scene.run(&["changes", "apply", "a.txt:1"]).exits(0);
    refused("a.txt:2", &[2]);
    // The same in a chat, for the set of an earlier session.
    let terminal = Terminal::open(&scene, &[]);
    terminal.types("/apply a.txt:2").shows("have not been shown as they are now").waits();
    terminal.types("/diff").shows("hunk 2").waits();
    terminal.types("/apply a.txt:2").shows("hunk 2 of 2").waits();
    terminal.types("/quit").exits(0);
    assert_eq!(scene.read("a.txt").unwrap(), text(&[2, 35]));
}

#[test]
fn hunks_that_cannot_be_meant_are_refused() {
    let scene = scene();
    scene.code("python", &format!("{CHANGES}\nopen('a.txt:2', 'w').write('x')")).exits(0);
    scene.run(&["changes", "diff"]).exits(0);
    for (name, why) in [
        ("a.txt:9", "`a.txt` has no hunk 9; it has 3"),
        ("new.txt:1", "`new.txt` is applied as a whole or not at all"),
        ("b.txt:1", "no staged change at `b.txt`"),
        ("a.txt:2", "`a.txt:2` is a staged file, and hunks of `a.txt` too"),
    ] {
        let seen = scene.run(&["changes", "apply", name]);
        seen.mentions(why);
        assert_eq!(scene.read("a.txt").unwrap(), text(&[]), "{name}");
    }
    scene.run(&["changes", "apply", "--overwrite", "a.txt:1"]).mentions("whole files").exits(2);
    // The control: the same file and the same hunks, by names that have one meaning.
    scene.run(&["changes", "apply", "./a.txt:2"]).mentions("Applied 1 change").exits(0);
    assert_eq!(scene.read("a.txt:2").unwrap(), "x");
    // A file that you changed since is refused, as a whole file is.
    std::fs::write(scene.work().join("a.txt"), "mine\n").unwrap();
    scene.run(&["changes", "apply", "a.txt:1"]).mentions("changed in the folder").exits(3);
    assert_eq!(scene.read("a.txt").unwrap(), "mine\n");
}

#[test]
fn a_chat_goes_through_hunks_one_by_one() {
    let scene = scene().model_says(&[&cell("python", CHANGES), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal
        .shows("Keep these changes")
        .types("h")
        .shows("hunk 1")
        .shows("Keep this hunk (1 of 3)?");
    terminal.types("?").shows("leave this one and all that follow in this file staged").waits();
    terminal.types("y").shows("+line 20 changed").shows("Keep this hunk (2 of 3)?").lacks("35");
    terminal.types("n").shows("+line 35 changed").shows("Keep this hunk (3 of 3)?");
    terminal.types("a").shows("+++ b/new.txt").shows("Keep this change (2 of 2)?");
    terminal.types("n").shows("a.txt: 2 hunks of 3 (1, 3)").shows("Apply this to your folder?");
    assert_eq!(scene.read("a.txt").unwrap(), text(&[]));
    terminal.types("y").shows("the rest stays staged").shows("Keep these changes");
    assert_eq!(scene.read("a.txt").unwrap(), text(&[2, 35]));
    assert_eq!(scene.read("new.txt"), None);
    // The rest: the one hunk that is left, and the file. To stop leaves both.
    terminal
        .types("h")
        .shows("+line 20 changed")
        .shows("Keep this change (1 of 2)?")
        .lacks("35 ch");
    terminal
        .types("q")
        .shows("Nothing chosen; everything stays staged.")
        .shows("Keep these changes");
    terminal.types("a").shows("applied").waits();
    assert_eq!(scene.read("a.txt").unwrap(), text(&[2, 20, 35]));
    terminal.types("/undo").shows("undone").waits().types("/undo").shows("undone").waits();
    assert_eq!(scene.read("a.txt").unwrap(), text(&[]));
    terminal.types("/quit").exits(0);
}

#[test]
fn nothing_of_a_file_is_kept_after_d_and_the_rest_of_it_after_a() {
    let scene = scene().model_says(&[&cell("python", CHANGES), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("Keep these changes").types("h").shows("Keep this hunk (1 of 3)?");
    terminal.types("d").shows("Keep this change (2 of 2)?").types("y").shows("Apply this");
    // Back to the question, with nothing done.
    terminal.types("b").shows("Keep these changes").types("h").shows("Keep this hunk (1 of 3)?");
    terminal.types("n").shows("Keep this hunk (2 of 3)?").types("a").shows("+line 35 changed");
    terminal.shows("Keep this change (2 of 2)?").types("q").shows("Apply this");
    terminal.types("y").shows("applied").shows("Keep these changes").types("l").waits();
    assert_eq!(scene.read("a.txt").unwrap(), text(&[20, 35]));
    assert_eq!(scene.read("new.txt"), None);
    terminal.types("/quit").exits(0);
}

/// The attack: a hunk that is kept with the rest of its file, and of which only the beginning was
/// shown. The control is one that was shown whole.
#[test]
fn the_rest_of_a_file_is_kept_only_as_far_as_it_was_shown() {
    let code = "lines = open('a.txt').read().splitlines(True)\n\
        lines[2] = 'two\\n'\nlines[20] = 'twenty\\n'\n\
        lines[35] = '\\r'.join(f'row {n}' for n in range(200)) + '\\n'\n\
        open('a.txt', 'w', newline='').write(''.join(lines))";
    let scene = scene().model_says(&[&cell("python", code), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("Keep").types("h").shows("Keep this hunk (1 of 3)?").types("a");
    terminal.shows("+row 0").shows("more.").lacks("row 199").types("b");
    terminal.shows("Hunks that were not shown stay staged.").shows("a.txt: 2 hunks of 3 (1, 2)");
    terminal.types("y").shows("the rest stays staged").shows("Keep").types("l").waits();
    terminal.types("/quit").exits(0);
    let kept = scene.read("a.txt").unwrap();
    assert!(kept.contains("two\n") && kept.contains("twenty\n") && !kept.contains("row"), "{kept}");
}

#[test]
fn a_number_counts_only_after_its_diff_was_shown() {
    let scene = scene().model_says(&[&cell("python", CHANGES), "Done."]);
    let terminal = Terminal::open(&scene, &["--yes", "go"]);
    terminal.shows("Keep these changes").types("l").waits();
    terminal.types("/apply a.txt:2").shows("have not been shown as they are now").waits();
    assert_eq!(scene.read("a.txt").unwrap(), text(&[]));
    terminal.types("/diff new.txt").shows("+new").waits();
    terminal.types("/apply a.txt:2").shows("have not been shown as they are now").waits();
    terminal.types("/diff").shows("hunk 2").waits();
    terminal.types("/apply a.txt:2").shows("hunk 2 of 3; the rest stays staged").waits();
    assert_eq!(scene.read("a.txt").unwrap(), text(&[20]));
    terminal.types("/diff").shows("+line 35 changed").lacks("+line 20").waits();
    terminal.types("/quit").exits(0);
}

/// Rewrites two places of a file again and again, each time with another number.
const ATTACKER: &str = r"
import os
lines = open('a.txt').read().splitlines(True)
number = 0
while True:
    lines[2] = '+V-%08d-one-V\n' % number
    lines[30] = '+V-%08d-two-V\n' % number
    number += 1
    with open('a.new', 'w') as file: file.write(''.join(lines))
    os.rename('a.new', 'a.txt')
";

/// The number that a text shows last in a place.
fn shown(text: &str, place: &str) -> Option<u32> {
    let end = text.rfind(&format!("-{place}-V"))?;
    text[..end].rsplit("V-").next()?.parse().ok()
}

#[test]
fn a_file_that_changes_meanwhile_lands_as_its_hunks_were_shown() {
    let start = format!(
        "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {ATTACKER:?}])\n\
         while 'V-' not in open('a.txt').read(): pass"
    );
    let mut replies = vec![cell("python", &start), "Done.".to_owned()];
    replies.extend((0..5).flat_map(|_| [cell("python", "print('on')"), "Done.".to_owned()]));
    let replies: Vec<_> = replies.iter().map(String::as_str).collect();
    let scene = scene().model_says(&replies);
    let terminal = Terminal::open(&scene, &["--yes"]);
    let (mut landed_before, mut moved) = (None, 0);
    for turn in 0..6 {
        terminal.types("go").shows("Keep th").waits();
        let before = terminal.raw().len();
        terminal.types("h");
        // Other files of the attacker's may come first.
        terminal.shows("Keep this").waits();
        while !String::from_utf8_lossy(&terminal.raw()[before..]).contains("-one-V") {
            terminal.types("n").shows("Keep this").waits();
        }
        let raw = String::from_utf8_lossy(&terminal.raw()[before..]).into_owned();
        let one = shown(&raw, "one").unwrap();
        terminal.types("y").shows("-two-V").waits();
        let raw = String::from_utf8_lossy(&terminal.raw()[before..]).into_owned();
        let two = shown(&raw, "two").unwrap();
        assert_eq!(one, two, "both are of one snapshot");
        terminal.types("q").shows("Apply this to your folder?").types("y").shows("Keep th").waits();
        let landed = scene.read("a.txt").unwrap();
        assert_eq!(shown(&landed, "one"), Some(one), "turn {turn}");
        // Only the hunk that was chosen: the other place is as it was.
        assert_eq!(shown(&landed, "two"), None, "turn {turn}");
        moved += usize::from(landed_before.replace(one) != Some(one));
        terminal.types("l").waits();
    }
    // The control: the file did change from turn to turn.
    assert!(moved > 3, "the attacker does not attack");
    terminal.types("/quit").exits(0);
}
