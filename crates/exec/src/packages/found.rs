//! The findings of an installer: the packages that an order comes to, read from its report.
//!
//! # Threat
//! The report holds what packages say of themselves. One may require another by an address, from a
//! repository or from a folder, which would be fetched, or built by running its code.
//!
//! # Mechanism
//! Only finished builds with a hash, from a host of the configured index, are let through. Anything
//! else fails the whole order, with the name of the package and of the one that requires it.
//!
//! # Limits
//! The index decides what it offers by a name, and for some tools that a build lies on another host
//! of the index's own.

use interpreter_core::{
    Untrusted,
    egress::{Host, HostRule},
    packages::{PackageKind, PlannedPackage, normal_name},
};
use serde::Deserialize;
use std::{collections::BTreeMap, path::Path};

/// A package in a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundPackage {
    pub(super) package: PlannedPackage,
    /// Whether it has to be built from its source.
    pub(super) is_source: bool,
}

/// The hosts that packages may come from, and what is accepted of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accepted<'a> {
    pub(super) hosts: &'a [HostRule],
    /// Whether sources may come too, which are then built.
    pub(super) sources: bool,
}

#[derive(Deserialize)]
struct PipReport {
    install: Vec<PipItem>,
}

#[derive(Deserialize)]
struct PipItem {
    download_info: PipDownload,
    #[serde(default)]
    is_direct: bool,
    metadata: PipMetadata,
}

#[derive(Deserialize)]
struct PipDownload {
    url: String,
    archive_info: Option<PipArchive>,
}

