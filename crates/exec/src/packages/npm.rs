//! npm's own list of packages: what stands in it, and what may not.
//!
//! npm finds out what an order comes to and writes a list, without running anything. Only packages
//! of the registry with an integrity are let through; none by an address, from a repository or from
//! a folder, whether the list asks for it or a package in it.

use super::found::{by_address, is_from};
use interpreter_core::{
    egress::HostRule,
    packages::{PackageKind, PlannedPackage},
};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// The folder of the workshop where npm has what it fetched.
pub const CACHE: &str = "npm";

/// The list.
#[derive(Deserialize)]
pub(super) struct NpmLock {
    #[serde(default, rename = "lockfileVersion")]
    form: u32,
    #[serde(default)]
    pub(super) packages: BTreeMap<String, NpmEntry>,
}

/// A package in it.
#[derive(Deserialize)]
pub(super) struct NpmEntry {
    #[serde(default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) version: String,
    #[serde(default)]
    pub(super) integrity: String,
    #[serde(default)]
    resolved: String,
    #[serde(default)]
    link: bool,
    #[serde(default)]
    os: Vec<String>,
    #[serde(default)]
    cpu: Vec<String>,
    #[serde(default, rename = "inBundle")]
    in_bundle: bool,
    #[serde(default, rename = "hasInstallScript")]
    pub(super) scripts: bool,
    #[serde(default)]
    dependencies: BTreeMap<String, String>,
    #[serde(default, rename = "optionalDependencies")]
    optional: BTreeMap<String, String>,
    #[serde(default, rename = "devDependencies")]
    of_developers: BTreeMap<String, String>,
    #[serde(default, rename = "peerDependencies")]
    peers: BTreeMap<String, String>,
}

/// The name in a path such as `node_modules/a/node_modules/@b/c`.
pub(super) fn name_in(path: &str) -> Option<&str> {
    Some(path.rsplit_once("node_modules/")?.1)
}

/// The packages that a list comes to, if all of them are of the registry.
pub(super) fn in_lock(text: &str, hosts: &[HostRule]) -> Result<Vec<PlannedPackage>, String> {
    let lock: NpmLock = serde_json::from_str(text).map_err(|_| "npm's list cannot be read")?;
    // Older ones list no packages by their folders.
    if lock.form < 2 {
        return Err("this npm is too old: version 7 or later is needed".into());
    }
    let mut found = Vec::new();
    for (path, entry) in &lock.packages {
        let own = name_in(path).unwrap_or("the order");
        let all = [&entry.dependencies, &entry.optional, &entry.of_developers, &entry.peers];
        for (name, wanted) in all.into_iter().flatten() {
            if !is_of_registry(wanted) {
                return Err(by_address(name, Some(own)));
            }
        }
        if path.is_empty() {
            continue;
        }
        let in_path = name_in(path).ok_or_else(|| by_address(path, None))?;
        let name = if entry.name.is_empty() { in_path } else { &entry.name };
        let by = requirer(&lock, in_path);
        // One of a bundle comes in the file of another, and from nowhere else.
        let is_inside = entry.in_bundle && entry.resolved.is_empty() && !entry.link;
        if !is_inside {
            check(entry, name, by.as_deref(), hosts)?;
        }
        if !entry.is_for_this_machine() {
            continue;
        }
        let (hash, url) = (entry.integrity.clone(), entry.resolved.clone());
        let one = PlannedPackage::new(PackageKind::Npm, name, &entry.version, hash, url);
        let mut one =
            one.ok_or_else(|| "the registry has a package with an odd name".to_owned())?;
        one.required_by = by;
        found.push(one);
    }
    found.sort();
    // One file may be in several places. Another file by the same name hides behind none.
    found.dedup_by(|one, other| {
        (&one.name, &one.version, &one.hash) == (&other.name, &other.version, &other.hash)
    });
    Ok(found)
}

