//! The layers come together. Pure: the same files and arguments give the same settings.
//!
//! Each function takes its layer apart field by field, so that a new key does not compile until
//! it says what each layer may do with it.

use super::{
    ConfigError, ConfigFile, ConfigFiles, FilesTable, Layer, LimitSettings, LimitsTable, Listed,
    NetworkMode, NetworkTable, SandboxTable, Settings, Sourced, Temperature, bound::Bound,
    parse::parse,
};
use crate::quantity::{Bytes, TimeLimit};
use interpreter_core::{Choice, Promise, Rule, Workspace};
use std::{
    collections::BTreeMap,
    num::NonZeroU32,
    path::{Path, PathBuf},
};

/// What was typed on the command line; none where nothing was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// The profile to read. It is a file, so [`ConfigFiles::read`] is given it too.
    pub profile: Option<String>,
    /// The model to talk to.
    pub model: Option<String>,
    /// Whether to reach nothing but this machine. False leaves it to the files.
    pub offline: bool,
    /// How the code's writes to the work folder are treated.
    pub workspace: Option<Workspace>,
    /// Further instructions for the model.
    pub instructions: Option<String>,
    /// The most calls of the model in one turn.
    pub max_calls: Option<NonZeroU32>,
    /// The most tokens in one reply.
    pub max_tokens: Option<NonZeroU32>,
    /// How freely the model chooses its words.
    pub temperature: Option<Temperature>,
    /// Which sandbox.
    pub sandbox: Option<Choice>,
    /// What it may lack, on top of what the files allow.
    pub allow_missing: Vec<Promise>,
    /// How far code reaches.
    pub network: Option<NetworkMode>,
    /// Hosts that it may reach, on top of those in the files.
    pub allow_hosts: Vec<Listed>,
    /// Paths that code may also see, in this session alone: no file can say this.
    pub allow_read: Vec<PathBuf>,
    /// Paths that it may also change.
    pub allow_write: Vec<PathBuf>,
    /// How long a run may take.
    pub time_limit: Option<TimeLimit>,
    /// How much processor time a run may use.
    pub cpu_limit: Option<TimeLimit>,
    /// Memory that each process may have of its own.
    pub memory_limit: Option<Bytes>,
}

impl Settings {
    /// The settings that follow from these files and arguments.
    pub fn resolve(files: &ConfigFiles, overrides: &Overrides) -> Result<Self, ConfigError> {
        let mut settings = Self::default();
        if let Some(file) = &files.user {
            settings.lay(parse(file)?, Layer::User);
        }
        if let Some(file) = &files.profile {
            settings.lay(parse(file)?, Layer::Profile);
        }
        if let Some(file) = &files.project {
            settings.tighten(parse(file)?, &Project { path: &file.path })?;
        }
        settings.lay(overrides.clone().into(), Layer::CommandLine);
        if settings.offline.value {
            // Nothing but this machine: so code does not go out either.
            settings.network.mode =
                Sourced { value: NetworkMode::None, layer: settings.offline.layer };
        }
        Ok(settings)
    }

    /// Puts a layer of the person's own on top.
    fn lay(&mut self, file: ConfigFile, layer: Layer) {
        let ConfigFile {
            model,
            fallback,
            provider,
            offline,
            certificates,
            requests_per_minute,
            threads,
            endpoint,
            language,
            workspace,
            instructions,
            max_calls,
            max_tokens,
            temperature,
            undo_space,
            sandbox,
            network,
            files,
            limits,
            rules,
        } = file;
        lay(&mut self.model, model.map(Some), layer);
        lay(&mut self.fallback, fallback, layer);
        for (name, settings) in provider {
            self.providers.entry(name).or_default().extend(settings);
        }
        lay(&mut self.offline, offline, layer);
        lay(&mut self.certificates, certificates.map(Some), layer);
        lay(&mut self.requests_per_minute, requests_per_minute.map(Some), layer);
        lay(&mut self.threads, threads.map(Some), layer);
        let endpoints = endpoint.into_iter();
        self.endpoints.extend(endpoints.map(|(name, value)| (name, Sourced { value, layer })));
        let languages = language.into_iter();
        self.languages.extend(languages.map(|(name, value)| (name, Sourced { value, layer })));
        lay(&mut self.workspace, workspace, layer);
        lay(&mut self.instructions, instructions.map(Some), layer);
        lay(&mut self.max_calls, max_calls, layer);
        lay(&mut self.max_tokens, max_tokens.map(Some), layer);
        lay(&mut self.temperature, temperature.map(Some), layer);
        lay(&mut self.undo_space, undo_space, layer);
        self.sandbox.lay(sandbox, layer);
        self.network.lay(network, layer);
        let allowed = files.allow.into_iter().map(|value| Sourced { value, layer });
        self.allowed_files.extend(allowed);
        self.limits.lay(limits, layer);
        self.add_rules(rules, layer);
    }

