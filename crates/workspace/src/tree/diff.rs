//! Staged changes as text, in the form that `git diff` has made familiar.
//!
//! Everything in it is the program's: names, content, targets of links. The content is bounded in
//! bytes and in time, because comparing lines can be made slow on purpose. The most dangerous changes
//! come first, so that nothing can crowd them out, and every change is named: with its content, or
//! with its size and why that is not shown.

use crate::{
    error::{During, WorkspaceError},
    journal::rename::Rename,
    tree::{
        about::{self, Sides},
        delta::Delta,
        folder::{Folder, Intent, Walker},
        hunks::Hunks,
        relative::Relative,
        selection::Chosen,
        side::Side,
        stat::{Kind, PERMISSIONS, Stat},
    },
};
use interpreter_core::{Change, Danger, FileChange, LeftOut};
use std::{
    collections::{HashMap, HashSet},
    fmt::Write,
    path::Path,
    time::{Duration, Instant},
};

/// Bytes of text after which changes are only named.
const ENOUGH: usize = 8 << 20;
/// How long lines are compared; after that whole blocks are shown as replaced.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// The chosen changes as one text. Names what is left out.
pub(crate) fn joined(texts: &[ChangeText], left_out: &[LeftOut]) -> String {
    let mut text = String::new();
    for one in texts {
        text.push_str(&one.head);
        one.hunks.iter().for_each(|hunk| text.push_str(hunk));
    }
    for one in left_out {
        line(&mut text, format_args!("left out {}: {}", quoted("", &one.path), one.why));
    }
    text
}

/// One change as text.
#[derive(Debug)]
pub(crate) struct ChangeText {
    pub(crate) path: Relative,
    /// Its kind, and all of it if it is not made of hunks.
    pub(crate) head: String,
    /// Its hunks, if each can be chosen by itself.
    pub(crate) hunks: Vec<String>,
    /// Where it was, if it was renamed.
    pub(crate) from: Option<Relative>,
}

/// The chosen changes, each as text, most dangerous first. Those that do not fit are named last.
pub(crate) fn texts(
    upper: &Folder,
    work: (&Path, Option<&Folder>),
    chosen: &Chosen<'_>,
) -> Result<Vec<ChangeText>, WorkspaceError> {
    let (place, work) = work;
    let mut upper = Walker::new(upper, Intent::Look);
    let mut work = work.map(|work| Walker::new(work, Intent::Look));
    let deadline = Instant::now() + PATIENCE;
    let (mut texts, mut length) = (Vec::new(), 0);
    let mut units = units(chosen);
    // The order of paths stays within each kind.
    units.sort_by_cached_key(|unit| unit.danger(place));
    let mut named = Vec::new();
    for unit in units {
        if length > ENOUGH {
            let mut head = String::new();
            name(&mut head, &unit);
            let (path, hunks) = (unit.path().clone(), Vec::new());
            named.push(ChangeText { path, head, hunks, from: unit.origin().cloned() });
            continue;
        }
        let text = match unit {
            Unit::Rename { rename, old, new } => {
                let mut head = String::new();
                show_rename(&mut head, rename, old, new);
                let (path, from) = (rename.to.clone(), Some(rename.from.clone()));
                ChangeText { path, head, hunks: Vec::new(), from }
            }
            Unit::Delta(delta) => {
                let before = match &mut work {
                    Some(work) => Side::read(work, &delta.path, delta.before.as_ref()),
                    None => Ok(Side::Nothing),
                };
                let before = before.during("read", || delta.path.text())?;
                let after = Side::read(&mut upper, &delta.path, delta.after.as_ref())
                    .during("read", || delta.path.text())?;
                show(&delta.path, &before, &after, deadline)
            }
        };
        length += text.head.len() + text.hunks.iter().map(String::len).sum::<usize>();
        texts.push(text);
    }
    texts.extend(named);
    Ok(texts)
}

