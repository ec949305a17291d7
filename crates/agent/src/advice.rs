//! The next step for every error: the one place that gives advice.
//!
//! An error says what happened, and an error type elsewhere carries facts only. Front ends show the
//! message of an error and, on a line of its own, its advice. Every match lists all variants, so a
//! new error does not compile before somebody has decided on its advice, or on none.
//!
//! Must not repeat the message, and must name only commands and options that exist.

use crate::{AgentError, ChooseError, choose::ENGINE};
use interpreter_core::{Untrusted, outline::OutlineUnseen, system_users::NoUser};
use interpreter_exec::{Cause, ExecError, Interpreters};
use interpreter_model::{ModelError, ProviderError, pull::PullError, shelf::ShelfError};
use interpreter_store::{ConfigError, NotRemovable, StoreError};
use interpreter_workspace::WorkspaceError;
use std::path::Path;

/// An error with a next step.
pub trait Advise {
    /// The next step, or `None` if the message leaves nothing to add.
    fn advice(&self) -> Option<String>;
}

/// The ways to name a model.
const NAMES: &str = "such as `openai/MODEL` (API key in OPENAI_API_KEY), `ollama/MODEL` (your own \
                     server) or an endpoint of your config file; `interpreter model list` shows \
                     them";

const DISK: &str = "check the folder and its disk";
const LIST_MODELS: &str = "`interpreter model list` shows the available models";
const NEW_RECORD: &str = "move it away to start a new record";
const PULL: &str = "`interpreter model pull` downloads one that runs in this program";
const SERVER: &str =
    "start a local server such as Ollama, and check with `interpreter model list` that it is found";
const VERIFY: &str = "`interpreter audit verify` shows where it was changed";

impl Advise for AgentError {
    fn advice(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.advice(),
            Self::Choose(error) => error.advice(),
            Self::Model(error) => error.advice(),
            Self::Pull(error) => error.advice(),
            Self::Exec(error) => error.advice(),
            Self::Workspace(error) => error.advice(),
            Self::PullOffline { name } => Some(format!(
                "omit `--offline`, or use a file: `interpreter model pull {name} --from FILE`"
            )),
            Self::NoIndex { .. } => {
                Some("set one in its own settings, or list the host by name".into())
            }
            Self::WorkFolder(_) => Some("change to a folder that exists and is readable".into()),
            Self::Program(_) => Some("start the program by its full path".into()),
            Self::Rule { near: Some(near), .. } => Some(format!("did you mean `{near}`?")),
            Self::Rule { near: None, .. } => {
                Some("`interpreter languages` shows the names of languages".into())
            }
            Self::AddedRule(_) => Some(
                "correct it, or move the file away; `interpreter rules check FILE` tries it".into(),
            ),
            Self::Resume { .. } => Some("`interpreter history list` shows earlier sessions".into()),
            Self::Grant { .. } | Self::Image { .. } | Self::Attachment { .. } => None,
        }
    }
}

impl Advise for ChooseError {
    fn advice(&self) -> Option<String> {
        let name = format!("choose one with `--model`, {NAMES}");
        match self {
            Self::None if ENGINE => Some(format!("{PULL}; or {name}")),
            Self::UnknownEndpoint { near: Some(near), .. } => {
                Some(format!("did you mean `{near}`? {LIST_MODELS}"))
            }
            Self::None | Self::NoModel { .. } | Self::UnknownEndpoint { .. } => Some(name),
            Self::NoneLocal if ENGINE => Some(format!("{PULL}; or {SERVER}")),
            Self::NoneLocal => Some(SERVER.into()),
            Self::UnknownEmbedded { .. } => Some(LIST_MODELS.into()),
            Self::NotOffered { offered, .. } => offered_words(offered),
            Self::Weights(error) => error.advice(),
            Self::Provider(error) => error.advice(),
            Self::Certificates(_) => Some("correct `certificates` in your config file".into()),
            Self::Model(error) => error.advice(),
        }
    }
}

