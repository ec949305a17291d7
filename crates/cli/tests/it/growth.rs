//! Thousands of cells in one session: nothing grows with their number but the record.
//!
//! `CELLS=10000` runs as many; without it there are enough to see a leak of a few hundred bytes.

use crate::scene::{Scene, cell};
use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::Stdio,
};

/// The resources of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Has {
    name: String,
    kilobytes: u64,
    descriptors: usize,
}

/// How far below us interpreters are: the keeper and the host stand between.
const INTERPRETERS: u32 = 3;

/// Everything from a process down to the interpreters, the eldest first. Their own children come
/// and go.
fn family(pid: u32, depth: u32) -> Vec<Has> {
    let mut all = vec![has(pid)];
    if depth < INTERPRETERS {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
        let children = children.split_whitespace().map(|child| child.parse().unwrap());
        all.extend(children.flat_map(|child| family(child, depth + 1)));
    }
    all
}

fn has(pid: u32) -> Has {
    let folder = Path::new("/proc").join(pid.to_string());
    let status = fs::read_to_string(folder.join("status")).unwrap();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("0");
        line.split_whitespace().next().unwrap_or("0").to_owned()
    };
    Has {
        name: field("Name:"),
        kilobytes: field("VmRSS:").parse().unwrap(),
        descriptors: fs::read_dir(folder.join("fd")).unwrap().count(),
    }
}

#[test]
fn thousands_of_python_cells_do_not_make_a_session_grow() {
    // Each prints, shows a value, makes a file and takes it away again.
    stays("python", 1_024, "import os\nopen('f', 'w').close(); os.remove('f')\nprint(1)\n[1, 2]");
}

#[test]
fn thousands_of_shell_cells_do_not_make_a_session_grow() {
    stays("shell", 1_024, "x=$((x + 1)); : >f; rm f; echo $x; (exit 0)");
}

#[test]
fn thousands_of_javascript_cells_do_not_make_a_session_grow() {
    // Garbage is no leak until there is much of it.
    stays("javascript", 24 << 10, "const x = [1, 2]; console.log(1); await null; x");
}

/// Runs a cell over and over and compares what each process has after a third of them with what
/// it has at the end. `most` is how many kilobytes more an interpreter may have.
#[track_caller]
fn stays(language: &str, most: u64, code: &str) {
    let count = std::env::var("CELLS").map_or(1_000, |count| count.parse().unwrap());
    // Long enough to be noticed if somebody kept them all.
    let comment = if language == "javascript" { "//" } else { "#" };
    let code = format!("{code}\n{comment} {}", "x".repeat(2_000_000 / count));
    let mut replies = vec![cell(language, &code); count];
    replies.push("Done.".into());
    let replies: Vec<_> = replies.iter().map(String::as_str).collect();
    let scene = Scene::new().model_says(&replies);
    let calls = (count + 1).to_string();
    let arguments = scene.chat_arguments(&["--yes", "--json", "--max-calls", &calls, "go"]);
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut child =
        scene.command(&arguments).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut finished, mut early, mut late) = (0, vec![], vec![]);
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        if !line.unwrap().contains("\"kind\":\"run_finished\"") {
            continue;
        }
        finished += 1;
        // Not at the very end: what was printed may be read when everything is over. So many cells
        // print more than a pipe holds.
        if finished == count / 3 {
            early = family(child.id(), 0);
        } else if finished == count - 50 {
            late = family(child.id(), 0);
        }
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(finished, count);
    let names = |all: &[Has]| all.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&early), names(&late));
    assert!(early.len() >= 4, "us, the keeper, the host and the interpreter: {early:?}");
    for (number, (before, after)) in early.iter().zip(&late).enumerate() {
        // Ours is first; it has the conversation, of which all is the model's.
        let said = u64::try_from((count - count / 3) * 6).unwrap();
        let most = if number == 0 { 4_096 + said } else { most };
        assert!(after.kilobytes <= before.kilobytes + most, "{before:?} became {after:?}");
        assert!(after.descriptors <= before.descriptors + 2, "{before:?} became {after:?}");
    }
    let sets = scene.data().join("changes");
    let left = fs::read_dir(&sets).map_or(0, Iterator::count);
    assert!(left <= 1, "{left} files in {}", sets.display());
}
