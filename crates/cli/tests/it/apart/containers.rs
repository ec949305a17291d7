//! In containers too. Root's engine starts them, and the code in each is its person's system user: if
//! a container were no fence at all, that user still would be.

use super::{ALL, CONFIG, Desk, SHARED, attacks, is_not_tried, mark, people_folders, user_of};
use crate::{
    backends::{DOCKER, PODMAN},
    engines::{IMAGE, people},
    people::{Member, team},
    scene::Scene,
};
use std::{
    collections::BTreeSet,
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The process that has this mark, as the machine numbers it.
fn process_of(mark: &str) -> String {
    let found = Command::new("pgrep").args(["-f", &format!("^perl .*{mark}$")]).output().unwrap();
    String::from_utf8_lossy(&found.stdout).trim().to_owned()
}

/// Runs code outside of any sandbox as this user, and returns its output.
fn outside(user: u32, code: &str) -> String {
    let mut bash = Command::new("/bin/bash");
    bash.args(["-c", code]).uid(user).gid(user).current_dir("/").env_clear();
    let output = bash.env("PATH", "/usr/bin:/bin").stderr(Stdio::null()).output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Everything below a folder that belongs to somebody else than root.
fn others_in(folder: &Path, found: &mut BTreeSet<u32>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let data = entry.path().symlink_metadata().unwrap();
        found.insert(data.uid());
        if data.is_dir() {
            others_in(&entry.path(), found);
        }
    }
}

#[test]
fn code_in_containers_of_roots_engine_is_a_user_of_its_persons_own() {
    if is_not_tried() {
        return;
    }
    for (at, engine) in (0..).zip([DOCKER, PODMAN]) {
        if people(engine).is_empty() {
            continue;
        }
        let config = format!(
            "[sandbox]\nbackend = \"{engine}\"\nimage = \"{IMAGE}\"\n\
             allow_missing = [\"network\", \"limits\"]\n"
        );
        let scene = Scene::new().home_file(CONFIG, &config).file("shared.txt", "everybody's\n");
        let serving = team(&scene, &[("anna", "approver"), ("ben", "approver")]);
        let [anna, ben] = ["anna", "ben"].map(|name| Member::new(&serving, name));
        let operator = Member { serving: &serving, login: serving.log_in() };
        let mut desks = [&anna, &ben, &operator].map(Desk::new);
        let marks = [0, 1, 2].map(|number| mark(40 + 10 * at + number));
        let users: Vec<_> = (desks.iter_mut().zip(&marks))
            .map(|(desk, mark)| {
                let (_, folder) = desk.leave(mark);
                assert_eq!(folder, PathBuf::from("/tmp"), "{engine}");
                let user = user_of(mark);
                // It is the same inside and outside, and what it writes is its own.
                let code = "cat shared.txt; echo own > own.txt; id -u; stat -c %u own.txt";
                assert_eq!(desk.run(code), format!("everybody's\n{user}\n{user}\n"), "{engine}");
                user
            })
            .collect();
        let [of_anna, of_ben, own] = users[..] else { panic!("{users:?}") };
        assert_eq!(BTreeSet::from([of_anna, of_ben, own, 0]).len(), 4, "{engine} {users:?}");
        assert_eq!(own, SHARED);

        // From inside there is nobody else, and no engine to be told anything.
        let engine_sockets = "ls /run/docker.sock /var/run/docker.sock /run/podman 2>/dev/null; \
                              grep -al 'apart[-]' /proc/[0-9]*/cmdline | wc -l";
        assert_eq!(desks[1].run(engine_sockets), "1\n", "{engine}");
        let others = "for at in /proc/[0-9]*; do stat -c %u $at; done | sort -u";
        assert_eq!(desks[1].run(others), format!("{of_ben}\n"), "{engine}");

        // Without the container: her process, and her files by way of it.
        let process = process_of(&marks[0]);
        let folder = PathBuf::from(format!("/proc/{process}/root/tmp"));
        assert_eq!(outside(of_ben, &attacks(&process, &folder)), "", "{engine}");
        let yama = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
        let is_strict = !matches!(yama.unwrap_or_default().trim(), "" | "0");
        // The control: she herself gets through.
        let all = if is_strict { ALL.replace("memory\n", "") } else { ALL.to_owned() };
        assert_eq!(outside(of_anna, &attacks(&process, &folder)), all, "{engine}");

        // Staged files are each person's own, in folders that only root may enter.
        let mut owners = BTreeSet::new();
        for folder in people_folders(&scene) {
            assert_eq!(std::fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
            let mut of = BTreeSet::new();
            others_in(&folder, &mut of);
            of.remove(&0);
            assert_eq!(of.len(), 1, "{engine}: {of:?}");
            owners.extend(of);
            let list = format!("ls {} && echo seen", folder.display());
            assert_eq!(outside(of_ben, &list), "", "{engine}");
        }
        assert_eq!(owners, BTreeSet::from([of_anna, of_ben]), "{engine}");
        assert!(serving.stop().success());
        // Nothing of theirs goes on.
        assert!(marks.iter().all(|mark| process_of(mark).is_empty()), "{engine}");
    }
}