/// Something that is shown by itself.
enum Unit<'a> {
    Delta(&'a Delta),
    Rename { rename: &'a Rename, old: Option<Stat>, new: Option<Stat> },
}

impl Unit<'_> {
    fn path(&self) -> &Relative {
        match self {
            Self::Delta(delta) => &delta.path,
            Self::Rename { rename, .. } => &rename.to,
        }
    }

    fn origin(&self) -> Option<&Relative> {
        match self {
            Self::Delta(_) => None,
            Self::Rename { rename, .. } => Some(&rename.from),
        }
    }

    fn danger(&self, work_folder: &Path) -> Danger {
        let (path, change, after) = match self {
            Self::Rename { rename, new, .. } => (&rename.to, Change::Renamed, *new),
            Self::Delta(delta) => {
                let change = match (delta.before, delta.after) {
                    (_, None) => Change::Deleted,
                    (None, Some(_)) => Change::Created,
                    (Some(_), Some(_)) => Change::Changed,
                };
                (&delta.path, change, delta.after)
            }
        };
        let mut told = [FileChange::new(path.text(), change)];
        let sides = [Sides { path, before: None, after: after.as_ref() }];
        about::rank(work_folder, &sides, &mut told);
        told[0].danger()
    }
}

/// The units to show, in the order of paths: a rename once, and for a new folder its contents.
fn units<'a>(chosen: &'a Chosen<'_>) -> Vec<Unit<'a>> {
    let deltas = chosen.deltas.as_slice();
    let origins: HashMap<_, _> = chosen.renames.iter().map(|one| (&one.to, one)).collect();
    let moved: HashSet<_> = chosen.renames.iter().map(|one| &one.from).collect();
    let mut told: Option<&Relative> = None;
    let mut units = Vec::with_capacity(deltas.len());
    for (at, delta) in deltas.iter().enumerate() {
        let is_told = told.is_some_and(|folder| delta.path.is_within(folder));
        if is_told || delta.after.is_none() && moved.contains(&delta.path) {
            continue;
        }
        if let Some(rename) = origins.get(&delta.path) {
            let old = deltas.binary_search_by(|old| old.path.cmp(&rename.from));
            let old = old.ok().and_then(|at| deltas[at].before);
            units.push(Unit::Rename { rename, old, new: delta.after });
            told = Some(&delta.path);
            continue;
        }
        let told_by_content =
            deltas.get(at + 1).is_some_and(|next| next.path.is_within(&delta.path));
        if !(delta.is_new_folder() && delta.before.is_none() && told_by_content) {
            units.push(Unit::Delta(delta));
        }
    }
    units
}

/// Names what there is no room to show.
fn name(out: &mut String, unit: &Unit<'_>) {
    let size = |stat: Option<Stat>| stat.map_or(0, |stat| stat.size);
    match unit {
        Unit::Rename { rename, old, new } => show_rename(out, rename, *old, *new),
        Unit::Delta(delta) => {
            let path = quoted("", &delta.path.text());
            let (before, after) = (size(delta.before), size(delta.after));
            match (delta.before, delta.after) {
                (None, _) => line(out, format_args!("not shown: created {path}, {after} bytes")),
                (_, None) => line(out, format_args!("not shown: deleted {path}, {before} bytes")),
                (Some(_), Some(_)) => line(
                    out,
                    format_args!("not shown: changed {path}, {before} bytes -> {after} bytes"),
                ),
            }
        }
    }
}

fn show(path: &Relative, before: &Side, after: &Side, deadline: Instant) -> ChangeText {
    let mut head = String::new();
    let hunks = show_into(&mut head, &path.text(), before, after, deadline);
    ChangeText { path: path.clone(), head, hunks, from: None }
}

