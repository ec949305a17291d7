//! From settings to what code may reach, and back into the settings where a grant is for good.

use crate::{AgentError, error::chain};
use interpreter_core::{
    HostContact, Network,
    egress::HostRule,
    session::{Grant, HostAnswer},
};
use interpreter_exec::{
    Interpreters,
    egress::{Asks, Upstream, variables},
};
use interpreter_store::{
    Environment, Folders, IndexMachine, NetworkMode, NetworkSettings, keep_host,
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// What the settings come to on this machine.
pub(crate) struct Reached {
    pub(crate) network: Network,
    /// What tells programs inside where the proxy is, and where packages come from.
    pub(crate) variables: BTreeMap<String, String>,
}

/// What code may reach. Kinds of packages become the hosts that the person's own tools name.
pub(crate) fn reached(
    settings: &NetworkSettings,
    environment: &Environment,
    home: Option<&Path>,
    prefixes: &[PathBuf],
) -> Result<Reached, AgentError> {
    if settings.mode.value == NetworkMode::None {
        return Ok(Reached { network: Network::None, variables: BTreeMap::new() });
    }
    let mut hosts = settings.listed();
    let mut variables = variables();
    let machine = IndexMachine { environment, home, root: Path::new("/"), prefixes };
    for preset in settings.presets() {
        let index = preset.find(&machine);
        if index.hosts.is_empty() {
            return Err(AgentError::NoIndex { preset: preset.word(), tool: preset.tool() });
        }
        hosts.allow.extend(index.hosts);
        variables.extend(index.variables);
    }
    let network = match settings.mode.value {
        NetworkMode::Open => Network::Open(hosts),
        NetworkMode::Listed if !hosts.is_empty() => Network::Only(hosts),
        NetworkMode::Listed | NetworkMode::None => Network::None,
    };
    Ok(Reached { network, variables })
}

/// Whether the person is asked about what is not listed; none if there is no way out at all.
pub(crate) fn asks(settings: &NetworkSettings) -> Option<Asks> {
    match (settings.mode.value, settings.ask.value) {
        (NetworkMode::None, _) => None,
        (NetworkMode::Listed, true) => Some(Asks::Session),
        (NetworkMode::Open, _) | (NetworkMode::Listed, false) => Some(Asks::Nobody),
    }
}

/// Where tools that belong to the interpreters are installed. What is in the work folder may have
/// come with a project, and could name any host.
pub(crate) fn prefixes(interpreters: &Interpreters, work_folder: &Path) -> Vec<PathBuf> {
    let programs = interpreters.folders().filter_map(|folder| folder.parent().map(Path::to_owned));
    let usual = ["/usr/local", "/usr"].map(PathBuf::from);
    programs.chain(usual).filter(|prefix| !prefix.starts_with(work_folder)).collect()
}

/// What is said of hosts that were tried after the last run.
pub(crate) fn tried_late(contacts: &[HostContact]) -> impl Iterator<Item = String> {
    contacts
        .iter()
        .map(|contact| format!("after the last run, by what it left: {}", contact.line()))
}

/// The person's own proxy for the outside.
pub(crate) fn upstream(environment: &Environment) -> Option<Upstream> {
    let first = |names: &[&str]| names.iter().find_map(|name| environment.text(name));
    let proxy = first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "http_proxy"])?;
    let except = first(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
    Some(Upstream::new(proxy, except))
}

/// Writes a grant for good into the person's config file. What there is to say of it.
pub(crate) fn keep(folders: &Folders, answer: &HostAnswer) -> Option<String> {
    match answer.grant {
        Some(Grant::Always) => {}
        Some(Grant::Once | Grant::Session) | None => return None,
    }
    let rule = HostRule::exactly(answer.host.clone(), answer.port);
    match keep_host(folders, &rule) {
        Ok(_) => Some(format!("`{rule}` is now in `network.hosts` of your config file")),
        Err(error) => Some(format!(
            "`{rule}` holds for this session, but could not be kept: {}",
            chain(&error)
        )),
    }
}
