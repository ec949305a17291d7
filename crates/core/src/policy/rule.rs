//! One rule: its conditions, and whether code meets them.
//!
//! A rule that allows must cover all of the code; one that asks or denies needs to match only a
//! part of it. Where a rule cannot tell, because a path or a program is computed, it asks. Nor can it
//! tell anything from the findings of code that isn't understood: then a rule that looks at findings
//! allows nothing, and asks if it asks or denies.

use super::{Opinion, Patterns, Places, places::Fit};
use crate::{
    Capability, Deed, Findings, Origin, Proposal, Quorum, Risk, findings, quorum, similar::nearest,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// One rule. It matches a proposal if every condition it names holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Rule {
    /// Its opinion on the proposals that it matches.
    pub decision: Opinion,
    /// Names of languages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<Patterns>,
    /// Who wrote the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Patterns for the whole of one line of the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Patterns>,
    /// Names of findings, such as `deletes` or `connects`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub finding: Option<Patterns>,
    /// Patterns for paths that the code reads, writes or deletes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Patterns>,
    /// Patterns for hosts that it connects to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Patterns>,
    /// Patterns for programs that it starts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Patterns>,
    /// The risk of the code: at most this, to be allowed; at least this, to be asked about or
    /// denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// How many different people must approve the code, if it is asked about.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "quorum::answers"
    )]
    pub answers: Option<u8>,
    /// Whether none of them may be its author.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_author: bool,
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rule = Self::deserialize(deserializer)?;
        let demands = rule.answers.is_some() || rule.not_author;
        if demands && rule.decision != Opinion::Ask {
            let text = "`answers` and `not_author` go with `decision = \"ask\"`";
            return Err(de::Error::custom(text));
        }
        Ok(rule)
    }
}

impl Rule {
    /// The rule without what was masked in it: a star in a line, and no condition where a text is
    /// compared as a whole.
    #[must_use]
    pub(crate) fn with_masks_open(self) -> Self {
        let whole = |patterns: Option<Patterns>| patterns.filter(|all| !all.are_masked());
        Self {
            line: self.line.map(Patterns::with_masks_open),
            language: whole(self.language),
            finding: whole(self.finding),
            path: whole(self.path),
            host: whole(self.host),
            program: whole(self.program),
            ..self
        }
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

/// Reads names of findings. One that does not exist would match nothing, without a word.
fn known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Patterns>, D::Error> {
    let names = Patterns::deserialize(deserializer)?;
    if let Some(unknown) = names.iter().find(|name| !findings::NAMES.contains(name)) {
        let all = findings::NAMES.iter().copied();
        let hint = match nearest(unknown, all) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known: {}", findings::NAMES.join(", ")),
        };
        return Err(de::Error::custom(format!("unknown finding `{unknown}`; {hint}")));
    }
    Ok(Some(names))
}

impl Rule {
    /// A rule without conditions.
    pub fn of(decision: Opinion) -> Self {
        Self {
            decision,
            language: None,
            origin: None,
            line: None,
            finding: None,
            path: None,
            host: None,
            program: None,
            risk: None,
            answers: None,
            not_author: false,
        }
    }

    /// Who must approve the code that it asks about.
    pub fn quorum(&self) -> Quorum {
        Quorum { answers: self.answers.unwrap_or(1), not_author: self.not_author }
    }

    /// Whether it names what code does, and not only whose code it is or how it is written.
    pub(super) fn looks_at_findings(&self) -> bool {
        self.finding.is_some() || self.looks_at_arguments()
    }

    fn looks_at_arguments(&self) -> bool {
        self.path.is_some() || self.host.is_some() || self.program.is_some()
    }

    /// Whether it is about this proposal.
    pub(crate) fn fit(&self, proposal: &Proposal, found: &Findings, places: &Places) -> bool {
        self.fits(proposal, found, places) == Fit::Yes
    }

    /// Whether it may be about this proposal, because that isn't understood.
    pub(crate) fn may_fit(&self, proposal: &Proposal, found: &Findings, places: &Places) -> bool {
        self.fits(proposal, found, places) == Fit::Unknown
    }

    /// Whether it is about this proposal, or may be.
    pub(super) fn fits(&self, proposal: &Proposal, found: &Findings, places: &Places) -> Fit {
        let names = [proposal.language.name(), proposal.language.written_in()];
        if self.language.as_ref().is_some_and(|all| !names.iter().any(|name| all.contain(name)))
            || self.origin.is_some_and(|origin| origin != proposal.origin)
        {
            return Fit::No;
        }
        let code = proposal.code().raw();
        let mut lines = code.lines().map(str::trim).filter(|line| !line.is_empty());
        let is_allow = self.decision == Opinion::Allow;
        let lines_fit = self.line.as_ref().is_none_or(|all| {
            if is_allow { lines.all(|one| all.fit(one)) } else { lines.any(|one| all.fit(one)) }
        });
        if !lines_fit {
            return Fit::No;
        }
        let fit = self.fits_findings(found, places);
        let is_understood = found.is_understood();
        match (self.decision, fit) {
            // Who names the lines of code exactly, or nothing of it at all, needs no findings.
            (Opinion::Allow, _) if !is_understood && self.rests_on_findings() => Fit::No,
            (Opinion::Ask | Opinion::Deny, Fit::No) if !is_understood => Fit::Unknown,
            (Opinion::Allow | Opinion::Ask | Opinion::Deny, fit) => fit,
        }
    }

