//! Scanners that the person has set: which are installed, and what they find in code.
//!
//! They run side by side in sandboxes of their own, within one time. A scanner that is not installed
//! is named once, and our own analysis stands. One that fails makes the risk of the code at least
//! unknown: whoever writes code that breaks a scanner gains nothing by it.

use crate::{AgentError, Context};
use interpreter_analyze::{MOST_REPORT, SEMGREP_RULES, failure, scannable, with_report};
use interpreter_core::{
    Access, Confinement, Findings, Language, Limits, Network, Scanner, Workspace,
};
use interpreter_exec::{
    Scan, ScanFailure, is_system, sandbox::has_own_system, scan, scanner_reads,
};
use interpreter_store::{ConfigText, ScanFolder, StoreError};
use std::{
    collections::{BTreeMap, BTreeSet},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

/// The longest that a scanner may take where the settings set no limit.
const LONGEST: u64 = 600;

/// The name of the file of rules beside the code.
const RULES: &str = "rules.yml";

/// Memory of a scanner, in bytes, if code may have as much.
const MEMORY: u64 = 2 << 30;

impl Context {
    /// The scanners that are set, each once, and their programs if they are installed.
    pub(crate) fn scanners(&self) -> Vec<(Scanner, Option<PathBuf>)> {
        let set: BTreeSet<_> = self.settings.scanners.iter().map(|one| one.value).collect();
        set.into_iter().map(|scanner| (scanner, self.installed(scanner))).collect()
    }

    /// The program of a scanner. Nothing of the work folder counts: it may be the project's.
    pub(crate) fn installed(&self, scanner: Scanner) -> Option<PathBuf> {
        let folders = self.environment.path_list("PATH");
        let outside = folders.into_iter().filter(|folder| !folder.starts_with(&self.work_folder));
        outside.map(|folder| folder.join(scanner.name())).find_map(|path| {
            let path = fs_err::canonicalize(path).ok()?;
            let found = fs_err::metadata(&path).ok()?;
            let runs = found.is_file() && found.permissions().mode() & 0o111 != 0;
            (runs && !path.starts_with(&self.work_folder)).then_some(path)
        })
    }

    /// Scanners that are set and would not run, and why.
    pub(crate) fn missing_scanners(&self) -> Option<String> {
        let set = self.scanners();
        let missing = set.iter().filter(|(_, program)| program.is_none());
        let missing: Vec<_> = missing.map(|(scanner, _)| scanner.name()).collect();
        if !missing.is_empty() {
            let are = if missing.len() == 1 { "is" } else { "are" };
            return Some(format!("{} {are} set but not installed", missing.join(", ")));
        }
        let elsewhere = !set.is_empty() && has_own_system(self.settings.sandbox.value);
        elsewhere.then(|| "scanners do not run in a container".into())
    }

    /// Whether a scanner would look at code in this language.
    pub(crate) fn is_scanned(&self, language: &Language) -> bool {
        let reads = |one: &Scanner| one.file_name(language.written_in()).is_some();
        !has_own_system(self.settings.sandbox.value)
            && self.scanners().iter().any(|(scanner, program)| reads(scanner) && program.is_some())
    }

    /// Our own findings on code, and those of the scanners that are set.
    pub(crate) async fn scanned(&self, language: &Language, code: &str, own: Findings) -> Findings {
        if !self.is_scanned(language) {
            return own;
        }
        let mut findings = own;
        let mut running = tokio::task::JoinSet::new();
        for (scanner, program) in self.scanners() {
            let (Some(program), Some(given)) = (program, scannable(scanner, language, code)) else {
                continue;
            };
            match self.scan_of(scanner, program, language, &given) {
                Ok((job, confinement, folder)) => {
                    let machine = self.machine().clone();
                    running.spawn(async move {
                        let report = scan(job, confinement, &machine).await;
                        drop(folder);
                        (scanner, given, report)
                    });
                }
                Err(error) => {
                    let why = format!("cannot be started: {}", crate::error::chain(&error));
                    findings = with_report(findings, scanner, &given, Err(&why));
                }
            }
        }
        let mut reports = running.join_all().await;
        reports.sort_by_key(|(scanner, _, _)| *scanner);
        for (scanner, given, report) in reports {
            let report = report.map_err(|failed| match failed {
                ScanFailure::Stopped(why) => why,
                ScanFailure::Failed { output, said } => failure(scanner, &output, &said),
                ScanFailure::Unavailable(error) => {
                    format!("cannot be started: {}", crate::error::chain(&error))
                }
            });
            let report = report.as_deref().map_err(String::as_str);
            findings = with_report(findings, scanner, &given, report);
        }
        findings
    }

    /// All that a scan needs.
    fn scan_of(
        &self,
        scanner: Scanner,
        program: PathBuf,
        language: &Language,
        code: &str,
    ) -> Result<(Scan, Confinement, ScanFolder), AgentError> {
        let file = scanner.file_name(language.written_in()).unwrap_or("code");
        let rules = self.semgrep_rules()?;
        let mut files = vec![(file, code)];
        if scanner == Scanner::Semgrep {
            files.push((RULES, &rules));
        }
        let folder = ScanFolder::make(&self.folders, &self.work_folder, &files)?;
        let seconds = self.settings.scan_time.value.seconds().unwrap_or(LONGEST);
        let confinement = self.scanner_confinement(&program, &folder.path);
        let job = Scan {
            scanner,
            file,
            rules: folder.path.join(RULES),
            most: MOST_REPORT,
            time: Duration::from_secs(seconds),
            program,
        };
        Ok((job, confinement, folder))
    }

    /// The rules of semgrep: the person's file, or our own.
    fn semgrep_rules(&self) -> Result<String, AgentError> {
        let Some(path) = &self.settings.semgrep_rules.value else {
            return Ok(SEMGREP_RULES.into());
        };
        let path = self.folders.config.join(path);
        let read = ConfigText::read_rules(path.clone()).map_err(StoreError::from)?;
        let missing = || StoreError::Read { path, source: std::io::ErrorKind::NotFound.into() };
        Ok(read.ok_or_else(missing)?.text)
    }

    /// The bounds of a scanner: its own files, the code, and nothing else.
    fn scanner_confinement(&self, program: &Path, folder: &Path) -> Confinement {
        let interpreters = self.interpreters().reads().filter(|path| !is_system(path));
        let reads = interpreters.map(Path::to_owned).chain(scanner_reads(program));
        let files: BTreeMap<_, _> = reads
            .filter(|path| !path.starts_with(&self.work_folder))
            .map(|path| (path, Access::Read))
            .collect();
        let mut environment = self.code_environment();
        environment.retain(|name, _| matches!(name.as_str(), "PATH" | "HOME" | "LANG" | "TMPDIR"));
        // Packages that pip has installed for the user are found by this.
        if let Some(prefix) = program.parent().and_then(Path::parent).and_then(Path::to_str) {
            environment.insert("PYTHONUSERBASE".into(), prefix.into());
        }
        environment.insert("PYTHONDONTWRITEBYTECODE".into(), "1".into());
        let usual = self.settings.limits();
        Confinement {
            work_folder: folder.to_owned(),
            workspace: Workspace::ReadOnly,
            files,
            granted: [].into(),
            shown: [].into(),
            network: Network::None,
            secrets: Vec::new(),
            limits: Limits { memory_bytes: usual.memory_bytes.min(MEMORY), ..usual },
            sandbox: self.settings.sandboxing(),
            environment,
        }
    }
}
