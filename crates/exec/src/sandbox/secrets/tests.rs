//! The search, on folders of the disk.

use super::*;
use fs_err as fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

fn confinement(root: &Path) -> Confinement {
    Confinement {
        work_folder: root.to_owned(),
        workspace: interpreter_core::Workspace::Stage,
        files: [].into(),
        granted: [].into(),
        shown: [].into(),
        network: interpreter_core::Network::None,
        secrets: vec![],
        limits: interpreter_core::Limits::default(),
        sandbox: interpreter_core::Sandboxing::default(),
        environment: [].into(),
    }
}

fn found(root: &Path, shown: &[&str]) -> Vec<String> {
    let root = fs::canonicalize(root).unwrap();
    let shown = shown.iter().map(|path| root.join(path)).collect();
    let found = find(&root, &Confinement { shown, ..confinement(&root) }).unwrap();
    let below = |path: &PathBuf| path.strip_prefix(&root).unwrap().display().to_string();
    found.iter().map(below).collect()
}

#[test]
fn they_are_found_at_any_depth_and_among_many() {
    let root = tree(&[
        (".env", "K=1"),
        ("a/b/c/.env.local", "K=1"),
        ("a/.env.example", "K="),
        ("keys/id_rsa", "k"),
        ("h/.ssh/config", ""),
        ("h/.config/gcloud/token", ""),
        ("other/gcloud/token", ""),
        ("plain/.npmrc", "registry = 1"),
        ("token/.npmrc", "//host/:_authToken=abc"),
    ]);
    for number in 0..3_000 {
        fs::create_dir_all(root.path().join(format!("many/{}/{number}", number % 50))).unwrap();
    }
    fs::write(root.path().join("many/7/2957/.netrc"), "").unwrap();
    assert_eq!(
        found(root.path(), &[]),
        [
            ".env",
            "a/b/c/.env.local",
            "h/.config/gcloud",
            "h/.ssh",
            "keys/id_rsa",
            "many/7/2957/.netrc",
            "token/.npmrc"
        ]
    );
}

#[test]
fn what_is_allowed_is_shown_and_nothing_beside_it() {
    let root = tree(&[
        (".env", ""),
        ("a/.env", ""),
        (".ssh/config", ""),
        (".ssh/id_rsa", ""),
        (".ssh/more/known", ""),
        (".ssh/more/other", ""),
    ]);
    assert_eq!(found(root.path(), &["a/.env"]), [".env", ".ssh"]);
    // A folder that is allowed does not allow the keys in it.
    assert_eq!(found(root.path(), &[".ssh", ".env", "a/.env"]), [".ssh/id_rsa"]);
    assert_eq!(
        found(root.path(), &[".ssh/more/known", ".env", "a/.env"]),
        [".ssh/config", ".ssh/id_rsa", ".ssh/more/other"]
    );
}

#[test]
fn a_link_is_covered_where_it_leads_and_never_followed_out() {
    let outside = tree(&[("sub/.env", "theirs")]);
    let root = tree(&[("real/settings", "K=1"), ("real/dir/x", "")]);
    let link = |to: &Path, at: &str| symlink(to, root.path().join(at)).unwrap();
    link(Path::new("real/settings"), ".env");
    link(Path::new("real/dir"), ".ssh");
    link(Path::new("."), ".kube");
    link(Path::new("/"), ".aws");
    link(outside.path(), "away");
    link(Path::new(".."), "up");
    assert_eq!(
        found(root.path(), &[]),
        [".aws", ".env", ".kube", ".ssh", "real/dir", "real/settings"]
    );
    assert_eq!(found(root.path(), &[".env"]), [".aws", ".kube", ".ssh", "real/dir"]);
}

#[test]
fn secrets_behind_linked_folders_are_covered_by_the_name_of_the_link() {
    let root = tree(&[
        ("docker/config.json", "K"),
        ("docker/other", ""),
        ("dot/config/gh/hosts.yml", "K"),
        ("dot/config/git/credentials", "K"),
        ("dot/config/git/ignore", ""),
        ("dot/share/keyrings/login", "K"),
        ("loc/real", ""),
        ("deep/down/fish_history", ""),
        ("sub/.local/share/x", ""),
        ("plain/config.json", ""),
    ]);
    let link = |to: &str, at: &str| symlink(to, root.path().join(at)).unwrap();
    link("docker", ".docker");
    link("dot/config", ".config");
    // Two links on the way, one of them absolute.
    link("loc", ".local");
    symlink(
        fs::canonicalize(root.path()).unwrap().join("dot/share"),
        root.path().join("loc/share"),
    )
    .unwrap();
    link("../../../deep/down", "sub/.local/share/fish");
    // Not such a name, and a circle.
    link("plain", "docker2");
    link(".codex", ".codex");
    let covered = found(root.path(), &[]);
    assert_eq!(
        covered,
        [
            "deep/down/fish_history",
            "docker/config.json",
            "dot/config/gh",
            "dot/config/git/credentials",
            "dot/share/keyrings",
        ]
    );
    // A place that is allowed is shown, by the name of the link or by its own.
    for allowed in [".docker/config.json", "docker/config.json"] {
        let covered = found(root.path(), &[allowed]);
        assert!(!covered.contains(&"docker/config.json".into()) && covered.len() == 4);
    }
}

