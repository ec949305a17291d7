//! Rules that a person or a project adds, read from text and tried on their own examples.
//!
//! # Threat
//! A project's rules that hide what ours find, take all the time there is, or pass their words off
//! as ours. A rule that its author believes in, but that fits nothing.
//!
//! # Mechanism
//! Findings of added rules are kept apart from ours, and [`Findings::and`] only adds and raises. Their
//! size, number and names are bounded. Each must fit its example and not fit its counterexample, or
//! no rule is used at all. Findings name the file and line of the rule.
//!
//! # Limits
//! A rule finds what its author described. It is no boundary: that is the sandbox.
//!
//! [`Findings::and`]: interpreter_core::Findings::and

use crate::{
    analyze::by,
    call_rules::{CallIndex, CallPattern},
    place::{Place, PlaceIndex},
    rule::{Pattern, Rule},
    rules::{RuleSet, Rules},
    shell::rules::{ProgramIndex, ProgramPattern},
    sql::rules::StatementPattern,
    words::rules::{WordIndex, WordPattern},
};
use interpreter_core::{Untrusted, unquoted::unquoted};
use serde::Deserialize;
use std::{collections::HashMap, fmt};
use toml::Spanned;

/// Most rules that are added, of all files together.
pub const MOST_RULES: usize = 200;

/// Most names that they look for, of all rules together.
pub const MOST_NAMES: usize = 300;

/// Most rules on the same name.
const MOST_ON_NAME: usize = 20;

/// Most characters of a file's name.
const MOST_FILE_NAME: usize = 60;

/// Most characters of a name, and of a reason.
const MOST_TEXT: usize = 200;

/// Most characters of an example.
const MOST_EXAMPLE: usize = 2000;

/// Who has added a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The person, in their config folder.
    Person,
    /// The project, in its own folder.
    Project,
}

/// The text of one file of rules.
#[derive(Clone, Debug)]
pub struct RuleText {
    /// Who has added it.
    pub whose: Whose,
    /// Its path, as messages name it.
    pub path: String,
    /// The name that findings call it by.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A rule that was added, for those who list them.
#[derive(Clone, Debug)]
pub struct AddedRule {
    /// Its file.
    pub path: String,
    /// Its line in the file.
    pub line: usize,
    /// The language that it is about; `path` for a rule on paths.
    pub language: &'static str,
    /// Names that it looks for.
    pub names: Vec<String>,
    /// Why it matters.
    pub reason: Untrusted,
}

/// All rules that were added.
#[derive(Clone, Debug, Default)]
pub struct AddedRules {
    rules: Option<Rules>,
    /// Each of them, in the order of the files.
    pub listed: Vec<AddedRule>,
}

/// Why a file of rules cannot be used.
#[derive(Debug, thiserror::Error)]
pub struct AddedRuleError {
    /// The file.
    pub path: String,
    /// The number of the rule in it, from 1, and its line.
    pub rule: Option<(usize, usize)>,
    /// The fault, with the name of the field.
    pub fault: String,
}

impl fmt::Display for AddedRuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = |text: &str| Untrusted::new(text).for_terminal_line(4096);
        write!(f, "`{}`", line(&self.path))?;
        if let Some((number, at)) = self.rule {
            write!(f, ", rule {number} (line {at})")?;
        }
        write!(f, ": {}", line(&self.fault))
    }
}

/// A file of rules that were added.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AddedFile {
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    rule: Vec<Spanned<toml::Table>>,
    #[serde(default)]
    place: Vec<Spanned<toml::Table>>,
}

/// The languages that a file can be about, as it calls them.
const LANGUAGES: [&str; 5] = ["python", "javascript", "shell", "sql", "other"];

impl AddedRules {
    /// Reads all files, and tries each rule on its examples. One fault refuses all of them.
    pub fn read(files: &[RuleText]) -> Result<Self, AddedRuleError> {
        let mut reading = Reading::default();
        for file in files {
            reading.file(file)?;
        }
        let Reading { set, listed, .. } = reading;
        let rules = (!listed.is_empty()).then(|| Rules::with(set.into()));
        Ok(Self { rules, listed })
    }

    pub(crate) fn rules(&self) -> Option<&Rules> {
        self.rules.as_ref()
    }
}

