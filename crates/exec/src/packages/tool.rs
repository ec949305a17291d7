//! The programs that find packages, and the words they are given.
//!
//! None of them installs: they say what an order comes to. All run the person's own interpreter,
//! never the one of an environment, whose packages would run with it. A requirement is a line of a
//! file that holds nothing else, or one argument behind `--`. Retries are the person's: a tool that
//! cannot reach its index says so at once.

use crate::{
    interpreters::{PackageTool, PythonHome},
    runner::ToolCommand,
};
use interpreter_core::packages::{PackageChange, PackageOrder, Requirement};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Seconds that an index may take to answer.
pub(super) const PATIENCE: u32 = 20;

/// Starts pip alone.
const ISOLATED: &str = include_str!("isolated.py");

/// Unpacks finished builds.
const UNPACK: &str = include_str!("unpack.py");

/// A program that is not there, in place of git.
pub(super) const NO_GIT: &str = "/nowhere/git";

/// Where a tool finds what it is to do, and leaves what it has found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Desk<'a> {
    /// The fresh folder, for npm.
    pub(super) new: &'a Path,
    /// A file with a requirement in each line.
    pub(super) wanted: &'a Path,
    /// The file of the report.
    pub(super) report: &'a Path,
    /// Files of packages that are here already.
    pub(super) here: &'a [PathBuf],
    /// The file that says which package requires which.
    pub(super) requirers: &'a Path,
    /// A file with versions that packages must have if they come.
    pub(super) bound: &'a Path,
    /// Whether sources may be built to find out what they require.
    pub(super) sources: PackageSources,
}

/// Whether a tool may run code of packages to look them up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PackageSources {
    /// Finished builds alone: no code of a package runs.
    Refused,
    /// Their code may run, to find out what they require.
    Built,
}

/// Whether pip may start programs, which is to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Starts {
    Nothing,
    Builds,
}

impl PackageTool {
    /// The command that finds out what an order comes to. Without sources nothing of a package
    /// runs.
    pub(super) fn resolve(&self, order: &PackageOrder, desk: Desk<'_>) -> ToolCommand {
        match self {
            Self::Uv { program, python } => {
                let mut words = strings(&["pip", "compile", &text(desk.wanted)]);
                words.extend(strings(&["--format", "pylock.toml", "--generate-hashes"]));
                words.extend(compiling(python, desk, desk.report));
                uv(program, words, Some(desk.report))
            }
            Self::Pip { .. } => {
                let mut words = strings(&["install", "--dry-run", "--ignore-installed"]);
                words.extend(strings(&["--report", &text(desk.report)]));
                words.extend(strings(&["--requirement", &text(desk.wanted)]));
                words.extend(strings(&["--constraint", &text(desk.bound)]));
                let (which, starts) = match desk.sources {
                    PackageSources::Built => ("--prefer-binary", Starts::Builds),
                    PackageSources::Refused => ("--only-binary=:all:", Starts::Nothing),
                };
                words.push(which.into());
                for file in desk.here.iter().filter_map(|file| file.parent()) {
                    words.extend(strings(&["--find-links", &text(file)]));
                }
                self.pip(starts, words)
            }
            Self::Npm { .. } => {
                let mut words = match order.change {
                    PackageChange::Install => strings(&["install"]),
                    PackageChange::Remove => strings(&["uninstall", "--offline"]),
                };
                words.extend(strings(&["--package-lock-only", "--ignore-scripts"]));
                self.npm(desk.new, words, order.packages())
            }
        }
    }

    /// The command by which uv tells which package requires which others. Its list doesn't say.
    pub(super) fn explain(&self, desk: Desk<'_>) -> Option<ToolCommand> {
        match self {
            // Whatever has to be built would be built once more.
            Self::Uv { program, python } if desk.sources == PackageSources::Refused => {
                let mut words = strings(&["pip", "compile", &text(desk.wanted), "--no-header"]);
                words.extend(strings(&["--format", "requirements.txt"]));
                words.extend(strings(&["--annotation-style", "split"]));
                words.extend(compiling(python, desk, desk.requirers));
                Some(uv(program, words, Some(desk.report)))
            }
            Self::Uv { .. } | Self::Pip { .. } | Self::Npm { .. } => None,
        }
    }

