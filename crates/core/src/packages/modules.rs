//! Which package has a module: `modules.txt`, as data.

use super::{PackageKind, Requirement};
use std::{collections::HashMap, sync::LazyLock};

const TEXT: &str = include_str!("modules.txt");

static PACKAGES: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' ')).collect()
});

/// The package that has a module of Python, such as `sklearn.cluster`: the listed one of the
/// narrowest name, or else one that is called like the module's first part. `None` if no package
/// can be called so, or nobody would want it: a private module, or one of Python itself.
pub fn distribution(module: &str) -> Option<Requirement> {
    let mut narrower = module;
    let listed = loop {
        if let Some(package) = PACKAGES.get(narrower) {
            break Some(*package);
        }
        match narrower.rsplit_once('.') {
            Some((wider, _)) => narrower = wider,
            None => break None,
        }
    };
    let first = module.split('.').next().unwrap_or(module);
    if listed.is_none() && (first.starts_with('_') || OF_PYTHON.contains(&first)) {
        return None;
    }
    Requirement::parse(PackageKind::Python, listed.unwrap_or(first)).ok()
}

/// Whether a package of Python is on the list: of others, the name may only be guessed.
pub fn is_known(package: &Requirement) -> bool {
    let name = package.normal_name();
    let same = |listed: &&str| super::normal_name(PackageKind::Python, listed) == name;
    PACKAGES.values().any(same)
}

/// Modules that come with Python, and that a version or a build of it may lack. Packages by these
/// names are something else.
const OF_PYTHON: &[&str] = &[
    "asynchat",
    "asyncore",
    "audioop",
    "binhex",
    "bz2",
    "cgi",
    "cgitb",
    "crypt",
    "ctypes",
    "curses",
    "dbm",
    "distutils",
    "ensurepip",
    "formatter",
    "gdbm",
    "idlelib",
    "imghdr",
    "imp",
    "lib2to3",
    "lzma",
    "msilib",
    "nis",
    "nntplib",
    "nturl2path",
    "ossaudiodev",
    "parser",
    "pipes",
    "readline",
    "smtpd",
    "sndhdr",
    "spwd",
    "sqlite3",
    "ssl",
    "sunau",
    "symbol",
    "telnetlib",
    "this",
    "tkinter",
    "tomllib",
    "turtle",
    "turtledemo",
    "uu",
    "venv",
    "winreg",
    "winsound",
    "xdrlib",
    "zoneinfo",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_read_and_every_package_on_it_can_be_installed() {
        let lines = TEXT.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(lines.clone().count(), PACKAGES.len(), "a module is listed twice");
        for line in lines {
            let (module, package) = line.split_once(' ').unwrap_or_else(|| panic!("{line}"));
            assert!(!module.is_empty());
            assert!(Requirement::parse(PackageKind::Python, package).is_ok(), "{line}");
        }
    }

    #[test]
    fn a_module_leads_to_its_package() {
        let of = |module| distribution(module).map(|one| one.text().to_owned());
        for (module, package) in [
            ("pandas", "pandas"),
            ("cv2", "opencv-python-headless"),
            ("sklearn.cluster", "scikit-learn"),
            ("yaml", "PyYAML"),
            ("PIL.Image", "pillow"),
            ("bs4", "beautifulsoup4"),
            ("google.protobuf.message", "protobuf"),
            ("mpl_toolkits.mplot3d", "matplotlib"),
            ("some_package.part", "some_package"),
        ] {
            assert_eq!(of(module).as_deref(), Some(package));
        }
        for module in ["tkinter", "_private", "distutils.core", "", "../x", "-x", "a b"] {
            assert_eq!(of(module), None, "{module}");
        }
    }

    #[test]
    fn only_listed_names_need_no_second_look() {
        let known = |text| is_known(&Requirement::parse(PackageKind::Python, text).unwrap());
        assert!(known("Pandas==2.2") && known("scikit_learn"));
        assert!(!known("pandsa"));
    }
}
