//! The plan as a list that can be read, for both kinds of user.

use super::*;
use crate::egress::Doorway;
use crate::sandbox::{cgroup::Groups, counting::Counting, folder::Layout, machine::Patience};
use interpreter_core::{Limits, Network, Sandboxing};

fn confinement() -> Confinement {
    Confinement {
        work_folder: "/home/u/project".into(),
        workspace: Workspace::Stage,
        files: [
            ("/home/u/.pyenv/versions/3.11.7".into(), Reach::Read),
            ("/home/u/project/.env".into(), Reach::Deny),
        ]
        .into(),
        granted: [].into(),
        shown: [].into(),
        network: Network::None,
        secrets: vec![],
        limits: Limits::default(),
        sandbox: Sandboxing::default(),
        environment: [("PATH".to_owned(), "/usr/bin".to_owned())].into(),
    }
}

fn machine(rights: Rights) -> Machine {
    Machine {
        program: "/home/u/.cargo/bin/interpreter".into(),
        home: None,
        user: 1000,
        group: 1000,
        own_user: None,
        rights,
        system: vec![
            SystemPath::Folder("/usr".into()),
            SystemPath::Link("/bin".into(), "usr/bin".into()),
            SystemPath::Folder("/etc".into()),
        ],
        mounted: vec![],
        landlock: Some(7),
        groups: Groups::default(),
        scratch: "/home/u/.local/share/interpreter/sandboxes".into(),
        inotify: Inotify { instances: 128, watches: 65_536 },
        patience: Patience::default(),
    }
}

#[test]
fn roots_code_becomes_the_user_that_it_was_given_and_no_other() {
    let root = Machine { user: 0, ..machine(Rights::Root) };
    let given = Machine { own_user: Some(200_001), ..root.clone() };
    let confinement = confinement();
    let becomes = |machine: &Machine| {
        let recipes = [&RECIPE, &super::super::landlock::RECIPE, &super::super::bare::RECIPE];
        recipes.map(|recipe| {
            let layout = &Layout::of("/run-folder");
            let confinement = &confinement;
            let (stage, copy, door) = (None, None, None);
            let (name, counting) = ("one", Counting::WithUser);
            let site =
                Site { recipe, confinement, stage, copy, door, layout, machine, name, counting };
            let Plan(steps) = (recipe.plan)(&site).unwrap();
            let users = steps.iter().filter_map(|step| {
                let Step::BecomeUser { user, group } = step else { return None };
                (user == group).then_some(*user)
            });
            users.collect::<Vec<_>>()
        })
    };
    assert_eq!(becomes(&given), [vec![200_001], vec![200_001], vec![200_001]]);
    let shared = interpreter_core::system_users::SHARED_USER;
    // Without a sandbox root's own code stays root.
    assert_eq!(becomes(&root), [vec![shared], vec![shared], vec![]]);
    // It is no way for others to become somebody.
    let ordinary = Machine { own_user: Some(200_001), ..machine(Rights::Ordinary) };
    assert_eq!(becomes(&ordinary), [const { Vec::<u32>::new() }; 3]);
}

const DOOR_OUTSIDE: &str = "/home/u/.local/share/interpreter/egress/0123abcd";

const SET_FOLDER: &str = "/home/u/.local/share/interpreter/changes/abcd1234";

fn planned(confinement: &Confinement, rights: Rights) -> Result<Plan, ExecError> {
    plan(&Site {
        recipe: &RECIPE,
        confinement,
        stage: Some(Path::new(SET_FOLDER)),
        copy: None,
        door: Some(Doorway {
            socket: Path::new(DOOR_OUTSIDE),
            trusted: Some(Path::new("/home/u/.local/share/interpreter/trust/1-a.pem")),
        }),
        layout: &Layout::of("/nowhere"),
        machine: &machine(rights),
        name: "one",
        counting: Counting::WithUser,
    })
}

#[test]
fn the_plan_for_an_ordinary_user() {
    let plan = planned(&confinement(), Rights::Ordinary).unwrap();
    insta::assert_snapshot!(plan);
}

#[test]
fn the_plan_for_root() {
    let plan = planned(&confinement(), Rights::Root).unwrap();
    insta::assert_snapshot!(plan);
}

#[test]
fn root_in_name_only_is_refused() {
    let error = planned(&confinement(), Rights::RootInName).unwrap_err();
    assert!(error.to_string().contains("without the right to become another user"));
}

#[test]
fn folders_of_the_system_are_refused() {
    for folder in ["/", "/usr", "/etc", "/proc", "/dev/shm", "/sys/kernel", "relative"] {
        let confinement = Confinement { work_folder: folder.into(), ..confinement() };
        let refused = planned(&confinement, Rights::Ordinary);
        assert!(matches!(refused, Err(ExecError::WorkFolder { .. })), "{folder}");
    }
}

#[test]
fn rights_are_given_up_in_the_right_order() {
    for rights in [Rights::Ordinary, Rights::Root] {
        let steps = planned(&confinement(), rights).unwrap().0;
        let at = |wanted: fn(&Step) -> bool| steps.iter().position(wanted).unwrap();
        let mounted = at(|step| matches!(step, Step::LeaveOldRoot));
        let dropped = at(|step| matches!(step, Step::DropCapabilities));
        let sealed = at(|step| matches!(step, Step::NoNewPrivileges));
        let filtered = at(|step| matches!(step, Step::Filter { .. }));
        let executed = at(|step| matches!(step, Step::Execute { .. }));
        assert!(mounted < dropped && dropped < sealed && sealed < filtered);
        let fenced = at(|step| matches!(step, Step::Landlock { .. }));
        let verified = at(|step| matches!(step, Step::Verify));
        assert!(sealed < fenced && fenced < filtered);
        assert_eq!((filtered + 1, verified + 1), (verified, executed));
        assert_eq!(executed + 1, steps.len());
    }
}

/// The resulting access to a path after these steps, as far as they concern listed paths.
fn after(steps: &[Step], asked: &Path) -> Option<Reach> {
    steps.iter().rev().find_map(|step| {
        let (at, reach) = if let Step::Bind { to, access, .. } = step {
            (to, if *access == BindAccess::Write { Reach::Write } else { Reach::Read })
        } else if let Step::Mask { at } | Step::Temporary { at, .. } = step {
            (at, Reach::Deny)
        } else if let Step::Show { to, .. } = step {
            (to, Reach::Read)
        } else {
            return None;
        };
        asked.starts_with(at).then_some(reach)
    })
}

proptest::proptest! {
    /// The mounts come to what the confinement says, whatever is listed in whatever.
    #[test]
    fn the_narrower_path_wins(
        entries in proptest::collection::vec(("(/[abc]){1,4}", 0_usize..3), 0..8), asked in "(/[abc]){1,5}",
    ) {
        let mut confinement = Confinement { files: [].into(), ..confinement() };
        for (path, reach) in entries {
            let reach = [Reach::Read, Reach::Write, Reach::Deny][reach];
            confinement.add(Path::new("/home/u").join(&path[1..]), reach);
        }
        let asked = Path::new("/home/u").join(&asked[1..]);
        let mut steps: Vec<_> = reachable(&confinement, Owner::AsOutside).collect();
        steps.extend(masks(&confinement, Owner::AsOutside));
        proptest::prop_assert_eq!(after(&steps, &asked), confinement.access(&asked));
    }
}
