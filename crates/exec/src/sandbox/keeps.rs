//! What each backend keeps of what `SECURITY.md` promises. The table there is compared with this.

use interpreter_core::{Backend, Kept, Promise};

/// How `backend` keeps `promise`.
pub fn keeps(backend: Backend, promise: Promise) -> Kept {
    match backend {
        Backend::Native => Kept::Yes,
        Backend::Bubblewrap => bubblewrap(promise),
        Backend::Firejail => firejail(promise),
        Backend::Landlock => landlock(promise),
        Backend::None => none(promise),
    }
}

fn bubblewrap(promise: Promise) -> Kept {
    match promise {
        Promise::Network => {
            Kept::InPart("sockets and pipes in a work folder that is not staged lead outside")
        }
        Promise::Limits => Kept::InPart(
            "temporary files are bounded by their size and not by their number; watchers of files \
             (inotify) are counted together with yours",
        ),
        Promise::Reading
        | Promise::Writing
        | Promise::Processes
        | Promise::Environment
        | Promise::Privileges
        | Promise::Calls
        | Promise::Terminal
        | Promise::Ending => Kept::Yes,
    }
}

fn firejail(promise: Promise) -> Kept {
    match promise {
        Promise::Network => Kept::InPart(
            "pipes in a work folder that is not staged lead outside; hosts that you allow cannot be \
             reached",
        ),
        Promise::Reading => Kept::InPart(NAMES),
        Promise::Writing => Kept::InPart(MODES),
        Promise::Processes => {
            Kept::InPart("code can end its own sandbox, with everything that is inside")
        }
        Promise::Limits => Kept::InPart(TEMPORARY),
        Promise::Environment
        | Promise::Privileges
        | Promise::Calls
        | Promise::Terminal
        | Promise::Ending => Kept::Yes,
    }
}

fn landlock(promise: Promise) -> Kept {
    match promise {
        Promise::Network => Kept::InPart(
            "pipes in a work folder that is not staged lead outside; interfaces are seen; there is no \
             loopback, and hosts that you allow cannot be reached",
        ),
        Promise::Reading => Kept::InPart(NAMES),
        Promise::Writing => Kept::InPart(MODES),
        Promise::Processes => Kept::InPart(
            "all processes and their command lines are seen; code can end its own sandbox, with \
             everything that is inside; before Landlock 6 (Linux 6.12) yours can be signalled",
        ),
        Promise::Privileges => Kept::InPart(
            "setuid files and the bounding set stay; no program gains anything by them",
        ),
        Promise::Ending => Kept::InPart(
            "a program that forks faster than it is killed may outlive the session by a while",
        ),
        Promise::Limits => Kept::InPart(TEMPORARY),
        Promise::Environment | Promise::Calls | Promise::Terminal => Kept::Yes,
    }
}

fn none(promise: Promise) -> Kept {
    match promise {
        Promise::Network => Kept::No("the whole network is there"),
        Promise::Reading => Kept::No("everything can be read that you can read"),
        Promise::Writing => Kept::No("everything can be changed that you can change"),
        Promise::Processes => Kept::No("all processes are seen, and yours can be signalled"),
        Promise::Environment => {
            Kept::InPart("nothing is inherited, but your other processes show theirs")
        }
        Promise::Privileges => Kept::No("programs that give privileges give them"),
        Promise::Calls => Kept::No("nothing is refused"),
        Promise::Terminal => {
            Kept::InPart("what is shown is filtered, but code can open your terminal by its path")
        }
        Promise::Ending => {
            Kept::InPart("everything is ended that does not kill its keeper or hide from it")
        }
        Promise::Limits => Kept::InPart("time, processor time and output alone"),
    }
}

const NAMES: &str = "names, sizes and times of all files can be learnt, not what is in them";

const MODES: &str = "modes, times and attributes of your other files can be changed, not what is \
                     in them";

const TEMPORARY: &str = "temporary files are bounded one by one; processes are counted together \
                         with yours unless there is a control group, and watchers of files \
                         (inotify) always are";

#[cfg(test)]
mod tests {
    use super::*;

    /// Of those, what holds where there is no sandbox.
    const OURS: &str = "in part: code can change the record and this program";

    /// The table, as `SECURITY.md` has it.
    fn table() -> String {
        let backends = Backend::ALL.map(Backend::word).join(" | ");
        let mut text = format!("| promise | {backends} |\n|---|---|---|---|---|---|\n");
        // Those that no sandbox has a part in.
        let others = [(9, "yes and record"), (12, "tampering")];
        let mut rows: Vec<(u8, String)> = others
            .map(|(number, word)| (number, format!("{word}{} | {OURS}", " | yes".repeat(4))))
            .into();
        rows.extend(Promise::ALL.map(|promise| {
            let cells = Backend::ALL.map(|backend| match keeps(backend, promise) {
                Kept::Yes => "yes".to_owned(),
                Kept::InPart(why) => format!("in part: {why}"),
                Kept::No(why) => format!("no: {why}"),
            });
            (promise.number(), format!("{promise} | {}", cells.join(" | ")))
        }));
        rows.sort();
        text.extend(rows.into_iter().map(|(number, row)| format!("| {number}. {row} |\n")));
        text
    }

    #[test]
    fn the_table_in_security_md_says_what_the_backends_say() {
        let security = include_str!("../../../../SECURITY.md");
        assert!(security.contains(&table()), "SECURITY.md should have:\n{}", table());
    }

    #[test]
    fn the_native_sandbox_keeps_everything() {
        assert!(Promise::ALL.iter().all(|&promise| keeps(Backend::Native, promise) == Kept::Yes));
    }
}
