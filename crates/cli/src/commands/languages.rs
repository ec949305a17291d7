//! `interpreter languages`: what runs here.

use crate::{commands::scene, exit::Exit, report::Error};
use interpreter_core::{Continuity, Untrusted};
use interpreter_store::Overrides;
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// List the languages that run here
///
/// Shows each language, the interpreter that runs it, whether variables and imports are kept
/// between runs, and the other names that models may use for it; or how to get an interpreter
/// where there is none. Languages of your own are declared in your config file.
#[derive(Debug, clap::Args)]
pub(crate) struct LanguagesArgs {
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
    /// None if it needs none; or how to get it.
    program: Result<Option<String>, String>,
}

pub(crate) fn languages(args: &LanguagesArgs) -> Result<ExitCode, Error> {
    let scene = scene(&Overrides::default())?;
    let rows: Vec<_> = scene
        .interpreters()
        .all()
        .map(|one| Row {
            name: one.info.name.clone(),
            aliases: one.info.aliases.clone(),
            endings: one.info.endings.clone(),
            state: match one.info.continuity {
                Continuity::Kept => "kept",
                Continuity::Fresh => "fresh",
            },
            program: match &one.interpreter {
                Ok(found) => Ok(found.program.as_ref().map(|path| path.display().to_string())),
                Err(hint) => Err(hint.clone()),
            },
        })
        .collect();
    let mut out = io::stdout().lock();
    if args.json {
        let list: Vec<_> = rows.iter().map(Row::json).collect();
        writeln!(out, "{}", serde_json::Value::from(list))?;
    } else {
        write_table(&mut out, &rows)?;
    }
    Ok(Exit::Done.into())
}

impl Row {
    fn json(&self) -> serde_json::Value {
        serde_json::json!({
            "name": self.name,
            "aliases": self.aliases,
            "endings": self.endings,
            "state": self.state,
            "program": self.program.as_ref().ok(),
            "hint": self.program.as_ref().err(),
        })
    }
}

/// Those that run first, then those that could.
fn write_table(out: &mut impl Write, rows: &[Row]) -> io::Result<()> {
    let shown = |text: &str| Untrusted::new(text).for_terminal_line(200);
    let width = |texts: &mut dyn Iterator<Item = &str>| texts.map(str::len).max().unwrap_or(0);
    let names = width(&mut rows.iter().map(|row| row.name.as_str()));
    let programs = width(&mut rows.iter().filter_map(|row| row.program.as_ref().ok()?.as_deref()));
    for row in rows {
        if let Ok(program) = &row.program {
            let (name, program) = (&row.name, shown(program.as_deref().unwrap_or("(none needed)")));
            let line = format!("{name:names$}  {program:programs$}  {:5}", row.state);
            writeln!(out, "{}", format!("{line}  {}", row.aliases.join(", ")).trim_end())?;
        }
    }
    writeln!(out, "\nkept: variables and imports last; fresh: each run is a whole program")?;
    if rows.iter().any(|row| row.program.is_err()) {
        writeln!(out, "\nnot here:")?;
    }
    for row in rows {
        if let Err(hint) = &row.program {
            writeln!(out, "{:names$}  {}", row.name, shown(hint))?;
        }
    }
    Ok(())
}