impl NpmEntry {
    /// Whether it is installed here. Of many packages there is one for each kind of machine.
    fn is_for_this_machine(&self) -> bool {
        let cpu = match std::env::consts::ARCH {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            other => other,
        };
        let fits = |listed: &[String], own: &str| {
            let is_barred = listed.iter().any(|one| one.strip_prefix('!') == Some(own));
            let names_none = listed.iter().all(|one| one.starts_with('!'));
            !is_barred && (names_none || listed.iter().any(|one| one == own))
        };
        fits(&self.os, "linux") && fits(&self.cpu, cpu)
    }
}

fn check(entry: &NpmEntry, name: &str, by: Option<&str>, hosts: &[HostRule]) -> Result<(), String> {
    if entry.link || !is_from(&entry.resolved, hosts) {
        return Err(by_address(name, by));
    }
    let strong = ["sha512-", "sha384-", "sha256-"];
    if !entry.integrity.split(' ').all(|one| strong.iter().any(|kind| one.starts_with(kind))) {
        return Err(format!("the registry gives no hash for {name} {}", entry.version));
    }
    Ok(())
}

/// Versions, a tag, or another name in the registry: anything but an address, a repository and a
/// folder.
fn is_of_registry(wanted: &str) -> bool {
    let wanted = wanted.trim();
    let rest = wanted.strip_prefix("npm:").unwrap_or(wanted);
    let parts = rest.strip_prefix('@').map_or(Some(rest), |scoped| {
        let (scope, name) = scoped.split_once('/')?;
        (wanted.starts_with("npm:") && !scope.is_empty()).then_some(name)
    });
    parts.is_some_and(|rest| {
        !rest.contains([':', '/', '\\', '#']) && !rest.starts_with(['.', '~']) || is_range(rest)
    })
}

/// `~1.2`, which begins as a path does.
fn is_range(text: &str) -> bool {
    text.starts_with('~')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || " .~^<>=|*+-".contains(c))
}

/// A package that requires another, other than the order itself.
fn requirer(lock: &NpmLock, name: &str) -> Option<String> {
    let requires = |entry: &NpmEntry| {
        let all = [&entry.dependencies, &entry.optional, &entry.peers];
        all.into_iter().any(|one| one.contains_key(name))
    };
    let root = lock.packages.get("")?;
    if requires(root) {
        return None;
    }
    let mut entries = lock.packages.iter().filter(|(path, _)| !path.is_empty());
    entries.find(|(_, entry)| requires(entry)).and_then(|(path, _)| Some(name_in(path)?.to_owned()))
}

/// The dependencies of the list itself, as a `package.json` has them.
pub(super) fn manifest_of(text: Option<&str>) -> String {
    let lock = text.and_then(|text| serde_json::from_str::<Value>(text).ok()).unwrap_or_default();
    let root = &lock["packages"][""]["dependencies"];
    let dependencies = if root.is_object() { root.clone() } else { serde_json::json!({}) };
    serde_json::json!({ "private": true, "dependencies": dependencies }).to_string()
}

/// The names of the packages that were asked for.
pub(super) fn roots_of(text: &str) -> Vec<String> {
    let lock = serde_json::from_str::<NpmLock>(text).ok();
    let root = lock.and_then(|mut lock| lock.packages.remove(""));
    root.map(|root| root.dependencies.into_keys().collect()).unwrap_or_default()
}

/// A package and those that come in its own file, by their places below the first `node_modules`.
pub(super) fn with_bundled(text: Option<&str>, name: &str) -> Vec<String> {
    let lock = text.and_then(|text| serde_json::from_str::<NpmLock>(text).ok());
    let packages = lock.map(|lock| lock.packages).unwrap_or_default();
    let below = format!("node_modules/{name}/node_modules/");
    let inside = packages.iter().filter(|(path, one)| one.in_bundle && path.starts_with(&below));
    let inside = inside.filter_map(|(path, _)| path.strip_prefix("node_modules/"));
    [name].into_iter().chain(inside).map(str::to_owned).collect()
}