impl Advise for ModelError {
    fn advice(&self) -> Option<String> {
        let advice = match self {
            Self::BadAddress { .. } => "correct `base_url` in your config file",
            Self::BadKey { .. } => {
                "check the API key in the environment variable that the endpoint names"
            }
            Self::KeyRefused { variables, .. } => {
                return Some(format!("check the API key in {}", listed(variables)));
            }
            Self::KeyMissing { variables, .. } => {
                return Some(format!("put the API key into {}", listed(variables)));
            }
            Self::Certificates { .. } => "correct `certificates` in your config file",
            Self::Offline { .. } => {
                "choose a local model (`interpreter model list`), or omit `--offline`"
            }
            Self::KeyInTheClear { provider, .. } => {
                return Some(format!(
                    "use an `https` address, or a tunnel to this machine; if the way there is safe, \
                     say why with `insecure_http` in `[endpoint.{provider}]`, `[provider.{provider}]` \
                     or the provider's file"
                ));
            }
            Self::Unreachable { start: Some(start), .. } => {
                return Some(format!("start it with `{start}`, or choose another model"));
            }
            Self::Unreachable { start: None, .. } => {
                "check the network, a proxy in HTTPS_PROXY, that the server is running, and \
                 `certificates` in your config file if its certificate is not trusted"
            }
            Self::TimedOut { .. } => {
                "check the network and that the server is running, or name other models in \
                 `fallback`"
            }
            Self::UnknownModel { .. } => {
                "choose another with `--model`, or in a chat with `/model`; `interpreter model list` \
                 shows providers and local models"
            }
            Self::RateLimited { .. } => "wait and ask again; nothing was lost",
            Self::OutOfCredit { .. } => {
                "add credit, or choose another model with `--model`, or in a chat with `/model`"
            }
            Self::ContextTooLong { .. } => "start a new session, or ask for less at once",
            Self::Redirected { .. } | Self::NotAStream { .. } => {
                "check `base_url`: it should end with the provider's version, as in `/v1`"
            }
            Self::Client { .. } => {
                "install the system's certificates (`ca-certificates`), or name a file in \
                 `certificates`"
            }
            Self::Rejected { .. } => {
                "`interpreter model test` shows what the model can do; check `temperature` and \
                 `max_tokens`, and `tools` of the endpoint"
            }
            Self::Server { .. } => "ask again later, or name other models in `fallback`",
            Self::Broken { .. } => "ask again; the part that came is on record",
            Self::Malformed { .. } => "check `base_url` and `format` of the endpoint",
            Self::TooLarge { .. } => "ask again, or choose another model",
            Self::NoEngine { .. } => {
                "build with the feature `embedded`, or choose another model with `--model`"
            }
            Self::Processor { .. } => "choose a hosted model or a local server with `--model`",
            Self::BadWeights { model, .. } => {
                return Some(format!("download it again: `interpreter model pull {model}`"));
            }
            Self::Memory { .. } => {
                "close other programs, or choose a smaller model; `interpreter model list` shows them"
            }
            Self::NoThread { .. } => "close other programs, or raise the limit of processes",
            Self::Engine { .. } => {
                "ask again; if it fails again, choose another model, in a chat with `/model`"
            }
            Self::Script(_) => return None,
        };
        Some(advice.into())
    }
}

/// Environment variables in a sentence.
fn listed(variables: &[String]) -> String {
    if variables.is_empty() {
        return "the environment variable that `key_variable` of the endpoint names".into();
    }
    format!("the environment variable {}", variables.join(" or "))
}

impl Advise for ProviderError {
    fn advice(&self) -> Option<String> {
        match self {
            Self::SettingMissing { provider, setting, variables, .. } => {
                let variables = variables.join(" or ");
                let or = if variables.is_empty() { "" } else { ", or set " };
                Some(format!(
                    "put `{setting} = \"…\"` under `[provider.{provider}]` in your config file\
                     {or}{variables}"
                ))
            }
            Self::Parse { .. }
            | Self::Wrong { .. }
            | Self::SettingWrong { .. }
            | Self::SettingUnknown { .. } => None,
        }
    }
}

impl Advise for PullError {
    fn advice(&self) -> Option<String> {
        let advice = match self {
            Self::Shelf(error) => return error.advice(),
            Self::Server { name, kept, .. } => {
                let resume = if *kept > 0 { "the next `pull` resumes the download; " } else { "" };
                return Some(format!(
                    "{resume}check the network and a proxy in HTTPS_PROXY, name a mirror in \
                     HF_ENDPOINT, or download the file elsewhere: `interpreter model pull {name} \
                     --from FILE`"
                ));
            }
            Self::Endpoint => "unset it, or set it to the address of a mirror",
            Self::Mismatch { .. } => {
                "try again; if it happens again, that file or the mirror in HF_ENDPOINT is not the \
                 original"
            }
            Self::NoRoom { .. } => {
                "free some space, or choose a smaller model: `interpreter model pull \
                 qwen2.5-coder-0.5b`"
            }
            Self::Write { .. } => "check the folder and its disk; the next `pull` resumes",
            Self::FromSize { .. } => "`interpreter model list` shows the models and their sizes",
            Self::From { .. } => return None,
        };
        Some(advice.into())
    }
}