    /// A command that succeeds if the index has some form of a package, though no finished build.
    pub(super) fn look(&self, order: &PackageOrder) -> Option<ToolCommand> {
        match (self, order.change, order.packages()) {
            // Of several nobody knows which one it was.
            (Self::Pip { .. }, PackageChange::Install, [one]) if !order.build => {
                let words = strings(&["index", "versions", one.name()]);
                Some(self.pip(Starts::Nothing, words))
            }
            (Self::Pip { .. } | Self::Uv { .. } | Self::Npm { .. }, _, _) => None,
        }
    }

    /// The command that makes a finished build of a source, which runs its code.
    pub(super) fn build(&self, source: &Path, into: &Path) -> Option<ToolCommand> {
        match self {
            Self::Uv { program, python } => {
                let mut words = strings(&["build", "--wheel", &text(source), "--quiet"]);
                words.extend(strings(&["--out-dir", &text(into)]));
                words.extend(strings(&["--python", &text(&python.program)]));
                Some(uv(program, words, None))
            }
            Self::Pip { .. } => {
                let words = strings(&["wheel", "--quiet", "--no-deps", "--wheel-dir", &text(into)]);
                let mut command = self.pip(Starts::Builds, words);
                command.arguments.extend(["--".into(), text(source)]);
                Some(command)
            }
            Self::Npm { .. } => None,
        }
    }

    /// The command that fetches and unpacks finished builds of Python as a file says.
    pub(super) fn unpack(&self, plan: &Path) -> Option<ToolCommand> {
        let python = self.python()?;
        let arguments = strings(&["-I", "-S", "-c", UNPACK, &text(plan)]);
        let environment = BTreeMap::new();
        Some(ToolCommand { program: python.program.clone(), arguments, environment })
    }

    /// The command that installs exactly what stands in npm's list. No script runs.
    pub(super) fn install_listed(&self, new: &Path) -> ToolCommand {
        self.npm(new, strings(&["ci", "--ignore-scripts", "--prefer-offline"]), &[])
    }

    /// The command that runs the install scripts of these packages.
    pub(super) fn run_scripts(&self, new: &Path, packages: &[Requirement]) -> ToolCommand {
        let mut command = self.npm(new, strings(&["rebuild", "--foreground-scripts"]), &[]);
        command.arguments.push("--".into());
        command.arguments.extend(packages.iter().map(|one| one.name().to_owned()));
        command
    }

    fn pip(&self, starts: Starts, mut more: Vec<String>) -> ToolCommand {
        let Self::Pip { python, place } = self else { unreachable!("only pip is asked") };
        let starts = match starts {
            Starts::Nothing => "closed",
            Starts::Builds => "open",
        };
        let mut words = strings(&["-I", "-S", "-c", ISOLATED, &text(place), starts]);
        words.append(&mut more);
        words.extend(strings(&["--no-input", "--disable-pip-version-check", "--no-cache-dir"]));
        words.extend(strings(&["--retries", "0", "--timeout", &PATIENCE.to_string()]));
        let variables = [("PIP_PROGRESS_BAR", "off"), ("PIP_KEYRING_PROVIDER", "disabled")];
        command(&python.program, words, &variables)
    }

    fn npm(&self, new: &Path, mut words: Vec<String>, packages: &[Requirement]) -> ToolCommand {
        let Self::Npm { node, script } = self else { unreachable!("only npm is asked") };
        words.insert(0, text(script));
        words.extend(strings(&["--prefix", &text(new)]));
        words.extend(strings(&["--no-audit", "--no-fund", "--no-update-notifier"]));
        words.extend(strings(&["--fetch-retries=0", "--loglevel=error"]));
        words.push(format!("--fetch-timeout={}", PATIENCE * 1000));
        words.push("--logs-max=0".into());
        // A package from a repository is refused, and no program fetches it to find that out.
        words.push(format!("--git={NO_GIT}"));
        if !packages.is_empty() {
            words.push("--".into());
            words.extend(packages.iter().map(|one| one.text().to_owned()));
        }
        command(node, words, &[])
    }
}

