//! From settings to what code may reach, and back into the settings where a grant is for good.

use crate::{Advise, AgentError, error::chain};
use interpreter_core::{Grant, Network, egress::HostRule, session::HostAnswer};
use interpreter_exec::{
    Interpreters,
    egress::{Asks, Upstream, variables},
};
use interpreter_store::{Environment, Folders, IndexMachine, NetworkMode, Settings, keep_host};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The resolved network settings on this machine.
pub(crate) struct Reached {
    pub(crate) network: Network,
    /// Variables that tell programs inside the address of the proxy and of package sources.
    pub(crate) variables: BTreeMap<String, String>,
}

/// The hosts that code may reach. Package presets become the hosts that the person's own tools
/// name.
pub(crate) fn reached(
    settings: &Settings,
    environment: &Environment,
    home: Option<&Path>,
    prefixes: &[PathBuf],
) -> Result<Reached, AgentError> {
    if settings.network_mode.value == NetworkMode::None {
        return Ok(Reached { network: Network::None, variables: BTreeMap::new() });
    }
    let mut hosts = settings.listed_hosts();
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
    let network = match settings.network_mode.value {
        NetworkMode::Open => Network::Open(hosts),
        NetworkMode::Listed if !hosts.is_empty() => Network::Only(hosts),
        NetworkMode::Listed | NetworkMode::None => Network::None,
    };
    Ok(Reached { network, variables })
}

/// The variables by which programs inside find the proxy.
pub(crate) fn proxy_variables() -> BTreeMap<String, String> {
    variables()
}

/// Whether to ask about unlisted hosts, or `None` without any way out.
pub(crate) fn asks(settings: &Settings) -> Option<Asks> {
    match (settings.network_mode.value, settings.ask_for_hosts.value) {
        (NetworkMode::None, _) => None,
        (NetworkMode::Listed, true) => Some(Asks::Session),
        (NetworkMode::Open, _) | (NetworkMode::Listed, false) => Some(Asks::Nobody),
    }
}

/// Installation prefixes of interpreters. Tools in the work folder may have come with a project,
/// and could name any host.
pub(crate) fn prefixes(interpreters: &Interpreters, work_folder: &Path) -> Vec<PathBuf> {
    let programs = interpreters.folders().filter_map(|folder| folder.parent().map(Path::to_owned));
    let usual = ["/usr/local", "/usr"].map(PathBuf::from);
    programs.chain(usual).filter(|prefix| !prefix.starts_with(work_folder)).collect()
}

/// The person's own proxy for the outside.
pub(crate) fn upstream(environment: &Environment) -> Option<Upstream> {
    let first = |names: &[&str]| names.iter().find_map(|name| environment.text(name));
    let proxy = first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "http_proxy"])?;
    let except = first(&["no_proxy", "NO_PROXY"]).unwrap_or_default();
    Some(Upstream::new(proxy, except))
}

/// Saves a grant to the person's config file. Returns a note about it.
pub(crate) fn keep(folders: &Folders, answer: &HostAnswer) -> Option<String> {
    match answer.grant {
        Some(Grant::Always) => {}
        Some(Grant::Once | Grant::Session) | None => return None,
    }
    let rule = HostRule::exactly(answer.host.clone(), answer.port);
    match keep_host(folders, &rule) {
        Ok(_) => Some(format!("added `{rule}` to `network.hosts` in your config file")),
        Err(error) => {
            let advice = error.advice().map(|advice| format!("; {advice}")).unwrap_or_default();
            let why = chain(&error);
            Some(format!("`{rule}` is allowed for this session, but not kept: {why}{advice}"))
        }
    }
}