#[derive(Deserialize)]
struct PipArchive {
    #[serde(default)]
    hash: String,
    #[serde(default)]
    hashes: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct PipMetadata {
    name: String,
    version: String,
    #[serde(default)]
    requires_dist: Vec<String>,
}

/// The packages in a report of pip.
pub(super) fn in_pip_report(
    text: &[u8],
    accepted: Accepted<'_>,
    is_known: impl Fn(&str, &str) -> bool,
) -> Result<Vec<FoundPackage>, String> {
    let report: PipReport =
        serde_json::from_slice(text).map_err(|_| "pip's report cannot be read".to_owned())?;
    let requirer = |name: &str| {
        let name = normal_name(PackageKind::Python, name);
        let requires = |one: &&PipItem| {
            one.metadata.requires_dist.iter().any(|text| name_in(text) == Some(name.clone()))
        };
        report.install.iter().find(requires).map(|one| one.metadata.name.clone())
    };
    let mut found = Vec::new();
    for item in &report.install {
        let PipMetadata { name, version, .. } = &item.metadata;
        let by = requirer(name);
        if is_known(name, version) && !item.is_direct {
            let mut known = stand_in(name, version)?;
            known.package.required_by = by;
            found.push(known);
            continue;
        }
        let hash = item.download_info.archive_info.as_ref().map(PipArchive::sha256);
        if item.is_direct {
            return Err(by_address(name, by.as_deref()));
        }
        let url = &item.download_info.url;
        let mut one = checked(name, version, url, hash.flatten(), accepted, by.as_deref())?;
        one.package.required_by = by;
        found.push(one);
    }
    Ok(found)
}

impl PipArchive {
    fn sha256(&self) -> Option<String> {
        let listed = self.hashes.get("sha256").cloned();
        listed.or_else(|| self.hash.strip_prefix("sha256=").map(str::to_owned))
    }
}

#[derive(Deserialize)]
struct Pylock {
    #[serde(default)]
    packages: Vec<PylockItem>,
}

#[derive(Deserialize)]
struct PylockItem {
    name: String,
    version: Option<String>,
    #[serde(default)]
    wheels: Vec<PylockFile>,
    sdist: Option<PylockFile>,
    vcs: Option<toml::Value>,
    directory: Option<toml::Value>,
    archive: Option<toml::Value>,
}

#[derive(Deserialize)]
struct PylockFile {
    #[serde(default)]
    url: String,
    #[serde(default)]
    hashes: BTreeMap<String, String>,
}

/// The packages in a `pylock.toml` of uv's.
pub(super) fn in_pylock(
    text: &[u8],
    accepted: Accepted<'_>,
    is_known: impl Fn(&str, &str) -> bool,
) -> Result<Vec<FoundPackage>, String> {
    let text = std::str::from_utf8(text).unwrap_or_default();
    let lock: Pylock = toml::from_str(text).map_err(|_| "uv's list cannot be read".to_owned())?;
    let mut found = Vec::new();
    for item in &lock.packages {
        let name = &item.name;
        let version = item.version.as_deref().unwrap_or_default();
        if item.vcs.is_some() || item.directory.is_some() || item.archive.is_some() {
            return Err(by_address(name, None));
        }
        if is_known(name, version) {
            found.push(stand_in(name, version)?);
            continue;
        }
        let file = item.wheels.first().or(item.sdist.as_ref());
        let file = file.ok_or_else(|| by_address(name, None))?;
        let hash = file.hashes.get("sha256").cloned();
        found.push(checked(name, version, &file.url, hash, accepted, None)?);
    }
    Ok(found)
}

/// The first package that requires each, by their names, as uv's comments tell. Text that isn't
/// understood tells nothing.
pub(super) fn requirers_told(text: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(text);
    let (mut told, mut required) = (BTreeMap::new(), None);
    for line in text.lines() {
        let line = line.trim_end();
        let comment = match line.split_once('#') {
            Some((before, comment)) if before.trim().is_empty() => comment,
            Some(_) | None => {
                required = line.split_once("==").and_then(|(name, _)| name_in(name));
                continue;
            }
        };
        let by = comment.trim().strip_prefix("via").unwrap_or(comment).trim();
        // A file of wishes is none, nor is anything but a name.
        let is_name = !by.starts_with('-')
            && name_in(by).is_some_and(|name| name == normal_name(PackageKind::Python, by));
        if let Some(required) = required.as_ref().filter(|_| is_name) {
            told.entry(required.clone()).or_insert_with(|| by.to_owned());
        }
    }
    told
}

/// A package that is on the list already, by its name and version. Its file is the one of the list.
fn stand_in(name: &str, version: &str) -> Result<FoundPackage, String> {
    let (hash, url) = (String::new(), String::new());
    let package = PlannedPackage::new(PackageKind::Python, name, version, hash, url);
    let package = package.ok_or_else(|| "the index has a package with an odd name".to_owned())?;
    Ok(FoundPackage { package, is_source: false })
}

fn checked(
    name: &str,
    version: &str,
    url: &str,
    sha256: Option<String>,
    accepted: Accepted<'_>,
    by: Option<&str>,
) -> Result<FoundPackage, String> {
    if !is_from(url, accepted.hosts) {
        return Err(by_address(name, by));
    }
    let url = url.split('#').next().unwrap_or(url);
    let is_source = !is_wheel(url);
    if is_source && !accepted.sources {
        return Err(format!("the index has no finished build of {name} {version}"));
    }
    let hash = sha256.ok_or_else(|| format!("the index gives no hash for {name} {version}"))?;
    let hash = format!("sha256:{hash}");
    let package = PlannedPackage::new(PackageKind::Python, name, version, hash, url.to_owned());
    let package = package.ok_or_else(|| "the index has a package with an odd name".to_owned())?;
    let file = file_name(&package.url);
    if !file.is_some_and(|file| is_file_of(&file, name, version)) {
        return Err(format!("the file of {package} has the name of another package"));
    }
    Ok(FoundPackage { package, is_source })
}

/// The name of the file at an address, if it is plain.
pub(super) fn file_name(url: &str) -> Option<String> {
    let last = url.split(['?', '#']).next()?.rsplit('/').next()?;
    // The one sign of a version that is escaped.
    let name = last.replace("%2B", "+").replace("%2b", "+");
    let plain = |c: char| c.is_ascii_alphanumeric() || "._+!-".contains(c);
    (!name.starts_with('.') && !name.is_empty() && name.len() <= 200 && name.chars().all(plain))
        .then_some(name)
}

/// Whether a file has the name of this package in this version, as every index requires it: another
/// file of the index cannot stand in for it.
pub(super) fn is_file_of(file: &str, name: &str, version: &str) -> bool {
    let name = normal_name(PackageKind::Python, name);
    let version = plain_version(version);
    let is_wheel = is_wheel(file);
    let stem = [".tar.gz", ".tgz", ".tar.bz2", ".zip", ".whl"]
        .iter()
        .find_map(|ending| file.strip_suffix(ending))
        .unwrap_or(file);
    stem.match_indices('-').any(|(at, _)| {
        let rest = &stem[at + 1..];
        let rest = if is_wheel { rest.split('-').next().unwrap_or(rest) } else { rest };
        normal_name(PackageKind::Python, &stem[..at]) == name && plain_version(rest) == version
    })
}

/// A version in one spelling, as far as files and lists differ in it.
fn plain_version(text: &str) -> String {
    let text = text.to_ascii_lowercase().replace(['_', '-'], ".");
    let text = text.strip_prefix('v').unwrap_or(&text);
    let mut parts: Vec<_> = text.split('.').map(|part| part.trim_start_matches('0')).collect();
    while parts.last().is_some_and(|part| part.is_empty()) {
        parts.pop();
    }
    parts.join(".")
}

fn is_wheel(url: &str) -> bool {
    let name = file_name(url).unwrap_or_default();
    Path::new(&name).extension().is_some_and(|ending| ending == "whl")
}

/// Why a package is refused that is not from the index.
pub(super) fn by_address(name: &str, by: Option<&str>) -> String {
    let plain = |text: &str| Untrusted::new(text).for_terminal_line(100);
    let by = by.map(|by| format!(", which {} requires,", plain(by))).unwrap_or_default();
    let name = plain(name);
    format!(
        "{name}{by} comes by an address or from a repository, not as a finished build from the index"
    )
}

/// Whether an address is on a host of the index.
pub(super) fn is_from(url: &str, hosts: &[HostRule]) -> bool {
    let Some((rest, port)) = [("https://", 443), ("http://", 80)]
        .iter()
        .find_map(|(scheme, port)| Some((url.strip_prefix(scheme)?, *port)))
    else {
        return false;
    };
    let place = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let (host, port) = match place.rsplit_once(':') {
        Some((host, digits)) if !digits.ends_with(']') => match digits.parse() {
            Ok(port) => (host, port),
            Err(_) => return false,
        },
        Some(_) | None => (place, port),
    };
    !place.contains(['@', '\\'])
        && host.parse::<Host>().is_ok_and(|host| hosts.iter().any(|rule| rule.allows(&host, port)))
}

/// The name at the beginning of a requirement, in its one spelling.
fn name_in(text: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let end = text.find(|c| !plain(c)).unwrap_or(text.len());
    (end > 0).then(|| normal_name(PackageKind::Python, &text[..end]))
}

/// The package that a tool was to take by an address when it failed, and the one that requires it.
pub(super) fn taken_by_address(said: &str) -> Option<(String, Option<String>)> {
    let plain = |name: &str| {
        let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        (!name.is_empty() && name.chars().all(fits)).then(|| name.to_owned())
    };
    // In uv's words.
    if let Some((before, _)) = said.split_once("` was included as a URL dependency") {
        let (before, name) = before.rsplit_once('`')?;
        let by = before.rsplit_once("for package `").map(|(_, rest)| rest);
        let by = by.and_then(|rest| plain(rest.split(['=', '`']).next()?));
        return Some((plain(name)?, by));
    }
    // pip has begun to collect it.
    let mut lines = said.lines().rev().filter_map(|line| line.trim().strip_prefix("Collecting "));
    let last = lines.next()?;
    let (name, address) = last.split_once('@')?;
    let is_address = address.contains("://") || address.trim_start().starts_with("file:");
    Some((plain(name.split('[').next()?.trim())?, None)).filter(|_| is_address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> Vec<HostRule> {
        vec!["127.0.0.1:8000".parse().unwrap(), "pypi.org".parse().unwrap()]
    }

    fn read(items: &str) -> Result<Vec<String>, String> {
        let hosts = hosts();
        let accepted = Accepted { hosts: &hosts, sources: false };
        let report = format!(r#"{{"version": "1", "install": [{items}]}}"#);
        let found = in_pip_report(report.as_bytes(), accepted, |name, _| name == "known")?;
        Ok(found.iter().map(|one| format!("{} {}", one.package, one.package.hash)).collect())
    }

    #[test]
    fn uv_tells_which_package_requires_which() {
        let text = "low-thing==1.0\n    # via\n    #   mid-thing\n    #   top-thing\n\
                    mid-thing==1.0\n    # via top-thing\ntop-thing==1.0\n    # via -r wanted.txt\n\
                    both==2.0\n    # via\n    #   -r /f/wanted.txt\n    #   Top.Thing\n\
                    odd==1\n    # via a b\n    #   \u{1b}[2J\n    #\n    # via\nalone==1\n";
        let told = requirers_told(text.as_bytes());
        let told: Vec<_> = told.iter().map(|(one, by)| (one.as_str(), by.as_str())).collect();
        let top = ("mid-thing", "top-thing");
        assert_eq!(told, [("both", "Top.Thing"), ("low-thing", "mid-thing"), top]);
        for text in ["", "==", "# via x", "x\n# via y", "\u{0}==\n#via\n", "a==1\n#\n#via -e ."] {
            assert!(requirers_told(text.as_bytes()).is_empty(), "{text:?}");
        }
        assert!(requirers_told(&[0xff, b'\n', b'#']).is_empty());
    }

    fn item(name: &str, url: &str, info: &str, requires: &str, is_direct: bool) -> String {
        format!(
            r#"{{"download_info": {{"url": "{url}", {info}}}, "is_direct": {is_direct},
                "metadata": {{"name": "{name}", "version": "1.0", "requires_dist": [{requires}]}}}}"#
        )
    }

    const ARCHIVE: &str = r#""archive_info": {"hash": "sha256=00aa"}"#;

    #[test]
    fn finished_builds_of_the_index_are_let_through() {
        let one = item("a", "http://127.0.0.1:8000/f/a-1.0-py3-none-any.whl", ARCHIVE, "", false);
        assert_eq!(read(&one), Ok(vec!["a 1.0 sha256:00aa".into()]));
        let known = item("known", "file:///x/known-1.0-py3-none-any.whl", ARCHIVE, "", false);
        assert_eq!(read(&known), Ok(vec!["known 1.0 ".into()]));
    }

    #[test]
    fn anything_else_is_refused_and_named() {
        let asks = item(
            "a",
            "https://pypi.org/a-1.0-py3-none-any.whl",
            ARCHIVE,
            r#""hidden.thing @ x""#,
            false,
        );
        let wheel = "https://pypi.org/hidden_thing-1.0-py3-none-any.whl";
        for (other, word) in [
            (item("hidden-thing", wheel, ARCHIVE, "", true), "which a requires"),
            (
                item(
                    "hidden-thing",
                    "https://evil.example/h-1.0-py3-none-any.whl",
                    ARCHIVE,
                    "",
                    false,
                ),
                "which a requires",
            ),
            (item("hidden-thing", "file:///h-1.0-py3-none-any.whl", ARCHIVE, "", false), "address"),
            (
                item("hidden-thing", "https://pypi.org/h", r#""vcs_info": {}"#, "", true),
                "which a requires",
            ),
            (
                item("hidden-thing", "https://pypi.org/h-1.0.tar.gz", ARCHIVE, "", false),
                "no finished build of hidden-thing 1.0",
            ),
            (item("hidden-thing", wheel, r#""archive_info": {}"#, "", false), "no hash"),
            (item("hidden thing", wheel, ARCHIVE, "", false), "odd name"),
        ] {
            let refused = read(&format!("{asks}, {other}")).unwrap_err();
            assert!(refused.contains(word), "{refused}");
        }
    }

    #[test]
    fn a_list_of_uv_is_read_the_same() {
        let hosts = hosts();
        let read = |text: &str, sources| {
            let accepted = Accepted { hosts: &hosts, sources };
            in_pylock(text.as_bytes(), accepted, |_, _| false)
        };
        let lock = |file: &str| format!("[[packages]]\nname = 'a'\nversion = '1.0'\n{file}\n");
        let wheel = "url = 'https://pypi.org/a-1.0-py3-none-any.whl', hashes = { sha256 = '00' }";
        let found = read(&lock(&format!("wheels = [{{ {wheel} }}]")), false).unwrap();
        assert_eq!(found[0].package.hash, "sha256:00");
        let source =
            "sdist = { url = 'https://pypi.org/a-1.0.tar.gz', hashes = { sha256 = '00' } }";
        assert!(read(&lock(source), false).unwrap_err().contains("no finished build"));
        assert!(read(&lock(source), true).unwrap()[0].is_source);
        for other in [
            "vcs = { type = 'git', url = 'https://pypi.org/a' }",
            "directory = { path = '/x' }",
            "archive = { url = 'https://pypi.org/a-1.0-py3-none-any.whl' }",
            "",
        ] {
            assert!(read(&lock(other), true).unwrap_err().contains("by an address"), "{other}");
        }
    }

    #[test]
    fn an_address_is_of_the_index_or_not() {
        let hosts = hosts();
        for (url, is) in [
            ("https://pypi.org/x", true),
            ("http://127.0.0.1:8000/x", true),
            ("http://127.0.0.1:8001/x", false),
            ("https://pypi.org@evil.example/x", false),
            ("https://evil.example\\@pypi.org/x", false),
            ("https://pypi.org.evil.example/x", false),
            ("ftp://pypi.org/x", false),
            ("file:///x", false),
        ] {
            assert_eq!(is_from(url, &hosts), is, "{url}");
        }
    }

    #[test]
    fn what_was_to_be_taken_by_an_address_is_named() {
        let pip = "Collecting plain-thing\n  Downloading x\nCollecting hidden-thing@ \
                   http://h/hidden_thing-1.0.tar.gz\n  ERROR: Error nothing\n";
        assert_eq!(taken_by_address(pip), Some(("hidden-thing".into(), None)));
        let uv = "error: Failed to resolve dependencies for package `plain-thing==1.0`\n  cause: \
                  Package `hidden-thing` was included as a URL dependency. URL";
        let by = Some("plain-thing".to_owned());
        assert_eq!(taken_by_address(uv), Some(("hidden-thing".into(), by)));
        assert_eq!(taken_by_address("Collecting a\nCollecting b>1 (from a)\n"), None);
        assert_eq!(taken_by_address("Collecting \u{1b}[2J@ http://h/x\n"), None);
    }
}
