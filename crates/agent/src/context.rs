//! The setup of a session, gathered from settings, environment and machine.
//!
//! Everything that later decides or runs gets plain values from here. Secrets stay in the
//! environment's snapshot until an endpoint asks for its own.

use crate::{
    AgentError, changes,
    choose::{Choice, ChooseError, certificates, providers},
    grants, network, rules, secrets,
    update::Mode,
};
use interpreter_analyze::AddedRules;
use interpreter_core::{
    Access, Broker, Lack, Network, People, Policy, Redactor, Untrusted, Workspace,
    confinement::ConfinementSummary,
    policy::Places,
    redact,
    sandbox::lacks,
    secret,
    session::{Approval, HowAsked, ModelProfile, Setup},
};
use interpreter_exec::{
    Activated, ExecError, Interpreters, RunnerSetup, StandardInput,
    egress::{Asks, Doorway, Upstream},
    sandbox::{Machine, admit, explain, first, has_own_system, keeps, secrets::cover},
};
use interpreter_model::{DocumentClient, Pace, Providers};
use interpreter_store::{
    Bytes, CallsOfAMinute, ConfigFiles, Environment, Folders, Ledger, Log, Outputs, Overrides,
    PipedFile, Retention, Settings,
};
use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Path, PathBuf},
    sync::Arc,
};
use tokio::runtime::Handle;

mod bounds;

pub(crate) use bounds::plainly;

/// The setup of a session.
pub struct Context {
    /// The settings, every default filled in.
    pub settings: Settings,
    /// Our own folders.
    pub folders: Folders,
    /// The environment, as it was when the program started.
    pub environment: Environment,
    /// The folder that the code works in.
    pub work_folder: PathBuf,
    /// The profile that was asked for.
    profile_name: Option<String>,
    /// The providers that are known.
    pub providers: Providers,
    pub(crate) home: Option<PathBuf>,
    interpreters: Interpreters,
    machine: Machine,
    /// The person's grants for this session.
    pub(crate) granted: BTreeMap<PathBuf, Access>,
    pub(crate) network: Network,
    /// Variables that tell programs inside the address of the proxy and of package sources.
    pub(crate) network_variables: BTreeMap<String, String>,
    upstream: Option<Arc<Upstream>>,
    /// Puts secrets into requests of the code, where the person allowed that.
    broker: Option<Arc<Broker>>,
    /// Where packages of this folder are installed, unless code has a system of its own.
    pub(crate) packages: Option<PathBuf>,
    /// Where interpreters and their tools are installed.
    pub(crate) prefixes: Vec<PathBuf>,
    /// How many calls of models a minute may have, of all models together.
    pace: Arc<Pace>,
    /// Columns and rows that output has on the person's window.
    window: Option<(usize, usize)>,
    /// Rules for the analysis of code that the person and the project have added.
    pub added_rules: Arc<AddedRules>,
    /// Takes secrets out of what is shown, recorded and sent.
    pub(crate) redactor: Arc<Redactor>,
    /// Secrets that are not available, or not redacted, and why, in words.
    pub unavailable: Vec<String>,
    /// How many people can answer.
    people: People,
    /// Where sessions take their steps, if that is not where they begin.
    pub(crate) steps: Option<Handle>,
    /// The way to the model of sessions, if it is another than that of the settings.
    pub(crate) picked: Option<String>,
    /// Whether there is a person who could answer a question.
    pub has_person: bool,
    /// The standard input of the code.
    pub(crate) input: StandardInput,
    /// Data that came with a prompt. It is removed with this.
    pub(crate) piped: Option<PipedFile>,
}

