//! The packages of a folder: which there are, whether more may come, and how they are installed.
//!
//! They stand in a folder of ours, one for each work folder, which code sees and cannot change. The
//! person's own settings say which index is asked; passwords in them stay outside. An installer works
//! in a folder beside it, which code does not see.

use crate::{AgentError, Context, network};
use interpreter_core::{
    Access, Confinement, Limits, Network, Workspace,
    egress::Hosts,
    instructions::Packages,
    packages::{
        Package, PackageKind, PackageLookup, PackageOrder, PackagePermit, PackagePolicy,
        PackageSetup, PackagesFailed,
    },
    session::Event,
};
use interpreter_exec::packages::{
    CACHE, PackageSite, TEMPORARY, change, damage, installed, look_up,
};
use interpreter_store::{Index, IndexMachine, NetworkMode, Preset};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Both kinds.
const KINDS: [PackageKind; 2] = [PackageKind::Python, PackageKind::Npm];

/// Variables that name the certificates which a tool trusts.
const CERTIFICATES: [&str; 6] = [
    "PIP_CERT",
    "SSL_CERT_FILE",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "npm_config_cafile",
];

impl Context {
    /// The folder that code finds packages in, if it is there.
    pub(crate) fn packages_shown(&self) -> Option<&Path> {
        self.packages.as_deref().filter(|folder| folder.is_dir())
    }

    /// Makes that folder, so that packages which come later can be seen.
    pub(crate) fn make_packages_folder(&self) -> Result<(), AgentError> {
        if self.packages.is_some() {
            self.folders.make_packages_folder_for(&self.work_folder)?;
        }
        Ok(())
    }

    /// The packages that are installed for the folder.
    pub fn installed_packages(&self) -> Vec<Package> {
        let folders = KINDS.iter().filter_map(|kind| Some((*kind, self.package_folder(*kind)?)));
        folders.flat_map(|(kind, folder)| installed(kind, &folder)).collect()
    }

    /// The folder of the packages of a kind. It need not be there.
    pub fn package_folder(&self, kind: PackageKind) -> Option<PathBuf> {
        self.interpreters().package_folder(kind, self.packages.as_deref()?)
    }

    /// The packages that a session may offer.
    pub(crate) fn package_setup(&self) -> PackageSetup {
        let kinds = KINDS.into_iter().filter(|kind| self.package_folder(*kind).is_some());
        PackageSetup {
            policy: self.settings.package_policy.value,
            kinds: kinds.collect(),
            script_runs_again: self.input.can_be_read_again(),
            has_person: self.has_person,
        }
    }

