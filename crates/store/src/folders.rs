//! Where things are kept: four folders, by the XDG base directory specification, and one beside the
//! home.
//!
//! `INTERPRETER_HOME` puts the four under one folder, for tests, containers and people who want
//! everything in one place. Nothing is made before it is needed. Code never sees any of the five:
//! [`Folders::all`] is what every sandbox covers.
//!
//! Must not be bypassed: a path below the user's home is built here and nowhere else.

use crate::{Environment, Keyring, StoreError, aliases::Mounts, links, private};
use interpreter_core::hash::sha256;
use std::{
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

/// Our name below the XDG folders.
const NAME: &str = "interpreter";

/// The folders of one user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folders {
    /// Written by the person: settings, profiles.
    pub config: PathBuf,
    /// Must not be lost: the record, change sets.
    pub data: PathBuf,
    /// Convenient to keep: typed lines.
    pub state: PathBuf,
    /// Can be recreated.
    pub cache: PathBuf,
    /// Used instead of the data folder if that is inside the work folder.
    pub beside: PathBuf,
    /// The system keyring, if this session may have one.
    pub keyring: Option<Keyring>,
    /// The folders of the server, if these are those of one person of its team.
    pub(crate) server: Option<Box<ServerFolders>>,
}

/// The folders of a server below which each person of its team has their own. Code sees none of
/// them; models and secrets are the server's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerFolders {
    data: PathBuf,
    state: PathBuf,
    beside: PathBuf,
}

impl Folders {
    /// The folders that the environment names. Touches no disk.
    pub fn find(environment: &Environment) -> Result<Self, StoreError> {
        let folders = Self::of_server(environment)?;
        match environment.person() {
            Some(id) => folders.of_person(id),
            None => Ok(folders),
        }
    }

    fn of_server(environment: &Environment) -> Result<Self, StoreError> {
        if let Some(home) = environment.raw("INTERPRETER_HOME") {
            let folders = Self::under(&absolute("INTERPRETER_HOME", home.into())?);
            return Ok(Self { keyring: keyring(environment), ..folders });
        }
        let home = environment.raw("HOME").map(PathBuf::from);
        let folder = |variable: &str, below: &str| {
            // The specification says to ignore a relative path here.
            let named = environment.raw(variable).map(PathBuf::from).filter(|p| p.is_absolute());
            match (named, &home) {
                (Some(named), _) => Ok(named.join(NAME)),
                (None, Some(home)) => Ok(absolute("HOME", home.clone())?.join(below).join(NAME)),
                (None, None) => Err(StoreError::NoHome),
            }
        };
        Ok(Self {
            config: folder("XDG_CONFIG_HOME", ".config")?,
            data: folder("XDG_DATA_HOME", ".local/share")?,
            state: folder("XDG_STATE_HOME", ".local/state")?,
            cache: folder("XDG_CACHE_HOME", ".cache")?,
            beside: beside_home(),
            keyring: keyring(environment),
            server: None,
        })
    }

    /// The folders of one person of a team: settings and cache are the server's, the rest is their
    /// own. An id that is none could lead elsewhere, so it is refused.
    fn of_person(self, id: &str) -> Result<Self, StoreError> {
        if !is_person(id) {
            return Err(StoreError::NoPerson);
        }
        let own = |path: &Path| path.join("people").join(id);
        Ok(Self {
            data: own(&self.data),
            state: own(&self.state),
            beside: own(&self.beside),
            server: Some(Box::new(ServerFolders {
                data: self.data,
                state: self.state,
                beside: self.beside,
            })),
            ..self
        })
    }

    /// The data folder of whoever runs the program.
    pub(crate) fn server_data(&self) -> &Path {
        self.server.as_ref().map_or(&self.data, |server| &server.data)
    }

    /// All four below one folder.
    pub fn under(home: &Path) -> Self {
        Self {
            config: home.join("config"),
            data: home.join("data"),
            state: home.join("state"),
            cache: home.join("cache"),
            beside: beside_home(),
            keyring: None,
            server: None,
        }
    }

    /// The person's settings.
    pub fn config_file(&self) -> PathBuf {
        self.config.join("config.toml")
    }

    /// Where profiles are, each `NAME.toml`.
    pub fn profiles_folder(&self) -> PathBuf {
        self.config.join("profiles")
    }

    /// Where the person's own providers are, each `NAME.toml`.
    pub fn providers_folder(&self) -> PathBuf {
        self.config.join("providers")
    }

    /// Where the person's rules for the analysis of code are, each `NAME.toml`.
    pub fn rules_folder(&self) -> PathBuf {
        self.config.join("rules")
    }

    /// The record of everything.
    pub fn record_file(&self) -> PathBuf {
        self.data.join("record.db")
    }

    /// Where the record ends: how many entries it has, and the newest one.
    pub fn end_file(&self) -> PathBuf {
        self.data.join("record.end")
    }

