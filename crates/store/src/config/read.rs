//! Reads the config files, as text.
//!
//! A project's file may be anything: a pipe, a device, a gigabyte. Must not interpret what it
//! reads, and must not make anything.

use super::ConfigError;
use crate::{Folders, StoreError, private, regular};
use interpreter_core::Untrusted;
use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

/// More than anyone writes by hand.
const MOST: u64 = 1 << 20;

/// Files in the folder of providers that are looked at.
const MOST_PROVIDERS: usize = 1000;

/// Files in a folder of rules that are looked at.
const MOST_RULE_FILES: usize = 100;

/// Bytes of one file of rules.
const MOST_RULE_BYTES: u64 = 128 << 10;

/// Profiles that are looked at when all are meant.
const MOST_NAMED: usize = 20;

/// The text of one config file and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigText {
    /// Where it stands.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// The config files that count, each if it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigFiles {
    /// The person's settings.
    pub user: Option<ConfigText>,
    /// The profile that was asked for.
    pub profile: Option<ConfigText>,
    /// The project's files.
    pub project: Option<ConfigText>,
    /// The person's own providers, each a file in `providers/` of the config folder. A project has
    /// none: it could have keys sent anywhere.
    pub providers: Vec<ConfigText>,
    /// The person's rules for the analysis of code, each a file in `rules/` of the config folder.
    pub rules: Vec<ConfigText>,
    /// The project's, in `.interpreter/rules/` of the work folder.
    pub project_rules: Vec<ConfigText>,
}

impl ConfigFiles {
    /// Reads the person's file, the selected profile, which must exist, and the project's
    /// `.interpreter/config.toml` in the work folder.
    pub fn read(
        folders: &Folders,
        work_folder: &Path,
        profile: Option<&str>,
    ) -> Result<Self, StoreError> {
        private::check_folder_of_settings(&folders.config)?;
        let user = read(folders.config_file())?;
        let profile = profile.map(|name| read_profile(folders, name)).transpose()?;
        let project = read(Self::project_file(work_folder))?;
        let providers = read_folder(&folders.providers_folder(), MOST_PROVIDERS, MOST)?;
        let rules = |folder: &Path| read_folder(folder, MOST_RULE_FILES, MOST_RULE_BYTES);
        let project_rules = rules(&Self::project_rules_folder(work_folder))?;
        let rules = rules(&folders.rules_folder())?;
        Ok(Self { user, profile, project, providers, rules, project_rules })
    }

    /// Where a project keeps its rules for the analysis of code.
    pub fn project_rules_folder(work_folder: &Path) -> PathBuf {
        work_folder.join(".interpreter").join("rules")
    }

    /// Where a project keeps its settings.
    pub fn project_file(work_folder: &Path) -> PathBuf {
        work_folder.join(".interpreter").join("config.toml")
    }
}

impl ConfigText {
    /// Reads one file, if it exists.
    pub fn read(path: PathBuf) -> Result<Option<Self>, ConfigError> {
        read(path)
    }

    /// Reads one file of rules for the analysis of code, if it exists.
    pub fn read_rules(path: PathBuf) -> Result<Option<Self>, ConfigError> {
        read_at_most(path, MOST_RULE_BYTES)
    }
}

pub(super) fn read(path: PathBuf) -> Result<Option<ConfigText>, ConfigError> {
    read_at_most(path, MOST)
}

fn read_at_most(path: PathBuf, most: u64) -> Result<Option<ConfigText>, ConfigError> {
    let failed = |source| ConfigError::Read { path: path.clone(), source };
    // Looked at before it is opened, for the message; and again once it is open.
    match fs::metadata(&path) {
        Ok(metadata) if metadata.is_file() => {}
        Ok(_) => return Err(ConfigError::NotAFile { path }),
        // A file where a folder should be means that there is no config file below it.
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(None);
        }
        Err(source) => return Err(failed(source)),
    }
    let mut bytes = Vec::new();
    let file = regular::open(&path).map_err(failed)?;
    file.take(most + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most {
        return Err(ConfigError::TooLarge { path, most });
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(ConfigText { path, text })),
        Err(_) => Err(ConfigError::NotText { path }),
    }
}