impl Context {
    /// Gathers everything. `work_folder` is where the person is, `program` our own binary.
    pub fn open(
        environment: Environment,
        work_folder: &Path,
        program: PathBuf,
        overrides: &Overrides,
    ) -> Result<Self, AgentError> {
        let work_folder = fs_err::canonicalize(work_folder).map_err(AgentError::WorkFolder)?;
        let program = fs_err::canonicalize(program).map_err(AgentError::Program)?;
        let folders = Folders::find(&environment)?.resolved();
        let (mut environment, unavailable) = secrets::with_kept(environment, &folders)?;
        let mut unavailable: Vec<_> = unavailable.into_iter().collect();
        let home = environment.raw("HOME").map(PathBuf::from);
        let machine = Machine::look(program, folders.sandboxes_folder(), home.clone());
        machine.get_ready();
        let files = ConfigFiles::read(&folders, &work_folder, overrides.profile.as_deref())?;
        let settings = Settings::resolve(&files, &environment, overrides)
            .map_err(interpreter_store::StoreError::from)?;
        let unread = secrets::add_vault(&mut environment, &settings, &folders)?;
        let (broker, unusable) = secrets::for_code(&mut environment, &settings, &unread)?;
        unavailable.extend(unread.into_iter().map(|one| one.told).chain(unusable));
        let providers = providers(&files)?;
        let added_rules = Arc::new(rules::added(&files)?);
        // Compared with paths that are resolved, so it has to be resolved too.
        let home = home.map(|home| fs_err::canonicalize(&home).unwrap_or(home));
        let declared = settings.languages.iter().map(|(name, one)| (name.as_str(), &one.value));
        let path = environment.path_list("PATH");
        let interpreters = if has_own_system(settings.sandbox.value) {
            Interpreters::elsewhere(declared)
        } else {
            let activated = activated(&environment);
            Interpreters::find(&path, home.as_deref(), &work_folder, &activated, declared)
        };
        rules::check(&settings, &interpreters)?;
        let prefixes = network::prefixes(&interpreters, &work_folder);
        let reached = network::reached(&settings, &environment, home.as_deref(), &prefixes)?;
        let packages = (!has_own_system(settings.sandbox.value))
            .then(|| folders.packages_folder_for(&work_folder));
        // After everything was found: a package may not name an interpreter or a host.
        let interpreters = match &packages {
            Some(folder) => interpreters.with_packages(folder),
            None => interpreters,
        };
        let granted = grants::granted(overrides, &folders, &work_folder)?;
        let upstream = network::upstream(&environment).map(Arc::new);
        let (ledger, most) = (Ledger::new(&folders), settings.requests_per_minute.value);
        // It is a courtesy to providers: a full disk does not stop the person. This process then
        // counts its own calls.
        let alone = CallsOfAMinute::default();
        let take = move || ledger.take_call(most).unwrap_or_else(|_| alone.take(most));
        let pace = Arc::new(Pace::new(take));
        let redactor = Arc::new(redactor(&environment));
        unavailable.extend(unredacted(&redactor));
        Ok(Self {
            settings,
            folders,
            environment,
            work_folder,
            profile_name: overrides.profile.clone(),
            providers,
            home,
            interpreters,
            machine,
            granted,
            network: reached.network,
            network_variables: reached.variables,
            upstream,
            broker: broker.map(Arc::new),
            packages,
            prefixes,
            pace,
            window: None,
            added_rules,
            redactor,
            unavailable,
            people: People::One,
            steps: None,
            picked: None,
            has_person: true,
            input: StandardInput::Empty,
            piped: None,
        })
    }

    /// Tells code how many columns and rows of the person's window its output has.
    pub fn use_window(&mut self, columns: usize, rows: usize) {
        self.window = Some((columns, rows));
    }

    /// Runs code as a user of the system of its own, if this process is root. No other session's code
    /// may be that user, unless it is the same person's.
    pub fn use_system_user(&mut self, user: u32) {
        self.machine.own_user = Some(user);
    }

    /// Takes secrets out of text.
    pub fn redactor(&self) -> Arc<Redactor> {
        Arc::clone(&self.redactor)
    }

    /// The interpreters of this machine.
    pub fn interpreters(&self) -> &Interpreters {
        &self.interpreters
    }

