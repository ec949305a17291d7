//! pip and uv.

use super::{
    address,
    machine::{Index, IndexMachine, list, read},
};
use std::path::PathBuf;

/// Settings of pip and uv.
#[derive(Default)]
struct Said {
    index: Option<String>,
    more: Vec<String>,
    links: Vec<String>,
    trusted: Vec<String>,
    certificates: Option<String>,
}

pub(super) fn find(machine: &IndexMachine<'_>) -> Index {
    let mut said = Said::default();
    for file in pip_files(machine) {
        said.read_pip(&read(&file).unwrap_or_default());
    }
    for file in [Some(machine.in_root("etc/uv/uv.toml")), machine.in_config("uv/uv.toml")] {
        said.read_uv(&file.and_then(|file| read(&file)).unwrap_or_default());
    }
    said.read_environment(machine);
    let mut index = Index::default();
    let main = said.index.as_deref().and_then(address::read);
    if main.is_none() {
        let built_in = built_in(machine);
        index.hosts.extend(built_in.iter().filter_map(|text| Some(address::read(text)?.rule)));
    }
    let more: Vec<_> = said.more.iter().filter_map(|text| address::read(text)).collect();
    let links: Vec<_> = said.links.iter().filter_map(|text| address::read(text)).collect();
    let every = main.iter().chain(&more).chain(&links);
    index.has_password = every.clone().any(|one| one.has_password);
    index.hosts.extend(every.map(|one| one.rule.clone()));
    let mut set = |name: &str, value: String| {
        if !value.is_empty() {
            index.variables.insert(name.to_owned(), value);
        }
    };
    let joined = |list: &[address::Address]| {
        list.iter().map(|one| one.text.as_str()).collect::<Vec<_>>().join(" ")
    };
    let main = main.map(|one| one.text).unwrap_or_default();
    set("PIP_INDEX_URL", main.clone());
    set("UV_DEFAULT_INDEX", main);
    set("PIP_EXTRA_INDEX_URL", joined(&more));
    set("UV_INDEX", joined(&more));
    set("PIP_FIND_LINKS", joined(&links));
    set("PIP_TRUSTED_HOST", said.trusted.join(" "));
    set("PIP_CERT", said.certificates.filter(|path| path.starts_with('/')).unwrap_or_default());
    index
}

/// The files that pip reads, the later over the earlier; but for that of a virtual environment,
/// which may have come with a project.
fn pip_files(machine: &IndexMachine<'_>) -> Vec<PathBuf> {
    let environment = machine.environment;
    let folders = environment.path_list("XDG_CONFIG_DIRS");
    let folders = if folders.is_empty() { vec![machine.in_root("etc/xdg")] } else { folders };
    let mut files: Vec<_> = folders.iter().map(|folder| folder.join("pip/pip.conf")).collect();
    files.push(machine.in_root("etc/pip.conf"));
    files.extend(machine.in_home(".pip/pip.conf"));
    files.extend(machine.in_config("pip/pip.conf"));
    files.extend(environment.raw("PIP_CONFIG_FILE").map(PathBuf::from));
    files
}

