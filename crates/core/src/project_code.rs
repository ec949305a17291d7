//! Code of the work folder that runs by itself with a cell, whatever the cell does.
//!
//! # Threat
//! A project brings an environment of Python, or the package by which Node.js reads TypeScript. Its
//! code runs with the first cell of the language, and it may be a stranger's. A harmless cell would
//! run it where no one looks: in the automatic mode, by a standing yes, by a rule that allows.
//!
//! # Mechanism
//! Until a person has approved a cell of a session whose question names that code, no cell of a
//! model that would run it is understood, nothing approves one in advance but `--yes`, and each has
//! a finding that names it. Whoever looks for interpreters says which code that is.
//!
//! # Limits
//! The name of a folder is approved, not its content. Code that the user types runs as ever.

use crate::{Capability, Confidence, Deed, Findings, Language, Risk, Understanding, UnknownName};
use std::collections::{BTreeMap, BTreeSet};

/// Code that the work folder brings, by the name of its folder there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Brought {
    /// An environment that an interpreter enters with the first cell.
    Environment(String),
    /// An environment whose programs the language finds by their names.
    Programs(String),
    /// A package that an interpreter loads with the first cell.
    Package(String),
}

impl Brought {
    /// Its folder.
    pub fn folder(&self) -> &str {
        match self {
            Self::Environment(folder) | Self::Programs(folder) | Self::Package(folder) => folder,
        }
    }

    /// The thing that would start, in words.
    fn words(&self) -> String {
        match self {
            Self::Environment(folder) => {
                format!("the project's own environment ({folder}), whose code runs with it")
            }
            Self::Programs(folder) => format!(
                "the project's own environment ({folder}), whose programs it finds by their names"
            ),
            Self::Package(folder) => {
                format!("the project's own package ({folder}), whose code runs with it")
            }
        }
    }

    /// The reason why somebody is asked.
    pub fn rule(&self) -> String {
        format!("it starts {}", self.words())
    }

    /// Findings on code that nobody understands, because this runs with it.
    #[must_use]
    pub fn not_understood(&self, mut findings: Findings) -> Findings {
        if findings.is_understood() {
            let name = UnknownName::new(self.folder(), 1);
            findings.understanding = Understanding::Unknown(vec![name]);
        }
        findings
    }

    /// The same, with a finding of its own.
    #[must_use]
    pub fn named_in(&self, findings: Findings) -> Findings {
        let mut findings = self.not_understood(findings);
        let one = Capability::new(Deed::Starts, self.words(), 1, Risk::Medium);
        findings.risk = findings.risk.max(one.severity);
        findings.capabilities.insert(0, Capability { confidence: Confidence::Certain, ..one });
        findings
    }
}

/// The code that a work folder brings, by the language that it runs with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectCode(BTreeMap<String, Brought>);

impl ProjectCode {
    /// Adds what runs with a language.
    pub fn add(&mut self, language: &str, brought: Brought) {
        self.0.insert(language.to_owned(), brought);
    }

    /// Whatever runs with a language.
    pub fn of(&self, language: &Language) -> Option<&Brought> {
        self.0.get(language.name())
    }
}

/// The folders whose code a person has approved in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovedCode(BTreeSet<String>);

impl ApprovedCode {
    /// A person has approved code whose question named this.
    pub fn add(&mut self, brought: &Brought) {
        self.0.insert(brought.folder().to_owned());
    }

    /// Whether it is approved.
    pub fn has(&self, brought: &Brought) -> bool {
        self.0.contains(brought.folder())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language;

    #[test]
    fn an_approval_is_of_a_folder_in_every_language() {
        let languages = language::example();
        let mut code = ProjectCode::default();
        code.add("python", Brought::Environment(".venv".into()));
        code.add("shell", Brought::Programs(".venv".into()));
        let of = |name: &str| code.of(&languages.find(name).unwrap());
        assert_eq!(of("javascript"), None);
        let mut approved = ApprovedCode::default();
        assert!(!approved.has(of("python").unwrap()));
        approved.add(of("python").unwrap());
        assert!(approved.has(of("shell").unwrap()));
        assert!(!approved.has(&Brought::Package("node_modules/sucrase".into())));
    }

    #[test]
    fn a_finding_names_it_and_raises_the_risk() {
        let brought = Brought::Environment(".venv".into());
        let found = brought.named_in(Findings::new(vec![]).understood());
        assert!(!found.is_understood());
        assert_eq!(found.risk, Risk::Medium);
        let words = found.by_severity()[0].words();
        let expected = "starts the project's own environment (.venv), whose code runs with it";
        assert_eq!(words, expected);
    }
}