impl Advise for ShelfError {
    fn advice(&self) -> Option<String> {
        Some(match self {
            Self::Missing { name } => {
                format!("`interpreter model pull {name}` downloads it; {LIST_MODELS}")
            }
            Self::WrongSize { .. } | Self::Altered { .. } => {
                "`interpreter model pull NAME` downloads it again".into()
            }
            Self::Busy { .. } => "wait for it, or end it".into(),
            Self::Read { .. } | Self::Write { .. } | Self::Remove { .. } => DISK.into(),
        })
    }
}

impl Advise for ExecError {
    fn advice(&self) -> Option<String> {
        let doctor = "`interpreter doctor` shows the needs of each sandbox";
        match self {
            Self::CannotConfine { cause, .. } | Self::NoBackend { cause, .. } => {
                Some(cause.map_or_else(|| doctor.into(), obstacle))
            }
            Self::Lacking { lacks, .. } => {
                let names: Vec<_> = lacks.iter().map(|lack| lack.promise.word()).collect();
                Some(format!("`--allow-missing {}` accepts that once", names.join(",")))
            }
            Self::CannotStage { .. } => {
                Some("`--workspace direct` lets code change your files at once".into())
            }
            Self::NoInterpreter { language } => Interpreters::hint(language).map(str::to_owned),
            Self::Kernel { .. } => Some("`interpreter languages` shows the interpreters".into()),
            Self::WorkFolder { .. } => Some(
                "change to another folder; `--allow-read PATH` shows code a file outside of it"
                    .into(),
            ),
            Self::SandboxEnded { .. } | Self::Stream(_) => Some(doctor.into()),
            Self::NothingStaged | Self::OutOfReach { .. } => None,
            Self::StagesNothing { .. } => Some("use `--workspace stage`".into()),
            Self::HunksNotShown { .. } => Some("look at the numbers first: /diff".into()),
            Self::LookAgain => Some("look at the changes again, and decide on those".into()),
            Self::Workspace(error) => error.advice(),
        }
    }
}

/// The way around an obstacle to a sandbox.
fn obstacle(cause: Cause) -> String {
    let advice = match cause {
        Cause::Root => "run it as an ordinary user",
        Cause::RootCannotWrite => "use `--workspace read-only`, or run it as an ordinary user",
        Cause::NotInstalled(package) => return format!("install the package `{package}`"),
        Cause::Bubblewrap => {
            "`bwrap --unshare-all --ro-bind / / true` shows whether it works by itself"
        }
        Cause::Firejail => {
            "it serves only users that the system knows by name; see `man firejail-users`"
        }
        Cause::UserNamespacesRefused => {
            "the system refuses user namespaces: `interpreter doctor` shows why. On Ubuntu 24.04 an \
             AppArmor profile allows them: `interpreter doctor --apparmor-profile`. On Debian: `sudo \
             sysctl -w kernel.unprivileged_userns_clone=1`. In Docker: run the container with \
             `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt \
             systempaths=unconfined`"
        }
        Cause::UserNamespacesUsedUp => {
            "raise the limit of user namespaces: `sudo sysctl -w user.max_user_namespaces=10000`"
        }
        Cause::ProcRefused => {
            "the system refuses a fresh /proc, as in an unprivileged container: run the container \
             with `--security-opt unmask=ALL`"
        }
        Cause::NoOverlay => {
            "`--workspace read-only` or `--workspace direct` shows the folder without staging"
        }
        Cause::NotCutOff => {
            "the folder is on a file system of which the kernel makes no overlay, so its sockets and \
             pipes would lead outside: a sandbox that shows it as it is, such as bubblewrap, needs \
             `--allow-missing network,limits`"
        }
        Cause::SecretInWritable => "`--workspace read-only` lets code read everything but that",
        Cause::Landlock => {
            "Linux 6.2 or later has it, if it is among the `lsm=` modules of the kernel"
        }
        Cause::NoImage => {
            "`scripts/make-image` makes the default image; `--sandbox-image` names another one"
        }
        Cause::ImageMisfit => {
            "use an image whose C library is at least as new as this system's; `scripts/make-image` \
             makes one"
        }
        Cause::EngineForbidden => {
            "join the engine's group, for example `sudo usermod -aG docker $USER`, or use podman"
        }
        Cause::EngineDown => "start the engine, for example `sudo systemctl start docker`",
        Cause::EngineFailed => {
            "run a container without this program, for example `podman run --rm --network none \
             interpreter:default true`"
        }
        Cause::NotBindable => "use a folder without a comma, quote or line break in its path",
    };
    advice.into()
}

