//! Each tool's settings in a home and a system of their own.

use super::*;
use crate::Environment;
use std::collections::BTreeMap;

struct Place {
    root: tempfile::TempDir,
    environment: Environment,
}

impl Place {
    fn new(files: &[(&str, &str)], variables: &[(&str, &str)]) -> Self {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        let environment = Environment::from_pairs(variables.iter().copied());
        Self { root, environment }
    }

    fn find(&self, preset: Preset) -> Index {
        let home = self.root.path().join("home");
        let prefixes = [self.root.path().join("usr")];
        preset.find(&IndexMachine {
            environment: &self.environment,
            home: Some(&home),
            root: self.root.path(),
            prefixes: &prefixes,
        })
    }

    fn hosts(&self, preset: Preset) -> Vec<String> {
        self.find(preset).hosts.iter().map(ToString::to_string).collect()
    }
}

#[test]
fn where_nothing_is_set_nothing_is_named() {
    let place = Place::new(&[], &[]);
    for preset in Preset::ALL {
        assert_eq!(place.find(preset), Index::default(), "{preset}");
    }
}

#[test]
fn pip_is_read_from_its_files_and_variables() {
    let place = Place::new(
        &[
            ("etc/pip.conf", "[global]\nindex-url = https://system.example/simple\n"),
            (
                "home/.config/pip/pip.conf",
                "# mine\n[global]\nindex-url=https://me:secret@mine.example:8443/simple/\n\
                 extra-index-url =\n    https://one.example/simple\n    http://two.example/simple\n\
                 trusted-host = two.example\n[list]\nindex-url = https://other.example/\n",
            ),
        ],
        &[("PIP_FIND_LINKS", "/opt/wheels https://links.example/x")],
    );
    let index = place.find(Preset::Python);
    let hosts: Vec<_> = index.hosts.iter().map(ToString::to_string).collect();
    assert_eq!(
        hosts,
        ["mine.example:8443", "one.example:443", "two.example:80", "links.example:443"]
    );
    let variables: Vec<_> = index.variables.iter().map(|(a, b)| format!("{a}={b}")).collect();
    assert_eq!(
        variables,
        [
            "PIP_EXTRA_INDEX_URL=https://one.example/simple http://two.example/simple",
            "PIP_FIND_LINKS=https://links.example/x",
            "PIP_INDEX_URL=https://mine.example:8443/simple/",
            "PIP_TRUSTED_HOST=two.example",
            "UV_DEFAULT_INDEX=https://mine.example:8443/simple/",
            "UV_INDEX=https://one.example/simple http://two.example/simple",
        ]
    );
    assert!(index.has_password && !format!("{index:?}").contains("secret"));
}

#[test]
fn a_variable_outranks_a_file_and_uv_counts_too() {
    let place = Place::new(
        &[
            ("etc/pip.conf", "[global]\nindex-url = https://system.example/simple\n"),
            ("home/.config/uv/uv.toml", "[[index]]\nurl = \"https://uv.example/simple\"\n"),
        ],
        &[
            ("PIP_INDEX_URL", "https://env.example/simple"),
            ("UV_INDEX", "a=https://named.example/x"),
        ],
    );
    let hosts = place.hosts(Preset::Python);
    assert_eq!(hosts, ["env.example:443", "uv.example:443", "named.example:443"]);
    assert!(!place.find(Preset::Python).has_password);
}

#[test]
fn what_pip_has_built_in_is_read_from_pip_itself() {
    let source = "class PackageIndex:\n    pass\n\nMain = PackageIndex(\"https://built-in.example/\", \
                  file_storage_domain=\"files.example\")\nTest = PackageIndex(\n    \
                  \"https://test.example/\", file_storage_domain=\"x.example\"\n)\n";
    let file = "usr/lib/python3.11/site-packages/pip/_internal/models/index.py";
    let place = Place::new(&[(file, source)], &[]);
    assert_eq!(place.hosts(Preset::Python), ["built-in.example:443", "files.example:443"]);
    assert_eq!(place.find(Preset::Python).variables, BTreeMap::new());
}

