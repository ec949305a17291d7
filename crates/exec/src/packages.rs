//! Downloads a package of Python by the person's own pip, as a file.
//!
//! # Threat
//! Code of a package, or of the folder we stand in, that runs outside of any sandbox; secrets of the
//! environment that a program of somebody else sees.
//!
//! # Mechanism
//! pip is asked for wheels alone (`--only-binary :all:`) and for no dependencies: to download a wheel
//! runs nothing of it. It starts in the folder that it downloads to, which is empty, and never one of
//! the work folder's. Its environment is a list: where packages come from, proxies, certificates, and
//! where its own settings are. Nothing of what it prints is believed or shown raw.
//!
//! # Limits
//! pip itself is the person's, and so are its settings: it is trusted as they trust it.

use interpreter_core::Untrusted;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::io::{AsyncRead, AsyncReadExt};

/// What pip is told of the environment: where things are, and how they are reached.
const PASSED: &[&str] = &[
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    // Which Python a version manager starts.
    "PYENV_ROOT",
    "PYENV_VERSION",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
    // Where packages come from.
    "PIP_CONFIG_FILE",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_NO_INDEX",
    "PIP_TRUSTED_HOST",
    "PIP_CERT",
    "PIP_CLIENT_CERT",
    "PIP_PROXY",
    "PIP_TIMEOUT",
    "PIP_DEFAULT_TIMEOUT",
    "PIP_RETRIES",
    // How the outside is reached.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
];

/// Wheels only, nothing that they depend on, no copy in pip's own cache, no questions.
const DOWNLOAD: &[&str] = &[
    "download",
    "--quiet",
    "--disable-pip-version-check",
    "--no-input",
    "--no-cache-dir",
    "--progress-bar",
    "off",
    "--no-deps",
    "--only-binary",
    ":all:",
    "--no-binary",
    ":none:",
    "--dest",
];

/// How Python itself starts pip.
const MODULE: &[&str] = &["-m", "pip"];

/// The last bytes of pip's words that are kept.
const SAID: usize = 4096;

/// Why pip brought nothing.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are named in the message of each variant")]
pub enum PipError {
    /// It is not there.
    #[error("pip is not installed (looked for `pip3`, `pip` and `python3 -m pip` in `PATH`)")]
    Missing,
    /// It does not start.
    #[error("`{}` does not start: {source}", program.display())]
    Start { program: PathBuf, source: io::Error },
    /// It says why.
    #[error("pip says: {}", said.for_terminal_line(300))]
    Failed { said: Untrusted },
    /// It says nothing.
    #[error("pip brought no wheel for `{requirement}`")]
    NoWheel { requirement: String },
}

/// The person's pip.
#[derive(Clone, Debug)]
pub struct Pip {
    program: PathBuf,
    /// What comes before pip's own arguments.
    arguments: &'static [&'static str],
    environment: BTreeMap<&'static str, OsString>,
}

impl Pip {
    /// Finds pip in these folders, but not in the work folder: what is there may have come with a
    /// project. `variable` is the person's environment.
    pub fn find(
        path: &[PathBuf],
        work_folder: &Path,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Self, PipError> {
        let folders = || path.iter().filter(|folder| !is_within(folder, work_folder));
        let program = |name: &str| {
            folders().map(|folder| folder.join(name)).find(|program| is_executable(program))
        };
        let found = [("pip3", &[][..]), ("pip", &[]), ("python3", MODULE), ("python", MODULE)]
            .into_iter()
            .find_map(|(name, arguments)| Some((program(name)?, arguments)));
        let (program, arguments) = found.ok_or(PipError::Missing)?;
        let passed = PASSED.iter().filter_map(|name| Some((*name, variable(name)?)));
        let mut environment: BTreeMap<_, _> = passed.collect();
        // A folder of the project's could hold a Python that a shim starts.
        if let Ok(joined) = std::env::join_paths(folders()) {
            environment.insert("PATH", joined);
        }
        Ok(Self { program, arguments, environment })
    }

    /// Downloads what is required, such as `name==1.0`, into an empty folder, and says where the
    /// wheel is. Dropping the future ends pip.
    pub async fn download(&self, requirement: &str, into: &Path) -> Result<PathBuf, PipError> {
        let start = |source| PipError::Start { program: self.program.clone(), source };
        #[expect(clippy::disallowed_methods, reason = "the person's own pip, which runs no code")]
        let mut command = tokio::process::Command::new(&self.program);
        command.args(self.arguments).args(DOWNLOAD).arg(into).arg("--").arg(requirement);
        command.env_clear().envs(&self.environment).env("TMPDIR", into).current_dir(into);
        // Some people forbid pip outside of an environment of Python; nothing is installed here.
        command.env("PIP_REQUIRE_VIRTUALENV", "0");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().map_err(start)?;
        let said = match child.stderr.take() {
            Some(stderr) => last_of(stderr).await.map_err(start)?,
            None => Vec::new(),
        };
        if !child.wait().await.map_err(start)?.success() {
            return Err(PipError::Failed { said: reason(&said) });
        }
        let wheel = fs_err::read_dir(into).map_err(start)?.flatten().map(|entry| entry.path());
        let is_wheel = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "whl");
        let mut wheels = wheel.filter(is_wheel);
        wheels.next().ok_or_else(|| PipError::NoWheel { requirement: requirement.into() })
    }
}