    /// Room on the disk that is let go of when the record must grow and there is no other.
    pub fn reserve_file(&self) -> PathBuf {
        self.data.join("record.reserve")
    }

    /// The amounts that were spent today.
    pub fn ledger_file(&self) -> PathBuf {
        self.data.join("spent.json")
    }

    /// The words of the record, to be searched. Can be made again.
    pub fn search_file(&self) -> PathBuf {
        self.data.join("search.db")
    }

    /// Why old sessions could not be removed at the end of the last session, if so.
    pub fn unremoved_file(&self) -> PathBuf {
        self.data.join("unremoved.txt")
    }

    /// A locked file for each session that runs.
    pub fn running_folder(&self) -> PathBuf {
        self.data.join("running")
    }

    /// The answers about instructions of projects.
    pub fn trust_file(&self) -> PathBuf {
        self.data.join("trust.json")
    }

    /// Where change sets are kept.
    pub fn changes_folder(&self) -> PathBuf {
        self.data.join("changes")
    }

    /// Outputs that are too large for the record.
    pub fn outputs_folder(&self) -> PathBuf {
        self.data.join("outputs")
    }

    /// Results as files that a person can open, in a folder for each session.
    pub fn results_folder(&self) -> PathBuf {
        self.data.join("results")
    }

    /// The folder for what sandboxes need while they are up.
    pub fn sandboxes_folder(&self) -> PathBuf {
        self.data.join("sandboxes")
    }

    /// Where models that run in this program are.
    pub fn models_folder(&self) -> PathBuf {
        self.server_data().join("models")
    }

    /// Where packages for the code of `work_folder` are installed. Beside our data if that is inside
    /// of the work folder, as change sets are.
    pub fn packages_folder_for(&self, work_folder: &Path) -> PathBuf {
        self.packages_home(work_folder).join("packages").join(key_of(work_folder)).join("env")
    }

    fn packages_home(&self, work_folder: &Path) -> &Path {
        if self.data.starts_with(work_folder) { &self.beside } else { &self.data }
    }