/// The rules so far.
#[derive(Default)]
struct Reading {
    set: Unindexed,
    listed: Vec<AddedRule>,
    names: usize,
    on_name: HashMap<(&'static str, String), usize>,
}

/// Rules before they are found by name.
#[derive(Default)]
struct Unindexed {
    python: Vec<Rule<CallPattern>>,
    javascript: Vec<Rule<CallPattern>>,
    shell: Vec<Rule<ProgramPattern>>,
    sql: Vec<Rule<StatementPattern>>,
    words: Vec<Rule<WordPattern>>,
    places: Vec<Place>,
}

impl From<Unindexed> for RuleSet {
    fn from(rules: Unindexed) -> Self {
        Self {
            python: CallIndex::new(rules.python),
            javascript: CallIndex::new(rules.javascript),
            shell: ProgramIndex::new(rules.shell),
            sql: rules.sql,
            words: WordIndex::new(rules.words),
            places: PlaceIndex::new(rules.places),
            is_added: true,
        }
    }
}

/// Where a rule stands, for its faults and its source.
struct At<'a> {
    file: &'a RuleText,
    number: usize,
    line: usize,
}

impl At<'_> {
    fn fault(&self, fault: impl Into<String>) -> AddedRuleError {
        let rule = Some((self.number, self.line));
        AddedRuleError { path: self.file.path.clone(), rule, fault: fault.into() }
    }

    /// The statement of a rule, to stand beside ours.
    fn source(&self, reason: &str) -> String {
        let whose = match self.file.whose {
            Whose::Person => "your rule",
            Whose::Project => "the project's rule",
        };
        format!("{whose} {}:{}: {reason}", self.file.name, self.line)
    }
}

