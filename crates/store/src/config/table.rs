//! Every setting, declared once.
//!
//! An entry gives the name in config files, the field, its type, the default where it is not that
//! of the type, and what a project may do with it. Everything else follows from it: parsing,
//! layers, errors, the options of the command line, `config show`, the schema, and the check of
//! the documentation.

use super::{
    AddressParts, BaseUrl, EndpointSettings, Listed, NetworkMode, Prose, SecretName, Sourced,
    Temperature,
    declare::{
        Project::{Add, AddUnless, Narrow, Never, Tighten},
        settings,
    },
    together::UNATTENDED_RUN,
};
use crate::quantity::{Bytes, Dollars, TimeLimit};
use interpreter_core::{
    ApprovalMode, Choice, Declaration, Limits, Opinion, Promise, RiskLimit, Rule, Scanner, Theme,
    Workspace, egress::HostRule, file_header::FileHeaders, packages::PackagePolicy,
    system_users::UserRange, vault::VaultSecret,
};
use std::{
    collections::BTreeMap,
    num::{NonZeroU32, NonZeroU64},
    path::PathBuf,
};

const PROMPTS: &str = "it decides who reads your prompts";
const TEAM: &str = "it is about all people of a server";
const SECRETS: &str = "it decides where your secrets come from";
const LOGINS: &str = "it decides who can log in";

