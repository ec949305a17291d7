//! Refusals of the sandbox, from outside evidence, with the smallest permission that would allow
//! each.
//!
//! Calls come from the kernel's own questions, hosts from the proxy, limits from measurements
//! outside. For a path, the code names the error it got, and the list of visible paths shows
//! whether the sandbox caused it. An unconfirmed path is not reported.
//!
//! Code can cause as many as it likes, and chooses the words in some of them: a list is bounded, and
//! a line is fit for a terminal.

use crate::{Admission, HostContact, Untrusted, effects::about_it};
use serde::{Deserialize, Serialize};

/// The most denials of a run that are listed one by one.
const MOST: usize = 30;

/// Characters of a name that a program chose.
const LONGEST: usize = 300;

/// Something that the sandbox stopped.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// What.
    #[serde(flatten)]
    pub what: Denied,
    /// Why.
    pub why: String,
    /// How often.
    pub count: u64,
    /// The option that allows this and nothing more, as typed, or `None` if nothing allows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
}

/// The object that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Denied {
    /// A system call.
    Call {
        /// Its name.
        call: String,
        /// The program that made it, as it calls itself.
        program: String,
    },
    /// The use of a file or folder.
    Path {
        /// Its path inside.
        path: String,
    },
    /// A connection.
    Host {
        /// The host's name or address.
        host: String,
        /// The port.
        port: u16,
    },
    /// The run, by a limit.
    Limit {
        /// The limit, its value and what raises it.
        limit: String,
    },
    /// Further ones, which are not told one by one.
    More {},
}

impl Denial {
    /// A refused system call.
    pub fn call(call: &str, program: &str, why: &str) -> Self {
        let program = program.chars().take(LONGEST).collect();
        Self::once(Denied::Call { call: call.into(), program }, why, None)
    }

    /// A path that cannot be seen.
    pub fn hidden(path: &str, why: &str) -> Self {
        Self::path(path, why, "--allow-read")
    }

    /// A path that cannot be changed.
    pub fn unchangeable(path: &str, why: &str) -> Self {
        Self::path(path, why, "--allow-write")
    }

    fn path(path: &str, why: &str, option: &str) -> Self {
        let grant = typed(path).map(|path| format!("{option} {path}"));
        Self::once(Denied::Path { path: path.into() }, why, grant)
    }

    fn once(what: Denied, why: &str, grant: Option<String>) -> Self {
        Self { what, why: why.into(), count: 1, grant }
    }

    /// The same, but that nothing allows it.
    #[must_use]
    pub fn for_good(self) -> Self {
        Self { grant: None, ..self }
    }

    /// The same, but that another option allows it.
    #[must_use]
    pub fn granted_by(self, option: &str) -> Self {
        Self { grant: Some(option.into()), ..self }
    }

    /// Everything that a run was denied: `noted`, and what the proxy and the limits stopped.
    pub fn all(noted: Denials, network: &[HostContact], limit: Option<String>) -> Vec<Self> {
        let mut all = noted.list();
        let refused = network.iter().filter(|contact| contact.verdict == Admission::Refused);
        all.extend(refused.map(Self::of_host));
        let words = "the run used all of it";
        all.extend(limit.map(|limit| Self::once(Denied::Limit { limit }, words, None)));
        all
    }

    fn of_host(contact: &HostContact) -> Self {
        let why = contact.why.clone().unwrap_or_default();
        // The proxy's words name the option, in backticks.
        let mut parts = why.split('`');
        let grant = parts.find(|part| part.starts_with("--allow-host ")).map(str::to_owned);
        let what = Denied::Host { host: contact.host.clone(), port: contact.port };
        Self { what, count: contact.count, why, grant }
    }

    /// Whether the network list or the end of the run reports it already.
    pub fn is_told_elsewhere(&self) -> bool {
        match self.what {
            Denied::Host { .. } | Denied::Limit { .. } => true,
            Denied::Call { .. } | Denied::Path { .. } | Denied::More {} => false,
        }
    }

    /// It as a line for a terminal.
    pub fn line(&self) -> String {
        let shown = |text: &str| Untrusted::new(text).for_terminal_line(LONGEST);
        let what = match &self.what {
            Denied::Call { call, program } => {
                format!("refused the system call {} of `{}`", shown(call), shown(program))
            }
            Denied::Path { path } => format!("refused {}", shown(path)),
            Denied::Host { host, port } => format!("refused {}:{port}", shown(host)),
            Denied::Limit { limit } => format!("reached the limit on {}", shown(limit)),
            Denied::More {} => "refused others that are not listed".into(),
        };
        let times = if self.count > 1 { format!(" ({} times)", self.count) } else { String::new() };
        let why = match &self.what {
            Denied::Host { host, port } => shown(&about_it(host, *port, &self.why)),
            Denied::Call { .. } | Denied::Path { .. } | Denied::Limit { .. } | Denied::More {} => {
                shown(&self.why)
            }
        };
        let grant = match (&self.grant, &self.what) {
            (Some(grant), _) if self.why.contains(grant.as_str()) => String::new(),
            (Some(grant), _) => format!("; `{}` allows it", shown(grant)),
            (None, Denied::Call { .. } | Denied::Path { .. }) => "; nothing allows it".into(),
            (None, Denied::Host { .. } | Denied::Limit { .. } | Denied::More {}) => String::new(),
        };
        format!("{what}{times}: {why}{grant}")
    }
}

