//! `interpreter languages`: list the available languages.

use crate::{
    exit::Exit,
    report::Error,
    start::{context, wait_for},
    terminal::{json, screen::Screen},
};
use interpreter_agent::{
    Context,
    languages::{Interpreter, Known, check},
};
use interpreter_core::{Continuity, Untrusted};
use interpreter_store::Overrides;
use std::{
    collections::BTreeMap,
    io::{self, Write},
    process::ExitCode,
};

/// List the available languages
///
/// Shows each language with its interpreter, its version if known, whether variables and imports
/// are kept between runs, and its other names. For a missing interpreter, shows how to install it.
/// Your config file can declare more languages.
#[derive(Debug, clap::Args)]
pub(crate) struct LanguagesArgs {
    /// Start each interpreter in the sandbox and show the version that it reports
    #[arg(long)]
    check: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One language, as it is printed.
struct Row {
    name: String,
    aliases: Vec<String>,
    endings: Vec<String>,
    state: &'static str,
    /// The program, `None` if the language needs none, or how to install it.
    program: Result<Option<String>, String>,
    version: Option<String>,
    environment: Option<String>,
    note: Option<String>,
}

type Answers = BTreeMap<String, Result<Untrusted, Untrusted>>;

pub(crate) fn languages(args: &LanguagesArgs) -> Result<ExitCode, Error> {
    let context = context(&Overrides::default())?;
    let answers = if args.check { wait_for(check(&context))?? } else { Answers::new() };
    let known = context.interpreters().all();
    let rows: Vec<_> = known.map(|one| Row::new(one, answers.get(&one.info.name))).collect();
    if args.json {
        json::print_value(&rows.iter().map(Row::json).collect())?;
    } else {
        Screen::stdout(&context.environment).lines(&table(&rows)?)?;
    }
    let silent = answers.values().any(Result::is_err);
    Ok(if silent { Exit::CodeFailed } else { Exit::Done }.into())
}

/// The languages of a context, for a chat.
pub(crate) fn summary(context: &Context) -> io::Result<String> {
    let known = context.interpreters().all();
    table(&known.map(|one| Row::new(one, None)).collect::<Vec<_>>())
}

fn table(rows: &[Row]) -> io::Result<String> {
    let mut out = Vec::new();
    write_table(&mut out, rows)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

impl Row {
    fn new(known: &Known, answer: Option<&Result<Untrusted, Untrusted>>) -> Self {
        let found = known.interpreter.as_ref().ok();
        let environment = found.and_then(|found| found.virtual_environment.as_ref());
        let told = found.and_then(Interpreter::version);
        let (version, silence) = match answer {
            None => (told, None),
            Some(Ok(answer)) => (number(answer.raw()), None),
            Some(Err(why)) => (None, Some(format!("does not start: {}", why.raw()))),
        };
        Self {
            name: known.info.name.clone(),
            aliases: known.info.aliases.clone(),
            endings: known.info.endings.clone(),
            state: match known.info.continuity {
                Continuity::Kept => "kept",
                Continuity::Fresh => "fresh",
            },
            program: match &known.interpreter {
                Ok(found) => Ok(found.program.as_ref().map(|path| path.display().to_string())),
                Err(hint) => Err(hint.clone()),
            },
            version,
            environment: environment.map(|one| one.folder.display().to_string()),
            note: silence.or_else(|| found.and_then(|found| found.note.clone())),
        }
    }

    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "name": self.name,
            "aliases": self.aliases,
            "endings": self.endings,
            "state": self.state,
            "program": self.program.as_ref().ok(),
            "version": self.version,
            "virtual_environment": self.environment,
            "note": self.note,
            "hint": self.program.as_ref().err(),
        })
    }
}

/// The version number in the output of `--version`: `gcc (Debian 12.2.0-14) 12.2.0`.
fn number(answer: &str) -> Option<String> {
    let mut parts = answer.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let numbers =
        parts.find(|part| part.contains('.') && part.split('.').all(|number| !number.is_empty()));
    numbers.or(Some(answer)).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn shown(text: &str) -> String {
    Untrusted::new(text).for_terminal_line(200)
}

/// Available languages first, then the missing ones.
fn write_table(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    let here: Vec<_> =
        rows.iter().filter_map(|row| Some((row, row.program.as_ref().ok()?))).collect();
    let cells: Vec<_> = here
        .iter()
        .map(|(row, program)| {
            let program = shown(program.as_deref().unwrap_or("(none needed)"));
            let version = shown(row.version.as_deref().unwrap_or("-"));
            [row.name.clone(), program, version, row.state.into(), row.aliases.join(", ")]
        })
        .collect();
    let width = |at: usize| cells.iter().map(|cells| cells[at].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2), width(3)];
    for cells in &cells {
        let [name, program, version, state, aliases] = cells;
        let [names, programs, versions, states] = widths;
        let line = format!(
            "{name:names$}  {program:programs$}  {version:versions$}  {state:states$}  {aliases}"
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    writeln!(out, "\nkept: variables and imports last; fresh: each run is a new program")?;
    for (row, _) in &here {
        if let Some(environment) = &row.environment {
            writeln!(out, "{} uses the environment {}", row.name, shown(environment))?;
        }
        if let Some(note) = &row.note {
            writeln!(out, "{}: {}", row.name, shown(note))?;
        }
    }
    write_missing(out, rows, widths[0])
}

fn write_missing(out: &mut impl Write, rows: &[Row], names: usize) -> io::Result<()> {
    if rows.iter().any(|row| row.program.is_err()) {
        writeln!(out, "\nnot installed:")?;
    }
    for row in rows {
        if let Err(hint) = &row.program {
            writeln!(out, "{:names$}  {}", row.name, shown(hint))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_in_what_is_said() {
        for (answer, expected) in [
            ("gcc (Debian 12.2.0-14+deb12u1) 12.2.0", Some("12.2.0")),
            ("This is perl 5, version 36, subversion 0 (v5.36.0) built for x86_64", Some("5.36.0")),
            ("go version go1.19.8 linux/amd64", Some("1.19.8")),
            ("5.2.15(1)-release", Some("5.2.15")),
            ("...", Some("...")),
            ("", None),
        ] {
            assert_eq!(number(answer).as_deref(), expected, "{answer}");
        }
    }
}