    /// Puts the project's layer on top, or says what in it is not for a project to say.
    fn tighten(&mut self, file: ConfigFile, project: &Project<'_>) -> Result<(), ConfigError> {
        let ConfigFile {
            model,
            fallback,
            provider,
            offline,
            certificates,
            requests_per_minute,
            threads,
            endpoint,
            language,
            workspace,
            instructions,
            max_calls,
            max_tokens,
            temperature,
            undo_space,
            sandbox,
            network,
            files,
            limits,
            rules,
        } = file;
        project.may_not_set("model", model.is_some(), "it decides who reads your prompts")?;
        for (key, is_set) in [
            ("fallback", fallback.is_some()),
            ("provider", !provider.is_empty()),
            ("certificates", certificates.is_some()),
        ] {
            project.may_not_set(key, is_set, "it decides who reads your prompts")?;
        }
        project.may_not_set(
            "offline = false",
            offline == Some(false),
            "it does not make anything stricter",
        )?;
        lay(&mut self.offline, offline, Layer::Project);
        project.tighten(
            &mut self.requests_per_minute,
            "requests_per_minute",
            requests_per_minute.map(Some),
        )?;
        project.may_not_set("threads", threads.is_some(), "it is about your machine")?;
        project.may_not_set(
            "endpoint",
            !endpoint.is_empty(),
            "it decides who reads your prompts",
        )?;
        project.may_not_set(
            "language",
            !language.is_empty(),
            "it decides which programs run; put it in your own config file",
        )?;
        project.may_not_set(
            "instructions",
            instructions.is_some(),
            "they would speak to the model in your name",
        )?;
        project.may_not_set(
            "temperature",
            temperature.is_some(),
            "it does not make anything stricter",
        )?;
        project.may_not_set("undo_space", undo_space.is_some(), "it decides what you can undo")?;
        project.may_not_set(
            "files.allow",
            !files.allow.is_empty(),
            "it decides which of your secrets code can read",
        )?;
        project.tighten(&mut self.workspace, "workspace", workspace)?;
        project.tighten(&mut self.max_calls, "max_calls", max_calls)?;
        project.tighten(&mut self.max_tokens, "max_tokens", max_tokens.map(Some))?;
        self.sandbox.tighten(sandbox, project)?;
        self.network.tighten(network, project)?;
        self.limits.tighten(limits, project)?;
        // Kept apart by their layer: `policy::judge` lets them only make things stricter.
        self.add_rules(rules, Layer::Project);
        Ok(())
    }

    fn add_rules(&mut self, rules: Vec<Rule>, layer: Layer) {
        self.rules.extend(rules.into_iter().map(|value| Sourced { value, layer }));
    }
}

impl LimitSettings {
    fn lay(&mut self, table: LimitsTable, layer: Layer) {
        let LimitsTable {
            wall,
            cpu,
            memory,
            processes,
            file_size,
            open_files,
            temporary,
            staged,
            staged_files,
            output,
        } = table;
        lay(&mut self.wall, wall, layer);
        lay(&mut self.cpu, cpu, layer);
        lay(&mut self.memory, memory, layer);
        lay(&mut self.processes, processes, layer);
        lay(&mut self.file_size, file_size, layer);
        lay(&mut self.open_files, open_files, layer);
        lay(&mut self.temporary, temporary, layer);
        lay(&mut self.staged, staged, layer);
        lay(&mut self.staged_files, staged_files, layer);
        lay(&mut self.output, output, layer);
    }

