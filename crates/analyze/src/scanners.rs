//! The reports of scanners, turned into findings beside our own.
//!
//! # Threat
//! A scanner reads hostile code, so its report may be anything: endless, nonsense, or written by the
//! code. A report that says nothing must not make code look safer than our own analysis has it.
//!
//! # Mechanism
//! A report is read by its exact form, up to a size and a number of results, and every place in it
//! must be in the code. It adds findings and raises them. A scanner that fails on the code is a
//! finding of its own: the risk is then at least unknown, so breaking a scanner gains nothing. Of
//! more results than are listed the gravest of each kind stay, and a finding counts the others. Code
//! is passed without the words by which a comment would silence a scanner.
//!
//! # Limits
//! Scanners judge style as well. Checks that say nothing about the machine are ignored by name:
//! `rules/scanners.toml`.

use crate::{
    python,
    rule::{own, own_text},
};
use interpreter_core::{
    Capability, Confidence, Deed, Findings, Language, Risk, Scanner, Untrusted,
    findings::{MOST_ADDED, listed},
};
use serde::Deserialize;
use std::{collections::HashMap, sync::LazyLock};

/// The rules of our own for semgrep, which would fetch its rules otherwise.
pub const SEMGREP_RULES: &str = include_str!("../rules/semgrep.yml");

/// Most bytes of a report that are read.
pub const MOST_REPORT: usize = 4 << 20;

/// Most results in a report.
const MOST_RESULTS: usize = 2000;

/// Most characters of a scanner's own words, and of the code that they are about.
const MOST_WORDS: usize = 200;

static CHECKS: LazyLock<Checks> = LazyLock::new(|| Checks::new(own(own_text!("rules/scanners"))));

/// The deeds behind the checks of scanners.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChecksFile {
    other: HashMap<Scanner, Other>,
    deed: Vec<CheckDeed>,
    ignored: Vec<Ignored>,
}