#[test]
fn a_link_from_one_folder_that_is_shown_to_another_is_covered_where_it_leads() {
    let work = tree(&[("plain", "K"), ("open", "")]);
    let granted = tree(&[("docker/config.json", "K")]);
    let real = |tree: &tempfile::TempDir| fs::canonicalize(tree.path()).unwrap();
    let (w, g) = (real(&work), real(&granted));
    symlink(w.join("plain"), g.join(".env")).unwrap();
    symlink(g.join("docker"), w.join(".docker")).unwrap();
    // Neither the folders themselves, nor anything outside of both.
    symlink(&g, w.join(".ssh")).unwrap();
    symlink("/etc/passwd", w.join(".netrc")).unwrap();
    let grants = Confinement {
        files: [(g.clone(), Access::Read)].into(),
        granted: [g.clone()].into(),
        ..confinement(&w)
    };
    let denied = |covered: Confinement| {
        let denied = covered.files.into_iter().filter(|(_, access)| *access == Access::Deny);
        denied.map(|(path, _)| path).collect::<BTreeSet<_>>()
    };
    let links = [g.join(".env"), w.join(".ssh"), w.join(".netrc")];
    let targets = [w.join("plain"), g.join("docker/config.json")];
    let all = denied(cover(&grants).unwrap());
    assert_eq!(all, links.iter().chain(&targets).cloned().collect());
    // Around a copy of the folder, its links count too.
    let around = denied(cover_granted(&grants).unwrap());
    assert!(around.contains(&targets[1]) && !around.contains(&links[1]));
    // The control: without the grant nothing of it is code's to see.
    let alone = denied(cover(&confinement(&w)).unwrap());
    assert_eq!(alone, links[1..].iter().cloned().collect());
}

#[test]
fn what_cannot_be_looked_into_is_covered() {
    let root = tree(&[("a/b", "")]);
    let mut deep = root.path().to_owned();
    // Deeper than any path reaches, made step by step as code can.
    let mut at = open(root.path(), FOLDER, Mode::empty()).unwrap();
    let part = "d".repeat(200);
    for _ in 0..30 {
        rustix::fs::mkdirat(&at, part.as_str(), Mode::RWXU).unwrap();
        at = rustix::fs::openat(&at, part.as_str(), FOLDER, Mode::empty()).unwrap();
    }
    deep.push(&part);
    let covered = found(root.path(), &[]);
    assert_eq!(covered.len(), 1);
    assert!(covered[0].len() > LONGEST - 300 && covered[0].len() < 4_000);
    // Removed by steps too, because nothing else reaches it.
    drop(at);
    if !rustix::process::geteuid().is_root() {
        let locked = root.path().join("a");
        fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o000)).unwrap();
        assert!(found(root.path(), &[]).contains(&"a".to_owned()));
        fs::set_permissions(&locked, std::fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn more_than_can_be_covered_is_refused() {
    let root = tree(&[]);
    for number in 0..=MOST_COVERED {
        let folder = root.path().join(number.to_string());
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join(".env"), "").unwrap();
    }
    let refused = find(root.path(), &confinement(root.path()));
    assert!(matches!(refused, Err(ExecError::WorkFolder { .. })), "{refused:?}");
}

#[test]
fn a_place_within_a_denied_folder_is_not_listed_again() {
    let root = tree(&[("a/.ssh/id_rsa", ""), ("b/.env", "")]);
    let folder = fs::canonicalize(root.path()).unwrap();
    let files = [(folder.join("a"), Access::Deny)].into();
    let confinement = Confinement { files, ..confinement(&folder) };
    let covered = cover(&confinement).unwrap();
    let denied: Vec<_> = covered.files.into_keys().collect();
    assert_eq!(denied, [folder.join("a"), folder.join("b/.env")]);
}
