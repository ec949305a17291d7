//! `interpreter audit export`: the record as lines of JSON, however long it is.

use crate::{
    exit::Exit,
    report::Error,
    terminal::{outlet::Outlet, screen::Screen},
};
use interpreter_core::ocsf::{self, OcsfSource};
use interpreter_store::{
    Environment, ExportFilter, LinkedRecord, Log, RecordState, unix_milliseconds,
};
use std::{path::Path, process::ExitCode};

/// The form of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ExportFormat {
    Records,
    Ocsf,
}

pub(super) fn export(
    log: &Log,
    format: ExportFormat,
    filter: &ExportFilter,
    file: Option<&Path>,
) -> Result<ExitCode, Error> {
    let state = log.state()?;
    if state != RecordState::Whole {
        let mut screen = Screen::stderr(&Environment::read());
        screen.tell(&format!("warning: {state}; see `interpreter audit verify`"))?;
    }
    let device = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let user = rustix::process::getuid().as_raw().to_string();
    let mut outlet = Outlet::open(file)?;
    log.export::<Error>(filter, |linked| match format {
        ExportFormat::Records => outlet.json(&linked.line()),
        ExportFormat::Ocsf => {
            let LinkedRecord { prev, hash, .. } = linked.clone();
            let record = linked.record()?;
            let source = OcsfSource {
                version: env!("CARGO_PKG_VERSION"),
                device: &device,
                user: &user,
                time: unix_milliseconds(&record.time).unwrap_or_default(),
                prev: &prev,
                hash: &hash,
            };
            let events = ocsf::events(&record, &source);
            events.iter().try_for_each(|event| outlet.json(&event.to_string()))
        }
    })?;
    outlet.finish()?;
    Ok(Exit::Done.into())
}
