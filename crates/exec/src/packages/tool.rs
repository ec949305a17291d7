//! The programs that install packages, and the words they are given.
//!
//! A requirement is always one argument behind `--`. Retries are the person's: an installer that
//! cannot reach its index says so at once.

use crate::{interpreters::PackageTool, runner::ToolCommand};
use interpreter_core::packages::{PackageChange, PackageOrder, Requirement};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Seconds that an index may take to answer.
const PATIENCE: u32 = 20;

impl PackageTool {
    /// Whether a package may count as installed that is not in the folder.
    pub(super) fn sees_more(&self) -> bool {
        self.python().is_some_and(|python| python.shows_system)
    }

    /// The command for an order.
    pub(super) fn command(&self, order: &PackageOrder, folder: &Path) -> ToolCommand {
        let packages = order.packages().iter();
        match self {
            Self::Uv { program, .. } => {
                let mut words = strings(&["pip"]);
                match order.change {
                    PackageChange::Install => {
                        words.extend(strings(&["install", "--compile-bytecode"]));
                        words.extend(strings(&["--link-mode", "copy"]));
                        if !order.build {
                            words.extend(strings(&["--only-binary", ":all:"]));
                        }
                    }
                    PackageChange::Remove => words.push("uninstall".into()),
                }
                words.extend(strings(&["--python", &python_in(folder), "--no-cache"]));
                words.extend(strings(&["--no-config", "--no-progress"]));
                command(
                    program.clone(),
                    words,
                    packages,
                    &[
                        ("UV_PYTHON_DOWNLOADS", "never"),
                        ("UV_HTTP_TIMEOUT", &PATIENCE.to_string()),
                        ("UV_HTTP_RETRIES", "0"),
                    ],
                )
            }
            Self::Pip { .. } => {
                let words = match order.change {
                    PackageChange::Install if order.build => strings(&["install", "--quiet"]),
                    PackageChange::Install => {
                        strings(&["install", "--quiet", "--only-binary=:all:"])
                    }
                    PackageChange::Remove => strings(&["uninstall", "--quiet", "--yes"]),
                };
                self.pip(folder, words, packages)
            }
            Self::Npm { node, script } => {
                let verb = match order.change {
                    PackageChange::Install => "install",
                    PackageChange::Remove => "uninstall",
                };
                let prefix = folder.to_string_lossy();
                let mut words = strings(&[&script.to_string_lossy(), verb, "--prefix", &prefix]);
                words.extend(strings(&["--no-audit", "--no-fund", "--no-update-notifier"]));
                words.extend(strings(&["--fetch-retries=0", "--loglevel=error"]));
                words.push(format!("--fetch-timeout={}", PATIENCE * 1000));
                if !order.build {
                    words.push("--ignore-scripts".into());
                }
                command(node.clone(), words, packages, &[])
            }
        }
    }

    /// A command that succeeds if the index has some form of a package, though no finished build.
    pub(super) fn look(&self, order: &PackageOrder, folder: &Path) -> Option<ToolCommand> {
        match (self, order.change, order.packages()) {
            // Of several nobody knows which one it was.
            (Self::Pip { .. }, PackageChange::Install, [one]) if !order.build => {
                let mut words = strings(&["index", "versions"]);
                words.push(one.name().into());
                Some(self.pip(folder, words, [].iter()))
            }
            (Self::Pip { .. } | Self::Uv { .. } | Self::Npm { .. }, _, _) => None,
        }
    }

    fn pip<'a>(
        &self,
        folder: &Path,
        mut more: Vec<String>,
        packages: impl Iterator<Item = &'a Requirement>,
    ) -> ToolCommand {
        let Self::Pip { python, file } = self else { unreachable!("only pip is asked") };
        let mut words = strings(&["-I"]);
        match file {
            Some(file) => words.push(file.to_string_lossy().into_owned()),
            None => words.extend(strings(&["-m", "pip"])),
        }
        words.extend(strings(&["--python", &python_in(folder)]));
        words.append(&mut more);
        words.extend(strings(&["--no-input", "--disable-pip-version-check", "--no-cache-dir"]));
        words.extend(strings(&["--retries", "0", "--timeout", &PATIENCE.to_string()]));
        command(python.program.clone(), words, packages, &[("PIP_PROGRESS_BAR", "off")])
    }
}

fn python_in(folder: &Path) -> String {
    folder.join("bin/python").to_string_lossy().into_owned()
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

fn command<'a>(
    program: PathBuf,
    mut arguments: Vec<String>,
    packages: impl Iterator<Item = &'a Requirement>,
    variables: &[(&str, &str)],
) -> ToolCommand {
    let mut packages = packages.map(|one| one.text().to_owned()).peekable();
    if packages.peek().is_some() {
        arguments.push("--".into());
    }
    arguments.extend(packages);
    let variables = variables.iter().map(|&(name, value)| (name.to_owned(), value.to_owned()));
    let environment: BTreeMap<_, _> = variables.collect();
    ToolCommand { program, arguments, environment }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpreters::PythonHome;
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

    fn words(tool: &PackageTool, order: &PackageOrder) -> String {
        tool.command(order, Path::new("/f")).arguments.join(" ")
    }

    #[test]
    fn nothing_is_built_without_leave_and_names_come_behind_all_options() {
        let install = order(PackageKind::Python, PackageChange::Install);
        let tools = [
            (PackageTool::Pip { python: python(), file: None }, "--only-binary=:all:"),
            (PackageTool::Uv { program: "uv".into(), python: python() }, "--only-binary :all:"),
        ];
        for (tool, only) in tools {
            let said = words(&tool, &install);
            assert!(said.contains(only) && said.ends_with(" -- six"), "{said}");
            assert!(!words(&tool, &install.clone().with_build()).contains(only));
            let remove = words(&tool, &order(PackageKind::Python, PackageChange::Remove));
            assert!(remove.contains("uninstall") && remove.ends_with(" -- six"), "{remove}");
        }
        let npm = PackageTool::Npm { node: "node".into(), script: "/npm.js".into() };
        let install = order(PackageKind::Npm, PackageChange::Install);
        let said = words(&npm, &install);
        assert!(said.contains("--ignore-scripts") && said.ends_with(" -- six"), "{said}");
        assert!(!words(&npm, &install.with_build()).contains("--ignore-scripts"));
    }
}
