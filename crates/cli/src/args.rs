//! What can be typed. Parsing touches neither disk nor environment.

use crate::report::Error;
use clap::{Parser, Subcommand};
use interpreter_core::{Choice, Promise, Workspace};
use interpreter_store::{Bytes, Listed, NetworkMode, Overrides, TimeLimit};
use std::{num::NonZeroU32, path::PathBuf};

use crate::commands::{audit, changes, doctor, history, languages, model, run, trust};

/// Let a model do things on your computer, in a sandbox, with your yes
///
/// You say what you want; a model writes code; you see the code and what it would do; on your yes
/// it runs in a sandbox. Files that it changes are staged and shown before they touch yours.
/// Everything is on a record that shows tampering.
#[derive(Debug, Parser)]
#[command(
    name = "interpreter",
    version,
    max_term_width = 100,
    args_conflicts_with_subcommands = true
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// Talk to a model of this machine: an embedded one that is here, else the first of a server that
    /// answers here; no other model is asked in its place
    #[arg(long, conflicts_with = "model")]
    pub(crate) local: bool,
    /// Picture that goes with the prompt, for models that see; again for each
    #[arg(long, value_name = "PATH")]
    pub(crate) image: Vec<PathBuf>,
    /// What you want; without it you are asked
    #[arg(value_name = "PROMPT")]
    pub(crate) prompt: Vec<String>,
}

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, for as long as the program runs")]
pub(crate) enum Command {
    Run(run::RunArgs),
    Changes(changes::ChangesArgs),
    History(history::HistoryArgs),
    Audit(audit::AuditArgs),
    Doctor(doctor::DoctorArgs),
    Languages(languages::LanguagesArgs),
    Model(model::ModelArgs),
    Trust(trust::TrustArgs),
}

/// Options of everything that runs code.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct SessionArgs {
    /// Model to talk to: PROVIDER/MODEL such as openai/MODEL or ollama/MODEL, ENDPOINT/MODEL of your
    /// config file, embedded/NAME, which runs in this program, or scripted:FILE; `interpreter model
    /// list` shows them [default: an embedded one that is here]
    #[arg(short, long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Reach nothing but this machine: no provider elsewhere, and no host for code
    #[arg(long)]
    pub(crate) offline: bool,
    /// Run code without asking, still inside the sandbox; denied stays denied
    #[arg(short, long, visible_alias = "auto-run", alias = "auto_run")]
    pub(crate) yes: bool,
    /// Print one JSON record a line and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Profile to use, a file NAME.toml in the profiles folder
    #[arg(short, long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// What happens to files that code writes: stage them, write them directly, or refuse
    #[arg(long, value_name = "MODE", value_parser = workspace)]
    pub(crate) workspace: Option<Workspace>,
    /// What confines code: auto, native, bubblewrap, firejail, landlock; or none, which confines
    /// nothing
    #[arg(long, value_name = "BACKEND")]
    pub(crate) sandbox: Option<Choice>,
    /// Promises that the sandbox need not keep in full, such as reading,limits; SECURITY.md lists
    /// them
    #[arg(long, value_name = "PROMISE", value_delimiter = ',')]
    pub(crate) allow_missing: Vec<Promise>,
    /// Host that code may reach, such as example.org, *.example.org or 192.0.2.1:8080; or where
    /// packages come from: python, npm, rust, debian
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<Listed>,
    /// File or folder outside of the work folder that code may also see, in this session; or a
    /// covered one in it, by its exact path
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_read: Vec<PathBuf>,
    /// File or folder outside of the work folder that code may also change, at once and without
    /// staging, in this session
    #[arg(long, value_name = "PATH")]
    pub(crate) allow_write: Vec<PathBuf>,
    /// How far code reaches: none (nowhere), listed (to what is allowed), open (everywhere public)
    #[arg(long, value_name = "MODE")]
    pub(crate) network: Option<NetworkMode>,
    /// Longest time one run may take, such as 15s or 10m
    #[arg(long, value_name = "TIME")]
    pub(crate) time_limit: Option<TimeLimit>,
    /// Most processor time one run may use, with all that it starts, such as 15s or 10m
    #[arg(long, value_name = "TIME")]
    pub(crate) cpu_limit: Option<TimeLimit>,
    /// Most memory, such as 512M or 2G: of each process, and of all where control groups can be had
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory_limit: Option<Bytes>,
    /// Most calls of the model in one turn
    #[arg(long, value_name = "COUNT")]
    pub(crate) max_calls: Option<NonZeroU32>,
}

impl SessionArgs {
    pub(crate) fn overrides(&self) -> Overrides {
        Overrides {
            profile: self.profile.clone(),
            model: self.model.clone(),
            offline: self.offline,
            workspace: self.workspace,
            sandbox: self.sandbox,
            allow_missing: self.allow_missing.clone(),
            network: self.network,
            allow_hosts: self.allow_host.clone(),
            allow_read: self.allow_read.clone(),
            allow_write: self.allow_write.clone(),
            max_calls: self.max_calls,
            time_limit: self.time_limit,
            cpu_limit: self.cpu_limit,
            memory_limit: self.memory_limit,
            ..Overrides::default()
        }
    }
}

fn workspace(text: &str) -> Result<Workspace, String> {
    [Workspace::Stage, Workspace::Direct, Workspace::ReadOnly]
        .into_iter()
        .find(|mode| mode.word() == text)
        .ok_or_else(|| "one of `stage`, `direct` and `read-only` is wanted".into())
}

impl Args {
    /// The prompt that was typed, if any.
    pub(crate) fn prompt(&self) -> Option<String> {
        (!self.prompt.is_empty()).then(|| self.prompt.join(" "))
    }
}

/// A misuse that arguments alone cannot show.
pub(crate) fn misuse(text: impl Into<String>) -> Error {
    Error::Misuse(text.into())
}
