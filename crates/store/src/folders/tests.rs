//! Tests of the folders: where they are, and who has which.

use super::*;

#[test]
fn a_person_of_a_team_has_folders_of_their_own_and_code_sees_nobodys() {
    let pairs = [("INTERPRETER_HOME", "/srv/i")];
    let server = Folders::find(&Environment::from_pairs(pairs)).unwrap();
    let one = "0a".repeat(16);
    let own = Folders::find(&Environment::from_pairs(pairs).of_person(&one)).unwrap();
    assert_eq!(own.data, server.data.join("people").join(&one));
    assert!(own.state.starts_with(&server.state) && own.state != server.state);
    assert!(own.beside.starts_with(&server.beside) && own.beside != server.beside);
    // Settings, models and secrets are the server's, and every sandbox covers all of it.
    assert_eq!(own.config, server.config);
    assert_eq!(own.models_folder(), server.models_folder());
    let all = |folders: &Folders| folders.all().map(Path::to_owned).collect::<Vec<_>>();
    assert_eq!(all(&own), all(&server));
    assert_eq!(all(&own.resolved()), all(&server.resolved()));
    for wrong in ["", "..", "../x", &"0A".repeat(16), &"0a".repeat(17), "/etc"] {
        let environment = Environment::from_pairs(pairs).of_person(wrong);
        assert!(Folders::find(&environment).is_err(), "{wrong}");
    }
}

#[test]
fn changes_of_a_home_are_staged_beside_it() {
    let home = tempfile::tempdir().unwrap();
    let folders = Folders::under(&home.path().join("interpreter"));
    let home = home.path().canonicalize().unwrap();
    let inside = folders.make_changes_folder_for(&home).unwrap();
    assert!(!inside.starts_with(&home));
    let outside = folders.make_changes_folder_for(&home.join("project")).unwrap();
    assert_eq!(outside, folders.changes_folder());
}

#[test]
fn packages_have_a_folder_for_each_work_folder() {
    let home = tempfile::tempdir().unwrap();
    let folders = Folders::under(&home.path().join("interpreter"));
    let one = folders.make_packages_folder_for(Path::new("/a")).unwrap();
    let other = folders.packages_folder_for(Path::new("/b"));
    assert!(one.is_dir() && !other.exists() && one.starts_with(&folders.data));
    let named = one.with_file_name("folder");
    assert_eq!(fs_err::read_to_string(named).unwrap(), "/a");
    // In a home it would be shown twice.
    assert!(!folders.packages_folder_for(home.path()).starts_with(home.path()));
}

#[test]
fn whoever_makes_the_folder_for_packages_at_the_same_time_gets_the_same() {
    for _ in 0..40 {
        let home = tempfile::tempdir().unwrap();
        let folders = Folders::under(&home.path().join("interpreter"));
        let start = std::sync::Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    start.wait();
                    folders.make_packages_folder_for(Path::new("/a")).unwrap();
                });
            }
        });
    }
}

#[test]
fn those_that_code_could_make_itself_are_made_before() {
    let home = tempfile::tempdir().unwrap();
    let folders = Folders::under(&home.path().join("interpreter"));
    folders.make_all_in(&home.path().join("project")).unwrap();
    assert!(!home.path().join("interpreter").exists());
    folders.make_all_in(home.path()).unwrap();
    let in_home = folders.all().filter(|path| path.starts_with(home.path()));
    assert_eq!(in_home.map(|path| assert!(path.is_dir(), "{path:?}")).count(), 4);
    assert!(folders.all().any(|path| path.starts_with("/var/tmp")));
}

fn found(pairs: &[(&str, &str)]) -> Result<Folders, StoreError> {
    Folders::find(&Environment::from_pairs(pairs.iter().copied()))
}

#[test]
fn home_is_enough() {
    let folders = found(&[("HOME", "/home/u")]).unwrap();
    assert_eq!(folders.config_file(), Path::new("/home/u/.config/interpreter/config.toml"));
    assert_eq!(folders.record_file(), Path::new("/home/u/.local/share/interpreter/record.db"));
    assert_eq!(folders.changes_folder(), Path::new("/home/u/.local/share/interpreter/changes"));
    assert_eq!(folders.history_file(), Path::new("/home/u/.local/state/interpreter/history.txt"));
    assert_eq!(folders.cache, Path::new("/home/u/.cache/interpreter"));
}

#[test]
fn xdg_variables_count_if_they_are_absolute() {
    let folders = found(&[
        ("HOME", "/home/u"),
        ("XDG_CONFIG_HOME", "/etc/mine"),
        ("XDG_DATA_HOME", "relative"),
        ("XDG_STATE_HOME", ""),
    ])
    .unwrap();
    assert_eq!(folders.config, Path::new("/etc/mine/interpreter"));
    assert_eq!(folders.data, Path::new("/home/u/.local/share/interpreter"));
    assert_eq!(folders.state, Path::new("/home/u/.local/state/interpreter"));
}

#[test]
fn one_variable_puts_everything_in_one_place() {
    let folders = found(&[("INTERPRETER_HOME", "/srv/i"), ("HOME", "/h"), ("XDG_DATA_HOME", "/d")]);
    assert_eq!(folders.unwrap(), Folders::under(Path::new("/srv/i")));
}

#[test]
fn without_a_home_there_are_no_folders() {
    let message = found(&[]).unwrap_err().to_string();
    assert!(message.contains("`HOME`"), "{message}");
    let all = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"];
    assert!(found(&all.map(|name| (name, "/x"))).is_ok());
}

#[test]
fn a_relative_home_is_refused() {
    let message = found(&[("INTERPRETER_HOME", "here")]).unwrap_err().to_string();
    assert_eq!(message, "`INTERPRETER_HOME` must be an absolute path, but is `here`");
    assert!(found(&[("HOME", "here")]).is_err());
}

#[test]
fn finding_makes_nothing_and_making_makes_what_is_asked() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("root");
    let folders = Folders::under(&root);
    assert!(!root.exists());
    assert!(folders.make_changes_folder().unwrap().is_dir());
    assert!(folders.make_models_folder().unwrap().is_dir());
    assert!(folders.make_history_file().unwrap().is_file());
    assert!(!folders.config.exists() && !folders.cache.exists());
    assert!(folders.make_cache_folder().unwrap().is_dir());
    assert!(folders.make_config_folder().unwrap().is_dir());
}