/// The words of uv that say what a list is made of, and where it goes.
fn compiling(python: &PythonHome, desk: Desk<'_>, list: &Path) -> Vec<String> {
    let mut words = strings(&["--output-file", &text(list), "--quiet"]);
    words.extend(strings(&["--python", &text(&python.program)]));
    words.extend(strings(&["--constraints", &text(desk.bound)]));
    if desk.sources == PackageSources::Refused {
        words.extend(strings(&["--only-binary", ":all:"]));
    }
    for file in desk.here.iter().filter_map(|file| file.parent()) {
        words.extend(strings(&["--find-links", &text(file)]));
    }
    words
}

/// With a cache beside its report, for the next question of the same order.
fn uv(program: &Path, mut words: Vec<String>, report: Option<&Path>) -> ToolCommand {
    words.extend(match report {
        Some(report) => strings(&["--cache-dir", &text(&report.with_file_name("uv"))]),
        None => strings(&["--no-cache"]),
    });
    words.extend(strings(&["--no-config", "--no-progress"]));
    let patience = PATIENCE.to_string();
    let variables = [
        ("UV_PYTHON_DOWNLOADS", "never"),
        ("UV_HTTP_TIMEOUT", patience.as_str()),
        ("UV_HTTP_RETRIES", "0"),
    ];
    command(program, words, &variables)
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn command(program: &Path, arguments: Vec<String>, variables: &[(&str, &str)]) -> ToolCommand {
    let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
    ToolCommand { program: program.to_owned(), arguments, environment: variables.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interpreter_core::packages::PackageKind;

    fn order(kind: PackageKind, change: PackageChange) -> PackageOrder {
        let read = Requirement::parse(kind, "six").unwrap();
        PackageOrder::new(change, vec![read]).unwrap()
    }

    fn python() -> PythonHome {
        PythonHome {
            program: "/usr/bin/python3".into(),
            version: "3.11.2".into(),
            series: [3, 11],
            shows_system: true,
        }
    }

    fn words(tool: &PackageTool, order: &PackageOrder, sources: PackageSources) -> String {
        let desk = Desk {
            new: Path::new("/f/new"),
            wanted: Path::new("/f/wanted.txt"),
            report: Path::new("/f/report"),
            here: &[],
            requirers: Path::new("/f/requirers.txt"),
            bound: Path::new("/f/bound.txt"),
            sources,
        };
        tool.resolve(order, desk).arguments.join(" ")
    }

    #[test]
    fn nothing_is_built_without_leave_and_no_environment_is_started() {
        let install = order(PackageKind::Python, PackageChange::Install);
        let pip = PackageTool::Pip { python: python(), place: "/usr/lib/python3".into() };
        let uv = PackageTool::Uv { program: "uv".into(), python: python() };
        for (tool, only) in [(&pip, "--only-binary=:all:"), (&uv, "--only-binary :all:")] {
            // Leave to build alone builds nothing.
            for order in [install.clone(), install.clone().with_build()] {
                assert!(words(tool, &order, PackageSources::Refused).contains(only));
                assert!(!words(tool, &order, PackageSources::Built).contains(only));
            }
            let said = words(tool, &install, PackageSources::Refused);
            assert!(!said.contains("/f/new"), "the folder's own Python");
        }
        let (closed, open) = (PackageSources::Refused, PackageSources::Built);
        assert!(words(&pip, &install, closed).contains("/python3 closed install --dry-run"));
        assert!(words(&pip, &install, open).contains(" open install --dry-run"));
        let npm = PackageTool::Npm { node: "node".into(), script: "/npm.js".into() };
        let install = order(PackageKind::Npm, PackageChange::Install);
        for order in [install.clone(), install.with_build()] {
            let said = words(&npm, &order, PackageSources::Refused);
            assert!(said.contains("--package-lock-only --ignore-scripts"), "{said}");
            assert!(said.ends_with(" -- six"), "{said}");
        }
        let installs = npm.install_listed(Path::new("/f/new")).arguments.join(" ");
        assert!(installs.contains("ci --ignore-scripts"), "{installs}");
    }
}