    /// The same, made if need be. Beside it stands the name of the work folder.
    pub fn make_packages_folder_for(&self, work_folder: &Path) -> Result<PathBuf, StoreError> {
        let folder = self.packages_folder_for(work_folder);
        if folder.is_dir() {
            return Ok(folder);
        }
        private::make_folder(self.packages_home(work_folder))?;
        let own = folder.parent().unwrap_or(&folder).to_owned();
        for path in [own.parent().unwrap_or(&own), &own] {
            private::make_folder(path)?;
        }
        let make = |source| StoreError::Make { path: folder.clone(), source };
        // It stands in a folder of our own, so if it is there by now, another session made it, and
        // may have opened it already.
        match std::fs::create_dir(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(make(error));
            }
            Ok(()) | Err(_) => {}
        }
        // Root's code is another user, who sees this folder and none above it.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&folder, open).map_err(make)?;
        private::write(&own.join("folder"), work_folder.as_os_str().as_bytes()).map_err(make)?;
        Ok(folder)
    }

    /// The lines that were typed.
    pub fn history_file(&self) -> PathBuf {
        self.state.join("history.txt")
    }

    /// The data folder, made if need be.
    pub fn make_data_folder(&self) -> Result<&Path, StoreError> {
        private::make_folder(&self.data)?;
        Ok(&self.data)
    }

    /// The folder of models, made if need be.
    pub fn make_models_folder(&self) -> Result<PathBuf, StoreError> {
        private::make_folder(self.server_data())?;
        let folder = self.models_folder();
        private::make_folder(&folder)?;
        Ok(folder)
    }

    /// The folder of change sets, made if need be.
    pub fn make_changes_folder(&self) -> Result<PathBuf, StoreError> {
        private::make_folder(&self.data)?;
        let folder = self.changes_folder();
        private::make_folder(&folder)?;
        Ok(folder)
    }

    /// The folder of the change sets of `work_folder`, made if need be.
    ///
    /// Changes cannot be staged inside of the folder that they are changes of. Where the work
    /// folder holds our own data, as a home does, they are staged beside it, in a folder of the
    /// user's own that outlives a restart.
    pub fn make_changes_folder_for(&self, work_folder: &Path) -> Result<PathBuf, StoreError> {
        private::make_folder(&self.data)?;
        let read = |source| StoreError::Read { path: self.data.clone(), source };
        let resolved = self.data.canonicalize().map_err(read)?;
        let elsewhere = Mounts::look().others(&resolved);
        if !elsewhere.iter().chain([&resolved]).any(|data| data.starts_with(work_folder)) {
            return self.make_changes_folder();
        }
        private::make_folder(&self.beside)?;
        let folder = self.beside.join("changes");
        private::make_folder(&folder)?;
        Ok(folder)
    }

    /// The folder of piped data for code in `work_folder`, made if need be: outside of that folder,
    /// like changes.
    pub(crate) fn make_piped_folder_for(&self, work_folder: &Path) -> Result<PathBuf, StoreError> {
        let folder = self.make_changes_folder_for(work_folder)?.with_file_name("piped");
        private::make_folder(&folder)?;
        Ok(folder)
    }

    /// Makes those of our folders that are inside of `shown`, a folder that code sees. Only a folder
    /// that is there can be covered; in place of a missing one code could put its own.
    pub fn make_all_in(&self, shown: &Path) -> Result<(), StoreError> {
        let mounts = Mounts::look();
        let is_inside = |path: &Path| {
            path.starts_with(shown) || mounts.others(path).iter().any(|one| one.starts_with(shown))
        };
        let inside = self.all().filter(|path| is_inside(path));
        inside.filter(|path| **path != self.config).try_for_each(private::make_folder)?;
        if is_inside(&self.config) {
            self.make_config_folder()?;
        }
        Ok(())
    }

    /// The same folders by their real paths, as far as they exist: through no link.
    #[must_use]
    pub fn resolved(self) -> Self {
        let real = |path: PathBuf| {
            let known =
                path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
            match known {
                Some((above, real)) => match path.strip_prefix(above) {
                    Ok(rest) if rest.as_os_str().is_empty() => real,
                    Ok(rest) => real.join(rest),
                    Err(_) => path,
                },
                None => path,
            }
        };
        Self {
            config: real(self.config),
            data: real(self.data),
            state: real(self.state),
            cache: real(self.cache),
            beside: real(self.beside),
            keyring: self.keyring,
            server: self.server.map(|server| {
                let ServerFolders { data, state, beside } = *server;
                let (data, state, beside) = (real(data), real(state), real(beside));
                Box::new(ServerFolders { data, state, beside })
            }),
        }
    }

    /// All of our folders; for one person of a team, those of everybody.
    pub fn all(&self) -> impl Iterator<Item = &Path> {
        let (data, state, beside) = match &self.server {
            Some(server) => (&server.data, &server.state, &server.beside),
            None => (&self.data, &self.state, &self.beside),
        };
        let all = [&self.config, data, state, &self.cache, beside];
        all.into_iter().map(PathBuf::as_path)
    }

    /// A link in `changeable`, a folder that code may change, that leads to our folders or
    /// settings: code could put its own in its place. They are given as they are looked up, and
    /// `real` as they are.
    pub fn led_to_from(&self, changeable: &Path, real: &Self) -> Option<PathBuf> {
        let on_the_way = self.all().flat_map(|path| links::on_the_way(path).0);
        let mut all = on_the_way.chain(links::of_settings(&real.config));
        all.find(|path| {
            path.starts_with(changeable) && !real.all().any(|ours| path.starts_with(ours))
        })
    }

    /// The same, with every other path at which they are mounted.
    pub fn everywhere(&self) -> Vec<PathBuf> {
        let mounts = Mounts::look();
        self.all()
            .flat_map(|path| mounts.others(path).into_iter().chain([path.to_owned()]))
            .collect()
    }

    /// The config folder, made if need be, so that an editor can write the settings. Others may read
    /// it: there are no keys in it.
    pub fn make_config_folder(&self) -> Result<&Path, StoreError> {
        private::make_folder_of_settings(&self.config)?;
        Ok(&self.config)
    }

    /// The file of typed lines, made if need be.
    pub fn make_history_file(&self) -> Result<PathBuf, StoreError> {
        private::make_folder(&self.state)?;
        let file = self.history_file();
        private::make_file(&file)?;
        Ok(file)
    }

    /// The cache folder, made if need be.
    pub fn make_cache_folder(&self) -> Result<&Path, StoreError> {
        private::make_folder(&self.cache)?;
        Ok(&self.cache)
    }
}

/// The name by which a work folder has things of its own.
fn key_of(work_folder: &Path) -> String {
    let mut key = sha256(work_folder.as_os_str().as_bytes());
    key.truncate(24);
    key
}

/// Whether a text is the id of a person: 32 hexadecimal digits.
pub(crate) fn is_person(id: &str) -> bool {
    id.len() == 32 && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A folder of the user's own that outlives a restart and is in nobody's home.
fn beside_home() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    Path::new("/var/tmp").join(format!("{NAME}-{user}"))
}

/// The keyring of the person's session, if that may have a bus. Whether it has is not tried.
fn keyring(environment: &Environment) -> Option<Keyring> {
    if let Some(bus) = environment.text("DBUS_SESSION_BUS_ADDRESS") {
        return Some(Keyring::on(bus.to_owned()));
    }
    let runtime = PathBuf::from(environment.raw("XDG_RUNTIME_DIR")?);
    let socket = runtime.join("bus");
    let path = socket.to_str().filter(|_| runtime.is_absolute())?;
    Some(Keyring::on(format!("unix:path={path}")))
}

fn absolute(variable: &'static str, path: PathBuf) -> Result<PathBuf, StoreError> {
    if path.is_absolute() { Ok(path) } else { Err(StoreError::NotAbsolute { variable, path }) }
}

#[cfg(test)]
mod tests;
