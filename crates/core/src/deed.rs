//! The closed list of what analysis can find code to do, each with its name and its words.
//!
//! The names are part of the record and of rules; the words are what a person reads when asked.
//! Nothing here looks at code.

use serde::{Deserialize, Serialize};

/// Something that code can be found to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// Reads a file.
    Reads,
    /// Lists a folder.
    Lists,
    /// Makes or changes a file.
    Writes,
    /// Deletes or moves away a file, or throws data away.
    Deletes,
    /// Starts a program.
    Starts,
    /// Ends other programs, or the machine.
    Kills,
    /// Looks into other programs, the screen or the keyboard.
    Watches,
    /// Talks to a host, or lets others connect.
    Connects,
    /// Looks up variables of the environment.
    Environment,
    /// Reads a password, a key or a token.
    Credentials,
    /// Changes who may do what with a file.
    Permissions,
    /// Installs or removes packages.
    Packages,
    /// Arranges that something runs later.
    Persists,
    /// Acts with more rights than the person's own.
    Privileges,
    /// Hides what it does, or covers its tracks.
    Hides,
    /// Loads data that can run code.
    Deserialises,
    /// May never end.
    Endless,
    /// May fill the memory, the disk or the table of processes.
    Floods,
    /// Does what no undo brings back.
    Irreversible,
    /// Cannot be read.
    Unreadable,
}

/// All names, in the order of [`Deed::ALL`].
pub const NAMES: [&str; Deed::ALL.len()] = {
    let mut names = [""; Deed::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Deed::ALL[at].name();
        at += 1;
    }
    names
};

impl Deed {
    /// All of them.
    pub const ALL: [Self; 20] = [
        Self::Reads,
        Self::Lists,
        Self::Writes,
        Self::Deletes,
        Self::Starts,
        Self::Kills,
        Self::Watches,
        Self::Connects,
        Self::Environment,
        Self::Credentials,
        Self::Permissions,
        Self::Packages,
        Self::Persists,
        Self::Privileges,
        Self::Hides,
        Self::Deserialises,
        Self::Endless,
        Self::Floods,
        Self::Irreversible,
        Self::Unreadable,
    ];

    /// The name in the record and in rules.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Lists => "lists",
            Self::Writes => "writes",
            Self::Deletes => "deletes",
            Self::Starts => "starts",
            Self::Kills => "kills",
            Self::Watches => "watches",
            Self::Connects => "connects",
            Self::Environment => "environment",
            Self::Credentials => "credentials",
            Self::Permissions => "permissions",
            Self::Packages => "packages",
            Self::Persists => "persists",
            Self::Privileges => "privileges",
            Self::Hides => "hides",
            Self::Deserialises => "deserialises",
            Self::Endless => "endless",
            Self::Floods => "floods",
            Self::Irreversible => "irreversible",
            Self::Unreadable => "unreadable",
        }
    }

    /// The deed of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|deed| deed.name() == name)
    }

    /// The wider deed that this is a case of: who forbids that forbids this.
    pub const fn wider(self) -> Option<Self> {
        match self {
            Self::Lists | Self::Credentials => Some(Self::Reads),
            Self::Permissions | Self::Persists => Some(Self::Writes),
            Self::Kills | Self::Privileges => Some(Self::Starts),
            Self::Packages => Some(Self::Connects),
            Self::Deserialises => Some(Self::Hides),
            Self::Irreversible => Some(Self::Deletes),
            Self::Reads
            | Self::Writes
            | Self::Deletes
            | Self::Starts
            | Self::Watches
            | Self::Connects
            | Self::Environment
            | Self::Hides
            | Self::Endless
            | Self::Floods
            | Self::Unreadable => None,
        }
    }

    /// It in general words, to stand after "code that".
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Reads => "reads files",
            Self::Lists => "lists folders",
            Self::Writes => "writes files",
            Self::Deletes => "deletes",
            Self::Starts => "starts programs",
            Self::Kills => "ends programs",
            Self::Watches => "watches programs or input",
            Self::Connects => "connects",
            Self::Environment => "reads the environment",
            Self::Credentials => "reads credentials",
            Self::Permissions => "changes permissions",
            Self::Packages => "changes packages",
            Self::Persists => "arranges to run later",
            Self::Privileges => "uses other rights",
            Self::Hides => "hides what it does",
            Self::Deserialises => "loads data that can run code",
            Self::Endless => "may never end",
            Self::Floods => "may use up memory or disk",
            Self::Irreversible => "does what cannot be undone",
            Self::Unreadable => "cannot be analysed",
        }
    }

    /// It in words, done to `object`, which is empty if it is computed, for this `reason`.
    pub fn words(self, object: &str, reason: &str) -> String {
        let done = |known: &str, computed: &str| match object {
            "" => computed.to_owned(),
            object => format!("{known} {object}"),
        };
        let because = |words: &str| match reason {
            "" => done(&format!("{words}:"), words),
            reason => match object {
                "" => format!("{words}: {reason}"),
                object => format!("{words}: {object} ({reason})"),
            },
        };
        match self {
            Self::Reads => done("reads", "reads a file whose name is computed"),
            Self::Lists => done("lists", "lists a folder"),
            Self::Writes => done("writes", "writes a file whose name is computed"),
            Self::Deletes => done("deletes", "deletes something that is computed"),
            Self::Starts => done("starts", "starts a program whose name is computed"),
            Self::Kills => done("ends", "ends other programs"),
            Self::Watches => because("watches"),
            Self::Connects => done("connects to", "connects to a host that is computed"),
            Self::Environment => {
                done("reads the environment variable", "reads all environment variables")
            }
            Self::Credentials => match reason {
                "" => done("reads credentials:", "reads credentials"),
                reason => match object {
                    "" => format!("reads {reason}"),
                    object => format!("reads {reason} ({object})"),
                },
            },
            Self::Permissions => done("changes the permissions of", "changes permissions"),
            Self::Packages => done("installs", "changes what is installed"),
            Self::Persists => because("arranges to run later"),
            Self::Privileges => done("uses other rights:", "uses other rights"),
            Self::Hides => because("hides what it does"),
            Self::Deserialises => {
                done("loads data that can run code:", "loads data that can run code")
            }
            Self::Endless => because("may never end"),
            Self::Floods => because("may use up memory or disk"),
            Self::Irreversible => because("cannot be undone"),
            Self::Unreadable => because("cannot be analysed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart_and_found_again() {
        for (at, deed) in Deed::ALL.into_iter().enumerate() {
            assert_eq!(NAMES[at], deed.name());
            assert_eq!(Deed::named(deed.name()), Some(deed));
            // The name is what serde writes.
            assert_eq!(serde_json::to_value(deed).unwrap(), deed.name());
            assert_eq!(deed.wider().and_then(Deed::wider), None);
        }
        assert_eq!(Deed::named("sings"), None);
    }

    #[test]
    fn words_name_the_object_if_it_is_known() {
        let ssh = Deed::Credentials.words("~/.ssh/id_rsa", "your SSH keys");
        assert_eq!(ssh, "reads your SSH keys (~/.ssh/id_rsa)");
        assert_eq!(Deed::Packages.words("requests", "fetches code"), "installs requests");
        assert_eq!(Deed::Deletes.words("", ""), "deletes something that is computed");
        let later = Deed::Persists.words("~/.bashrc", "runs in every shell");
        assert_eq!(later, "arranges to run later: ~/.bashrc (runs in every shell)");
        assert_eq!(Deed::Hides.words("", ""), "hides what it does");
    }
}