settings! {
    /// Everything that can be set, with every default filled in.
    pub struct Settings {
        /// Use this model: PROVIDER/MODEL, ENDPOINT/MODEL, embedded/NAME or scripted:FILE;
        /// `interpreter model list` shows them.
        "model" model: Sourced<Option<String>>, Never(PROMPTS),
            option "-m, --model MODEL", variable "INTERPRETER_MODEL";

        /// Call `model` at this address, without a key: at an OpenAI-compatible server, unless its
        /// provider has another format.
        "base_url" base_url: Sourced<Option<BaseUrl>>, Never(PROMPTS),
            option "--base-url URL";

        /// Try these models in turn when `model` cannot answer.
        "fallback" fallback: Sourced<Vec<String>>, Never(PROMPTS);

        /// Reach nothing but this machine: no remote provider, and no host for code.
        "offline" offline: Sourced<bool>, Tighten(|new, old| new < old),
            option "--offline", variable "INTERPRETER_OFFLINE";

        /// Trust the certificates in this PEM file, beside the system's, when calling models.
        "certificates" certificates: Sourced<Option<PathBuf>>, Never(PROMPTS);

        /// Limit calls of models per minute, of all sessions together.
        "requests_per_minute" requests_per_minute: Sourced<NonZeroU32> = REQUESTS_PER_MINUTE,
            Tighten(is_more);

        /// Compute embedded models with this many threads.
        "threads" threads: Sourced<Option<NonZeroU32>>, Never("it is about your machine");

        /// Stage the files that code writes, write them directly, or refuse: stage, direct or
        /// read-only.
        "workspace" workspace: Sourced<Workspace>,
            Tighten(|new, old| freedom_to_write(*new) > freedom_to_write(*old)),
            option "--workspace MODE";

        /// Add these instructions to the prompt of the model.
        "instructions" instructions: Sourced<Option<Prose>>,
            Never("they would speak to the model in your name");

        /// Limit calls of the model in one turn.
        "max_calls" max_calls: Sourced<NonZeroU32> = MAX_CALLS, Tighten(is_more),
            option "--max-calls COUNT";

        /// Limit tokens in one reply.
        "max_tokens" max_tokens: Sourced<Option<NonZeroU32>>, Tighten(is_more_or_unlimited);

        /// Set the sampling temperature, from 0 to 2.
        "temperature" temperature: Sourced<Option<Temperature>>,
            Never("it does not make anything stricter");

        /// Give the model the column names or keys of data files that a prompt names: never, small
        /// (small models only) or always.
        "file_headers" file_headers: Sourced<FileHeaders>, Tighten(is_more);

        /// Draw every row once and without colour, for screen readers.
        "plain" plain: Sourced<bool> = false, Never("it decides how your screen looks"),
            option "--plain", variable "INTERPRETER_PLAIN";

        /// Choose colours for a terminal: light, dark, auto (ask the terminal) or none.
        "theme" theme: Sourced<Theme>, Never("it decides how your screen looks"),
            variable "INTERPRETER_THEME";

        /// Limit the disk space for undo and redo; the oldest is dropped first.
        "undo_space" undo_space: Sourced<Bytes> = Bytes::new(UNDO_SPACE),
            Never("it decides what you can undo");

        /// Keep sessions in the record this long after their last record, such as 90d.
        "keep_sessions" keep_sessions: Sourced<TimeLimit> = TimeLimit::None,
            Never("it decides what stays on record");

        /// Limit the size of the record; the oldest sessions are removed first.
        "record_space" record_space: Sourced<Option<Bytes>>,
            Never("it decides what stays on record");

        /// Read secrets from the HashiCorp Vault at this address; without it, `VAULT_ADDR` counts.
        "vault.address" vault_address: Sourced<Option<BaseUrl>>, Never(SECRETS);

        /// Use a secret in Vault as if it was kept here: NAME=MOUNT/PATH#FIELD.
        "vault.secrets" vault_secrets: Vec<Sourced<VaultSecret>>, Never(SECRETS);

        /// Let the people of a team log in through the login provider (OIDC) at this address.
        "login.issuer" login_issuer: Sourced<Option<BaseUrl>>, Never(LOGINS);

        /// Log in there as the client with this id.
        "login.client" login_client: Sourced<Option<String>>, Never(LOGINS);

        /// Send the provider the secret of the client: the name of a kept secret or a variable.
        "login.secret" login_secret: Sourced<Option<SecretName>>, Never(LOGINS);

        /// Ask the provider for these scopes beside `openid`.
        "login.scopes" login_scopes: Sourced<Vec<String>>, Never(LOGINS);

        /// Call the provider by this name on the page; without it, by its host.
        "login.name" login_name: Sourced<Option<String>>, Never(LOGINS);

        /// Define a model server of your own, by name.
        "endpoint" endpoints: BTreeMap<String, Sourced<EndpointSettings>>, Never(PROMPTS);

        /// Fill in the parts of a provider's address, by provider and part.
        "provider" providers: BTreeMap<String, Sourced<AddressParts>>, Never(PROMPTS);

        /// Define a language, or another way to run a known one, by name.
        "language" languages: BTreeMap<String, Sourced<Declaration>>,
            Never("it decides which programs run; put it in your own config file");

        /// Choose the sandbox: auto, or the name of one as `interpreter doctor` shows it; none
        /// confines nothing.
        "sandbox.backend" sandbox: Sourced<Choice>,
            Tighten(|new, old| new.is_looser_than(*old)),
            option "--sandbox BACKEND";

        /// Make containers of podman and docker from this image, which the engine must have.
        "sandbox.image" sandbox_image: Sourced<Option<String>>,
            Never("an image brings programs of its own"),
            option "--sandbox-image NAME";

        /// Accept that the sandbox does not fully keep a promise of SECURITY.md, such as reading.
        "sandbox.allow_missing" allow_missing: Vec<Sourced<Promise>>, Narrow(not_allowed_to_miss),
            option "--allow-missing PROMISE";

        /// Let code reach nothing (none), allowed hosts (listed), or every public host (open).
        "network.mode" network_mode: Sourced<NetworkMode>, Tighten(is_more),
            option "--network MODE";

        /// Let code reach a host: example.org, *.example.org, 192.0.2.1:8080; or the sources of
        /// packages: python, npm, rust, debian.
        "network.hosts" hosts: Vec<Sourced<Listed>>, Narrow(not_listed),
            option "--allow-host HOST";

        /// Never let code reach this host, even if it is listed.
        "network.deny" denied_hosts: Vec<Sourced<HostRule>>, Add;

        /// Ask when code tries to reach a host that is not listed.
        "network.ask" ask_for_hosts: Sourced<bool> = true, Tighten(|new, old| new > old);

        /// Install packages that code is missing: never, after a question (ask), or without one
        /// (allow); building one from source is always a question.
        "packages.install" package_policy: Sourced<PackagePolicy>, Tighten(is_more),
            option "--install WHEN";

        /// Show code this file or folder although its name is that of a secret.
        "files.allow" allowed_files: Vec<Sourced<PathBuf>>,
            Never("it decides which of your secrets code can read");

        /// Limit the time of one turn, with all its model calls, runs and retries, such as 15s, 10m
        /// or none; time that a question waits for you does not count.
        "limits.turn" turn_limit: Sourced<TimeLimit> = TimeLimit::None,
            Tighten(is_more), option "--time-limit TIME";

        /// Limit the time of one run, such as 15s, 10m or none; never more than that of its turn.
        "limits.wall" wall_limit: Sourced<TimeLimit> = TimeLimit::new(usual().wall_seconds),
            Tighten(is_more);

        /// Ask at a terminal whether code may keep running after this time, such as 10m or none, and
        /// end it if there's no answer for as long again; applies if `limits.wall` isn't set.
        "limits.ask_after" ask_after: Sourced<TimeLimit> = UNATTENDED_RUN, Tighten(is_more);

        /// Limit the processor time of one run and all it starts, such as 15s, 10m or none.
        "limits.cpu" cpu_limit: Sourced<TimeLimit> = TimeLimit::new(usual().cpu_seconds),
            Tighten(is_more), option "--cpu-limit TIME";

        /// Limit memory per process (and in total, if cgroups are available), such as 2G.
        "limits.memory" memory_limit: Sourced<Bytes> = Bytes::new(usual().memory_bytes),
            Tighten(is_more), option "--memory-limit SIZE";

        /// Limit processes and threads at once.
        "limits.processes" process_limit: Sourced<NonZeroU64> = number(usual().processes),
            Tighten(is_more);

        /// Limit the size of a file that code writes.
        "limits.file_size" file_limit: Sourced<Bytes> = Bytes::new(usual().file_bytes),
            Tighten(is_more);

        /// Limit open files per process.
        "limits.open_files" open_file_limit: Sourced<NonZeroU64> = number(usual().open_files),
            Tighten(is_more);

        /// Limit temporary files in total.
        "limits.temporary" temporary_limit: Sourced<Bytes> = Bytes::new(usual().temporary_bytes),
            Tighten(is_more);

        /// Limit the size of staged files in total.
        "limits.staged" staged_limit: Sourced<Bytes> = Bytes::new(usual().staged_bytes),
            Tighten(is_more);

        /// Limit the number of staged files and folders.
        "limits.staged_files" staged_file_limit: Sourced<NonZeroU64> =
            number(usual().staged_files), Tighten(is_more);

        /// Limit the output of one run.
        "limits.output" output_limit: Sourced<Bytes> = Bytes::new(usual().output_bytes),
            Tighten(is_more);

        /// Limit prompts of one session.
        "budget.session.turns" session_turns: Sourced<Option<NonZeroU64>>,
            Tighten(is_more_or_unlimited);

        /// Limit tokens of one session, sent and received.
        "budget.session.tokens" session_tokens: Sourced<Option<NonZeroU64>>,
            Tighten(is_more_or_unlimited);

        /// Limit the cost of one session, in US dollars, where the price of a model is known.
        "budget.session.cost" session_cost: Sourced<Option<Dollars>>,
            Tighten(is_more_or_unlimited);

        /// Limit the time of one session in which a model writes or its code runs, such as 30m or none.
        "budget.session.time" session_time: Sourced<TimeLimit> = TimeLimit::None, Tighten(is_more);

        /// Limit prompts of all sessions of a day.
        "budget.day.turns" day_turns: Sourced<Option<NonZeroU64>>,
            Tighten(is_more_or_unlimited);

        /// Limit tokens of all sessions of a day, sent and received.
        "budget.day.tokens" day_tokens: Sourced<Option<NonZeroU64>>,
            Tighten(is_more_or_unlimited);

        /// Limit the cost of all sessions of a day, in US dollars, where the price of a model is known.
        "budget.day.cost" day_cost: Sourced<Option<Dollars>>,
            Tighten(is_more_or_unlimited);

        /// Limit the time of all sessions of a day in which a model writes or its code runs, such as 30m or none.
        "budget.day.time" day_time: Sourced<TimeLimit> = TimeLimit::None, Tighten(is_more);

        /// Limit the sessions that one person of a team has at once.
        "team.sessions" team_sessions: Sourced<NonZeroU32> = TEAM_SESSIONS, Never(TEAM);

        /// Limit the disk space of what one person of a team keeps: record, results and staged files.
        "team.storage" team_storage: Sourced<Bytes> = Bytes::new(TEAM_STORAGE), Never(TEAM);

        /// Run the code of each person of a team as a system user of their own from this range, where
        /// root runs the server.
        "team.uids" team_uids: Sourced<UserRange>, Never(TEAM);

        /// Choose what happens to a model's code that matches no rule: ask, auto (run it up to
        /// `approval.up_to`, still sandboxed and staged) or deny.
        "approval.mode" approval_mode: Sourced<ApprovalMode>, Tighten(|new, old| new < old),
            option "--approval MODE";

        /// Set the highest risk that `auto` approves: low or medium.
        "approval.up_to" approval_limit: Sourced<RiskLimit>, Tighten(is_more);

        /// Look at code with these scanners too, in a sandbox, if they are installed: bandit,
        /// semgrep, shellcheck.
        "analysis.scanners" scanners: Vec<Sourced<Scanner>>,
            Never("it decides which programs run; put it in your own config file");

        /// Wait this long for scanners before you are asked, such as 5s.
        "analysis.scan_time" scan_time: Sourced<TimeLimit> = TimeLimit::new(Some(10)),
            Never("it decides how long you wait");

        /// Let semgrep use the rules in this file instead of the built-in ones.
        "analysis.semgrep_rules" semgrep_rules: Sourced<Option<PathBuf>>,
            Never("it decides which programs run; put it in your own config file");

        /// Allow, ask about or deny code that matches; deny beats ask, and ask beats allow.
        "rule" rules: Vec<Sourced<Rule>>, AddUnless(loosening);
    }
    settle Settings::settle_together;
}

