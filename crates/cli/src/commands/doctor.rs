//! `interpreter doctor`: does it work here, and what protects?

use crate::{
    commands::{scene, wait_for},
    exit::Exit,
    report::Error,
};
use interpreter_agent::doctor::{State, examine};
use interpreter_core::Untrusted;
use interpreter_store::Overrides;
use std::{
    io::{self, Write},
    process::ExitCode,
};

/// Check what this machine can do
///
/// Builds a real sandbox and ends it, opens the record, and looks for interpreters and the model.
/// Says what protects, what is missing, and how to mend it. Exits with 4 if nothing would run.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn doctor(args: &DoctorArgs) -> Result<ExitCode, Error> {
    let scene = scene(&Overrides::default())?;
    let findings = wait_for(examine(&scene))?;
    let worst = findings.iter().map(|finding| finding.state).max();
    let mut out = io::stdout().lock();
    if args.json {
        let json = serde_json::to_string(&findings).map_err(io::Error::from)?;
        writeln!(out, "{json}")?;
    } else {
        for finding in &findings {
            let state = match finding.state {
                State::Good => "ok     ",
                State::Lacking => "missing",
                State::Broken => "BROKEN ",
            };
            let detail = Untrusted::new(&*finding.detail).for_terminal();
            writeln!(out, "{state}  {:<11} {detail}", finding.name)?;
            if let Some(fix) = &finding.fix {
                writeln!(out, "         {:<11} fix: {fix}", "")?;
            }
        }
    }
    Ok(match worst {
        Some(State::Broken) => Exit::CannotConfine,
        Some(State::Good | State::Lacking) | None => Exit::Done,
    }
    .into())
}
