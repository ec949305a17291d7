//! Rules at the edge: they are checked against the languages that are known, tried on code, and
//! kept in the person's config file.

use crate::{AgentError, Context, advice::Advise, error::chain};
pub use interpreter_analyze::{AddedRule, AddedRules};
use interpreter_analyze::{RuleText, Whose, analyze};
use interpreter_core::{
    Findings, Language, Opinion, Origin, Patterns, Proposal, Rule, Untrusted, Verdict, landing,
    redact::{Redactor, Scope},
    similar::nearest,
    standing::ceiling,
};
use interpreter_exec::Interpreters;
use interpreter_store::{
    ConfigFiles, ConfigText, Folders, Settings, forget_host, keep_rule, remove_rule,
};
use std::path::Path;

/// The decision about code, and why.
#[derive(Debug)]
pub struct Judged {
    /// The things that the code would do.
    pub findings: Findings,
    /// Every rule with an opinion on it, in words.
    pub opinions: Vec<(Opinion, String)>,
    /// The decision.
    pub verdict: Verdict,
    /// Scanners that are set and did not look at it, and why.
    pub note: Option<String>,
}

impl Context {
    /// The decision about this code at the beginning of a session, without secrets. Nothing of it
    /// runs; scanners look at it.
    pub async fn judge(&self, origin: Origin, language: Language, code: String) -> Judged {
        let own = analyze(&self.added_rules, &language, &code);
        let within = self.confinement();
        let findings = landing::weighed(self.scanned(&language, &code, own).await, &within);
        let id = "p1".to_owned();
        let proposal = Proposal::new(id, origin, None, language, Untrusted::new(code));
        let policy = self.policy();
        let judged = Judged {
            opinions: policy.opinions(&proposal, &findings),
            verdict: policy.judge(&proposal, &findings, ceiling(&within)),
            findings,
            note: self.missing_scanners(),
        };
        judged.without_secrets(&self.redactor)
    }
}

impl Judged {
    /// It as it is shown: code names secrets, and so may a rule. They were needed to decide.
    fn without_secrets(self, redactor: &Redactor) -> Self {
        let clean = |mut words: String| {
            redactor.clean(&mut words, Scope::Known);
            words
        };
        let Self { findings, opinions, verdict, note } = self;
        Self {
            findings: redactor.findings(findings),
            opinions: opinions.into_iter().map(|(one, words)| (one, clean(words))).collect(),
            verdict: Verdict { rule: clean(verdict.rule), ..verdict },
            note: note.map(clean),
        }
    }
}

/// The rules for the analysis of code that the person and the project have added.
pub(crate) fn added(files: &ConfigFiles) -> Result<AddedRules, AgentError> {
    let own = files.rules.iter().map(|file| rule_text(Whose::Person, file));
    let project = files.project_rules.iter().map(|file| rule_text(Whose::Project, file));
    Ok(AddedRules::read(&own.chain(project).collect::<Vec<_>>())?)
}

/// Tries the rules of one file on their examples, wherever it is. Returns `None` if it does not
/// exist.
pub fn check_file(path: &Path) -> Result<Option<AddedRules>, AgentError> {
    let read = ConfigText::read_rules(path.into()).map_err(interpreter_store::StoreError::from)?;
    let rules = read.map(|file| AddedRules::read(&[rule_text(Whose::Person, &file)]));
    Ok(rules.transpose()?)
}

fn rule_text(whose: Whose, file: &ConfigText) -> RuleText {
    let name = file.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let path = file.path.to_string_lossy().into_owned();
    RuleText { whose, path, name, text: file.text.clone() }
}

/// Refuses a rule whose language is unknown, or goes by another name. It would match nothing,
/// without a word: a deny that was mistyped would deny nothing.
pub(crate) fn check(settings: &Settings, interpreters: &Interpreters) -> Result<(), AgentError> {
    for rule in &settings.rules {
        let infos = || interpreters.all().map(|one| &one.info);
        let is_known = |name: &&str| infos().any(|info| info.name == *name);
        let mut names = rule.value.language.iter().flat_map(Patterns::iter);
        let Some(name) = names.find(|name| !is_known(name)) else { continue };
        let called = infos().find(|info| info.is_called(name)).map(|info| info.name.as_str());
        let near = called.or_else(|| nearest(name, infos().map(|info| info.name.as_str())));
        let place = match &rule.origin.place {
            Some((file, line)) => format!("{}:{line}", file.display()),
            None => rule.origin.layer.to_string(),
        };
        return Err(AgentError::Rule {
            place: Untrusted::new(place).for_terminal_line(4096),
            rule: Untrusted::new(rule.value.words()).for_terminal_line(200),
            near: near.map(str::to_owned),
        });
    }
    Ok(())
}

/// Saves a rule to the person's config file. Returns a note about it.
pub(crate) fn keep(folders: &Folders, rule: &Rule) -> String {
    let words = rule.words();
    match keep_rule(folders, rule) {
        Ok(true) => format!("added to your config file: {words}; `interpreter rules` lists it"),
        Ok(false) => format!("your config file has this rule already: {words}"),
        Err(error) => {
            let advice = error.advice().map(|advice| format!("; {advice}")).unwrap_or_default();
            let why = chain(&error);
            format!("it holds for this session, but could not be kept: {why}{advice}")
        }
    }
}

/// Takes a host out of `network.hosts` in the person's config file. Whether it was there.
pub fn take_back_host(context: &Context, entry: &str) -> Result<bool, AgentError> {
    Ok(forget_host(&context.folders, entry)?)
}

/// Removes a rule from the person's config file, by its place in it from 0. Whether there was one.
pub fn remove(context: &Context, at: usize) -> Result<bool, AgentError> {
    Ok(remove_rule(&context.folders, at)?)
}