/// Writes what a change is, and all of it, but for hunks that can be chosen by themselves.
fn show_into(
    out: &mut String,
    name: &str,
    before: &Side,
    after: &Side,
    deadline: Instant,
) -> Vec<String> {
    match (before, after) {
        (Side::Folder { mode: old }, Side::Folder { mode: new }) => {
            let folder = quoted("", &format!("{name}/"));
            line(out, format_args!("folder {folder}: mode {old:03o} -> {new:03o}"));
        }
        (Side::Folder { .. }, _) => {
            line(out, format_args!("deleted folder {}", quoted("", &format!("{name}/"))));
        }
        (_, Side::Folder { .. }) => {
            line(out, format_args!("new folder {}", quoted("", &format!("{name}/"))));
        }
        _ => {}
    }
    let (old, new) = (before.mode(), after.mode());
    if old.is_none() && new.is_none() {
        return Vec::new();
    }
    let (from, to) = (quoted("a/", name), quoted("b/", name));
    line(out, format_args!("diff --git {from} {to}"));
    match (old, new) {
        (None, Some(new)) => line(out, format_args!("new file mode {new:06o}")),
        (Some(old), None) => line(out, format_args!("deleted file mode {old:06o}")),
        (Some(old), Some(new)) if old != new => {
            line(out, format_args!("old mode {old:06o}\nnew mode {new:06o}"));
        }
        (Some(_), Some(_)) | (None, None) => {}
    }
    if let Some(why) = after.opaque().or(before.opaque()) {
        let (why, before, after) = (why.word(), before.size(), after.size());
        match (old, new) {
            (Some(_), Some(_)) => {
                line(out, format_args!("{why}, {before} bytes -> {after} bytes"));
            }
            (Some(_), None) => line(out, format_args!("{why}, {before} bytes")),
            (None, _) => line(out, format_args!("{why}, {after} bytes")),
        }
        return Vec::new();
    }
    let (left, right) = (before.text(), after.text());
    if left == right {
        return Vec::new();
    }
    let nothing = || "/dev/null".to_owned();
    let from = if old.is_some() { from } else { nothing() };
    let to = if new.is_some() { to } else { nothing() };
    line(out, format_args!("--- {from}\n+++ {to}"));
    if let Some(hunks) = Side::hunks(before, after, deadline) {
        return hunks.numbered();
    }
    let whole = Hunks::between(left, right, deadline);
    whole.texts().iter().for_each(|hunk| out.push_str(hunk));
    Vec::new()
}

/// The content is the same, so the names are all there is to show; and the mode, if it is not.
fn show_rename(out: &mut String, rename: &Rename, old: Option<Stat>, new: Option<Stat>) {
    let (from, to) = (rename.from.text(), rename.to.text());
    if new.is_some_and(|new| new.kind == Kind::Folder) {
        let (from, to) = (quoted("", &format!("{from}/")), quoted("", &format!("{to}/")));
        line(out, format_args!("renamed folder {from} -> {to}"));
        return;
    }
    line(out, format_args!("diff --git {} {}", quoted("a/", &from), quoted("b/", &to)));
    if let (Some(old), Some(new)) = (old, new)
        && old.kind == Kind::File
        && old.mode & PERMISSIONS != new.mode & PERMISSIONS
    {
        let bits = |stat: Stat| 0o100_000 | stat.mode & PERMISSIONS;
        line(out, format_args!("old mode {:06o}\nnew mode {:06o}", bits(old), bits(new)));
    }
    line(out, format_args!("similarity index 100%"));
    line(out, format_args!("rename from {}", quoted("", &from)));
    line(out, format_args!("rename to {}", quoted("", &to)));
}

fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("writing to a string cannot fail");
}

/// A name as `git` writes it: in quotes, with escapes, if it could be taken for something else.
fn quoted(prefix: &str, name: &str) -> String {
    let plain = |c: char| !c.is_control() && c != '"' && c != '\\';
    if name.chars().all(plain) {
        return format!("{prefix}{name}");
    }
    let escaped: String = name
        .chars()
        .map(|c| if plain(c) { c.to_string() } else { c.escape_default().to_string() })
        .collect();
    format!("\"{prefix}{escaped}\"")
}

#[cfg(test)]
mod tests {
    use crate::scene::{Scene, texts};
    use fs_err as fs;
    use std::time::Instant;