impl Folders {
    /// The file of a profile.
    pub fn profile_file(&self, name: &str) -> Result<PathBuf, ConfigError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        // No separators and no leading dot, so that the name cannot lead out of the folder.
        if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
            let name = Untrusted::new(name).for_terminal_line(40);
            return Err(ConfigError::ProfileName { name });
        }
        Ok(self.profiles_folder().join(format!("{name}.toml")))
    }

    /// The files of some profiles, in the order of their names. A folder that cannot be read has
    /// none.
    pub fn profile_files(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.profiles_folder()) else { return Vec::new() };
        let paths = entries.flatten().map(|entry| entry.path());
        let is_profile = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "toml");
        let mut paths: Vec<_> = paths.filter(is_profile).take(MOST_NAMED).collect();
        paths.sort();
        paths
    }
}

fn read_profile(folders: &Folders, name: &str) -> Result<ConfigText, ConfigError> {
    let path = folders.profile_file(name)?;
    let shown = |path: &PathBuf| {
        let name = path.file_stem()?.to_str()?;
        Some(format!("`{}`", Untrusted::new(name).for_terminal_line(40)))
    };
    read(path.clone())?.ok_or_else(|| {
        let others = folders.profile_files().iter().filter_map(shown).collect();
        ConfigError::NoProfile { name: name.into(), path, others }
    })
}

