//! The effects of a run, measured from outside.

use crate::{Denial, SecretUse, Untrusted};
use serde::{Deserialize, Serialize};

/// The effects of a run, by outside evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effects {
    /// The change set with the staged files, or `None` if nothing is staged.
    pub changes: Option<String>,
    /// Files of the work folder that differ from the person's.
    pub files: Vec<FileChange>,
    /// Hosts that were tried.
    pub network: Vec<HostContact>,
    /// Refusals of the sandbox.
    pub denials: Vec<Denial>,
    /// Uses of secrets, also those that were refused.
    pub secrets: Vec<SecretUse>,
}

/// One file that differs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FileChange {
    /// Relative to the work folder. A program chose this name, so it is shown through a filter.
    pub path: String,
    /// How it differs.
    pub change: Change,
    /// Further details.
    #[serde(flatten)]
    pub about: About,
}

/// Details of a file in a listing; each is present only if it applies.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct About {
    /// Where it was before it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Its permissions before and after, as octal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Turn>,
    /// Where a link pointed, and where it points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<Turn>,
    /// Type of a binary file: `PNG image`, `binary`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holds: Option<String>,
    /// The size of such a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Why it, or something in it, runs automatically later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_later: Option<String>,
    /// Whether it is a file that may be executed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub executable: bool,
    /// The part of it that was applied, if the rest is still staged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunks: Option<AppliedHunks>,
}

/// The hunks of a file that were applied.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AppliedHunks {
    /// Their numbers, counted from 1.
    pub numbers: Vec<usize>,
    /// How many there were.
    pub of: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the shape that serde wants")]
fn is_false(value: &bool) -> bool {
    !*value
}

/// The harm an unseen change could do, worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Danger {
    /// Something runs it, or obeys it, without being asked again.
    RunsLater,
    /// It is a program.
    Executable,
    /// It replaces, renames or deletes a file of the person's.
    Existing,
    /// It is new.
    New,
}

impl Danger {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 4] = [Self::RunsLater, Self::Executable, Self::Existing, Self::New];

    /// A heading for the files of this kind.
    pub fn heading(self) -> &'static str {
        match self {
            Self::RunsLater => "runs automatically later",
            Self::Executable => "executable",
            Self::Existing => "your files",
            Self::New => "new",
        }
    }
}

/// Something that was one thing and is another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Turn {
    /// The old value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The new value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// A path that was left as it is when the rest was applied.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftOut {
    /// Relative to the work folder.
    pub path: String,
    /// Why. May name other paths that a program chose.
    pub why: String,
    /// The names of the known values that are masked in it, if that is why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<String>,
}

impl FileChange {
    /// A change of which there is nothing more to tell.
    pub fn new(path: impl Into<String>, change: Change) -> Self {
        Self { path: path.into(), change, about: About::default() }
    }

    /// How dangerous the change is.
    pub fn danger(&self) -> Danger {
        if self.about.runs_later.is_some() {
            return Danger::RunsLater;
        }
        match (self.change, self.about.executable) {
            (Change::Created | Change::Changed | Change::Renamed, true) => Danger::Executable,
            (Change::Created, false) => Danger::New,
            (Change::Changed | Change::Renamed, false) | (Change::Deleted, _) => Danger::Existing,
        }
    }

    /// Puts changes in the order in which a person should see them: by danger, then by path.
    pub fn sort_by_danger(files: &mut [Self]) {
        files.sort_by(|one, other| one.danger().cmp(&other.danger()).then_with(|| one.cmp(other)));
    }

    /// Every path that it is about: the old one, too, if it was renamed.
    pub fn paths(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.path).chain(&self.about.from)
    }

    /// Whether whoever saw this line saw `other`. Details that a long list leaves out were not seen,
    /// and are not compared.
    pub fn shows(&self, other: &Self) -> bool {
        let short = |file: &Self| {
            let About { from, runs_later, executable, .. } = file.about.clone();
            let about = About { from, runs_later, executable, ..About::default() };
            Self { about, ..file.clone() }
        };
        self == other || (*self == short(self) && *self == short(other))
    }

    /// The path, or both of them, fit for a terminal.
    pub fn subject(&self) -> String {
        // A name that is cut could stand for another file.
        let shown = |path: &str| Untrusted::new(path).for_terminal_line(usize::MAX);
        match &self.about.from {
            Some(from) => format!("{} → {}", shown(from), shown(&self.path)),
            None => shown(&self.path),
        }
    }

    /// Further details, fit for a terminal; often empty.
    pub fn details(&self) -> String {
        let About { mode, target, holds, bytes, runs_later, executable, hunks, .. } = &self.about;
        let mut parts = Vec::new();
        parts.extend(runs_later.as_ref().map(|why| Untrusted::new(&**why).for_terminal_line(100)));
        // A listed mode shows the same.
        parts.extend((*executable && mode.is_none()).then(|| "executable".to_owned()));
        parts.extend(mode.as_ref().map(|mode| format!("mode {}", mode.words())));
        let for_all = mode.as_ref().is_some_and(Turn::lets_everybody_write);
        parts.extend(for_all.then(|| "writable by everybody".to_owned()));
        parts.extend(target.as_ref().map(|target| format!("link to {}", target.words())));
        parts.extend(holds.as_ref().map(|holds| Untrusted::new(&**holds).for_terminal_line(60)));
        parts.extend(bytes.map(|bytes| format!("{bytes} bytes")));
        parts.extend(hunks.as_ref().map(AppliedHunks::words));
        parts.join(", ")
    }
}