#[test]
fn npm_is_read_from_its_files_variables_and_itself() {
    let built_in = (
        "usr/lib/node_modules/npm/node_modules/@npmcli/config/lib/definitions/definitions.js",
        "  registry: new Definition('registry', {\n    default: 'https://built-in.example/',\n",
    );
    assert_eq!(Place::new(&[built_in], &[]).hosts(Preset::Npm), ["built-in.example:443"]);
    let own = (
        "home/.npmrc",
        "; mine\nregistry=https://mine.example/npm/\n@scope:registry = https://scope.example\n\
         //mine.example/npm/:_authToken=secret\n",
    );
    let place = Place::new(&[built_in, own], &[]);
    assert_eq!(place.hosts(Preset::Npm), ["mine.example:443", "scope.example:443"]);
    assert_eq!(
        place.find(Preset::Npm).variables["npm_config_registry"],
        "https://mine.example/npm/"
    );
    assert!(!format!("{:?}", place.find(Preset::Npm)).contains("secret"));
    let place = Place::new(&[own], &[("npm_config_registry", "http://env.example:8080")]);
    assert_eq!(place.hosts(Preset::Npm)[0], "env.example:8080");
}

#[test]
fn cargo_is_read_from_its_config_and_its_cache() {
    let cache = [
        (
            "home/.cargo/registry/index/usual.example-0123abcd/config.json",
            r#"{"dl":"https://files.usual.example/crates"}"#,
        ),
        (
            "home/.cargo/registry/index/mirror.example-4567ef01/config.json",
            r#"{"dl":"https://files.mirror.example/x"}"#,
        ),
    ];
    assert_eq!(
        Place::new(&cache, &[]).hosts(Preset::Rust),
        [
            "mirror.example:443",
            "files.mirror.example:443",
            "usual.example:443",
            "files.usual.example:443"
        ]
    );
    let config = (
        "home/.cargo/config.toml",
        "[source.crates-io]\nreplace-with = \"m\"\n[source.m]\nregistry = \"sparse+https://mirror.example/i/\"\n\
         [registries.own]\nindex = \"https://own.example/git/index\"\n",
    );
    let place = Place::new(
        &[cache[0], cache[1], config],
        &[
            ("CARGO_REGISTRIES_WORK_INDEX", "sparse+https://work.example/"),
            ("CARGO_REGISTRIES_WORK_TOKEN", "https://secret.example/"),
        ],
    );
    assert_eq!(
        place.hosts(Preset::Rust),
        ["mirror.example:443", "own.example:443", "work.example:443", "files.mirror.example:443"]
    );
}

#[test]
fn apt_is_read_from_both_forms_of_its_sources() {
    let place = Place::new(
        &[
            (
                "etc/apt/sources.list",
                "# deb http://off.example/debian x main\ndeb [arch=amd64 signed-by=/x] http://one.example/debian x main\n\
                 deb-src https://src.example/ x main # why\ndeb cdrom:[Debian]/ x main\ndebx http://no.example/ x\n",
            ),
            (
                "etc/apt/sources.list.d/more.sources",
                "Types: deb\nURIs: https://two.example/debian\n  http://three.example:8080/\nSuites: x\n\n\
                 Types: deb\nURIs: https://disabled.example\nEnabled: no\n",
            ),
            ("etc/apt/sources.list.d/old.list.save", "deb http://saved.example/ x main\n"),
        ],
        &[],
    );
    assert_eq!(
        place.hosts(Preset::Debian),
        ["two.example:443", "three.example:8080", "one.example:80", "src.example:443"]
    );
}

#[test]
fn what_makes_no_sense_says_nothing() {
    let place = Place::new(
        &[
            (
                "etc/pip.conf",
                "index-url https://x\n[[[\n\u{0}=\n[global]\nindex-url = not an address\n",
            ),
            ("home/.npmrc", "registry\n=\nregistry = file:///x\n"),
            ("home/.cargo/config.toml", "[source"),
            ("etc/apt/sources.list", "deb\ndeb [\ndeb [x]\n"),
        ],
        &[("PIP_EXTRA_INDEX_URL", "https:// https://a b://c")],
    );
    for preset in Preset::ALL {
        let hosts = place.hosts(preset);
        let expected: &[&str] = if preset == Preset::Python { &["a:443"] } else { &[] };
        assert_eq!(hosts, expected, "{preset}");
    }
    std::fs::create_dir(place.root.path().join("etc/uv")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", place.root.path().join("etc/uv/uv.toml")).unwrap();
    assert_eq!(place.hosts(Preset::Python), ["a:443"]);
}
