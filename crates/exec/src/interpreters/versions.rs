//! Which version a program has, as far as the files around it tell.
//!
//! Nothing is run: a list of languages must be quick, and listing a program is no reason to start
//! it. An unknown version is not guessed; starting the program reveals it.

use crate::regular;
use std::path::Path;

/// Bytes of a file that are looked through.
const LONGEST: u64 = 64 << 10;

/// The version of a program.
pub(super) fn told(program: &Path) -> Option<String> {
    let real = fs_err::canonicalize(program).ok()?;
    let prefix = real.parent()?.parent()?;
    let name = real.file_name()?.to_str()?;
    of_python(prefix, name)
        .or_else(|| of_node(prefix, name))
        .or_else(|| of_release(prefix))
        .or_else(|| of_go(prefix, name))
        .or_else(|| at_the_end(name))
        .or_else(|| of_folder(prefix))
}

fn start_of(path: &Path) -> Option<String> {
    String::from_utf8(regular::beginning(path, LONGEST)?).ok()
}

/// The value of a macro of C.
fn defined<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let is_it = words.next()? == "#define" && words.next()? == name;
        is_it.then(|| words.next().map(|value| value.trim_matches('"')))?
    })
}

fn of_python(prefix: &Path, name: &str) -> Option<String> {
    name.starts_with("python").then_some(())?;
    let header = start_of(&prefix.join("include").join(name).join("patchlevel.h"))?;
    defined(&header, "PY_VERSION").map(str::to_owned)
}

fn of_node(prefix: &Path, name: &str) -> Option<String> {
    name.starts_with("node").then_some(())?;
    let header = start_of(&prefix.join("include/node/node_version.h"))?;
    let part = |part: &str| defined(&header, &format!("NODE_{part}_VERSION"));
    Some(format!("{}.{}.{}", part("MAJOR")?, part("MINOR")?, part("PATCH")?))
}

/// Java's installations have a file that says.
fn of_release(prefix: &Path) -> Option<String> {
    let text = start_of(&prefix.join("release"))?;
    let version = text.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    Some(version.trim_matches('"').to_owned())
}

fn of_go(prefix: &Path, name: &str) -> Option<String> {
    (name == "go").then_some(())?;
    let text = start_of(&prefix.join("VERSION"))?;
    Some(text.lines().next()?.strip_prefix("go")?.to_owned())
}

/// The folder that a manager keeps a version in: `3.11.7`, `v20.1.0`, `julia-1.10.2`.
fn of_folder(prefix: &Path) -> Option<String> {
    let name = prefix.file_name()?.to_str()?;
    let version = name.strip_prefix('v').unwrap_or(name);
    if is_version(version) { Some(version.to_owned()) } else { at_the_end(name) }
}

/// A version at the end of a name: `ruby3.1`, `gcc-12`. A single digit that belongs to the name, as
/// in `sqlite3`, does not count.
fn at_the_end(name: &str) -> Option<String> {
    let before = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let version = &name[before.len()..];
    let is_it = is_version(version) || (before.ends_with('-') && is_number(version));
    (is_it && !before.is_empty()).then(|| version.to_owned())
}

fn is_version(text: &str) -> bool {
    text.contains('.') && text.split('.').all(is_number)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(files: &[(&str, &str)], program: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files.iter().chain(&[(program, "")]) {
            let path = folder.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        told(&folder.path().join(program))
    }

    #[test]
    fn files_of_the_installation_tell() {
        let python = [("p/include/python3.11/patchlevel.h", "#define PY_VERSION  \"3.11.7\"\n")];
        assert_eq!(version(&python, "p/bin/python3.11").as_deref(), Some("3.11.7"));
        let node = [(
            "n/include/node/node_version.h",
            "#define NODE_MAJOR_VERSION 22\n#define NODE_MINOR_VERSION 7\n#define NODE_PATCH_VERSION 0\n",
        )];
        assert_eq!(version(&node, "n/bin/node").as_deref(), Some("22.7.0"));
        assert_eq!(
            version(&[("g/VERSION", "go1.22.1\ntime x\n")], "g/bin/go").as_deref(),
            Some("1.22.1")
        );
        let java = [("j/release", "A=1\nJAVA_VERSION=\"17.0.15\"\n")];
        assert_eq!(version(&java, "j/bin/javac").as_deref(), Some("17.0.15"));
    }

    #[test]
    fn names_tell_and_what_is_not_told_is_not_guessed() {
        for (program, expected) in [
            ("x/bin/python3.12", Some("3.12")),
            ("x/bin/ruby3.1", Some("3.1")),
            ("x/bin/x86_64-linux-gnu-gcc-12", Some("12")),
            ("3.1.7/bin/ruby", Some("3.1.7")),
            ("v20.1.0/bin/node", Some("20.1.0")),
            ("julia-1.10.2/bin/julia", Some("1.10.2")),
            ("x/bin/sqlite3", None),
            ("x/bin/bash", None),
            ("x/bin/12", None),
        ] {
            assert_eq!(version(&[], program).as_deref(), expected, "{program}");
        }
    }
}