/// The meaning of a check that is not named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Other {
    Report,
    Ignore,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckDeed {
    scanner: Scanner,
    checks: Vec<String>,
    capability: Deed,
    #[serde(default)]
    severity: Option<Risk>,
    #[expect(dead_code, reason = "for those who read the table")]
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ignored {
    scanner: Scanner,
    checks: Vec<String>,
    #[expect(dead_code, reason = "for those who read the table")]
    reason: String,
}

/// The meaning of a check: a deed, with a severity if it is not the scanner's own, or nothing for a
/// check that is ignored.
type Meaning = Option<(Deed, Option<Risk>)>;

/// The same, by check.
struct Checks {
    known: HashMap<(Scanner, String), Meaning>,
    other: HashMap<Scanner, Other>,
}

impl Checks {
    fn new(file: ChecksFile) -> Self {
        let mut known = HashMap::new();
        for CheckDeed { scanner, checks, capability, severity, .. } in file.deed {
            known
                .extend(checks.into_iter().map(|id| ((scanner, id), Some((capability, severity)))));
        }
        for Ignored { scanner, checks, .. } in file.ignored {
            known.extend(checks.into_iter().map(|id| ((scanner, id), None)));
        }
        Self { known, other: file.other }
    }

    fn of(&self, scanner: Scanner, id: &str) -> Meaning {
        match self.known.get(&(scanner, id.to_owned())) {
            Some(known) => *known,
            None if self.other.get(&scanner) == Some(&Other::Ignore) => None,
            None => Some((Deed::Unreadable, None)),
        }
    }
}

/// One result of a scanner.
struct ScanResult {
    id: String,
    words: String,
    severity: Risk,
    /// The deed that the check itself names.
    deed: Option<Deed>,
    line: usize,
    /// From 1: the first, and the one after the last. On one line.
    columns: Option<(usize, usize)>,
}

/// The code as a scanner is given it, if it reads this language: the commands of a notebook are in
/// words of Python, and no comment silences anything. Lines stay where they are.
pub fn scannable(scanner: Scanner, language: &Language, code: &str) -> Option<String> {
    let written_in = language.written_in();
    scanner.file_name(written_in)?;
    let code = if written_in == "python" { python::without_commands(code) } else { code.into() };
    Some(Scanner::unsilenced(&code))
}

/// Our own findings, and those of a scanner that was given this code: its report, or why there is
/// none.
pub fn with_report(
    own: Findings,
    scanner: Scanner,
    code: &str,
    report: Result<&[u8], &str>,
) -> Findings {
    let read = report.map_err(str::to_owned).and_then(|report| read(scanner, report, code));
    match read {
        Ok(results) => join(own, scanner, code, results),
        Err(why) => {
            let why = format!("{scanner} {why}");
            let failed = Capability::new(Deed::Unreadable, why, 1, Risk::Unknown);
            own.and(Findings::new(vec![failed]))
        }
    }
}

/// Why a scanner failed: its own words, from the report of its errors if it printed one, otherwise
/// its last line.
pub fn failure(scanner: Scanner, output: &[u8], said: &str) -> String {
    let named = match scanner {
        Scanner::Semgrep => parsed(output).ok().and_then(|report: SemgrepReport| report.error()),
        Scanner::Bandit | Scanner::ShellCheck => None,
    };
    let last = || said.lines().rfind(|line| !line.trim().is_empty());
    let words = named.or_else(|| last().map(in_brief)).unwrap_or_default();
    format!("failed: {words}")
}

/// Words of a scanner on one line, up to a length.
fn in_brief(words: &str) -> String {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(MOST_WORDS).collect()
}

fn join(own: Findings, scanner: Scanner, code: &str, results: Vec<ScanResult>) -> Findings {
    let lines: Vec<&str> = code.lines().collect();
    let mut all = own.capabilities;
    let ours = all.len();
    for result in results {
        let known = CHECKS.of(scanner, &result.id);
        let Some((deed, severity)) = result.deed.map(|deed| (deed, None)).or(known) else {
            continue;
        };
        let words: String = result.words.chars().take(MOST_WORDS).collect();
        let source = format!("{scanner} {}: {}", result.id, words.trim());
        let text = lines.get(result.line - 1).copied().unwrap_or_default();
        let (line, columns) = (narrow(result.line), result.columns);
        let found = Capability {
            columns: columns.map(|(first, last)| (narrow(first), narrow(last))),
            confidence: Confidence::Likely,
            sources: vec![Untrusted::new(source)],
            ..Capability::new(
                deed,
                excerpt(text, columns),
                line,
                severity.unwrap_or(result.severity),
            )
        };
        let is_same = |one: &Capability| {
            one.line == line
                && (one.is_a(deed.name()) || found.is_a(&one.name))
                && overlap(one.columns, found.columns)
        };
        match all.iter().position(is_same) {
            Some(at) => all[at].absorb(found),
            None => all.push(found),
        }
    }
    let added = all.split_off(ours);
    all.append(&mut not_too_many(added, scanner));
    all.sort_by_key(|one| one.line);
    Findings { understanding: own.understanding, ..Findings::new(all) }
}

/// As many results of a scanner as are listed, and a finding that counts the others. It is grave if
/// any of them is more than a repetition: a decision on the list would not cover it.
fn not_too_many(added: Vec<Capability>, scanner: Scanner) -> Vec<Capability> {
    let found = added.len();
    let mut kept = listed(added, MOST_ADDED);
    let is_cut = kept.pop_if(|last| *last == Capability::unlisted()).is_some();
    let told = match found - kept.len() {
        0 => return kept,
        1 => format!("1 more result of {scanner} is not listed"),
        left => format!("{left} more results of {scanner} are not listed"),
    };
    let gravest = kept.iter().map(|one| one.severity).max().unwrap_or(Risk::Unknown);
    let severity = if is_cut { Risk::High } else { gravest };
    kept.push(Capability::new(Deed::Unreadable, told, 1, severity));
    kept
}

/// Whether two places on a line have something in common, as far as both are known.
fn overlap(one: Option<(u32, u32)>, other: Option<(u32, u32)>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            one.0 < other.1.max(other.0 + 1) && other.0 < one.1.max(one.0 + 1)
        }
        (None, _) | (_, None) => true,
    }
}