impl Advise for WorkspaceError {
    fn advice(&self) -> Option<String> {
        let list = "`interpreter changes list` shows the sets of this folder";
        let advice = match self {
            Self::Conflict { .. } => {
                "nothing was changed. Look at `interpreter changes diff`; `interpreter changes apply \
                 --overwrite` applies the set all the same"
            }
            Self::Version { .. }
            | Self::Damaged { .. }
            | Self::Edited { .. }
            | Self::Incomplete { .. } => {
                "nothing was changed. `interpreter changes discard ID` removes the set"
            }
            Self::OtherFolder { .. } => "change to that folder first",
            Self::InUse { .. } => "decide there, or end that session first",
            Self::NoRoom { .. } => {
                "free some disk space; `interpreter changes discard` frees what is staged"
            }
            Self::TooMuchToCopy { .. } | Self::MountedInside { .. } => {
                "`--workspace read-only` shows the folder itself and refuses changes, `--workspace \
                 direct` makes them at once; the native sandbox needs no copy"
            }
            Self::NotKept { .. } | Self::TooMuchToKeep { .. } => {
                "`interpreter changes diff` shows what is staged now"
            }
            Self::OutlineUnseen(error) => return error.advice(),
            Self::ChangedSinceShown { .. } => "look at the changes again, and decide again",
            Self::FileOrHunks { .. } => {
                "put `./` before it to name the file; a chat asks about hunks one by one (key h)"
            }
            Self::CannotPut { .. } | Self::NoSuchFile { .. } | Self::TooLarge { .. } => {
                return None;
            }
            Self::RunsLater { .. } => "ask somebody who has the right `answer`",
            Self::Indivisible { .. } => "name the file without numbers",
            Self::NoSuchHunk { .. } => "`interpreter changes diff` shows the numbers of hunks",
            Self::HunksNotShown { .. } => {
                "run `interpreter changes diff` first, or /diff in a chat: it shows the numbers"
            }
            Self::NoSuchSet { .. }
            | Self::ShortId { .. }
            | Self::NotAChange { .. }
            | Self::NothingApplied { .. }
            | Self::NothingUndone { .. }
            | Self::WorkFolderGone { .. } => list,
            Self::Files { .. } => DISK,
        };
        Some(advice.into())
    }
}

impl Advise for OutlineUnseen {
    fn advice(&self) -> Option<String> {
        let advice = match self {
            Self::NotNamed => {
                "show the `outline` that comes with the changes, and send its `hash` as `seen`; or \
                 apply fewer at once"
            }
            Self::Another => {
                "ask for the changes again, show their `outline`, and send its `hash` as `seen`"
            }
        };
        Some(advice.into())
    }
}

