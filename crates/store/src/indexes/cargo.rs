//! cargo.
//!
//! An index names, in its `config.json`, where the packages themselves are. It is known only when
//! cargo has fetched it before, from its own cache; then that place counts too.

use super::{
    address,
    machine::{Index, IndexMachine, list, read},
};
use interpreter_core::egress::HostRule;
use std::path::{Path, PathBuf};

pub(super) fn find(machine: &IndexMachine<'_>) -> Index {
    let home = machine.environment.raw("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| machine.in_home(".cargo"));
    let mut urls = Vec::new();
    let mut replaced = false;
    for name in ["config.toml", "config"] {
        let text = home.as_ref().and_then(|home| read(&home.join(name))).unwrap_or_default();
        replaced |= read_config(&text, &mut urls);
    }
    let variables = machine.environment.names();
    urls.extend(variables.filter_map(|name| {
        let named = name.strip_prefix("CARGO_REGISTRIES_")?.ends_with("_INDEX");
        machine.environment.text(name).filter(|_| named).map(str::to_owned)
    }));
    let mut hosts: Vec<_> = urls.iter().filter_map(|url| Some(address::read(url)?.rule)).collect();
    let cached = home.map(|home| cached(&home)).unwrap_or_default();
    for (index, files) in cached {
        // Without a replacement everything that was ever fetched from counts; with one, only what
        // belongs to it.
        if !replaced || hosts.contains(&index) {
            hosts.extend([index].into_iter().chain(files));
        }
    }
    Index { hosts, ..Index::default() }
}

/// Reads a config file; whether it puts another source in place of the usual one.
fn read_config(text: &str, urls: &mut Vec<String>) -> bool {
    let Ok(table) = text.parse::<toml::Table>() else { return false };
    let mut replaced = false;
    let tables =
        |name: &str| table.get(name).and_then(toml::Value::as_table).cloned().unwrap_or_default();
    for (_, source) in tables("source") {
        replaced |= source.get("replace-with").is_some();
        urls.extend(source.get("registry").and_then(toml::Value::as_str).map(str::to_owned));
    }
    for (_, registry) in tables("registries") {
        urls.extend(registry.get("index").and_then(toml::Value::as_str).map(str::to_owned));
    }
    replaced
}

/// Indexes in the cache: the host of each, and where its packages are.
fn cached(home: &Path) -> Vec<(HostRule, Option<HostRule>)> {
    let folders = list(&home.join("registry/index"));
    let found = folders.iter().filter_map(|folder| {
        // The name is that of the host, and a hash.
        let host = folder.file_name()?.to_str()?.rsplit_once('-')?.0;
        let index = HostRule::exactly(host.parse().ok()?, 443);
        let config = read(&folder.join("config.json")).unwrap_or_default();
        let config: Option<serde_json::Value> = serde_json::from_str(&config).ok();
        let files = config.as_ref().and_then(|config| config.get("dl")?.as_str());
        Some((index, files.and_then(address::read).map(|one| one.rule)))
    });
    found.collect()
}
