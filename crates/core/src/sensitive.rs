//! Names under which secrets are kept, each with the reason.
//!
//! A file or folder with such a name is hidden in every sandbox, at any depth of the work folder,
//! unless the person allows it by its exact path. One that code makes is applied only if it is
//! named. The list is data; its users decide the consequences.
//!
//! # Limits
//! A name is all that is looked at, but for the few that are common without a secret, which
//! count only if they hold a word that gives one away. A secret by another name is not found.

use std::{
    collections::HashMap,
    os::unix::ffi::OsStrExt,
    path::{Component, Path},
    sync::LazyLock,
};

/// A name under which secrets are kept.
#[derive(Debug, PartialEq, Eq)]
pub struct Sensitive {
    /// The name, or the last parts of the path.
    pub path: &'static str,
    /// Whether it must be a file or a folder.
    pub form: SensitiveForm,
    /// The kind of secret.
    pub reason: &'static str,
    /// Words of which the file must hold one to count; none means that it always does.
    pub only_with: &'static [&'static str],
}

/// The required form of something with a sensitive name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SensitiveForm {
    /// A folder, and with it all it holds.
    Folder,
    /// A file, or a link to one.
    File,
}

const fn folder(path: &'static str, reason: &'static str) -> Sensitive {
    Sensitive { path, form: SensitiveForm::Folder, reason, only_with: &[] }
}

const fn file(path: &'static str, reason: &'static str) -> Sensitive {
    Sensitive { path, form: SensitiveForm::File, reason, only_with: &[] }
}

const fn holding(
    path: &'static str,
    only_with: &'static [&'static str],
    reason: &'static str,
) -> Sensitive {
    Sensitive { path, form: SensitiveForm::File, reason, only_with }
}

const BROWSER: &str = "passwords and cookies of a browser";
const CLOUD: &str = "credentials of a cloud account";
const CLUSTER: &str = "credentials of a cluster";
const DATABASE: &str = "passwords of databases";
const HISTORY: &str = "typed commands, which may contain passwords";
const KEY: &str = "a key for other machines";
const MAIL: &str = "mail and its passwords";
const PASSWORDS: &str = "passwords";
const REGISTRY: &str = "a package registry's token";
const SETTINGS: &str = "a project's keys and passwords";
const TOKEN: &str = "a personal access token";

/// All names, but for the variants of [`ENVIRONMENT`].
pub const SENSITIVE: &[Sensitive] = &[
    file(ENVIRONMENT, SETTINGS),
    file(".envrc", SETTINGS),
    file(".dev.vars", SETTINGS),
    file(".streamlit/secrets.toml", SETTINGS),
    file("id_rsa", KEY),
    file("id_dsa", KEY),
    file("id_ecdsa", KEY),
    file("id_ecdsa_sk", KEY),
    file("id_ed25519", KEY),
    file("id_ed25519_sk", KEY),
    folder(".ssh", KEY),
    folder(".gnupg", "keys that sign and decrypt"),
    folder(".aws", CLOUD),
    folder(".azure", CLOUD),
    folder(".config/gcloud", CLOUD),
    folder(".oci", CLOUD),
    folder(".config/doctl", CLOUD),
    folder(".config/rclone", CLOUD),
    file(".boto", CLOUD),
    file(".s3cfg", CLOUD),
    file(".databrickscfg", CLOUD),
    file(".terraform.d/credentials.tfrc.json", CLOUD),
    folder(".kube", CLUSTER),
    file("kubeconfig", CLUSTER),
    file(".kubeconfig", CLUSTER),
    file(".docker/config.json", REGISTRY),
    holding(".npmrc", &["_auth", "_password"], REGISTRY),
    holding(".yarnrc.yml", &["npmAuth"], REGISTRY),
    file(".pypirc", REGISTRY),
    file(".cargo/credentials.toml", REGISTRY),
    file(".cargo/credentials", REGISTRY),
    file(".gem/credentials", REGISTRY),
    file(".netrc", "passwords of hosts"),
    file("_netrc", "passwords of hosts"),
    file(".git-credentials", TOKEN),
    file(".config/git/credentials", TOKEN),
    folder(".config/gh", TOKEN),
    file(".config/hub", TOKEN),
    file(".vault-token", TOKEN),
    file(".huggingface/token", TOKEN),
    file(".cache/huggingface/token", TOKEN),
    file(".codex/auth.json", TOKEN),
    file(".claude/.credentials.json", TOKEN),
    file(".pgpass", DATABASE),
    holding(".my.cnf", &["password"], DATABASE),
    file(".mylogin.cnf", DATABASE),
    file(".htpasswd", PASSWORDS),
    folder(".password-store", PASSWORDS),
    folder(".local/share/keyrings", PASSWORDS),
    folder(".local/share/kwalletd", PASSWORDS),
    folder(".gnome2/keyrings", PASSWORDS),
    folder(".config/op", PASSWORDS),
    folder(".mozilla", BROWSER),
    folder("snap/firefox", BROWSER),
    folder(".config/google-chrome", BROWSER),
    folder(".config/chromium", BROWSER),
    folder(".config/BraveSoftware", BROWSER),
    folder(".config/microsoft-edge", BROWSER),
    folder(".config/vivaldi", BROWSER),
    folder(".thunderbird", MAIL),
    file(".bash_history", HISTORY),
    file(".zsh_history", HISTORY),
    file(".sh_history", HISTORY),
    file(".ash_history", HISTORY),
    file(".histfile", HISTORY),
    file(".local/share/fish/fish_history", HISTORY),
    file(".python_history", HISTORY),
    file(".node_repl_history", HISTORY),
    file(".irb_history", HISTORY),
    file(".psql_history", HISTORY),
    file(".mysql_history", HISTORY),
    file(".sqlite_history", HISTORY),
    file(".rediscli_history", HISTORY),
];

