//! Version managers: which program stands behind a shim.
//!
//! Worked out from the manager's own files, without running anything. A file in a project may
//! choose among the versions that are installed; it cannot point anywhere else, and it is read only
//! if it's a short regular file and no link.

use crate::regular::{self, Links};
use serde::Deserialize;
use std::{
    collections::BTreeMap,
    fs::Metadata,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Bytes of a file that chooses a version.
const LONGEST_CHOICE: u64 = 4 << 10;

/// Bytes of a manager's own settings.
const LONGEST_SETTINGS: u64 = 1 << 20;

const JULIAUP: &str = "julialauncher";

/// Managers whose programs all are the manager itself, which works out what was meant. None of
/// them works in a sandbox.
const MANAGERS: [&str; 7] = [JULIAUP, "mise", "rtx", "asdf", "snap", "volta-shim", "proto-shim"];

/// The real program behind a shim.
pub(super) enum Behind {
    /// It is what it seems.
    Itself,
    /// It belongs to a manager and starts this.
    Program(PathBuf),
    /// It belongs to a manager, and what it would start is not known.
    Unknown,
}

/// Resolves the shim `candidate`.
pub(super) fn behind(
    candidate: &Path,
    metadata: &Metadata,
    home: Option<&Path>,
    work_folder: &Path,
) -> Behind {
    let Some((folder, name)) = candidate.parent().zip(candidate.file_name()) else {
        return Behind::Itself;
    };
    let same = |other: Metadata| (other.dev(), other.ino()) == (metadata.dev(), metadata.ino());
    let program = if folder.file_name().is_some_and(|name| name == "shims") {
        behind_shim(candidate, work_folder)
    } else if name != "rustup" && fs_err::metadata(folder.join("rustup")).is_ok_and(same) {
        behind_rustup(candidate, home)
    } else {
        match linked_manager(candidate) {
            None => return Behind::Itself,
            Some(JULIAUP) => home.and_then(behind_juliaup),
            Some(_) => None,
        }
    };
    program.map_or(Behind::Unknown, Behind::Program)
}

/// The manager that a program is a link to, if it is one.
fn linked_manager(candidate: &Path) -> Option<&'static str> {
    // Most programs are no links at all.
    let real = candidate.is_symlink().then(|| fs_err::canonicalize(candidate).ok()).flatten()?;
    let manager = MANAGERS.into_iter().find(|manager| real.ends_with(manager))?;
    (!candidate.ends_with(manager)).then_some(manager)
}

/// The choice of pyenv and those that are made like it (rbenv, nodenv, plenv, phpenv, goenv): the
/// nearest `.NAME-version` above the work folder, else the global one.
fn behind_shim(shim: &Path, work_folder: &Path) -> Option<PathBuf> {
    let root = shim.parent()?.parent()?;
    let name = shim.file_name()?.to_str()?;
    let plain_name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let file = format!(".{plain_name}-version");
    let local = work_folder.ancestors().map(|folder| (folder.join(&file), Links::Refused));
    // The last is the person's own.
    local.chain([(root.join("version"), Links::Followed)]).find_map(|(file, links)| {
        let text = regular::text(&file, LONGEST_CHOICE, links)?;
        let program = installed(&root.join("versions"), text.lines().next()?.trim())?;
        Some(program.join("bin").join(name)).filter(|program| program.is_file())
    })
}

/// The default toolchain, or the first there is.
fn behind_rustup(proxy: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let near = proxy.ancestors().nth(3);
    let homes = home.map(|home| home.join(".rustup")).into_iter();
    // Images that install it for everyone have the two side by side.
    let homes =
        homes.chain(near.into_iter().flat_map(|near| [near.join("rustup"), near.join(".rustup")]));
    homes.into_iter().find_map(|home| {
        let toolchains = home.join("toolchains");
        let settings = settings(&home.join("settings.toml")).unwrap_or_default();
        let chosen = toml::from_str::<RustupSettings>(&settings).ok()?.default_toolchain;
        let chosen = chosen.and_then(|name| installed(&toolchains, &name));
        let toolchain = chosen.or_else(|| {
            let folders = fs_err::read_dir(&toolchains).ok()?.flatten();
            folders.map(|folder| folder.path()).min()
        })?;
        Some(toolchain.join("bin").join(proxy.file_name()?)).filter(|program| program.is_file())
    })
}

/// The settings of a manager, which may be a link into a folder of settings.
fn settings(file: &Path) -> Option<String> {
    regular::text(file, LONGEST_SETTINGS, Links::Followed)
}

#[derive(Deserialize)]
struct RustupSettings {
    default_toolchain: Option<String>,
}

/// The version of juliaup's default channel.
fn behind_juliaup(home: &Path) -> Option<PathBuf> {
    let folder = home.join(".julia/juliaup");
    let text = settings(&folder.join("juliaup.json"))?;
    let settings: JuliaupSettings = serde_json::from_str(&text).ok()?;
    let version = &settings.channels.get(&settings.default)?.version;
    let path = settings.versions.get(version.as_ref()?)?.path.trim_start_matches("./");
    Some(installed(&folder, path)?.join("bin/julia")).filter(|program| program.is_file())
}

#[derive(Deserialize)]
struct JuliaupSettings {
    #[serde(rename = "Default")]
    default: String,
    #[serde(rename = "InstalledChannels", default)]
    channels: BTreeMap<String, JuliaupChannel>,
    #[serde(rename = "InstalledVersions", default)]
    versions: BTreeMap<String, JuliaupVersion>,
}

#[derive(Deserialize)]
struct JuliaupChannel {
    /// Absent in a channel that is a link to some other Julia.
    #[serde(rename = "Version")]
    version: Option<String>,
}

#[derive(Deserialize)]
struct JuliaupVersion {
    #[serde(rename = "Path")]
    path: String,
}

/// The folder of a version below `versions`. The name must not lead anywhere else.
fn installed(versions: &Path, name: &str) -> Option<PathBuf> {
    let plain = !name.is_empty() && !name.contains('/') && name != "." && name != "..";
    plain.then(|| versions.join(name)).filter(|folder| folder.is_dir())
}