    /// The bounds of a run in words, and everything that would be done for it, step by step.
    pub fn explain(&self) -> Result<Explained, AgentError> {
        let trusted = self.broker.as_ref().map(|_| Path::new("TRUSTED-CERTIFICATES"));
        let asks = network::asks(&self.settings);
        let door = asks.map(|_| Doorway { socket: Path::new("PROXY-SOCKET"), trusted });
        let (confinement, stage) = (cover(&self.confinement())?, Some(Path::new("CHANGE-SET")));
        // Only building it shows which one `auto` becomes; this is the first that is tried.
        let backend = first(confinement.sandbox.backend);
        admit(backend, &confinement, &self.machine)?;
        let steps = explain(backend, &confinement, stage, door, &self.machine)?;
        let mut text = String::new();
        for (step, number) in steps.into_iter().zip(1..) {
            // Writing to a string cannot fail.
            _ = writeln!(text, "{number:3}. {}", Untrusted::new(step).for_terminal_line(8192));
        }
        for grant in &confinement.secrets {
            _ = writeln!(text, "code can use {} unseen: {grant}", grant.name);
        }
        let missing = lacks(|promise| keeps(backend, promise));
        for Lack { promise, why } in missing {
            _ = writeln!(text, "not fully kept: {promise}, because {why}");
        }
        // Without the secrets in the work folder that `cover` adds: they are in the steps.
        let bounds = self.confinement().summary(backend, asks == Some(Asks::Session));
        Ok(Explained { bounds, steps: text })
    }

    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    pub(crate) fn upstream(&self) -> Option<Arc<Upstream>> {
        self.upstream.clone()
    }

    pub(crate) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The name of the model that is chosen, if one is: by the settings, or because its file is here.
    pub fn model_name(&self) -> Result<Option<String>, AgentError> {
        Ok(self.choice()?.name())
    }