    #[test]
    fn changes_read_like_those_of_git() {
        let scene = Scene::new(&[
            ("a", "one\ntwo\nthree\n"),
            ("bin", "\u{0}12"),
            ("dir/in", "x"),
            ("gone", "bye\n"),
            ("l", "-> here"),
        ]);
        scene.writes("a", "one\n2\nthree").writes("bin", "\u{0}1234").deletes("dir");
        scene.deletes("gone").writes("l", "-> there").writes("n/new", "hi\n").writes("x/", "");
        scene.writes("n/tool", "#!\n").sets_mode("n/tool", 0o755);
        let expected = "\
diff --git a/n/tool b/n/tool
new file mode 100755
--- /dev/null
+++ b/n/tool
@@ -0,0 +1 @@
+#!
diff --git a/a b/a
--- a/a
+++ b/a
@@ -1,3 +1,3 @@
 one
-two
-three
+2
+three
\\ No newline at end of file
diff --git a/bin b/bin
binary, 3 bytes -> 5 bytes
deleted folder dir/
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/l b/l
--- a/l
+++ b/l
@@ -1 +1 @@
-here
\\ No newline at end of file
+there
\\ No newline at end of file
diff --git a/n/new b/n/new
new file mode 100644
--- /dev/null
+++ b/n/new
@@ -0,0 +1 @@
+hi
new folder x/
";
        assert_eq!(scene.set.diff(&[]).unwrap().raw(), expected);
        let some = scene.set.diff(&texts(&["n", "bin"])).unwrap();
        assert_eq!(some.raw().matches("diff --git").count(), 3);
        assert!(scene.set.diff(&texts(&["nowhere"])).is_err());
    }

    #[test]
    fn a_name_cannot_forge_a_header() {
        let scene = Scene::new(&[]);
        scene.writes("a\n+++ b/forged", "x\n");
        let text = scene.set.diff(&[]).unwrap();
        assert!(text.raw().contains("+++ \"b/a\\n+++ b/forged\"\n"));
        assert!(!text.raw().contains("\n+++ b/forged"));
    }

    #[test]
    fn large_files_and_slow_comparisons_are_bounded() {
        let lines = |seed: u64| {
            let mut state = seed;
            (0..100_000).fold(String::new(), |mut text, _| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.push_str(if state >> 63 == 0 { "a\n" } else { "b\n" });
                text
            })
        };
        let scene = Scene::new(&[("slow", &lines(1)), ("large", "x")]);
        scene.writes("slow", &lines(2));
        fs::write(scene.set.upper().join("large"), vec![b'y'; 2 << 20]).unwrap();
        let start = Instant::now();
        let text = scene.set.diff(&[]).unwrap();
        assert!(text.raw().contains("too large to show, 1 bytes -> 2097152 bytes"));
        assert!(text.raw().contains("+++ b/slow"));
        assert!(start.elapsed() < super::PATIENCE * 4);
    }

    #[test]
    fn what_does_not_fit_is_named_and_what_runs_later_always_fits() {
        let scene = Scene::new(&[("9", "x\n")]);
        let filler = "filler filler filler\n".repeat(40_000);
        for number in 0..14 {
            scene.writes(&format!("a{number}"), &filler);
        }
        scene.writes("setup.py", "import os\n").writes("9", "y\n").writes("zz", "late\n");
        let text = scene.set.diff(&[]).unwrap();
        assert!(text.raw().starts_with("diff --git a/setup.py b/setup.py\n"));
        assert!(text.raw().contains("+import os\n") && text.raw().contains("-x\n+y\n"));
        assert!(text.raw().contains("\nnot shown: created zz, 5 bytes\n"));
        let names = (0..14).map(|number| format!("a{number}"));
        assert!(names.chain(["zz".into()]).all(|name| {
            text.raw().contains(&format!("+++ b/{name}\n"))
                || text.raw().contains(&format!("not shown: created {name}, "))
        }));
        assert!(text.raw().len() < super::ENOUGH + (2 << 20));
    }

    #[test]
    fn what_is_withheld_is_named_and_shown_by_its_name() {
        let scene = Scene::new(&[(".env", "KEY=1\n")]);
        scene.writes(".env", "KEY=2\n").writes(".git/config", "evil\n").writes("a", "b\n");
        let all = scene.set.diff(&[]).unwrap();
        assert!(!all.raw().contains("KEY") && !all.raw().contains("evil"));
        assert!(all.raw().contains("left out .env: ") && all.raw().contains("left out .git: "));
        let named = scene.set.diff(&texts(&[".git"])).unwrap();
        assert!(named.raw().contains("+evil"));
    }
}