/// The reason why a rule may not be a project's. One that allows would have no effect, and whoever
/// reads it there would believe the reverse.
fn loosening(rule: &Rule) -> Option<String> {
    (rule.decision == Opinion::Allow).then(|| {
        "with `decision = \"allow\"` allows code; make it `ask` or `deny`, or put it in your own \
         config file"
            .into()
    })
}

const MAX_CALLS: NonZeroU32 = NonZeroU32::new(20).expect("not zero");

const REQUESTS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(60).expect("not zero");

const UNDO_SPACE: u64 = 2 << 30;

const TEAM_SESSIONS: NonZeroU32 = NonZeroU32::new(32).expect("not zero");

const TEAM_STORAGE: u64 = 20 << 30;

fn usual() -> Limits {
    Limits::default()
}

fn number(count: u64) -> NonZeroU64 {
    NonZeroU64::new(count).unwrap_or(NonZeroU64::MIN)
}

fn is_more<T: PartialOrd>(new: &T, old: &T) -> bool {
    new > old
}

#[expect(clippy::ref_option, reason = "compares values of a setting, whatever their type")]
fn is_more_or_unlimited<T: PartialOrd>(new: &Option<T>, old: &Option<T>) -> bool {
    old.as_ref().is_some_and(|old| new.as_ref().is_none_or(|new| new > old))
}

fn freedom_to_write(workspace: Workspace) -> u8 {
    match workspace {
        Workspace::ReadOnly => 0,
        Workspace::Stage => 1,
        Workspace::Direct => 2,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the table passes every value so")]
fn not_allowed_to_miss(own: &Settings, wanted: &Promise) -> Option<String> {
    let allowed = own.allow_missing.iter().any(|one| one.value == *wanted);
    (!allowed).then(|| format!("names `{wanted}`, a promise that you do not waive yourself"))
}

fn not_listed(own: &Settings, wanted: &Listed) -> Option<String> {
    // Open is every public host. An address by its number may be of the person's own network, which
    // nothing but a list of theirs opens.
    let open = own.network_mode.value == NetworkMode::Open && !wanted.is_of_address();
    let covered = open || own.hosts.iter().any(|one| one.value.covers(wanted));
    (!covered).then(|| {
        format!(
            "lists `{wanted}`, which you do not; if you trust it, `--allow-host {wanted}` lists it \
             for you"
        )
    })
}