    /// The sources of a model.
    pub(crate) fn choice(&self) -> Result<Choice<'_>, ChooseError> {
        let choice =
            Choice::new(&self.settings, &self.environment, &self.providers, &self.folders)?;
        Ok(choice.paced(Some(Arc::clone(&self.pace))))
    }

    /// Whoever asks for documents of servers that are no models, as the settings have it.
    pub fn document_client(&self) -> Result<DocumentClient, AgentError> {
        let certificates = certificates(&self.settings, &self.folders)?;
        Ok(DocumentClient { certificates, offline: self.settings.offline.value })
    }

    pub(crate) fn log(&self) -> Result<Log, AgentError> {
        Ok(Log::open(&self.folders)?)
    }

    /// The amounts that all sessions have spent today.
    pub fn ledger(&self) -> Ledger {
        Ledger::new(&self.folders)
    }

    /// Old sessions that could not be removed when they should have been, in words.
    pub(crate) fn unremoved(&self) -> Option<String> {
        let why = Retention::failed(&self.folders)?;
        Some(format!("old sessions could not be removed from the record: {why}"))
    }

    /// The bounds of the record.
    pub(crate) fn retention(&self) -> Retention {
        Retention {
            space: self.settings.record_space.value.map(Bytes::count),
            seconds: self.settings.keep_sessions.value.seconds(),
        }
    }

    pub(crate) fn outputs(&self) -> Outputs {
        Outputs::new(&self.folders)
    }

    pub(crate) fn runner_setup(&self, session: &str) -> Result<RunnerSetup, AgentError> {
        let changeable = self.granted.iter().filter(|(_, access)| **access == Access::Write);
        for shown in changeable.clone().map(|(path, _)| path).chain([&self.work_folder]) {
            self.folders.make_all_in(shown)?;
        }
        let is_direct = self.settings.workspace.value == Workspace::Direct;
        let work = is_direct.then_some(&self.work_folder);
        let looked_up = Folders::find(&self.environment)?;
        for shown in changeable.map(|(path, _)| path).chain(work) {
            if let Some(link) = looked_up.led_to_from(shown, &self.folders) {
                let reason = format!(
                    "code could replace {} in it, which leads to this program's own settings or \
                     data",
                    link.display()
                );
                return Err(ExecError::WorkFolder { folder: shown.clone(), reason }.into());
            }
        }
        Ok(RunnerSetup {
            interpreters: self.interpreters.clone(),
            machine: self.machine.clone(),
            changes: changes::place(self)?,
            undo_bytes: self.settings.undo_space.value.count(),
            session: session.into(),
            upstream: self.upstream.clone(),
            broker: self.broker.clone(),
            asks: network::asks(&self.settings),
            input: self.input.clone(),
            redactor: Arc::clone(&self.redactor),
        })
    }

    /// The initial state of a session, with this model or without one.
    pub(crate) fn setup(&self, profile: ModelProfile, approval: Approval, mode: Mode) -> Setup {
        Setup {
            has_model: mode == Mode::Chat,
            profile,
            syntax: interpreter_analyze::detect_language,
            languages: self.interpreters.languages(),
            policy: self.policy(),
            budget: self.settings.budget(),
            confinement: self.confinement(),
            asks_for_hosts: network::asks(&self.settings) == Some(Asks::Session),
            people: self.people,
            approval,
            packages: self.package_setup(),
            project_code: self.interpreters.project_code(&self.work_folder),
            redactor: Arc::clone(&self.redactor),
            file_headers: self.settings.file_headers.value,
            max_calls: self.settings.max_calls.value.into(),
        }
    }

    /// How much a session asks with these settings.
    pub(crate) fn how_asked(&self, approval: Approval) -> HowAsked {
        HowAsked {
            approval,
            mode: self.settings.approval_mode.value,
            up_to: self.settings.approval_limit.value,
            profile: self.profile_name.clone(),
        }
    }

    /// Nobody is there to end what takes too long: runs and turns end by themselves.
    pub fn bound_unattended(&mut self) {
        self.settings.bound_unattended();
    }

    /// Sessions are those of a team: several people can answer, and each is known.
    pub fn serve_several(&mut self) {
        self.people = People::Several;
    }

    /// Has sessions take their steps elsewhere than where they begin, so that one with much to
    /// read or to write keeps nobody else waiting.
    pub fn step_on(&mut self, steps: Handle) {
        self.steps = Some(steps);
    }

    /// Has sessions ask no less than this.
    pub fn ask_no_less(&mut self, than: &HowAsked) {
        let (mode, up_to) =
            (&mut self.settings.approval_mode.value, &mut self.settings.approval_limit.value);
        (*mode, *up_to) = ((*mode).max(than.mode), (*up_to).min(than.up_to));
    }

    /// By what code is judged.
    pub fn policy(&self) -> Policy {
        Policy {
            user: self.settings.user_rules(),
            project: self.settings.project_rules(),
            mode: self.settings.approval_mode.value,
            up_to: self.settings.approval_limit.value,
            places: Places { work_folder: self.work_folder.clone(), home: self.home.clone() },
        }
    }
}

/// The bounds of a run.
#[derive(Debug)]
pub struct Explained {
    /// In words.
    pub bounds: ConfinementSummary,
    /// Step by step, a line each.
    pub steps: String,
}

/// Knows the shapes of tokens, and the secrets in the environment.
fn redactor(environment: &Environment) -> Redactor {
    let known: Vec<_> = environment.secrets().collect();
    Redactor::of_shapes().knowing(known.iter().map(|(name, value)| (*name, value)))
}

/// A line about secrets that are not looked for, if there are any.
fn unredacted(redactor: &Redactor) -> Option<String> {
    let count = redactor.left_out();
    (count > 0).then(|| {
        let (most, longest) = (redact::MOST, secret::LONGEST >> 10);
        format!(
            "Secrets that are not redacted, or only in part: {count}. Redaction covers {most} \
             secrets, and the first {longest} KiB of each."
        )
    })
}

/// Which environment of Python the person's shell stands in.
fn activated(environment: &Environment) -> Activated {
    let folder = |name| environment.raw(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let is_base = matches!(environment.text("CONDA_DEFAULT_ENV"), Some("base" | "root"));
    Activated {
        virtual_environment: folder("VIRTUAL_ENV"),
        conda: folder("CONDA_PREFIX").filter(|_| !is_base),
        jupyter: folder("JUPYTER_DATA_DIR")
            .into_iter()
            .chain(environment.path_list("JUPYTER_PATH"))
            .collect(),
    }
}
