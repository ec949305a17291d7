//! The words after `interpreter run`: a file or code, its language, its arguments.
//!
//! Words behind the file belong to the script, options too, as with any interpreter.

use super::RunArgs;
use crate::{
    commands::input::read_text,
    report::{Error, misuse},
};
use interpreter_agent::Context;
use interpreter_core::{
    Invocation, Language, Languages, Untrusted,
    proposal::{MOST_CODE, unfit},
    similar::nearest,
};
use std::{
    ffi::OsStr,
    io, iter,
    path::{Path, PathBuf},
};

/// The language of code that says nothing of its own.
const USUAL: &str = "python";

/// Where code comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source<'a> {
    Typed(&'a str),
    Stdin,
    File(&'a Path),
}

/// Code, and how it was called.
pub(super) struct Code {
    pub(super) language: Language,
    pub(super) text: String,
    pub(super) invocation: Option<Invocation>,
}

impl RunArgs {
    /// Where the code comes from, if any was given.
    pub(super) fn source(&self) -> Option<Source<'_>> {
        match (&self.code, self.words.first()) {
            (Some(code), _) => Some(Source::Typed(code)),
            (None, Some(word)) if word == "-" => Some(Source::Stdin),
            (None, Some(word)) => Some(Source::File(Path::new(word))),
            (None, None) => None,
        }
    }

    /// Reads the code and finds its language.
    pub(super) fn read(&self, context: &Context, source: Source<'_>) -> Result<Code, Error> {
        // The first line counts only where nothing else names the language.
        let early = match source {
            Source::File(file) if self.language.is_none() && file.extension().is_none() => {
                Some(read(source)?)
            }
            Source::File(_) | Source::Typed(_) | Source::Stdin => None,
        };
        let language = self.language(context, Some(source), early.as_deref())?;
        let text = early.map_or_else(|| read(source), Ok)?;
        let arguments = self.arguments()?;
        let is_missing = context.interpreters().get(&language).is_none();
        let takes = is_missing || context.interpreters().takes_arguments(&language);
        if !takes && !arguments.is_empty() {
            return Err(misuse(format!("{} code takes no arguments", language.name())));
        }
        let name = match source {
            Source::Typed(_) => "-c".into(),
            Source::Stdin => "-".into(),
            Source::File(file) => file.to_string_lossy().into_owned(),
        };
        let file = match source {
            Source::Typed(_) | Source::Stdin => None,
            Source::File(file) => Some(whole(file)?),
        };
        let is_called = file.is_some() || !arguments.is_empty();
        let invocation = is_called.then_some(Invocation { name, file, arguments });
        Ok(Code { language, text, invocation })
    }

    fn arguments(&self) -> Result<Vec<String>, Error> {
        let skipped = usize::from(self.code.is_none());
        let words = self.words.iter().skip(skipped);
        words
            .map(|word| match word.to_str() {
                Some(word) => Ok(word.to_owned()),
                None => Err(misuse(format!(
                    "the argument `{}` is not UTF-8 text",
                    Untrusted::new(word.to_string_lossy()).for_terminal_line(80)
                ))),
            })
            .collect()
    }

    /// The language that was named, or that the file's ending or first line names.
    pub(super) fn language(
        &self,
        context: &Context,
        source: Option<Source<'_>>,
        text: Option<&str>,
    ) -> Result<Language, Error> {
        let table = context.interpreters().languages();
        let ending = match source {
            Some(Source::File(file)) => file.extension().and_then(OsStr::to_str),
            Some(Source::Typed(_) | Source::Stdin) | None => None,
        };
        // To be explained, code needs no interpreter.
        let find = |name| if self.explain { table.known(name) } else { table.find(name) };
        let of_ending = |ending| {
            if self.explain { table.known_of_ending(ending) } else { table.of_ending(ending) }
        };
        let (found, name) = match (&self.language, ending, source) {
            (Some(name), _, _) => (find(name), name.as_str()),
            (None, Some(ending), _) => (of_ending(ending), ending),
            (None, None, Some(Source::Typed(_) | Source::Stdin)) => (find(USUAL), USUAL),
            (None, None, Some(Source::File(_)) | None) => match text.and_then(named_program) {
                Some(program) => (find(program), program),
                None => return Err(misuse("unknown language: choose one with `-l LANGUAGE`")),
            },
        };
        found.ok_or_else(|| match table.hint(name) {
            Some(hint) => misuse(format!("no interpreter for `{name}` is installed: {hint}")),
            None => misuse(unknown_language(&table, name)),
        })
    }
}

/// That there is no such language, with the one that may be meant or all that there are.
fn unknown_language(table: &Languages, name: &str) -> String {
    let known = || table.iter().flat_map(|info| iter::once(&info.name).chain(&info.aliases));
    let near = nearest(name, known().map(String::as_str));
    let name = Untrusted::new(name).for_terminal_line(80);
    if let Some(near) = near {
        return format!("unknown language `{name}`; did you mean `{near}`?");
    }
    let names = table.names().collect::<Vec<_>>().join(", ");
    format!("unknown language `{name}`; available: {names}")
}

fn read(source: Source<'_>) -> Result<String, Error> {
    let next = "put data into a file and let the code read it";
    let code = match source {
        Source::Typed(code) => code.to_owned(),
        Source::Stdin => read_text(io::stdin(), "the code on standard input", MOST_CODE, next)?,
        Source::File(file) => {
            let what = format!("the code in {}", file.display());
            let failed = |source| Error::Io { what: format!("{what} cannot be read"), source };
            let open = fs_err::File::open(file).map_err(failed)?;
            read_text(open, &what, MOST_CODE, next)?
        }
    };
    match unfit(&code) {
        Some(why) => Err(misuse(why)),
        None => Ok(code),
    }
}

/// The whole path of a file, by the links that were typed.
fn whole(file: &Path) -> Result<PathBuf, Error> {
    let failed = |source| Error::Io { what: format!("{} has no path", file.display()), source };
    std::path::absolute(file).map_err(failed)
}

/// The program that a first line names after `#!`, by its bare name. Where that is this program, the
/// language is the usual one.
fn named_program(text: &str) -> Option<&str> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace().filter(|word| !word.starts_with('-'));
    let mut named = bare(words.next()?);
    if named == "env" {
        named = bare(words.find(|word| !word.contains('='))?);
    }
    if named == env!("CARGO_BIN_NAME") {
        return Some(USUAL);
    }
    // `python3.11` is Python.
    named.split('.').next()
}

/// The name of a program without its folder.
fn bare(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_line_names_the_language() {
        for (line, name) in [
            ("#!/usr/bin/env -S interpreter run\n", Some("python")),
            ("#!/usr/local/bin/interpreter run\nprint(1)", Some("python")),
            ("#!/usr/bin/env python3\n", Some("python3")),
            ("#!/usr/bin/python3.11 -u\n", Some("python3")),
            ("#!/bin/bash", Some("bash")),
            ("#!/usr/bin/env -S A=1 node --x\n", Some("node")),
            ("#!", None),
            ("print(1)", None),
            ("", None),
        ] {
            assert_eq!(named_program(line), name, "{line}");
        }
    }
}