/// A project's settings. `.env.production` and the like count too; examples of them do not.
const ENVIRONMENT: &str = ".env";

/// Endings of a copy of a project's settings without its secrets.
const EXAMPLES: &[&str] =
    &["example", "sample", "template", "tpl", "dist", "default", "defaults", "schema"];

/// By the last part of their path, so that nearly every name costs one look.
static BY_NAME: LazyLock<HashMap<&'static [u8], Vec<&'static Sensitive>>> = LazyLock::new(|| {
    let mut all = HashMap::<_, Vec<_>>::new();
    for one in SENSITIVE {
        let name = one.path.rsplit('/').next().unwrap_or(one.path);
        all.entry(name.as_bytes()).or_default().push(one);
    }
    all
});

/// One part of a path, but the last.
struct OnTheWay {
    /// The path up to it.
    so_far: &'static str,
    /// The path after it.
    rest: &'static str,
    one: &'static Sensitive,
}

/// By every part of their path but the last.
static ON_THE_WAY: LazyLock<HashMap<&'static [u8], Vec<OnTheWay>>> = LazyLock::new(|| {
    let mut all = HashMap::<_, Vec<_>>::new();
    for one in SENSITIVE {
        for (at, _) in one.path.match_indices('/') {
            let (so_far, rest) = (&one.path[..at], &one.path[at + 1..]);
            let name = so_far.rsplit('/').next().unwrap_or(so_far);
            all.entry(name.as_bytes()).or_default().push(OnTheWay { so_far, rest, one });
        }
    }
    all
});

/// How the names begin: of most files the first letter says that they are none.
static FIRST: LazyLock<[bool; 256]> = LazyLock::new(|| {
    let mut first = [false; 256];
    for name in BY_NAME.keys() {
        first[usize::from(name[0])] = true;
    }
    first
});

/// Whether something called `name`, in the folder `parent`, may be one of [`SENSITIVE`]. The parent
/// is a whole path: where a work folder begins says nothing about what a name in it means.
pub fn named(parent: &Path, name: &[u8], form: SensitiveForm) -> Option<&'static Sensitive> {
    if !FIRST[usize::from(*name.first()?)] {
        return None;
    }
    let name = if is_environment(name) { ENVIRONMENT.as_bytes() } else { name };
    let candidates = BY_NAME.get(name)?;
    candidates.iter().copied().find(|one| one.form == form && is_below(parent, one.path))
}

/// The secrets behind a link called `name` in the folder `parent`, if that leads to a folder: the
/// rest of each path that begins so.
pub fn behind_link(
    parent: &Path,
    name: &[u8],
) -> impl Iterator<Item = (&'static str, &'static Sensitive)> {
    let candidates = ON_THE_WAY.get(name).map(Vec::as_slice).unwrap_or_default();
    let stands = move |way: &&OnTheWay| is_below(parent, way.so_far);
    candidates.iter().filter(stands).map(|way| (way.rest, way.one))
}

/// The outermost folder on the way to `below`, a path in the folder `root`, or `below` itself, that
/// is sensitive whatever it holds, and why.
pub fn place_of<'a>(
    root: &Path,
    below: &'a Path,
    form: SensitiveForm,
) -> Option<(&'a Path, &'static Sensitive)> {
    let of = |below: &'a Path, form| {
        let name = below.file_name()?.as_bytes();
        let found = named(&root.join(below.parent()?), name, form)?;
        found.only_with.is_empty().then_some((below, found))
    };
    let above =
        below.ancestors().skip(1).filter_map(|folder| of(folder, SensitiveForm::Folder)).last();
    above.or_else(|| of(below, form))
}

/// The outermost place of secrets that a folder is or is in.
pub fn place_above(folder: &Path) -> Option<(&Path, &'static Sensitive)> {
    place_of(Path::new("/"), folder, SensitiveForm::Folder)
}

/// Whether a name is that of a project's settings for one occasion, such as `.env.production`.
fn is_environment(name: &[u8]) -> bool {
    let Some(rest) = name.strip_prefix(b".env.") else { return false };
    let end = rest.rsplit(|&byte| byte == b'.').next().unwrap_or(rest);
    !rest.is_empty() && !EXAMPLES.iter().any(|example| end.eq_ignore_ascii_case(example.as_bytes()))
}

