//! `interpreter completions`: a completion script, made from the options that this binary has.

use crate::{args::Args, exit::Exit, report::Error, terminal::generated};
use clap::CommandFactory;
use std::process::ExitCode;

/// Print a completion script for your shell
///
/// Packages and `scripts/install` put it where the shell looks. To try it at once:
///
/// bash: source <(interpreter completions bash)
///
/// zsh: source <(interpreter completions zsh)
///
/// fish: interpreter completions fish | source
#[derive(Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to complete in
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode, Error> {
    let shell = match args.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "interpreter", &mut script);
    if let Shell::Fish = args.shell {
        script = complete_values_without_a_command(&script);
    }
    generated::print(&script)?;
    Ok(Exit::Done.into())
}

/// fish asks whether a command is still to come, and gets an error while the last option lacks its
/// value: `interpreter --sandbox` followed by Tab would offer files. Such an option has no command
/// before it, so the answer is yes.
fn complete_values_without_a_command(script: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(script);
    text.replacen("2>/dev/null\n    or return\n", "2>/dev/null\n    or return 0\n", 1).into_bytes()
}