impl Reading {
    fn file(&mut self, file: &RuleText) -> Result<(), AddedRuleError> {
        let of_file = |fault: String| AddedRuleError { path: file.path.clone(), rule: None, fault };
        // Findings name the file, so its name must not be able to say anything.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if file.name.len() > MOST_FILE_NAME || !file.name.chars().all(is_plain) {
            let most = MOST_FILE_NAME;
            let fault =
                format!("its name may have letters, digits, `-`, `_` and `.`, at most {most}");
            return Err(of_file(fault));
        }
        let AddedFile { language, rule, place } = toml::from_str(&file.text).map_err(|error| {
            let line = error.span().map(|span| line_of(&file.text, span.start));
            let at = line.map(|line| format!("line {line}: ")).unwrap_or_default();
            of_file(format!("{at}{}", one_line(&unquoted(error.message()))))
        })?;
        let known = LANGUAGES.into_iter().find(|one| language.as_deref() == Some(one));
        if known.is_none() && (language.is_some() || !rule.is_empty()) {
            return Err(of_file(format!("`language` must be one of {}", LANGUAGES.join(", "))));
        }
        for (table, number) in rule.into_iter().zip(1..) {
            let line = line_of(&file.text, table.span().start);
            let (at, table) = (At { file, number, line }, table.into_inner());
            self.rule_of(known.unwrap_or_default(), &at, &table)?;
        }
        for (table, number) in place.into_iter().zip(1..) {
            let line = line_of(&file.text, table.span().start);
            self.place(&At { file, number, line }, table.into_inner())?;
        }
        Ok(())
    }

    fn rule_of(
        &mut self,
        language: &'static str,
        at: &At<'_>,
        table: &toml::Table,
    ) -> Result<(), AddedRuleError> {
        let alone = Unindexed::default;
        match language {
            "python" => {
                let in_set = |rule| Unindexed { python: vec![rule], ..alone() };
                let rule = self.rule(language, at, table, in_set)?;
                self.set.python.push(rule);
            }
            "javascript" => {
                let in_set = |rule| Unindexed { javascript: vec![rule], ..alone() };
                let rule = self.rule(language, at, table, in_set)?;
                self.set.javascript.push(rule);
            }
            "shell" => {
                let in_set = |rule| Unindexed { shell: vec![rule], ..alone() };
                let rule = self.rule(language, at, table, in_set)?;
                self.set.shell.push(rule);
            }
            "sql" => {
                let in_set = |rule| Unindexed { sql: vec![rule], ..alone() };
                let rule = self.rule(language, at, table, in_set)?;
                self.set.sql.push(rule);
            }
            _ => {
                let in_set = |rule| Unindexed { words: vec![rule], ..alone() };
                let rule = self.rule(language, at, table, in_set)?;
                self.set.words.push(rule);
            }
        }
        Ok(())
    }

    /// Reads a rule, checks its bounds and tries its examples.
    fn rule<P: Pattern>(
        &mut self,
        language: &'static str,
        at: &At<'_>,
        table: &toml::Table,
        in_set: impl FnOnce(Rule<P>) -> Unindexed,
    ) -> Result<Rule<P>, AddedRuleError> {
        let parse = || -> Result<Rule<P>, AddedRuleError> {
            let read: Result<Rule<P>, _> = table.clone().try_into();
            let rule = read.map_err(|error| at.fault(one_line(&unquoted(error.message()))))?;
            Ok(Rule { source: at.source(&rule.reason), ..rule })
        };
        let rule = parse()?;
        let lists = rule.on.names();
        for (_, names) in lists.iter().filter(|(mark, _)| *mark != "{word}") {
            self.crowd(language, at, names)?;
        }
        let names: Vec<String> =
            lists.into_iter().flat_map(|(_, names)| names.iter().cloned()).collect();
        self.admit(language, at, &names, &rule.reason, [&rule.example, &rule.unlike])?;
        let is_silent = rule.on.is_silent();
        let set = in_set(parse()?).into();
        let rules = if is_silent { Rules::with(set) } else { Rules::only(set) };
        let fits = |code: &str| {
            by(rules.clone(), language, code).capabilities.iter().any(|found| {
                let is_named = found.sources.iter().any(|source| source.raw() == rule.source);
                let is_told = is_silent && found.is_a(rule.capability.name());
                found.severity >= rule.severity && (is_named || is_told)
            })
        };
        for example in rule.examples().map_err(|fault| at.fault(fault))? {
            if !fits(&example) {
                return Err(at.fault(format!("it does not fit its `example`: {example}")));
            }
        }
        if fits(&rule.unlike) {
            return Err(at.fault(format!("it fits its `unlike`: {}", rule.unlike)));
        }
        Ok(rule)
    }

    fn place(&mut self, at: &At<'_>, table: toml::Table) -> Result<(), AddedRuleError> {
        let read: Result<Place, _> = table.try_into();
        let mut place = read.map_err(|error| at.fault(one_line(&unquoted(error.message()))))?;
        let names: Vec<String> =
            [&place.ends, &place.contains].into_iter().flatten().cloned().collect();
        if names.len() != 1 {
            return Err(at.fault("it needs either `ends` or `contains`"));
        }
        self.admit("path", at, &names, &place.reason, [&place.example, &place.unlike])?;
        if !place.fits(&place.example) {
            return Err(at.fault(format!("it does not fit its `example`: {}", place.example)));
        }
        if place.fits(&place.unlike) {
            return Err(at.fault(format!("it fits its `unlike`: {}", place.unlike)));
        }
        place.source = at.source(&place.reason);
        self.set.places.push(place);
        Ok(())
    }

    /// Counts the rules that are asked for the same name: each takes time wherever it stands.
    fn crowd(
        &mut self,
        language: &'static str,
        at: &At<'_>,
        names: &[String],
    ) -> Result<(), AddedRuleError> {
        for name in names {
            let count = self.on_name.entry((language, name.clone())).or_default();
            *count += 1;
            if *count > MOST_ON_NAME {
                return Err(at.fault(format!("more than {MOST_ON_NAME} rules are on `{name}`")));
            }
        }
        Ok(())
    }

    /// Checks the bounds of a rule, and lists it.
    fn admit(
        &mut self,
        language: &'static str,
        at: &At<'_>,
        names: &[String],
        reason: &str,
        examples: [&String; 2],
    ) -> Result<(), AddedRuleError> {
        if names.is_empty() {
            return Err(at.fault("it names nothing to look for"));
        }
        // A text or a path is looked for everywhere, so one letter would be found everywhere.
        let least = if matches!(language, "other" | "path") { 3 } else { 1 };
        for name in names {
            let length = name.chars().count();
            if length < least || length > MOST_TEXT {
                return Err(at.fault(format!(
                    "the name `{name}` must have {least} to {MOST_TEXT} characters"
                )));
            }
        }
        let is_line = !reason.trim().is_empty() && !reason.contains(char::is_control);
        if !is_line || reason.chars().count() > MOST_TEXT {
            return Err(
                at.fault(format!("`reason` must be one line of 1 to {MOST_TEXT} characters"))
            );
        }
        for (example, field) in examples.into_iter().zip(["example", "unlike"]) {
            if example.trim().is_empty() || example.chars().count() > MOST_EXAMPLE {
                return Err(at.fault(format!("`{field}` must have 1 to {MOST_EXAMPLE} characters")));
            }
        }
        self.names += names.len();
        if self.names > MOST_NAMES {
            return Err(at.fault(format!("all rules together have more than {MOST_NAMES} names")));
        }
        if self.listed.len() == MOST_RULES {
            return Err(at.fault(format!("there are more than {MOST_RULES} rules")));
        }
        self.listed.push(AddedRule {
            path: at.file.path.clone(),
            line: at.line,
            language,
            names: names.to_vec(),
            reason: Untrusted::new(reason),
        });
        Ok(())
    }
}

/// The number of the line at this offset.
fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}

/// A message of the parser on one line.
fn one_line(message: &str) -> String {
    message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "added_tests.rs"]
mod tests;