    /// Whether what it says of code depends on what was found in it. Lines that only begin alike may
    /// do anything.
    fn rests_on_findings(&self) -> bool {
        self.looks_at_findings()
            || self.risk.is_some()
            || self.line.as_ref().is_some_and(|lines| !lines.are_exact())
    }

    /// Whether its conditions on findings hold.
    fn fits_findings(&self, found: &Findings, places: &Places) -> Fit {
        let is_allow = self.decision == Opinion::Allow;
        let risk_fits = self
            .risk
            .is_none_or(|risk| if is_allow { found.risk <= risk } else { found.risk >= risk });
        if !risk_fits {
            return Fit::No;
        }
        if !self.looks_at_findings() {
            return Fit::Yes;
        }
        let each = found.capabilities.iter().map(|one| self.fits_one(one, places));
        if is_allow {
            // Code that could not be read may do anything.
            let unreadable = |one: &Capability| one.name == Deed::Unreadable.name();
            let readable =
                found.risk != Risk::Unknown && !found.capabilities.iter().any(unreadable);
            let all = each.min().unwrap_or(Fit::Yes);
            return if readable && all == Fit::Yes { Fit::Yes } else { Fit::No };
        }
        each.max().unwrap_or(Fit::No)
    }

    /// Whether it is about one thing that the code does.
    fn fits_one(&self, one: &Capability, places: &Places) -> Fit {
        let is_allow = self.decision == Opinion::Allow;
        // Who forbids reading forbids reading credentials; who allows it does not allow that.
        let is_called = |name: &str| if is_allow { one.name == name } else { one.is_a(name) };
        if self.finding.as_ref().is_some_and(|names| !names.iter().any(is_called)) {
            return Fit::No;
        }
        let argument = one.argument.raw();
        let patterns = match subject(&one.name) {
            Subject::Path => &self.path,
            Subject::Host => &self.host,
            Subject::Program => &self.program,
            Subject::Other => &None,
        };
        let Some(patterns) = patterns else {
            // A finding that it names needs no argument. Otherwise it names other things.
            let is_named = self.finding.is_some() || !self.looks_at_arguments();
            return if is_named { Fit::Yes } else { Fit::No };
        };
        match subject(&one.name) {
            Subject::Path => places.fit(patterns, argument),
            _ if argument.is_empty() || argument.contains(['$', '`']) => Fit::Maybe,
            Subject::Program if patterns.fit(argument) => Fit::Yes,
            // The program of that name in some folder: to be denied like it, not to be allowed.
            Subject::Program => {
                let name = argument.rsplit('/').next().unwrap_or(argument);
                if patterns.fit(name) { Fit::Maybe } else { Fit::No }
            }
            Subject::Host | Subject::Other => {
                let host = argument.to_ascii_lowercase();
                let host = host.split_once("://").map_or(host.as_str(), |(_, rest)| rest);
                let host = host.split(['/', ':']).next().unwrap_or(host);
                if patterns.fit(host) { Fit::Yes } else { Fit::No }
            }
        }
    }

    /// The rule in words.
    pub fn words(&self) -> String {
        let (decision, risk) = match self.decision {
            Opinion::Allow => ("allow", "risk at most"),
            Opinion::Ask => ("ask", "risk at least"),
            Opinion::Deny => ("deny", "risk at least"),
        };
        let names = |what: &str, all: &Option<Patterns>| {
            all.as_ref().map(|all| format!("{what} {}", all.names()))
        };
        let patterns = |what: &str, all: &Option<Patterns>| {
            all.as_ref().map(|all| format!("{what} {}", all.words()))
        };
        let conditions = [
            names("language", &self.language),
            self.origin.map(|origin| match origin {
                Origin::Model => "code of a model".into(),
                Origin::Person => "code that you type".into(),
            }),
            patterns("line", &self.line),
            names("finding", &self.finding),
            patterns("path", &self.path),
            patterns("host", &self.host),
            patterns("program", &self.program),
            self.risk.map(|most| format!("{risk} {}", most.word())),
        ];
        let conditions: Vec<_> = conditions.into_iter().flatten().collect();
        let about = if conditions.is_empty() {
            format!("{decision} everything")
        } else {
            format!("{decision} {}", conditions.join(", "))
        };
        match self.quorum().words() {
            Some(quorum) => format!("{about}, to be {quorum}"),
            None => about,
        }
    }
}

/// The kind of thing that the argument of a finding names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    Path,
    Host,
    Program,
    Other,
}

fn subject(finding: &str) -> Subject {
    let Some(deed) = Deed::named(finding) else { return Subject::Other };
    match deed {
        Deed::Reads
        | Deed::Lists
        | Deed::Writes
        | Deed::Deletes
        | Deed::Permissions
        | Deed::Credentials
        | Deed::Persists => Subject::Path,
        Deed::Connects => Subject::Host,
        Deed::Starts => Subject::Program,
        Deed::Kills
        | Deed::Watches
        | Deed::Environment
        | Deed::Packages
        | Deed::Privileges
        | Deed::Hides
        | Deed::Deserialises
        | Deed::Endless
        | Deed::Floods
        | Deed::Irreversible
        | Deed::Unreadable => Subject::Other,
    }
}
