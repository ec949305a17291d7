//! Runs a scanner on code, in a sandbox of its own.
//!
//! # Threat
//! A scanner parses hostile code, which may take it over, keep it busy for ever or make it print
//! without end.
//!
//! # Mechanism
//! No permit is spent, because the code is read and not run. The scanner is the person's own program.
//! It sees itself and a private folder with the code, can write nothing but temporary files, and
//! reaches no host. Time and output are bounded from outside.
//!
//! # Limits
//! Where nothing confines, no scanner runs.

use crate::{
    ExecError,
    runner::{Bench, ProgramEnd, ToolCommand},
    sandbox::Machine,
};
use interpreter_core::{Confinement, Network, Scanner, Workspace};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

/// Crashes of a scanner after which it is tried again, within its time.
const CRASHES: u8 = 3;

/// A scanner that is installed, and the code that it is given.
#[derive(Debug)]
pub struct Scan {
    /// The scanner.
    pub scanner: Scanner,
    /// Its program.
    pub program: PathBuf,
    /// The name of the file in the work folder of the confinement.
    pub file: &'static str,
    /// The rules of semgrep, in the same folder.
    pub rules: PathBuf,
    /// Most bytes of a report.
    pub most: usize,
    /// The time that it has.
    pub time: Duration,
}

/// Why there is no report.
#[derive(Debug)]
pub enum ScanFailure {
    /// It could not be started, whatever the code is.
    Unavailable(ExecError),
    /// It was ended, and why.
    Stopped(String),
    /// It failed on this code or on its rules.
    Failed {
        /// All that it printed.
        output: Vec<u8>,
        /// The end of that, and of its messages.
        said: String,
    },
}

/// Runs a scanner and returns its report.
///
/// # Errors
/// If it cannot be started, fails, takes too long or prints too much.
pub async fn scan(
    scan: Scan,
    confinement: Confinement,
    machine: &Machine,
) -> Result<Vec<u8>, ScanFailure> {
    let closed =
        Confinement { network: Network::None, workspace: Workspace::ReadOnly, ..confinement };
    let bench = Bench::open_closed(&closed, machine).await;
    let mut bench = bench.map_err(ScanFailure::Unavailable)?;
    let Scan { scanner, program, file, rules, most, time } = scan;
    let arguments = scanner.arguments(file, &rules);
    let command = ToolCommand { program, arguments, environment: BTreeMap::new() };
    let (begun, mut again) = (Instant::now(), CRASHES);
    let ended = loop {
        let left = time.saturating_sub(begun.elapsed());
        let ended = bench.run_within(command.clone(), left, most).await;
        if again == 0 || !ended.as_ref().is_ok_and(|ended| has_crashed(scanner, ended)) {
            break ended;
        }
        again -= 1;
    };
    bench.close().await;
    match ended {
        Err(ExecError::SandboxEnded { .. }) => {
            Err(ScanFailure::Stopped(format!("took longer than {} s", time.as_secs())))
        }
        Err(error) => Err(ScanFailure::Unavailable(error)),
        Ok(ended) if ended.is_cut => Err(ScanFailure::Stopped("printed too much".into())),
        // One means that there are findings.
        Ok(ended) if matches!(ended.status, Some(0 | 1)) && !ended.output.is_empty() => {
            Ok(ended.output)
        }
        Ok(ended) => Err(ScanFailure::Failed { output: ended.output, said: ended.said }),
    }
}

/// Whether a scanner ended by a fault of its own, which the next attempt may not have. Semgrep's engine
/// does, now and then, where it cannot have `io_uring`; it tells that in words alone.
fn has_crashed(scanner: Scanner, ended: &ProgramEnd) -> bool {
    let words = b"the engine was killed";
    scanner == Scanner::Semgrep
        && !matches!(ended.status, Some(0 | 1))
        && ended.output.windows(words.len()).any(|part| part == words)
}

/// The paths that a scanner needs to see, beside the system's: itself and its libraries.
pub fn scanner_reads(program: &Path) -> Vec<PathBuf> {
    let Some(prefix) = program.parent().and_then(Path::parent) else { return Vec::new() };
    if crate::is_system(program) {
        return Vec::new();
    }
    if prefix.join("pyvenv.cfg").is_file() {
        return vec![prefix.to_owned()];
    }
    let libraries = prefix.join("lib");
    [program.to_owned(), libraries].into_iter().filter(|path| path.exists()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_fault_of_the_scanner_is_tried_again() {
        let ended = |scanner, status, output: &str| {
            let (said, output) = (String::new(), output.as_bytes().to_vec());
            has_crashed(
                scanner,
                &ProgramEnd { status: Some(status), said, output, is_cut: false, reached: None },
            )
        };
        let words = "You are seeing this because the engine was killed.";
        assert!(ended(Scanner::Semgrep, 2, words));
        // Code may hold these words, and so may a report on it.
        assert!(!ended(Scanner::Semgrep, 0, words) && !ended(Scanner::Semgrep, 1, words));
        assert!(!ended(Scanner::Semgrep, 2, "Rule parse error"));
        assert!(!ended(Scanner::Bandit, 2, words));
    }
}