/// Every `NAME.toml` in the folder, in the order of their names; empty without a folder.
fn read_folder(folder: &Path, files: usize, bytes: u64) -> Result<Vec<ConfigText>, ConfigError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        // A file where the folder's parent should be means that there is no such folder.
        Err(error)
            if error.kind() == io::ErrorKind::NotFound
                || (error.kind() == io::ErrorKind::NotADirectory && !folder.exists()) =>
        {
            return Ok(Vec::new());
        }
        Err(source) => return Err(ConfigError::Read { path: folder.into(), source }),
    };
    let mut paths = Vec::new();
    for entry in entries.take(files + 1) {
        let entry = entry.map_err(|source| ConfigError::Read { path: folder.into(), source })?;
        paths.push(entry.path());
    }
    if paths.len() > files {
        return Err(ConfigError::TooMany { path: folder.into(), most: files });
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    paths.sort();
    paths.into_iter().filter_map(|path| read_at_most(path, bytes).transpose()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place {
        root: tempfile::TempDir,
        folders: Folders,
    }

    impl Place {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            let folders = Folders::under(&root.path().join("home"));
            folders.make_config_folder().unwrap();
            Self { root, folders }
        }

        fn work(&self) -> PathBuf {
            self.root.path().join("work")
        }

        fn project_file(&self) -> PathBuf {
            self.work().join(".interpreter/config.toml")
        }

        fn read(&self, profile: Option<&str>) -> Result<ConfigFiles, String> {
            ConfigFiles::read(&self.folders, &self.work(), profile).map_err(|e| e.to_string())
        }
    }

    fn write(path: &Path, text: &[u8]) {
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, text).unwrap();
    }

    #[test]
    fn no_file_is_needed_and_none_is_made() {
        let root = tempfile::tempdir().unwrap();
        let folders = Folders::under(&root.path().join("home"));
        let files = ConfigFiles::read(&folders, root.path(), None).unwrap();
        assert_eq!(files, ConfigFiles::default());
        assert!(!folders.config.exists());
    }

    #[test]
    fn each_file_is_found_in_its_place() {
        let place = Place::new();
        write(&place.folders.config_file(), b"user");
        write(&place.folders.profiles_folder().join("fast.toml"), b"profile");
        write(&place.project_file(), b"project");
        let files = place.read(Some("fast")).unwrap();
        let texts = [files.user, files.profile, files.project].map(|file| file.unwrap().text);
        assert_eq!(texts, ["user", "profile", "project"]);
    }

    #[test]
    fn providers_come_from_the_config_folder_and_never_from_a_project() {
        let place = Place::new();
        let folder = place.folders.providers_folder();
        write(&folder.join("b.toml"), b"two");
        write(&folder.join("a.toml"), b"one");
        write(&folder.join("notes.txt"), b"no");
        write(&place.work().join(".interpreter/providers/evil.toml"), b"evil");
        let texts: Vec<_> =
            place.read(None).unwrap().providers.into_iter().map(|file| file.text).collect();
        assert_eq!(texts, ["one", "two"]);
        fs_err::create_dir(folder.join("c.toml")).unwrap();
        assert!(place.read(None).unwrap_err().contains("is not a regular file"));
    }

    #[test]
    fn rules_come_from_the_config_folder_and_from_the_project() {
        let place = Place::new();
        write(&place.folders.rules_folder().join("b.toml"), b"two");
        write(&place.folders.rules_folder().join("a.toml"), b"one");
        let project = place.work().join(".interpreter/rules/p.toml");
        write(&project, b"theirs");
        let files = place.read(None).unwrap();
        let texts: Vec<_> = files.rules.into_iter().map(|file| file.text).collect();
        assert_eq!(texts, ["one", "two"]);
        assert_eq!(files.project_rules[0].text, "theirs");
        write(&project, &vec![b'#'; 1 << 18]);
        assert!(place.read(None).unwrap_err().contains("is larger than"));
        fs_err::remove_file(&project).unwrap();
        for at in 0..=MOST_RULE_FILES {
            write(&project.with_file_name(format!("{at}.toml")), b"");
        }
        assert!(place.read(None).unwrap_err().contains("holds more than 100 files"));
    }

    #[test]
    fn a_missing_profile_names_those_that_are_there() {
        let place = Place::new();
        write(&place.folders.profiles_folder().join("fast.toml"), b"");
        write(&place.folders.profiles_folder().join("careful.toml"), b"");
        let message = place.read(Some("slow")).unwrap_err();
        assert!(message.starts_with("there is no profile `slow`"), "{message}");
        assert!(message.ends_with("there are `careful`, `fast`"), "{message}");
    }

    #[test]
    fn a_profile_cannot_lead_out_of_its_folder() {
        let place = Place::new();
        for name in ["../config", "/etc/passwd", ".hidden", "", "a\u{1b}b"] {
            let message = place.read(Some(name)).unwrap_err();
            assert!(message.contains("is not the name of a profile"), "{message}");
            assert!(!message.contains('\u{1b}'));
        }
    }

    #[test]
    fn a_project_file_that_is_no_text_file_stops() {
        let place = Place::new();
        write(&place.project_file(), &[0xff, 0xfe]);
        assert!(place.read(None).unwrap_err().ends_with("is not UTF-8 text"));
        write(&place.project_file(), &vec![b'#'; 2 << 20]);
        assert!(place.read(None).unwrap_err().contains("is larger than"));
        fs_err::remove_file(place.project_file()).unwrap();
        fs_err::create_dir(place.project_file()).unwrap();
        assert!(place.read(None).unwrap_err().contains("is not a regular file"));
    }

    #[cfg(unix)]
    #[test]
    fn a_device_in_place_of_a_project_file_is_not_opened() {
        let place = Place::new();
        fs_err::create_dir_all(place.project_file().parent().unwrap()).unwrap();
        std::os::unix::fs::symlink("/dev/zero", place.project_file()).unwrap();
        assert!(place.read(None).unwrap_err().contains("is not a regular file"));
    }

    #[test]
    fn a_file_named_like_the_project_folder_means_no_config() {
        let place = Place::new();
        write(&place.work().join(".interpreter"), b"x");
        assert_eq!(place.read(None).unwrap().project, None);
    }

    #[cfg(unix)]
    #[test]
    fn a_config_folder_open_to_others_is_not_read() {
        use std::os::unix::fs::PermissionsExt;
        let place = Place::new();
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(&place.folders.config, open).unwrap();
        assert!(place.read(None).unwrap_err().contains("(mode 777)"));
    }
}