/// The end of what is written, whatever comes before it.
async fn last_of(mut from: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let mut said = Vec::new();
    loop {
        if from.read_buf(&mut said).await? == 0 {
            return Ok(said);
        }
        let too_much = said.len().saturating_sub(SAID);
        said.drain(..too_much);
    }
}

/// The line that says why: the last one that begins with `ERROR:`, or else the last one.
fn reason(said: &[u8]) -> Untrusted {
    let text = String::from_utf8_lossy(said);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let error = lines().filter_map(|line| line.strip_prefix("ERROR: ")).next_back();
    Untrusted::new(error.or_else(|| lines().next_back()).unwrap_or("nothing"))
}

fn is_within(folder: &Path, work_folder: &Path) -> bool {
    let real = fs_err::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    folder.starts_with(work_folder) || real.starts_with(work_folder)
}

fn is_executable(path: &Path) -> bool {
    let found = fs_err::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fs_err as fs;

    /// A program in a folder.
    fn script(folder: &Path, name: &str, text: &str) {
        fs::create_dir_all(folder).unwrap();
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn pip(folder: &Path, work: &Path) -> Result<Pip, PipError> {
        let path = [work.join("venv/bin"), folder.join("bin"), "/usr/bin".into(), "/bin".into()];
        let variables = [("HOME", "/h"), ("HF_TOKEN", "canary"), ("PYTHONPATH", "/evil")];
        Pip::find(&path[..2], work, |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.into())
        })
    }

    #[tokio::test]
    async fn pip_is_started_with_a_list_of_variables_and_in_an_empty_folder() {
        let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let into = folder.path().join("into");
        fs::create_dir(&into).unwrap();
        script(&work.path().join("venv/bin"), "pip3", "echo evil >&2; exit 1");
        let seen = folder.path().join("seen");
        let text = format!(
            "/usr/bin/env >{0}; pwd >>{0}; echo \"$@\" >>{0}; echo x >name-1.0-py3-none-any.whl",
            seen.display()
        );
        script(&folder.path().join("bin"), "pip", &text);
        let pip = pip(folder.path(), work.path()).unwrap();
        let wheel = pip.download("name==1.0", &into).await.unwrap();
        assert_eq!(wheel, into.join("name-1.0-py3-none-any.whl"));
        let seen = fs::read_to_string(seen).unwrap();
        assert!(!seen.contains("canary") && !seen.contains("evil"), "{seen}");
        assert!(!seen.contains("venv") && seen.contains("HOME=/h"), "{seen}");
        let into = into.display();
        let end = format!("--only-binary :all: --no-binary :none: --dest {into} -- name==1.0\n");
        assert!(seen.ends_with(&end) && seen.contains(&format!("\n{into}\n")), "{seen}");
    }

    #[tokio::test]
    async fn what_pip_says_is_told_in_one_line_however_much_it_says() {
        let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let missing = pip(folder.path(), work.path()).unwrap_err().to_string();
        assert!(missing.starts_with("pip is not installed"), "{missing}");
        for (text, told) in [
            (
                "i=0; while [ $i -lt 20000 ]; do echo noise; i=$((i+1)); done >&2; echo 'ERROR: no \
                 such name' >&2; exit 1",
                "pip says: no such name",
            ),
            (
                "printf 'No module \\033[2Jpip\\n\\n' >&2; exit 1",
                r"pip says: No module \u{1b}[2Jpip",
            ),
            ("exit 1", "pip says: nothing"),
            ("exit 0", "pip brought no wheel for `name==1.0`"),
        ] {
            let into = tempfile::tempdir().unwrap();
            script(&folder.path().join("bin"), "python3", text);
            let pip = pip(folder.path(), work.path()).unwrap();
            let error = pip.download("name==1.0", into.path()).await.unwrap_err();
            assert_eq!(error.to_string(), told);
        }
    }
}
