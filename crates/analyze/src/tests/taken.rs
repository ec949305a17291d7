//! Whatever the programs of the shell that may pass take in is found: their files, the names of
//! files, and the folder that they are called from.

use super::*;
use crate::strict::shell::programs::SHELL_FILE;
use std::{collections::BTreeSet, fs, path::Path, process::Command};

/// Programs that take in no file, whatever their words are.
const PURE: &str = "\
    echo true false : seq sleep shift wait uname whoami id pwd nproc cal df tr numfmt factor expr \
    basename dirname date xargs";

/// Programs that are listed, each with the letters and long options that it may be given.
fn listed() -> Vec<(&'static str, &'static str, &'static str)> {
    let file = &*SHELL_FILE;
    let optioned = file.optioned.iter().flat_map(|one| {
        one.programs.split_ascii_whitespace().map(|name| (name, &*one.letters, &*one.long))
    });
    let any = file.any.programs.split_ascii_whitespace().map(|name| (name, "", ""));
    optioned.chain(any).collect()
}

/// A word that stands before the files of a program, if one does.
fn script(program: &str) -> &'static str {
    match program {
        "grep" | "egrep" | "fgrep" => "a ",
        "sed" => "p ",
        "awk" => "1 ",
        "jq" => ". ",
        _ => "",
    }
}

/// Whether a finding tells that code takes in or changes `x.txt`, or perhaps any file.
fn tells(found: &Findings) -> bool {
    found.capabilities.iter().any(|one| {
        let is_deed = ["reads", "lists", "writes", "deletes"].contains(&one.name.as_str());
        is_deed && (one.argument.raw().ends_with("x.txt") || matches!(one.argument.raw(), "" | "."))
    })
}

#[test]
fn every_program_that_may_pass_tells_of_its_files() {
    let pure: BTreeSet<_> = PURE.split_ascii_whitespace().collect();
    for (program, ..) in listed().into_iter().filter(|(name, ..)| !pure.contains(name)) {
        let option = if program == "tar" { "-c " } else { "" };
        let code = format!("{program} {option}{}x.txt", script(program));
        let found = findings("shell", &code);
        assert!(tells(&found), "{code}\n{:?}", lines(&found));
    }
}

/// Commands that may pass and of which no finding tells that they take in `x.txt`: each program
/// with each option that it may be given, with the file in every place.
fn untold() -> Vec<String> {
    let mut all = Vec::new();
    for (program, letters, long) in listed() {
        let script = script(program);
        let short = letters.chars().map(|letter| format!("-{letter}"));
        let options: Vec<_> =
            short.chain(long.split_ascii_whitespace().map(str::to_owned)).collect();
        all.push(format!("{program} {script}x.txt"));
        for option in options {
            let equals = if option.starts_with("--") { "=" } else { "" };
            all.push(format!("{program} {option} x.txt {script}"));
            all.push(format!("{program} {option} {script}x.txt"));
            all.push(format!("{program} {option} 1 {script}x.txt"));
            all.push(format!("{program} {option}{equals}x.txt {script}"));
        }
    }
    let passes = |code: &String| {
        let found = findings("shell", code);
        found.is_understood() && !tells(&found)
    };
    all.into_iter().filter(passes).collect()
}

/// Everything that each command prints and how it ends, one after another, with this in `x.txt`.
#[expect(clippy::disallowed_methods, reason = "a test that runs the programs themselves")]
fn ran(commands: &[String], folder: &Path, text: &str) -> Vec<(Option<i32>, Vec<u8>, Vec<u8>)> {
    let file = folder.join("x.txt");
    let run = |command: &String| {
        fs::write(&file, text).unwrap();
        let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
        fs::File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        let mut words = command.split_ascii_whitespace();
        let ended = Command::new("timeout")
            .arg("10")
            .args(words.by_ref())
            .current_dir(folder)
            .env("LC_ALL", "C")
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        (ended.status.code(), ended.stdout, ended.stderr)
    };
    commands.iter().map(run).collect()
}

