//! `interpreter man`: the manual pages, made from the options that this binary has.

use crate::{
    args::Args,
    exit::Exit,
    report::{Error, misuse},
    terminal::generated,
};
use clap::CommandFactory;
use clap_mangen::{
    Man,
    roff::{Roff, bold, italic, roman},
};
use std::{
    io,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Print a manual page
///
/// Prints the page of the program, or of one of its commands, in roff: `interpreter man | man -l -`
/// shows it. Packages and `scripts/install` write all pages to a folder, where `man interpreter`
/// finds them.
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Command to describe, such as `changes apply` [default: the program]
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    command: Vec<String>,
    /// Write every page to this folder
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// The exit codes, as the page lists them.
const EXITS: [(Exit, &str); 8] = [
    (Exit::Done, "success"),
    (Exit::CodeFailed, "the code failed, was interrupted or stopped at a limit"),
    (Exit::Misuse, "misuse: an invalid option, setting or file"),
    (Exit::Refused, "rejected by a rule or by you, or there was no terminal to ask on"),
    (Exit::CannotConfine, "cannot confine or cannot record: nothing more runs"),
    (
        Exit::ModelFailed,
        "the model failed, used up its calls, gave no answer that fits the schema, or could not be \
         downloaded",
    ),
    (Exit::Bug, "a bug in this program"),
    (Exit::TimedOut, "the answer to a prompt took longer than `--time-limit`"),
];

const FILES: [(&str, &str); 3] = [
    ("$XDG_CONFIG_HOME/interpreter", "settings; usually ~/.config/interpreter"),
    (
        "$XDG_DATA_HOME/interpreter",
        "the record, staged changes and downloaded models; usually ~/.local/share/interpreter",
    ),
    (
        "$XDG_STATE_HOME/interpreter",
        "the history of your prompts; usually ~/.local/state/interpreter",
    ),
];

pub(crate) fn man(args: &ManArgs) -> Result<ExitCode, Error> {
    let program = program();
    if let Some(folder) = &args.output {
        let unwritable = |source| Error::Io { what: "the pages cannot be written".into(), source };
        fs_err::create_dir_all(folder).map_err(unwritable)?;
        write_all(&program, folder).map_err(unwritable)?;
        return Ok(Exit::Done.into());
    }
    let mut command = &program;
    for name in &args.command {
        let Some(inner) = command.find_subcommand(name) else {
            return Err(misuse(format!("there is no command `{}`", args.command.join(" "))));
        };
        command = inner;
    }
    generated::print(&page(command)?)?;
    Ok(Exit::Done.into())
}

/// The program with all that clap adds, so that each command knows its full name.
fn program() -> clap::Command {
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    program
}

/// Writes the pages of a command and of those below it.
fn write_all(command: &clap::Command, folder: &Path) -> io::Result<()> {
    fs_err::write(folder.join(name_of(command).to_owned() + ".1"), page(command)?)?;
    let shown = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    shown.into_iter().try_for_each(|inner| write_all(inner, folder))
}

fn name_of(command: &clap::Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn page(command: &clap::Command) -> io::Result<Vec<u8>> {
    let name = name_of(command).to_owned();
    let version = concat!("interpreter ", env!("CARGO_PKG_VERSION"));
    let command =
        command.clone().subcommand_help_heading("COMMANDS").subcommand_value_name("COMMAND");
    let has_commands = command.get_subcommands().any(|inner| !inner.is_hide_set());
    let page = Man::new(command).title(&name).source(version).manual("Open Interpreter");
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if has_commands {
        page.render_subcommands_section(&mut text)?;
    }
    if name == "interpreter" {
        rest().to_writer(&mut text)?;
    }
    Ok(text)
}

/// The sections that the command line itself does not know.
fn rest() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["FILES"]);
    for (path, content) in FILES {
        roff.control("TP", []).text([italic(path)]).text([roman(content)]);
    }
    roff.control("PP", []);
    roff.text([bold("INTERPRETER_HOME"), roman(" puts all of them under one folder.")]);
    roff.control("SH", ["EXIT STATUS"]);
    for (exit, meaning) in EXITS {
        let code = (exit as u8).to_string();
        roff.control("TP", []).text([bold(code)]).text([roman(meaning)]);
    }
    roff.control("PP", []);
    roff.text([
        bold("interpreter run"),
        roman(" exits with the status of code that ran and failed."),
    ]);
    roff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_exit_code_and_folder_of_the_reference_is_on_the_page() {
        let documented = include_str!("../../../../docs/reference/exit-codes.md");
        for (exit, meaning) in EXITS {
            let row = format!("| {} | {meaning} |", exit as u8);
            assert!(documented.contains(&row), "docs/reference/exit-codes.md lacks {row}");
        }
        let rows = documented.lines().filter(|line| line.starts_with("| ")).count();
        assert_eq!(rows, EXITS.len() + 1, "the page lacks a code");
        let documented = include_str!("../../../../docs/reference/cli.md");
        for (path, _) in FILES {
            assert!(
                documented.contains(&format!("`{path}`")),
                "docs/reference/cli.md lacks {path}"
            );
        }
    }

    #[test]
    fn a_command_has_a_page_of_its_own_under_its_full_name() {
        let program = program();
        let apply = program.find_subcommand("changes").unwrap().find_subcommand("apply").unwrap();
        assert_eq!(name_of(apply), "interpreter-changes-apply");
        let page = String::from_utf8(page(apply).unwrap()).unwrap();
        assert!(page.contains(".TH interpreter-changes-apply 1"), "{page}");
        assert!(!page.contains("EXIT STATUS"), "{page}");
    }
}
