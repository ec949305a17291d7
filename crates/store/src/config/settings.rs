//! Settings: what is meant, every default filled in, every value with the layer it came from.
//!
//! Later code has no `Option` to interpret but where none is a value of its own. How the layers
//! come together is in `resolve.rs`.

use super::{Endpoint, NetworkSettings, SandboxSettings, Temperature, bound::Bound};
use crate::quantity::{Bytes, TimeLimit};
use interpreter_core::{Declaration, Limits, Rule, Rules, Workspace, declaration::How};
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fmt,
    num::{NonZeroU32, NonZeroU64},
    path::PathBuf,
};

/// Where a value comes from, the later over the earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layer {
    /// Built in.
    Default,
    /// The person's config file.
    User,
    /// The profile that was asked for.
    Profile,
    /// The project's config file.
    Project,
    /// What was typed.
    CommandLine,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Default => "the defaults",
            Self::User => "your config file",
            Self::Profile => "the profile",
            Self::Project => "the project",
            Self::CommandLine => "the command line",
        })
    }
}

/// A value and the layer it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub layer: Layer,
}

impl<T> Sourced<T> {
    pub(super) fn built_in(value: T) -> Self {
        Self { value, layer: Layer::Default }
    }
}

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The model to talk to, as it was written; none if nobody chose.
    pub model: Sourced<Option<String>>,
    /// Models that are asked in turn where the first cannot answer.
    pub fallback: Sourced<Vec<String>>,
    /// What the addresses of providers are made of, by provider and setting.
    pub providers: BTreeMap<String, BTreeMap<String, String>>,
    /// Whether nothing but this machine is reached.
    pub offline: Sourced<bool>,
    /// A file of further certificates.
    pub certificates: Sourced<Option<PathBuf>>,
    /// The most calls of models in a minute; none leaves it open.
    pub requests_per_minute: Sourced<Option<NonZeroU32>>,
    /// How many threads compute a model that runs in this program; none leaves it to the engine.
    pub threads: Sourced<Option<NonZeroU32>>,
    /// Further places where models are, by name.
    pub endpoints: BTreeMap<String, Sourced<Endpoint>>,
    /// Languages of the person's own, by name.
    pub languages: BTreeMap<String, Sourced<Declaration>>,
    /// How the code's writes to the work folder are treated.
    pub workspace: Sourced<Workspace>,
    /// The person's own instructions for the model.
    pub instructions: Sourced<Option<String>>,
    /// The most calls of the model in one turn.
    pub max_calls: Sourced<NonZeroU32>,
    /// The most tokens in one reply; none leaves it to the model's client.
    pub max_tokens: Sourced<Option<NonZeroU32>>,
    /// How freely the model chooses its words; none leaves it to the provider.
    pub temperature: Sourced<Option<Temperature>>,
    /// Disk space for what undo and redo need.
    pub undo_space: Sourced<Bytes>,
    /// What confines code.
    pub sandbox: SandboxSettings,
    /// What code may reach.
    pub network: NetworkSettings,
    /// What code may see although its name is that of a secret.
    pub allowed_files: Vec<Sourced<PathBuf>>,
    /// What a run may use up.
    pub limits: LimitSettings,
    /// The rules of all layers. [`Settings::user_rules`] and [`Settings::project_rules`] keep
    /// them apart.
    pub rules: Vec<Sourced<Rule>>,
}

/// What a run may use up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitSettings {
    /// How long a run may take.
    pub wall: Sourced<TimeLimit>,
    /// How much processor time a run may use.
    pub cpu: Sourced<TimeLimit>,
    /// Memory that each process may have of its own.
    pub memory: Sourced<Bytes>,
    /// Processes and threads at once.
    pub processes: Sourced<NonZeroU64>,
    /// The largest file that may be written.
    pub file_size: Sourced<Bytes>,
    /// Files that one process may have open.
    pub open_files: Sourced<NonZeroU64>,
    /// All temporary files together.
    pub temporary: Sourced<Bytes>,
    /// All staged files together.
    pub staged: Sourced<Bytes>,
    /// How many files and folders may be staged.
    pub staged_files: Sourced<NonZeroU64>,
    /// What a run may print.
    pub output: Sourced<Bytes>,
}

