//! npm.

use super::{
    address,
    machine::{Index, IndexMachine, read},
};
use std::path::PathBuf;

/// Keys of secrets, which may stand behind an address.
const SECRETS: [&str; 3] = ["_authToken", "_auth", "_password"];

pub(super) fn find(machine: &IndexMachine<'_>) -> Index {
    let mut registry = None;
    let mut scoped = Vec::new();
    let mut has_password = false;
    let text = |name| machine.environment.text(name);
    let mut files: Vec<_> = machine.prefixes.iter().map(|one| one.join("etc/npmrc")).collect();
    files.push(machine.in_root("etc/npmrc"));
    files.extend(text("npm_config_globalconfig").map(PathBuf::from));
    match text("NPM_CONFIG_USERCONFIG").or_else(|| text("npm_config_userconfig")) {
        Some(file) => files.push(file.into()),
        None => files.extend(machine.in_home(".npmrc")),
    }
    for line in files.iter().filter_map(|file| read(file)).flat_map(|text| lines(&text)) {
        let Some((key, value)) = line.split_once('=') else { continue };
        let value = value.trim().trim_matches('"').to_owned();
        match key.trim() {
            "registry" => registry = Some(value),
            key if key.starts_with('@') && key.ends_with(":registry") => scoped.push(value),
            key if SECRETS.iter().any(|secret| key.ends_with(secret)) => has_password = true,
            _ => {}
        }
    }
    for name in ["npm_config_registry", "NPM_CONFIG_REGISTRY"] {
        registry = text(name).map(str::to_owned).or(registry);
    }
    let mut index = Index { has_password, ..Index::default() };
    match registry.as_deref().and_then(address::read) {
        Some(one) => {
            index.has_password |= one.has_password;
            index.hosts.push(one.rule);
            index.variables.insert("npm_config_registry".into(), one.text);
        }
        None => index.hosts.extend(built_in(machine)),
    }
    index.hosts.extend(scoped.iter().filter_map(|one| Some(address::read(one)?.rule)));
    index
}

fn lines(text: &str) -> Vec<String> {
    let plain = |line: &&str| !line.starts_with(['#', ';']);
    text.lines().map(str::trim).filter(plain).map(str::to_owned).collect()
}

/// The default registry in the source of the installed npm.
fn built_in(machine: &IndexMachine<'_>) -> Option<interpreter_core::egress::HostRule> {
    const FILE: &str = "npm/node_modules/@npmcli/config/lib/definitions/definitions.js";
    const SHARED: &str = "share/nodejs/@npmcli/config/lib/definitions/definitions.js";
    let of_prefix = machine
        .prefixes
        .iter()
        .flat_map(|one| [one.join("lib/node_modules").join(FILE), one.join(SHARED)]);
    let system =
        [machine.in_root("usr/lib/node_modules").join(FILE), machine.in_root("usr").join(SHARED)];
    of_prefix.chain(system).find_map(|file| {
        let source = read(&file)?;
        let definition = source.split("'registry', {").nth(1)?;
        let default = definition.split("default:").nth(1)?.trim_start();
        let url = default.strip_prefix(['\'', '"'])?.split(['\'', '"']).next()?;
        Some(address::read(url)?.rule)
    })
}
