//! `interpreter history export`: a session as a file for people and other programs.

use crate::{
    commands::save::{self, Form},
    exit::Exit,
    report::{Error, misuse},
    terminal::outlet::Outlet,
};
use interpreter_core::Redactor;
use interpreter_store::{Log, Outputs, Restored};
use std::{path::Path, process::ExitCode};

pub(super) fn export(
    log: &Log,
    outputs: &Outputs,
    id: &str,
    format: Option<&str>,
    file: Option<&Path>,
) -> Result<ExitCode, Error> {
    let form = match (format, file) {
        (Some(name), _) => Form::named(name),
        (None, Some(file)) => file.to_str().and_then(Form::of),
        (None, None) => Some(Form::Markdown),
    };
    let Some(form) = form else { return Err(misuse(save::FORMS)) };
    let (mut records, redactor) = (Vec::new(), Redactor::of_shapes());
    let mut exit = Exit::Done;
    for record in log.records(id) {
        let mut record = record?;
        if outputs.restore(&mut record.body)? == Restored::Gone {
            super::warn(&format!("record {}: its output is no longer stored", record.seq))?;
            exit = Exit::CodeFailed;
        }
        record.body = redactor.exported(record.body);
        records.push(record);
    }
    let mut outlet = Outlet::open(file)?;
    match form {
        Form::Records => {
            save::render(form, &records).lines().try_for_each(|line| outlet.json(line))?;
        }
        Form::Markdown | Form::Notebook | Form::Script(_) => {
            outlet.text(&save::render(form, &records))?;
        }
    }
    outlet.finish()?;
    Ok(exit.into())
}
