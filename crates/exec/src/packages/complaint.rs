//! The complaint of an installer, in a few words.

/// The complaint of an installer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct InstallerComplaint {
    /// The line that says most.
    pub(super) words: String,
    /// Whether the index has nothing that fits.
    pub(super) not_found: bool,
    /// Whether there is something to build.
    pub(super) needs_build: bool,
    /// Whether the index asked who is there.
    pub(super) wants_password: bool,
}

/// Reads what an installer has printed.
pub(super) fn read(said: &str) -> InstallerComplaint {
    let has = |words: &str| said.contains(words);
    let needs_build = has("building from source is disabled")
        || has("has no wheels with a matching")
        || has("has no usable wheels");
    let wants_password = has("401 Error")
        || has("HTTP error 401")
        || has("401 Unauthorized")
        || has("npm error code E401")
        || has("npm ERR! code E401");
    let not_found = !needs_build
        && !wants_password
        && (has("No matching distribution found")
            || has("not found in the package registry")
            || has("npm error code E404")
            || has("npm error code ETARGET")
            || has("npm ERR! code E404")
            || has("npm ERR! code ETARGET"));
    InstallerComplaint { words: telling(said), not_found, needs_build, wants_password }
}

/// The line that says most: the last error, without the signs before it.
fn telling(said: &str) -> String {
    let plain = |line: &str| {
        line.trim_start_matches(['×', '╰', '─', '▶', '├', '│', ' ', '?']).trim().to_owned()
    };
    let errors = ["ERROR: ", "error: ", "npm error ", "npm ERR! ", "  × "];
    let mut lines = said.lines().filter(|line| !line.contains("error code "));
    let found = lines.find_map(|line| {
        let rest = errors.iter().find_map(|start| line.strip_prefix(start))?;
        // Of what pip did not expect, the last line says what it was.
        let is_empty = rest.trim().is_empty() || rest.trim() == "Exception:";
        Some(rest).filter(|rest| !is_empty && !rest.starts_with("code "))
    });
    let last = || said.lines().rev().find(|line| !line.trim().is_empty());
    found.or_else(last).map_or_else(|| "the installer failed without a word".into(), plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_says_most_is_told() {
        let words = |said| read(said).words;
        assert_eq!(words(""), "the installer failed without a word");
        assert_eq!(words("WARNING: x\nERROR: No space left\n  more"), "No space left");
        assert_eq!(words("a\nb\n\n"), "b");
        assert_eq!(words("ERROR: Exception:\nTraceback\n  x\nOSError: y\n"), "OSError: y");
        assert_eq!(
            words("npm error code ENOSPC\nnpm error write failed\nnpm error more"),
            "write failed"
        );
    }

    #[test]
    fn what_is_not_there_is_told_from_what_could_be_built() {
        let pip = "ERROR: Could not find a version that satisfies the requirement x (from \
                   versions: none)\nERROR: No matching distribution found for x\n";
        assert!(read(pip).not_found && !read(pip).needs_build);
        let uv = "  × No solution found\n  ╰─▶ Because x has no wheels with a matching Python ABI";
        assert!(read(uv).needs_build);
        assert!(read("npm error code E404\nnpm error 404 Not Found").not_found);
    }

    #[test]
    fn an_index_that_wants_a_password_lacks_nothing() {
        let pip = "WARNING: 401 Error, Credentials not correct for http://h/simple/x/\nERROR: Could \
                   not find a version that satisfies the requirement x (from versions: none)\n\
                   ERROR: No matching distribution found for x\n";
        for said in [pip, "error: 401 Unauthorized", "npm error code E401\nnpm error Unable to"] {
            assert!(read(said).wants_password && !read(said).not_found, "{said}");
        }
        assert!(!read("ERROR: No matching distribution found for x401").wants_password);
    }
}