/// The listed programs that are not here although they are promised.
#[expect(clippy::disallowed_methods, reason = "the environment of the tests")]
fn missing(folder: &Path) -> Vec<&'static str> {
    if std::env::var_os("INTERPRETER_ALL_TOOLS").is_none_or(|promised| promised.is_empty()) {
        return Vec::new();
    }
    let names: BTreeSet<_> = listed().into_iter().map(|(name, ..)| name).collect();
    // Those of the shell itself are no programs.
    let names = names.into_iter().filter(|name| !["shift", "wait", ":"].contains(name));
    let is_missing = |name: &&str| ran(&[(*name).to_owned()], folder, "")[0].0 == Some(127);
    names.filter(is_missing).collect()
}

/// The programs themselves are asked: a command whose output depends on what is in a file has taken
/// it in, so a finding must tell of it.
#[test]
#[cfg(target_os = "linux")]
fn no_program_takes_in_a_file_without_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let commands = untold();
    assert!(commands.len() > 100, "the control: {}", commands.len());
    assert_eq!(missing(folder.path()), [""; 0], "`scripts/test` installs them");
    let first = ran(&commands, folder.path(), "1 alpha\n");
    let second = ran(&commands, folder.path(), "2 betas\n");
    let differ: Vec<_> = (0..commands.len()).filter(|&at| first[at] != second[at]).collect();
    // Others tell the time.
    let again: Vec<_> = differ.iter().map(|&at| commands[at].clone()).collect();
    let again = ran(&again, folder.path(), "1 alpha\n");
    let taken: Vec<_> =
        differ.iter().zip(again).filter(|(at, again)| first[**at] == *again).collect();
    let told: Vec<_> = taken.iter().map(|(at, _)| &commands[**at]).collect();
    assert!(told.is_empty(), "{told:#?}");
    // The control: a program that reads it shows that it does.
    let reads = ["cat x.txt".to_owned(), "wc -c x.txt".to_owned()];
    let (one, other) = (ran(&reads, folder.path(), "1\n"), ran(&reads, folder.path(), "22\n"));
    assert!(one[0] != other[0] && one[1] != other[1]);
}

#[test]
fn files_are_found_behind_every_option() {
    check(
        "shell",
        &[
            ("cat -n a.csv", &["1 reads a.csv low"]),
            ("head -n 5 a.csv b.csv", &["1 reads a.csv low", "1 reads b.csv low"]),
            ("sort -t, -k 2 a.csv", &["1 reads a.csv low"]),
            ("grep -rh x", &["1 reads . low"]),
            ("grep -h x -r", &["1 reads . low"]),
            ("grep -v x a.csv", &["1 reads a.csv low"]),
            ("grep -f a.txt b.csv", &["1 reads a.txt low", "1 reads b.csv low"]),
            ("grep -fa.txt b.csv", &["1 reads a.txt low", "1 reads b.csv low"]),
            ("grep -e x a.csv", &["1 reads a.csv low"]),
            ("jq -R . a.csv", &["1 reads a.csv low"]),
            ("jq -n --rawfile x a.csv '$x'", &["1 reads a.csv low"]),
            ("jq --arg x a.csv .b c.json", &["1 reads c.json low"]),
            ("jq -n -f a.jq", &["1 reads a.jq low"]),
            ("date -f a.csv", &["1 reads a.csv low"]),
            ("date +%F", &[]),
            ("md5sum -c sums", &["1 reads sums low", "1 reads - low"]),
            ("wc --files0-from=names", &["1 reads names low", "1 reads - low"]),
            ("awk -F, '{ print $1 }' x=1 a.csv", &["1 reads a.csv low"]),
            ("echo a.csv | xargs cat", &["1 reads - low"]),
            ("find a b -exec cat {} +", &["1 lists a low", "1 lists b low", "1 reads - low"]),
            ("cp a b c", &["1 writes c medium", "1 reads a low", "1 reads b low"]),
            ("cat -- -a", &["1 reads -a low"]),
            ("cat -", &[]),
            ("cat \"$x\"", &["1 reads - low"]),
            ("grep \"$x\" a.csv", &["1 reads - low", "1 reads a.csv low"]),
            ("cat <> a.csv", &["1 writes a.csv low", "1 reads a.csv low"]),
            // A backslash quotes what follows, and is no part of the name.
            ("cat pay\\roll/a.csv", &["1 reads payroll/a.csv low"]),
            ("cat a\\ b", &["1 reads a b low"]),
        ],
    );
}