/// One line of `config show`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// The key, as a config file has it.
    pub key: String,
    /// The value, without quotes; none if it is not set.
    pub value: Option<String>,
    /// Where it comes from.
    pub layer: Layer,
}

const MAX_CALLS: NonZeroU32 = NonZeroU32::new(20).expect("not zero");

const UNDO_SPACE: u64 = 2 << 30;

impl Default for Settings {
    /// What is built in.
    fn default() -> Self {
        Self {
            model: Sourced::built_in(None),
            fallback: Sourced::built_in(Vec::new()),
            providers: BTreeMap::new(),
            offline: Sourced::built_in(false),
            certificates: Sourced::built_in(None),
            requests_per_minute: Sourced::built_in(None),
            threads: Sourced::built_in(None),
            endpoints: BTreeMap::new(),
            languages: BTreeMap::new(),
            workspace: Sourced::built_in(Workspace::default()),
            instructions: Sourced::built_in(None),
            max_calls: Sourced::built_in(MAX_CALLS),
            max_tokens: Sourced::built_in(None),
            temperature: Sourced::built_in(None),
            undo_space: Sourced::built_in(Bytes::new(UNDO_SPACE)),
            sandbox: SandboxSettings::default(),
            network: NetworkSettings::default(),
            allowed_files: Vec::new(),
            limits: LimitSettings::default(),
            rules: Vec::new(),
        }
    }
}

impl Default for LimitSettings {
    /// Those of [`Limits`].
    fn default() -> Self {
        let limits = Limits::default();
        let bytes = |count| Sourced::built_in(Bytes::new(count));
        let number = |count| Sourced::built_in(NonZeroU64::new(count).unwrap_or(NonZeroU64::MIN));
        Self {
            wall: Sourced::built_in(TimeLimit::new(limits.wall_seconds)),
            cpu: Sourced::built_in(TimeLimit::new(limits.cpu_seconds)),
            memory: bytes(limits.memory_bytes),
            processes: number(limits.processes),
            file_size: bytes(limits.file_bytes),
            open_files: number(limits.open_files),
            temporary: bytes(limits.temporary_bytes),
            staged: bytes(limits.staged_bytes),
            staged_files: number(limits.staged_files),
            output: bytes(limits.output_bytes),
        }
    }
}

impl LimitSettings {
    /// The limits as a confinement has them.
    pub fn limits(&self) -> Limits {
        Limits {
            wall_seconds: self.wall.value.seconds(),
            cpu_seconds: self.cpu.value.seconds(),
            memory_bytes: self.memory.value.count(),
            processes: self.processes.value.get(),
            file_bytes: self.file_size.value.count(),
            open_files: self.open_files.value.get(),
            temporary_bytes: self.temporary.value.count(),
            staged_bytes: self.staged.value.count(),
            staged_files: self.staged_files.value.get(),
            output_bytes: self.output.value.count(),
        }
    }
}

impl Settings {
    /// The person's own rules, from their file and profile.
    pub fn user_rules(&self) -> Rules {
        self.rules_where(|layer| layer != Layer::Project)
    }

    /// The rules that came with the project.
    pub fn project_rules(&self) -> Rules {
        self.rules_where(|layer| layer == Layer::Project)
    }

    fn rules_where(&self, wanted: impl Fn(Layer) -> bool) -> Rules {
        let rules = self.rules.iter().filter(|rule| wanted(rule.layer));
        Rules(rules.map(|rule| rule.value.clone()).collect())
    }