/// Whether `parent` ends with all parts of `path` but the last.
fn is_below(parent: &Path, path: &str) -> bool {
    let mut wanted = path.rsplit('/').skip(1);
    let mut there = parent.components().rev();
    wanted.all(|part| matches!(there.next(), Some(Component::Normal(name)) if name == part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reason(path: &str, form: SensitiveForm) -> Option<&'static str> {
        place_of(Path::new("/work"), Path::new(path), form).map(|(_, one)| one.reason)
    }

    #[test]
    fn where_the_work_folder_begins_makes_no_difference() {
        for (root, below, form) in [
            ("/backup/.config", "gh/hosts.yml", SensitiveForm::File),
            ("/backup/.config", "gcloud/credentials.db", SensitiveForm::File),
            ("/backup/.config", "hub", SensitiveForm::File),
            ("/backup/.docker", "config.json", SensitiveForm::File),
            ("/backup/.cargo", "credentials.toml", SensitiveForm::File),
            ("/backup/.local", "share/keyrings", SensitiveForm::Folder),
            ("/backup/.local/share", "keyrings/login.keyring", SensitiveForm::File),
        ] {
            let found = place_of(Path::new(root), Path::new(below), form);
            assert!(found.is_some_and(|(place, _)| Path::new(below).starts_with(place)), "{below}");
            assert_eq!(place_of(Path::new("/backup/plain"), Path::new(below), form), None);
        }
    }

    #[test]
    fn a_folder_in_a_place_of_secrets_is_known() {
        let place = |folder: &str| {
            place_above(Path::new(folder)).map(|(place, _)| place.display().to_string())
        };
        assert_eq!(place("/backup/.ssh").as_deref(), Some("/backup/.ssh"));
        assert_eq!(place("/backup/.ssh/old/keys").as_deref(), Some("/backup/.ssh"));
        assert_eq!(place("/backup/.config/gh").as_deref(), Some("/backup/.config/gh"));
        for folder in ["/", "/backup", "/backup/.config", "/backup/ssh", "/backup/.docker"] {
            assert_eq!(place(folder), None, "{folder}");
        }
    }

    #[test]
    fn behind_a_link_the_rest_of_a_path_counts() {
        let behind = |parent: &str, name: &str| {
            let found = behind_link(Path::new(parent), name.as_bytes());
            found.map(|(rest, _)| rest).collect::<Vec<_>>()
        };
        assert_eq!(behind("/w", ".docker"), ["config.json"]);
        assert!(behind("/w", ".config").contains(&"gh"));
        assert!(behind("/w", ".local").contains(&"share/fish/fish_history"));
        assert_eq!(behind("/w/.local/share", "fish"), ["fish_history"]);
        assert_eq!(behind("/w/share", "fish"), [""; 0]);
        assert_eq!(behind("/w", "docker"), [""; 0]);
        assert_eq!(behind("/w", ".env"), [""; 0]);
    }

    #[test]
    fn secrets_are_known_by_name_at_any_depth() {
        for path in
            [".env", "a/b/.env", ".env.local", "x/.env.production.local", "id_rsa", "k/.pgpass"]
        {
            assert!(reason(path, SensitiveForm::File).is_some(), "{path}");
        }
        for path in [".ssh", "home/.ssh", "h/.config/gcloud", "h/.local/share/keyrings"] {
            assert!(reason(path, SensitiveForm::Folder).is_some(), "{path}");
            assert!(reason(&format!("{path}/in/it"), SensitiveForm::File).is_some(), "{path}");
        }
    }

    #[test]
    fn what_only_looks_like_one_is_left_alone() {
        for path in [
            ".env.example",
            "a/.env.SAMPLE",
            ".env.local.template",
            ".env.",
            "env",
            "id_rsa.pub",
            "gcloud",
            "a/gcloud",
            "config/gcloud",
            ".environment",
            "credentials.toml",
            "hub",
            // Common without a secret: the content decides.
            ".npmrc",
        ] {
            assert_eq!(reason(path, SensitiveForm::File), None, "{path}");
            assert_eq!(reason(path, SensitiveForm::Folder), None, "{path}");
        }
        // A virtual environment may be called so, and a folder is no key.
        assert_eq!(reason(".env", SensitiveForm::Folder), None);
        assert_eq!(reason(".env/lib/python", SensitiveForm::File), None);
        assert_eq!(reason("id_rsa", SensitiveForm::Folder), None);
    }

    #[test]
    fn what_it_holds_decides_for_some() {
        let found = named(Path::new("a"), b".npmrc", SensitiveForm::File).unwrap();
        assert_eq!(found.only_with, ["_auth", "_password"]);
    }

    proptest! {
        #[test]
        fn where_a_folder_stands_makes_no_difference(
            above in "[a-z]{1,8}(/[a-z]{1,8}){0,4}", at in 0..SENSITIVE.len(),
        ) {
            let one = &SENSITIVE[at];
            let path = Path::new(&above).join(one.path);
            let name = path.file_name().unwrap().as_bytes();
            prop_assert_eq!(named(path.parent().unwrap(), name, one.form), Some(one));
        }
    }
}