    /// The part about packages in the prompt of a model.
    pub(crate) fn packages_told<'a>(&self, installed: &'a [Package]) -> Packages<'a> {
        let PackageSetup { policy, kinds, .. } = self.package_setup();
        match (kinds.is_empty(), policy) {
            (true, _) => Packages::Unoffered,
            (false, PackagePolicy::Never) => Packages::Settled(installed),
            (false, PackagePolicy::Ask | PackagePolicy::Allow) => Packages::Offered(installed),
        }
    }

    /// The files of installed packages that belong to no package, by their paths below the folder
    /// of their kind.
    pub fn damaged_packages(&self) -> Vec<(PackageKind, PathBuf)> {
        let folders = KINDS.iter().filter_map(|kind| Some((*kind, self.package_folder(*kind)?)));
        let found = folders.flat_map(|(kind, folder)| {
            let all = damage(kind, &folder).into_iter();
            all.map(move |path| (kind, path.strip_prefix(&folder).unwrap_or(&path).to_owned()))
        });
        found.collect()
    }

    /// Finds out what an order comes to.
    pub(crate) async fn look_up_packages(self: Arc<Self>, lookup: PackageLookup) -> Event {
        let order = lookup.order().clone();
        let outcome = match self.package_site(&order) {
            Ok(site) => look_up(lookup, site).await,
            Err(reason) => Err(PackagesFailed::new(reason)),
        };
        Event::PackagesResolved { order, outcome }
    }

    /// Does what is permitted, and says what came of it.
    pub(crate) async fn change_packages(self: Arc<Self>, permit: PackagePermit) -> Event {
        let order = permit.order().clone();
        let outcome = match self.package_site(&order) {
            Ok(site) => Box::pin(change(permit, site)).await,
            Err(reason) => Err(PackagesFailed::new(reason)),
        };
        Event::PackagesChanged { order, outcome }
    }

    /// Everything that an order needs; or why it cannot be carried out.
    fn package_site(&self, order: &PackageOrder) -> Result<PackageSite, String> {
        let folder = self.package_folder(order.kind).ok_or_else(|| match &self.packages {
            None => {
                "this sandbox has a system of its own; its image has to have the package".into()
            }
            Some(_) => format!("nothing here could use packages for {}", order.kind),
        })?;
        if self.settings.network_mode.value == NetworkMode::None {
            return Err("offline: your settings let nothing be reached".into());
        }
        let tool = self.interpreters().package_tool(order.kind)?;
        self.make_packages_folder().map_err(|error| crate::error::chain(&error))?;
        let shown = self.folders.packages_folder_for(&self.work_folder);
        let index = self.package_index(order.kind);
        let first = index.hosts.first().and_then(|rule| rule.only());
        let first = first.map(|(host, port)| (host.clone(), port));
        if first.is_none() {
            return Err(format!("{} names no index", tool.name()));
        }
        Ok(PackageSite {
            withheld: index.has_password,
            hosts: index.hosts.clone(),
            confinement: self.installer_confinement(&shown.with_file_name("workshop"), index),
            workshop: shown.with_file_name("workshop"),
            files: shown.with_file_name("files"),
            folder,
            index: first,
            tool,
            machine: self.machine().clone(),
            upstream: self.upstream(),
            doors: shown.with_file_name("egress"),
            lock: shown.with_file_name("lock"),
        })
    }

    fn package_index(&self, kind: PackageKind) -> Index {
        let preset = match kind {
            PackageKind::Python => Preset::Python,
            PackageKind::Npm => Preset::Npm,
        };
        let machine = IndexMachine {
            environment: &self.environment,
            home: self.home(),
            root: Path::new("/"),
            prefixes: &self.prefixes,
        };
        preset.find(&machine)
    }

    /// The bounds of an installer: its workshop, its interpreter, its index, and nothing else.
    fn installer_confinement(&self, folder: &Path, index: Index) -> Confinement {
        let reads = self.interpreters().package_reads().map(|path| (path.to_owned(), Access::Read));
        let mut files: BTreeMap<_, _> = reads.collect();
        let mut environment = self.code_environment();
        environment.retain(|name, _| matches!(name.as_str(), "PATH" | "HOME" | "LANG" | "USER"));
        environment.extend(network::proxy_variables());
        // Nothing of its own answers on loopback; an index of the person's may be there outside.
        environment.retain(|name, _| !name.eq_ignore_ascii_case("no_proxy"));
        environment.extend(index.variables);
        let temporary = folder.join(TEMPORARY).to_string_lossy().into_owned();
        environment.insert("TMPDIR".into(), temporary.clone());
        environment
            .insert("npm_config_cache".into(), folder.join(CACHE).to_string_lossy().into_owned());
        for name in CERTIFICATES {
            let Some(file) = self.environment.raw(name).map(PathBuf::from) else { continue };
            if let (true, Some(text)) = (file.is_absolute() && file.is_file(), file.to_str()) {
                environment.insert(name.into(), text.into());
                if !interpreter_exec::is_system(&file) {
                    files.insert(file, Access::Read);
                }
            }
        }
        let deny = self.settings.listed_hosts().deny;
        Confinement {
            work_folder: folder.to_owned(),
            workspace: Workspace::Direct,
            files,
            granted: [].into(),
            shown: [].into(),
            network: Network::Only(Hosts { allow: index.hosts, deny }),
            secrets: vec![],
            limits: Limits { wall_seconds: None, cpu_seconds: None, ..self.settings.limits() },
            sandbox: self.settings.sandboxing(),
            environment,
        }
    }
}