/// The names of packages in a list that have install scripts.
pub(super) fn with_scripts(text: &str) -> Vec<String> {
    let Ok(lock) = serde_json::from_str::<NpmLock>(text) else { return Vec::new() };
    let scripts = lock.packages.iter().filter(|(_, one)| one.scripts);
    scripts.filter_map(|(path, _)| Some(name_in(path)?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(packages: &str) -> Result<Vec<String>, String> {
        let hosts = vec!["127.0.0.1:8000".parse().unwrap()];
        let found =
            in_lock(&format!(r#"{{"lockfileVersion": 3, "packages": {{{packages}}}}}"#), &hosts)?;
        Ok(found.iter().map(ToString::to_string).collect())
    }

    fn one(name: &str, more: &str) -> String {
        format!(
            r#""node_modules/{name}": {{"version": "1.0.0", "integrity": "sha512-x",
                "resolved": "http://127.0.0.1:8000/npm/{name}.tgz" {more}}}"#
        )
    }

    #[test]
    fn packages_of_the_registry_are_let_through() {
        let root = r#""": {"dependencies": {"a": "^1"}}"#;
        let a = one("a", r#", "dependencies": {"@s/b": "~1.0 || 2.x", "c": "npm:@s/d@1"}"#);
        let listed = read(&format!("{root}, {a}, {}, {}", one("@s/b", ""), one("c", "")));
        assert_eq!(listed, Ok(vec!["@s/b 1.0.0".into(), "a 1.0.0".into(), "c 1.0.0".into()]));
    }

    #[test]
    fn another_file_by_the_same_name_is_listed_too() {
        let inside = r#""node_modules/b/node_modules/a": {"version": "1.0.0", "inBundle": true}"#;
        let again = one("a", "").replace("node_modules/a", "node_modules/c/node_modules/a");
        let listed = read(&format!("{}, {again}, {inside}", one("a", "")));
        assert_eq!(listed, Ok(vec!["a 1.0.0".into(), "a 1.0.0".into()]));
        let lock = format!(r#"{{"packages": {{{}, {inside}, {again}}}}}"#, one("b", ""));
        assert_eq!(with_bundled(Some(&lock), "b"), ["b", "b/node_modules/a"]);
        assert_eq!(with_bundled(Some(&lock), "c"), ["c"]);
        assert_eq!(with_bundled(None, "b"), ["b"]);
    }

    #[test]
    fn nothing_else_is() {
        for wanted in [
            "git+http://127.0.0.1:8000/x",
            "http://127.0.0.1:8000/npm/x.tgz",
            "file:../x",
            "./x",
            "~/x",
            "someone/repository",
            "github:someone/x",
            "link:x",
            "workspace:*",
        ] {
            let a = one("a", &format!(r#", "dependencies": {{"hidden": "{wanted}"}}"#));
            let refused = read(&a).unwrap_err();
            assert!(refused.starts_with("hidden, which a requires,"), "{wanted}: {refused}");
        }
        for entry in [
            r#"{"version": "1.0.0", "resolved": "git+ssh://h/x#00", "integrity": "sha512-x"}"#,
            r#"{"version": "1.0.0", "resolved": "http://evil.example/x.tgz", "integrity": "sha512-x"}"#,
            r#"{"version": "1.0.0", "resolved": "http://127.0.0.1:8000/x.tgz"}"#,
            r#"{"version": "1.0.0", "resolved": "http://127.0.0.1:8000/x.tgz", "integrity": "sha1-x"}"#,
            r#"{"resolved": "../x", "link": true}"#,
            r#"{"version": "1.0.0", "inBundle": true, "link": true}"#,
            r#"{"version": "1.0.0", "inBundle": true, "resolved": "http://evil.example/x.tgz"}"#,
            r#"{"version": "1.0.0", "inBundle": true, "resolved": "http://127.0.0.1:8000/x.tgz"}"#,
        ] {
            assert!(read(&format!(r#""node_modules/x": {entry}"#)).is_err(), "{entry}");
        }
        // The control: in the file of another package.
        let inside = r#""node_modules/a/node_modules/x": {"version": "1.0.0", "inBundle": true}"#;
        assert_eq!(read(inside), Ok(vec!["x 1.0.0".into()]));
    }
}
