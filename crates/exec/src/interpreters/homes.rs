//! The homes of a machine's accounts.
//!
//! `PATH` may lead into another user's home, as under `sudo`. No home is ever the installation of
//! an interpreter; and an installation in another user's home is searched for secrets before it is
//! shown, because its owner keeps other things there.
//!
//! # Limits
//! Accounts come from `/etc/passwd`. Those of a directory service are known only by where homes
//! usually are.

use std::path::{Path, PathBuf};

/// Folders in which every folder is the home of a user.
const USUAL: [&str; 4] = ["/home", "/var/home", "/export/home", "/Users"];

/// The homes of the machine's accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Homes {
    /// The user of each account, and its home.
    accounts: Vec<(u32, PathBuf)>,
}

impl Homes {
    /// Those of this machine.
    pub(crate) fn look() -> Self {
        Self::of(&fs_err::read_to_string("/etc/passwd").unwrap_or_default())
    }

    pub(super) fn of(accounts: &str) -> Self {
        let account = |line: &str| {
            let mut fields = line.split(':').skip(2);
            let (user, home) = (fields.next()?.parse().ok()?, PathBuf::from(fields.nth(2)?));
            (home.is_absolute() && home.parent().is_some()).then_some((user, home))
        };
        let mut accounts: Vec<_> = accounts.lines().filter_map(account).collect();
        accounts.push((0, "/root".into()));
        Self { accounts }
    }

    /// Whether a folder is a home, holds one, or is where a home keeps everything.
    pub(super) fn are_shown_by(&self, folder: &Path) -> bool {
        let holds = |home: &Path| home.starts_with(folder) || folder == home.join(".local");
        self.accounts.iter().any(|(_, home)| holds(home))
            || USUAL.iter().any(|usual| Path::new(usual).starts_with(folder))
            || Self::usual(folder).is_some_and(holds)
    }

    /// Whether a path is in the home of another user.
    pub(crate) fn are_of_others(&self, user: u32, path: &Path) -> bool {
        let own = |home: &Path| self.accounts.contains(&(user, home.to_owned()));
        let mut known = self.accounts.iter().map(|(_, home)| home.as_path());
        let in_known = known.any(|home| path.starts_with(home) && !own(home));
        let in_own = path.ancestors().any(own);
        in_known && !in_own || Self::usual(path).is_some_and(|_| !in_own)
    }

    /// The home that a path is in by where homes usually are.
    fn usual(path: &Path) -> Option<&Path> {
        path.ancestors()
            .find(|home| USUAL.iter().any(|usual| home.parent() == Some(Path::new(usual))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ACCOUNTS: &str = "root:x:0:0:root:/root:/bin/bash\nann:x:1000:1000:,,:/home/ann:/bin/sh\n\
        svc:x:998:998::/srv/app:/usr/sbin/nologin\nnobody:x:65534:65534::/:/usr/sbin/nologin\nbroken\n";

    #[test]
    fn every_accounts_home_counts_and_so_does_what_holds_one() {
        let homes = Homes::of(ACCOUNTS);
        for folder in [
            "/home/ann",
            "/home",
            "/root",
            "/srv/app",
            "/srv",
            "/home/ann/.local",
            "/home/unlisted",
            "/home/unlisted/.local",
            "/root/.local",
            "/var/home/x",
            "/",
        ] {
            assert!(homes.are_shown_by(Path::new(folder)), "{folder}");
        }
        for folder in
            ["/home/ann/.pyenv/versions/3", "/srv/python", "/data/python", "/home/ann/env"]
        {
            assert!(!homes.are_shown_by(Path::new(folder)), "{folder}");
        }
    }

    #[test]
    fn another_users_home_is_told_from_ones_own() {
        let homes = Homes::of(ACCOUNTS);
        let is_of_others = |user, path: &str| homes.are_of_others(user, Path::new(path));
        assert!(is_of_others(0, "/home/ann/py") && is_of_others(0, "/home/unlisted/py"));
        assert!(is_of_others(1000, "/root/py") && is_of_others(1000, "/srv/app/py"));
        assert!(is_of_others(1001, "/home/ann/py"));
        assert!(!is_of_others(1000, "/home/ann/py") && !is_of_others(0, "/root/py"));
        assert!(!is_of_others(0, "/usr/lib") && !is_of_others(0, "/data/py"));
    }
}