/// The code that a result is about.
fn excerpt(line: &str, columns: Option<(usize, usize)>) -> String {
    let within = columns.map(|(first, last)| {
        let width = last.saturating_sub(first).max(1);
        line.chars().skip(first - 1).take(width).collect::<String>()
    });
    let text = within.filter(|text| !text.trim().is_empty()).unwrap_or_else(|| line.to_owned());
    text.trim().chars().take(MOST_WORDS).collect()
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Reads a report, or says why it is none.
fn read(scanner: Scanner, report: &[u8], code: &str) -> Result<Vec<ScanResult>, String> {
    if report.len() > MOST_REPORT {
        return Err("printed too much".into());
    }
    let results = match scanner {
        Scanner::Bandit => bandit(parsed(report)?)?,
        Scanner::Semgrep => semgrep(parsed(report)?)?,
        Scanner::ShellCheck => shellcheck(parsed(report)?),
    };
    let most = code.lines().count().max(1);
    if results.len() > MOST_RESULTS {
        return Err("found too much to be read".into());
    }
    let is_inside = |one: &ScanResult| {
        (1..=most + 1).contains(&one.line) && one.columns.is_none_or(|(first, _)| first > 0)
    };
    if !results.iter().all(is_inside) {
        return Err("names a place that is not in the code".into());
    }
    Ok(results)
}

fn parsed<'a, T: Deserialize<'a>>(report: &'a [u8]) -> Result<T, String> {
    serde_json::from_slice(report).map_err(|_| "printed something that is not its report".into())
}

#[derive(Deserialize)]
struct BanditReport {
    errors: Vec<BanditError>,
    results: Vec<BanditResult>,
}

#[derive(Deserialize)]
struct BanditError {
    reason: String,
}

#[derive(Deserialize)]
struct BanditResult {
    test_id: String,
    issue_text: String,
    issue_severity: String,
    line_number: usize,
    #[serde(default)]
    col_offset: Option<usize>,
    #[serde(default)]
    end_col_offset: Option<usize>,
    line_range: Vec<usize>,
}

fn bandit(report: BanditReport) -> Result<Vec<ScanResult>, String> {
    if let Some(error) = report.errors.first() {
        return Err(format!("cannot read it: {}", in_brief(&error.reason)));
    }
    let of = |one: BanditResult| ScanResult {
        severity: match one.issue_severity.as_str() {
            "LOW" => Risk::Low,
            "MEDIUM" => Risk::Medium,
            "HIGH" => Risk::High,
            _ => Risk::Unknown,
        },
        deed: None,
        line: one.line_number,
        columns: one
            .col_offset
            .zip(one.end_col_offset)
            .filter(|_| one.line_range.len() == 1)
            .map(|(first, last)| (first.saturating_add(1), last.saturating_add(1))),
        id: one.test_id,
        words: one.issue_text,
    };
    Ok(report.results.into_iter().map(of).collect())
}

#[derive(Deserialize)]
struct ShellCheckReport {
    comments: Vec<ShellCheckComment>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ShellCheckComment {
    line: usize,
    end_line: usize,
    column: usize,
    end_column: usize,
    level: String,
    code: u32,
    message: String,
}

fn shellcheck(report: ShellCheckReport) -> Vec<ScanResult> {
    let of = |one: ShellCheckComment| ScanResult {
        id: format!("SC{}", one.code),
        words: one.message,
        severity: match one.level.as_str() {
            "error" => Risk::High,
            "warning" => Risk::Medium,
            "info" | "style" => Risk::Low,
            _ => Risk::Unknown,
        },
        deed: None,
        line: one.line,
        columns: (one.line == one.end_line).then_some((one.column, one.end_column)),
    };
    report.comments.into_iter().map(of).collect()
}

#[derive(Deserialize)]
struct SemgrepReport {
    results: Vec<SemgrepResult>,
    errors: Vec<SemgrepError>,
}

impl SemgrepReport {
    /// The words of the first error. Errors in rules have others than errors in code.
    fn error(&self) -> Option<String> {
        let error = self.errors.first()?;
        let words = error.message.as_deref().or(error.long_msg.as_deref());
        Some(in_brief(words.unwrap_or("no reason given")))
    }
}

#[derive(Deserialize)]
struct SemgrepError {
    message: Option<String>,
    long_msg: Option<String>,
}

#[derive(Deserialize)]
struct SemgrepResult {
    check_id: String,
    start: SemgrepPlace,
    end: SemgrepPlace,
    extra: SemgrepExtra,
}

#[derive(Deserialize)]
struct SemgrepPlace {
    line: usize,
    col: usize,
}

#[derive(Deserialize)]
struct SemgrepExtra {
    message: String,
    severity: String,
    #[serde(default)]
    metadata: SemgrepMetadata,
}

#[derive(Default, Deserialize)]
struct SemgrepMetadata {
    #[serde(default)]
    capability: Option<String>,
}

fn semgrep(report: SemgrepReport) -> Result<Vec<ScanResult>, String> {
    // A mere warning may be of a rule that was not tried.
    if let Some(reason) = report.error() {
        return Err(format!("cannot read it: {reason}"));
    }
    let of = |one: SemgrepResult| ScanResult {
        severity: match one.extra.severity.as_str() {
            "INFO" | "LOW" => Risk::Low,
            "WARNING" | "MEDIUM" => Risk::Medium,
            "ERROR" | "HIGH" | "CRITICAL" => Risk::High,
            _ => Risk::Unknown,
        },
        deed: one.extra.metadata.capability.as_deref().and_then(Deed::named),
        line: one.start.line,
        columns: (one.start.line == one.end.line).then_some((one.start.col, one.end.col)),
        // The path of the file of rules stands before the name.
        id: one.check_id.rsplit('.').next().unwrap_or_default().to_owned(),
        words: one.extra.message,
    };
    Ok(report.results.into_iter().map(of).collect())
}

#[cfg(test)]
#[path = "scanners_tests.rs"]
mod tests;