    fn tighten(&mut self, table: LimitsTable, project: &Project<'_>) -> Result<(), ConfigError> {
        let LimitsTable {
            wall,
            cpu,
            memory,
            processes,
            file_size,
            open_files,
            temporary,
            staged,
            staged_files,
            output,
        } = table;
        project.tighten(&mut self.wall, "limits.wall", wall)?;
        project.tighten(&mut self.cpu, "limits.cpu", cpu)?;
        project.tighten(&mut self.memory, "limits.memory", memory)?;
        project.tighten(&mut self.processes, "limits.processes", processes)?;
        project.tighten(&mut self.file_size, "limits.file_size", file_size)?;
        project.tighten(&mut self.open_files, "limits.open_files", open_files)?;
        project.tighten(&mut self.temporary, "limits.temporary", temporary)?;
        project.tighten(&mut self.staged, "limits.staged", staged)?;
        project.tighten(&mut self.staged_files, "limits.staged_files", staged_files)?;
        project.tighten(&mut self.output, "limits.output", output)
    }
}

fn lay<T>(setting: &mut Sourced<T>, value: Option<T>, layer: Layer) {
    if let Some(value) = value {
        *setting = Sourced { value, layer };
    }
}

/// The project's file, for messages.
pub(super) struct Project<'a> {
    path: &'a Path,
}

impl Project<'_> {
    pub(super) fn may_not_set(
        &self,
        key: &'static str,
        is_set: bool,
        reason: &'static str,
    ) -> Result<(), ConfigError> {
        if is_set {
            return Err(ConfigError::ProjectMayNot { path: self.path.into(), key, reason });
        }
        Ok(())
    }

    /// What is said of a host that only the project lists.
    pub(super) fn lists_a_host(&self, host: String) -> ConfigError {
        ConfigError::ProjectListsHost { path: self.path.into(), host }
    }

    pub(super) fn tighten<T: Bound>(
        &self,
        setting: &mut Sourced<T>,
        key: &'static str,
        value: Option<T>,
    ) -> Result<(), ConfigError> {
        let Some(value) = value else { return Ok(()) };
        if value.is_looser_than(&setting.value) {
            return Err(ConfigError::ProjectLoosens {
                path: self.path.into(),
                key,
                wanted: value.words(),
                current: setting.value.words(),
                layer: setting.layer,
            });
        }
        *setting = Sourced { value, layer: Layer::Project };
        Ok(())
    }
}

impl From<Overrides> for ConfigFile {
    /// What was typed, as the layer that it is.
    fn from(overrides: Overrides) -> Self {
        let Overrides {
            profile: _,
            model,
            offline,
            workspace,
            instructions,
            max_calls,
            max_tokens,
            temperature,
            sandbox,
            allow_missing,
            network,
            allow_hosts,
            allow_read: _,
            allow_write: _,
            time_limit,
            cpu_limit,
            memory_limit,
        } = overrides;
        let limits = LimitsTable {
            wall: time_limit,
            cpu: cpu_limit,
            memory: memory_limit,
            ..LimitsTable::default()
        };
        Self {
            model,
            fallback: None,
            provider: BTreeMap::new(),
            offline: offline.then_some(true),
            certificates: None,
            requests_per_minute: None,
            threads: None,
            endpoint: BTreeMap::new(),
            language: BTreeMap::new(),
            workspace,
            instructions,
            max_calls,
            max_tokens,
            temperature,
            undo_space: None,
            sandbox: SandboxTable { backend: sandbox, allow_missing: Some(allow_missing) },
            network: NetworkTable {
                mode: network,
                hosts: Some(allow_hosts),
                ..NetworkTable::default()
            },
            files: FilesTable::default(),
            limits,
            rules: Vec::new(),
        }
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