#[test]
fn names_of_files_are_found_where_the_shell_puts_them() {
    check(
        "shell",
        &[
            ("ls", &["1 lists . low"]),
            ("echo *", &["1 lists * low"]),
            ("printf '%s\\n' a/*.csv", &["1 lists a/*.csv low"]),
            ("for f in *; do echo \"$f\"; done", &["1 lists * low"]),
            ("a=(*); echo \"${a[0]}\"", &["1 lists * low"]),
            ("a='x/*'; echo $a", &["1 lists x/* low"]),
            ("for a in 'x/*'; do echo $a; done", &["1 lists - low"]),
            ("echo $(cat a)", &["1 reads a low", "1 lists - low"]),
            ("realpath *", &["1 lists * low"]),
            ("basename a*", &["1 lists a* low"]),
            ("cat *.csv", &["1 reads *.csv low"]),
            // Controls: quoted, computed from numbers, or one text.
            ("echo '*' \"*\" \\*", &[]),
            ("n=3; echo $n $((n + 1)) $# $?", &[]),
            ("for i in 1 2 3; do echo $i; done", &[]),
            ("for i in $(seq 5); do echo $i; done", &[]),
            ("case * in *) true;; esac", &[]),
        ],
    );
}

#[test]
fn a_change_of_folder_moves_every_name() {
    check(
        "shell",
        &[
            ("cd data && cat a.csv && rm b", &["1 reads data/a.csv low", "1 deletes data/b high"]),
            ("cd data; cat a.csv", &["1 reads $PWD/a.csv low"]),
            ("cd data\ncat a.csv /etc/x", &["2 reads $PWD/a.csv low", "2 reads /etc/x medium"]),
            ("cd data || cat a.csv", &["1 reads $PWD/a.csv low"]),
            ("! cd data && cat a.csv", &["1 reads $PWD/a.csv low"]),
            ("(cd data; cat a.csv); cat b", &["1 reads $PWD/a.csv low", "1 reads b low"]),
            ("x=$(cd data && cat a.csv)", &["1 reads data/a.csv low"]),
            ("pushd data; cat a.csv", &["1 reads $PWD/a.csv low"]),
            ("command cd data; cat a.csv", &["1 reads $PWD/a.csv low"]),
            ("for d in a b; do cat x; cd $d; done", &["1 reads $PWD/x low"]),
            ("f() { cat a; }; cd data; f", &["1 reads $PWD/a low"]),
            ("g() { cd data; }; g; cat a", &["1 reads $PWD/a low"]),
            ("if cd data; then cat a; fi; cat b", &["1 reads $PWD/a low", "1 reads $PWD/b low"]),
            ("cd data && echo x > out.csv", &["1 writes data/out.csv low"]),
            ("echo cd; cat a.csv", &["1 reads a.csv low"]),
        ],
    );
}

#[test]
fn a_later_cell_knows_that_the_shell_has_moved() {
    let shell = language("shell");
    let after = |cells: &[&str], code: &str| {
        let none = AddedRules::default();
        let past = cells
            .iter()
            .fold(Past::default(), |past, cell| analyze_after(&none, &past, &shell, cell).1);
        lines(&analyze_after(&none, &past, &shell, code).0)
    };
    for cell in ["cd payroll", "echo a\ncd payroll && ls", "go() { cd payroll; }", "pushd x"] {
        assert_eq!(after(&[cell, "echo"], "cat a.csv"), ["1 reads $PWD/a.csv low"], "{cell}");
    }
    assert_eq!(after(&["cd payroll"], "echo x > a.csv"), ["1 writes $PWD/a.csv medium"]);
    for cell in ["(cd payroll; ls)", "x=$(cd payroll; ls)", "echo cd payroll"] {
        assert_eq!(after(&[cell], "cat a.csv"), ["1 reads a.csv low"], "{cell}");
    }
    // A function of an earlier cell takes in what it took in there.
    assert_eq!(after(&["f() { cat \"$1\"; }"], "f payroll/a.csv"), ["1 reads - low"]);
}

/// The next round of a loop may hold something else than the first.
#[test]
fn a_variable_that_a_loop_hands_on_is_computed() {
    let code = "a=x.txt\nfor i in 1 2; do\n  b=$a\n  a=y.txt\n  cat \"$b\"\ndone";
    check("shell", &[(code, &["5 reads - low"]), ("a=x\nb=$a\ncat $b", &["3 reads x low"])]);
}