    /// Every setting with its value and layer, in the order of the documentation.
    pub fn entries(&self) -> Vec<Entry> {
        let limits = &self.limits;
        let mut entries = vec![
            entry("model", &self.model, Clone::clone),
            entry("fallback", &self.fallback, |names| {
                (!names.is_empty()).then(|| names.join(", "))
            }),
            entry("offline", &self.offline, |offline| Some(offline.to_string())),
            entry("certificates", &self.certificates, |path| {
                path.as_ref().map(|path| path.display().to_string())
            }),
            entry("requests_per_minute", &self.requests_per_minute, |most| {
                most.map(|most| most.to_string())
            }),
            entry("threads", &self.threads, |threads| threads.map(|count| count.to_string())),
            bound("workspace", &self.workspace),
            entry("instructions", &self.instructions, Clone::clone),
            bound("max_calls", &self.max_calls),
            entry("max_tokens", &self.max_tokens, |most| most.map(|most| most.to_string())),
            entry("temperature", &self.temperature, |value| value.map(|v| v.to_string())),
            bound("undo_space", &self.undo_space),
            bound("sandbox.backend", &self.sandbox.backend),
            bound("network.mode", &self.network.mode),
            entry("network.ask", &self.network.ask, |ask| Some(ask.to_string())),
            bound("limits.wall", &limits.wall),
            bound("limits.cpu", &limits.cpu),
            bound("limits.memory", &limits.memory),
            bound("limits.processes", &limits.processes),
            bound("limits.file_size", &limits.file_size),
            bound("limits.open_files", &limits.open_files),
            bound("limits.temporary", &limits.temporary),
            bound("limits.staged", &limits.staged),
            bound("limits.staged_files", &limits.staged_files),
            bound("limits.output", &limits.output),
        ];
        for (name, endpoint) in &self.endpoints {
            entries.extend(endpoint_entries(name, endpoint));
        }
        entries.extend(self.languages.iter().map(|(name, language)| {
            entry(&format!("language.{name}"), language, |declared| Some(runs_by(declared)))
        }));
        entries.extend(self.sandbox.allow_missing.iter().map(|promise| {
            entry("sandbox.allow_missing", promise, |promise| Some(promise.to_string()))
        }));
        entries.extend(
            self.network
                .hosts
                .iter()
                .map(|host| entry("network.hosts", host, |host| Some(host.to_string()))),
        );
        entries.extend(
            self.network
                .deny
                .iter()
                .map(|host| entry("network.deny", host, |host| Some(host.to_string()))),
        );
        let allowed = self.allowed_files.iter();
        entries.extend(
            allowed.map(|path| entry("files.allow", path, |at| Some(at.display().to_string()))),
        );
        entries.extend(self.rules.iter().map(|rule| entry("rule", rule, |r| Some(r.words()))));
        entries
    }
}

fn entry<T>(key: &str, from: &Sourced<T>, show: impl Fn(&T) -> Option<String>) -> Entry {
    Entry { key: key.into(), value: show(&from.value), layer: from.layer }
}

fn bound<T: Bound>(key: &str, from: &Sourced<T>) -> Entry {
    entry(key, from, |value| Some(value.words().trim_matches('"').to_owned()))
}

/// What would run a language, best first.
fn runs_by(declaration: &Declaration) -> String {
    let words = declaration.ways.iter().map(|way| match &way.how {
        How::Driver(_) | How::Once(_) => way.programs.join(", "),
        How::Show(kind) => kind.clone(),
        How::Jupyter(name) => format!("the Jupyter kernel {name}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn endpoint_entries(name: &str, endpoint: &Sourced<Endpoint>) -> [Entry; 8] {
    let Endpoint { base_url, format, key_variable, tools, small, images, context, model } =
        &endpoint.value;
    [
        ("base_url", Some(base_url.clone())),
        ("format", Some(format.word().to_owned())),
        ("key_variable", key_variable.clone()),
        ("tools", Some(tools.to_string())),
        ("small", Some(small.to_string())),
        ("images", Some(images.to_string())),
        ("context", context.map(|tokens| tokens.to_string())),
        ("model", model.clone()),
    ]
    .map(|(key, value)| Entry {
        key: format!("endpoint.{name}.{key}"),
        value,
        layer: endpoint.layer,
    })
}