impl Advise for StoreError {
    fn advice(&self) -> Option<String> {
        let advice = match self {
            Self::NoHome => "set it, or set `INTERPRETER_HOME` to a folder for everything",
            Self::NotAbsolute { .. } => "set it to an absolute path, or unset it",
            Self::NotAFolder { .. } | Self::NotAFile { .. } => "move it out of the way",
            Self::NotPrivate { path, wanted, .. } => {
                return Some(format!("`chmod {wanted:03o} {}`", quoted(path)));
            }
            Self::NotOurs { .. } => {
                "run as its owner, or set `INTERPRETER_HOME` to your own folder"
            }
            Self::Make { .. } | Self::Read { .. } | Self::Keep { .. } | Self::ReadOnly { .. } => {
                DISK
            }
            Self::Secrets { .. } => {
                "restore the key from a backup; without it, remove both files and set the secrets again"
            }
            Self::Keyring { .. } => {
                "unlock the keyring, or run `interpreter secret key file` at the desktop"
            }
            Self::NoRandomness => "try again; the system may still be starting",
            Self::NoPerson => "log in again",
            Self::Taken { .. } => "choose another folder, or a new one",
            Self::StandardInput { .. } => "check what it is redirected from",
            Self::PipedTooLong { .. } => {
                "save it as a file in this folder and name the file in the prompt"
            }
            Self::AlteredOutput { .. }
            | Self::Broken { .. }
            | Self::Unreadable { .. }
            | Self::NotRemovable { reason: NotRemovable::Damaged(_), .. } => VERIFY,
            Self::Config(error) => return error.advice(),
            Self::Full { .. } => {
                "free some space; `interpreter changes discard` removes staged files, also on a full \
                 disk"
            }
            Self::Locked { .. } => "end that process, or try again",
            Self::Corrupt { .. } | Self::NotARecord { .. } => NEW_RECORD,
            Self::Foreign { .. } => {
                "another program changed it; `interpreter audit verify` checks the records, and \
                 `interpreter audit accept` removes what was added and records that"
            }
            Self::OtherFormat { .. } => {
                "use that version, or move the file away to start a new record"
            }
            Self::End { .. } => {
                "`interpreter audit verify` checks the rest; `interpreter audit accept` continues \
                 with the record as it is, and records that"
            }
            Self::Gone { .. } => "start a new session",
            Self::Unwritable { .. } | Self::Database { .. } => {
                "nothing runs without a record; `interpreter audit verify` checks it"
            }
            Self::NotASessionId { .. } | Self::NoSession { .. } => {
                "`interpreter history list` shows the sessions"
            }
            Self::AmbiguousSession { .. } => "type more of the id",
            Self::NotRemovable { reason: NotRemovable::Running, .. } => "end it first",
            Self::NotRemovable { reason: NotRemovable::Account, .. } => {
                "without it, the record could not be explained"
            }
            Self::UsersTaken { .. } | Self::NoUser(NoUser::AllGiven(_)) => {
                "set `team.uids` in your config file to a range of users that nobody has"
            }
            Self::NoUser(NoUser::TakenSince(_)) => {
                "give that account another number, or remove the person and add them again"
            }
            Self::NotAnAnchor { .. } => {
                "give the whole line that `interpreter audit anchor` printed, in quotes"
            }
        };
        Some(advice.into())
    }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = Untrusted::new(path.to_string_lossy()).for_terminal_line(4096);
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%,:".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

impl Advise for ConfigError {
    fn advice(&self) -> Option<String> {
        match self {
            Self::CannotKeep { entry, .. } => {
                Some(format!("add `{entry}` to `network.hosts` by hand"))
            }
            Self::Invalid(_) => Some(
                "`interpreter config edit` opens your config file, `interpreter config show NAME` \
                 explains a setting"
                    .into(),
            ),
            Self::NoSetting { .. } => Some("`interpreter config show` lists every setting".into()),
            Self::Read { .. }
            | Self::NotAFile { .. }
            | Self::TooLarge { .. }
            | Self::TooMany { .. }
            | Self::NotText { .. }
            | Self::Words { .. }
            | Self::ProfileName { .. }
            | Self::NoProfile { .. } => None,
        }
    }
}

/// The names that are offered, in words.
fn offered_words(offered: &[String]) -> Option<String> {
    if offered.is_empty() {
        return None;
    }
    let names: Vec<_> = offered.iter().map(|name| format!("`{name}`")).collect();
    Some(format!("offered: {}", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        let path = PathBuf::from("/home/it's me/interpreter");
        let error = StoreError::NotPrivate { path, mode: 0o755, wanted: 0o700 };
        assert_eq!(error.advice().unwrap(), r"`chmod 700 '/home/it'\''s me/interpreter'`");
        assert_eq!(quoted(Path::new("/a/b-1.c")), "/a/b-1.c");
    }

    #[test]
    fn the_same_error_has_the_same_advice_wherever_it_comes_from() {
        let conflict = || WorkspaceError::Conflict { paths: vec!["a".into()] };
        let advice = conflict().advice();
        assert!(advice.as_ref().unwrap().contains("changes apply --overwrite"));
        assert_eq!(ExecError::Workspace(conflict()).advice(), advice);
        assert_eq!(AgentError::Workspace(conflict()).advice(), advice);
    }
}