/// Denials as they happen, each once, with how often; bounded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Denials {
    noted: Vec<Denial>,
    more: u64,
}

impl Denials {
    /// Notes one.
    pub fn note(&mut self, denial: Denial) {
        if let Some(same) = self.noted.iter_mut().find(|one| one.what == denial.what) {
            same.count += denial.count;
        } else if self.noted.len() < MOST {
            self.noted.push(denial);
        } else {
            self.more += denial.count;
        }
    }

    /// Whether there is room for one that was not noted before.
    pub fn has_room(&self) -> bool {
        self.noted.len() < MOST
    }

    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        self.noted.is_empty()
    }

    /// All of them.
    pub fn list(self) -> Vec<Denial> {
        let Self { mut noted, more } = self;
        if more > 0 {
            let why = "the list has a limit".into();
            noted.push(Denial { what: Denied::More {}, why, count: more, grant: None });
        }
        noted
    }
}

/// A path as typed in a shell, or `None` if it contains characters that nobody types.
fn typed(path: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@:,%".contains(c);
    if path.starts_with('/') && path.chars().all(plain) {
        return Some(path.into());
    }
    let shown = Untrusted::new(path).for_terminal_line(LONGEST);
    (shown == path && path.starts_with('/') && !path.contains(['\'', '`']))
        .then(|| format!("'{path}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_why_how_often_and_what_allows_it() {
        let call = Denial { count: 3, ..Denial::call("mount", "python3", "changes what is seen") };
        assert_eq!(
            call.line(),
            "refused the system call mount of `python3` (3 times): changes what is seen; nothing \
             allows it"
        );
        let hidden = Denial::hidden("/home/u/notes.txt", "it is not shown");
        assert_eq!(
            hidden.line(),
            "refused /home/u/notes.txt: it is not shown; `--allow-read /home/u/notes.txt` allows it"
        );
        let spaced = Denial::unchangeable("/srv/a b", "it is read-only");
        assert_eq!(spaced.grant.as_deref(), Some("--allow-write '/srv/a b'"));
        assert!(spaced.clone().for_good().line().ends_with("; nothing allows it"));
    }

    #[test]
    fn what_a_program_chose_comes_out_harmless_and_is_no_command() {
        for path in ["/x\u{1b}[2J", "/x' ; rm -rf ~ '", "/x`id`", "relative", "/x\ny", "/$'x'"] {
            let denial = Denial::hidden(path, "it is not shown");
            assert_eq!(denial.grant, None, "{path}");
            assert!(!denial.line().contains(['\u{1b}', '\n']), "{path}");
        }
        let named = Denial::call("mount", &"\u{1b}]0;x\u{7}".repeat(100), "no");
        assert!(named.line().len() < 1_000 && !named.line().contains('\u{1b}'));
        // A shell takes nothing in single quotes as anything but itself.
        assert_eq!(typed("/a $(id)").as_deref(), Some("'/a $(id)'"));
    }

    #[test]
    fn a_flood_is_counted_and_not_kept() {
        let mut denials = Denials::default();
        for number in 0..10_000 {
            denials.note(Denial::call("mount", &format!("p{number}"), "no"));
            denials.note(Denial::call("bpf", "x", "no"));
        }
        let list = denials.list();
        assert_eq!(list.len(), MOST + 1);
        assert_eq!(list.iter().map(|one| one.count).sum::<u64>(), 20_000);
        assert!(list.iter().any(|one| one.count == 10_000));
    }

    #[test]
    fn hosts_and_limits_are_in_the_same_list() {
        let contact = |verdict, why: &str| HostContact {
            host: "a.org".into(),
            port: 443,
            verdict,
            why: Some(why.into()),
            count: 2,
            sent: 0,
            received: 0,
        };
        let network = [
            contact(Admission::Allowed, "it did not answer"),
            contact(Admission::Refused, "it is not allowed here; `--allow-host a.org` allows it"),
        ];
        let all = Denial::all(Denials::default(), &network, Some("time (5 s)".into()));
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].grant.as_deref(), Some("--allow-host a.org"));
        assert_eq!(all[0].line(), network[1].line());
        assert!(all.iter().all(Denial::is_told_elsewhere));
        let json = serde_json::to_value(&all).unwrap();
        assert_eq!(json[0]["what"], "host");
        assert_eq!(json[1]["limit"], "time (5 s)");
        assert_eq!(serde_json::from_value::<Vec<Denial>>(json).unwrap(), all);
    }
}