impl Said {
    /// The INI files of pip: `[global]` and the sections of the commands that fetch.
    fn read_pip(&mut self, text: &str) {
        let mut section = String::new();
        let mut key = String::new();
        for line in text.lines() {
            let plain = line.trim();
            if plain.starts_with(['#', ';']) || plain.is_empty() {
                continue;
            }
            if let Some(name) = plain.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = name.trim().to_lowercase();
                key.clear();
            } else if line.starts_with([' ', '\t']) {
                self.take(&section, &key, plain);
            } else if let Some((name, value)) = plain.split_once(['=', ':']) {
                key = name.trim().to_lowercase().replace('_', "-");
                // A key that is set again stands for itself alone.
                self.forget(&section, &key);
                self.take(&section, &key, value.trim());
            }
        }
    }

    fn counts(section: &str) -> bool {
        matches!(section, "global" | "install" | "download" | "wheel")
    }

    fn forget(&mut self, section: &str, key: &str) {
        match key {
            _ if !Self::counts(section) => {}
            "extra-index-url" => self.more.clear(),
            "find-links" => self.links.clear(),
            "trusted-host" => self.trusted.clear(),
            _ => {}
        }
    }

    fn take(&mut self, section: &str, key: &str, value: &str) {
        let values = || value.split_whitespace().map(str::to_owned);
        match key {
            _ if !Self::counts(section) => {}
            "index-url" if !value.is_empty() => self.index = Some(value.to_owned()),
            "cert" => self.certificates = Some(value.to_owned()),
            "extra-index-url" => self.more.extend(values()),
            "find-links" => self.links.extend(values()),
            "trusted-host" => self.trusted.extend(values().filter(|one| !one.contains('@'))),
            _ => {}
        }
    }

    /// uv's own file.
    fn read_uv(&mut self, text: &str) {
        let Ok(table) = text.parse::<toml::Table>() else { return };
        let pip = table.get("pip").and_then(toml::Value::as_table);
        for table in pip.into_iter().chain([&table]) {
            if let Some(url) = table.get("index-url").and_then(toml::Value::as_str) {
                self.index = Some(url.to_owned());
            }
            let more = table.get("extra-index-url").and_then(toml::Value::as_array);
            let more = more.into_iter().flatten().filter_map(toml::Value::as_str);
            self.more.extend(more.map(str::to_owned));
        }
        let indexes = table.get("index").and_then(toml::Value::as_array);
        for index in indexes.into_iter().flatten() {
            let Some(url) = index.get("url").and_then(toml::Value::as_str) else { continue };
            match index.get("default").and_then(toml::Value::as_bool) {
                Some(true) => self.index = Some(url.to_owned()),
                Some(false) | None => self.more.push(url.to_owned()),
            }
        }
    }

    fn read_environment(&mut self, machine: &IndexMachine<'_>) {
        let text = |name| machine.environment.text(name);
        for name in ["UV_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_INDEX_URL"] {
            if let Some(url) = text(name) {
                self.index = Some(named(url).to_owned());
            }
        }
        for name in ["PIP_EXTRA_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_INDEX"] {
            let urls = text(name).into_iter().flat_map(str::split_whitespace);
            self.more.extend(urls.map(|url| named(url).to_owned()));
        }
        let links = text("PIP_FIND_LINKS").into_iter().flat_map(str::split_whitespace);
        self.links.extend(links.map(str::to_owned));
        let trusted = text("PIP_TRUSTED_HOST").into_iter().flat_map(str::split_whitespace);
        self.trusted.extend(trusted.filter(|one| !one.contains('@')).map(str::to_owned));
    }
}

/// uv lets an index have a name: `name=https://…`.
fn named(url: &str) -> &str {
    match url.split_once('=') {
        Some((name, url)) if !name.contains("://") => url,
        Some(_) | None => url,
    }
}

/// The defaults in the source of the installed pip: the index, and where the index keeps its files.
fn built_in(machine: &IndexMachine<'_>) -> Vec<String> {
    const FILE: &str = "pip/_internal/models/index.py";
    let system = machine.in_root("usr/lib/python3/dist-packages");
    let of_prefix = machine.prefixes.iter().flat_map(|prefix| list(&prefix.join("lib")));
    let places = of_prefix.flat_map(|python| {
        ["site-packages", "dist-packages"].map(|packages| python.join(packages))
    });
    places.chain([system]).find_map(|place| index_of(&read(&place.join(FILE))?)).unwrap_or_default()
}

/// `PackageIndex("https://index/", file_storage_domain="files")`, the first of which is the usual.
fn index_of(source: &str) -> Option<Vec<String>> {
    let call = source.split("= PackageIndex(").nth(1)?.split(')').next()?;
    let mut quoted = call.split('"').skip(1).step_by(2);
    let index = quoted.next()?.to_owned();
    let files = quoted.next().map(|domain| format!("https://{domain}/"));
    Some(std::iter::once(index).chain(files).collect())
}
