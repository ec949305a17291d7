//! `interpreter doctor`: does it work here, and what protects?

use crate::{
    commands::{scene, wait_for},
    exit::Exit,
    report::Error,
    terminal::{json, screen::Screen},
};
use interpreter_agent::doctor::{State, examine};
use interpreter_store::Overrides;
use std::{fmt::Write, io, process::ExitCode};

/// Check what this machine can do
///
/// Builds every sandbox that is there, attacks it from inside with a program of our own, and ends it;
/// opens the record, and looks for interpreters and the model. Says what protects, what is missing,
/// and how to mend it. Exits with 0 only if code would run and every promise would be kept, else
/// with 4.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn doctor(args: &DoctorArgs) -> Result<ExitCode, Error> {
    let scene = scene(&Overrides::default())?;
    let report = wait_for(examine(&scene))?;
    let is_whole = report.findings.iter().all(|finding| finding.state != State::Broken);
    if args.json {
        json::print_value(&serde_json::to_value(&report).map_err(io::Error::from)?)?;
    } else {
        let mut out = String::new();
        for finding in &report.rows() {
            let state = match finding.state {
                State::Good => "ok     ",
                State::Lacking => "missing",
                State::Broken => "BROKEN ",
            };
            // Writing to a string cannot fail.
            _ = writeln!(out, "{state}  {:<11} {}", finding.name, finding.detail);
            if let Some(fix) = &finding.fix {
                _ = writeln!(out, "         {:<11} fix: {fix}", "");
            }
        }
        Screen::stdout(&scene.environment).lines(&out)?;
    }
    let exit = if report.keeps_everything && is_whole { Exit::Done } else { Exit::CannotConfine };
    Ok(exit.into())
}