impl AppliedHunks {
    fn words(&self) -> String {
        let numbers: Vec<_> = self.numbers.iter().map(usize::to_string).collect();
        let noun = if numbers.len() == 1 { "hunk" } else { "hunks" };
        format!("{noun} {} of {}; the rest stays staged", numbers.join(", "), self.of)
    }
}

impl Turn {
    /// Whether these are modes, and everybody may write from now on.
    fn lets_everybody_write(&self) -> bool {
        self.to.as_ref().is_some_and(|mode| mode.ends_with(['2', '3', '6', '7']))
    }

    fn words(&self) -> String {
        let shown = |text: &String| Untrusted::new(&**text).for_terminal_line(usize::MAX);
        let sides: Vec<_> = self.from.iter().chain(&self.to).map(shown).collect();
        sides.join(" → ")
    }
}

impl LeftOut {
    /// It as a line for a terminal.
    pub fn line(&self) -> String {
        let shown = |text: &str| Untrusted::new(text).for_terminal_line(usize::MAX);
        format!("left out {}: {}", shown(&self.path), shown(&self.why))
    }
}

/// How a file differs from the person's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is new.
    Created,
    /// Its content, kind or mode is another.
    Changed,
    /// It is gone.
    Deleted,
    /// It has another name, and the same content.
    Renamed,
}

impl Change {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
            Self::Renamed => "renamed",
        }
    }
}

/// Attempts to reach one host by one port, all with the same outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostContact {
    /// The host's name or address.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Whether it was let through.
    pub verdict: Admission,
    /// Why it was refused, or what became of it although it was let through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Number of attempts, or 0 if only an earlier connection was used.
    #[serde(default)]
    pub count: u64,
    /// Bytes that went there.
    #[serde(default)]
    pub sent: u64,
    /// Bytes that came from there.
    #[serde(default)]
    pub received: u64,
}

/// Whether an attempt was let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Admission {
    /// It was.
    Allowed,
    /// It was not.
    Refused,
}

impl HostContact {
    /// It as a line for a terminal.
    pub fn line(&self) -> String {
        let shown = |text: &str| Untrusted::new(text).for_terminal_line(300);
        let verdict = match self.verdict {
            Admission::Allowed => "reached",
            Admission::Refused => "refused",
        };
        let times = if self.count > 1 { format!(" ({} times)", self.count) } else { String::new() };
        let why = self.why.as_deref().map(|why| shown(&about_it(&self.host, self.port, why)));
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        format!("{verdict} {}:{}{times}{why}", shown(&self.host), self.port)
    }
}

/// Words about a host for a line that names it already: "it" stands for the name at their beginning
/// or end. The words keep the name because a refused program sees nothing else.
pub(crate) fn about_it(host: &str, port: u16, why: &str) -> String {
    let names = [format!("{host}:{port}"), format!("[{host}]:{port}"), host.to_owned()];
    for name in &names {
        if let Some(rest) = why.strip_prefix(name).filter(|rest| rest.starts_with(' ')) {
            return format!("it{rest}");
        }
        if let Some(before) = why.strip_suffix(name).filter(|before| before.ends_with(' ')) {
            return format!("{before}it");
        }
    }
    why.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str, change: Change, runs_later: bool, executable: bool) -> FileChange {
        let runs_later = runs_later.then(|| "runs at commits".to_owned());
        let about = About { runs_later, executable, ..About::default() };
        FileChange { about, ..FileChange::new(path, change) }
    }

    #[test]
    fn the_most_dangerous_comes_first() {
        let mut files = [
            told("a", Change::Created, false, false),
            told("b", Change::Changed, false, false),
            told("c", Change::Deleted, false, true),
            told("d", Change::Created, false, true),
            told("e", Change::Renamed, false, true),
            told("z", Change::Deleted, true, false),
        ];
        FileChange::sort_by_danger(&mut files);
        assert_eq!(files.map(|file| file.path).join(" "), "z d e b c a");
    }

    #[test]
    fn a_line_names_its_host_once() {
        for (host, why, line) in [
            ("a.org", "a.org:443 is not allowed here", "refused a.org:443: it is not allowed here"),
            ("a.org", "you refused a.org:443", "refused a.org:443: you refused it"),
            ("10.0.0.1", "10.0.0.1 is private", "refused 10.0.0.1:443: it is private"),
            // A name of which it is only a part stays.
            ("a.org", "a.organ is denied", "refused a.org:443: a.organ is denied"),
            ("a.org", "too many", "refused a.org:443: too many"),
        ] {
            let contact = HostContact {
                host: host.into(),
                port: 443,
                verdict: Admission::Refused,
                why: Some(why.into()),
                count: 1,
                sent: 0,
                received: 0,
            };
            assert_eq!(contact.line(), line);
            assert_eq!(
                crate::Denial::all(crate::Denials::default(), &[contact], None)[0].line(),
                line
            );
        }
    }

    #[test]
    fn what_is_to_be_told_is_additive_in_records() {
        let old = r#"{"path":"a","change":"created"}"#;
        let read: FileChange = serde_json::from_str(old).unwrap();
        assert_eq!(read, FileChange::new("a", Change::Created));
        assert_eq!(serde_json::to_string(&read).unwrap(), old);
        let new = serde_json::to_value(told("a", Change::Created, true, true)).unwrap();
        assert_eq!(
            (&new["runs_later"], &new["executable"]),
            (&"runs at commits".into(), &true.into())
        );
        let told = told("a", Change::Created, true, true);
        assert_eq!(told.details(), "runs at commits, executable");
    }
}
