//! A link from a word of ours to a file of ours.
//!
//! Must not be made for a path that anybody else chose: a terminal opens it at a click.

use std::{fmt::Write, os::unix::ffi::OsStrExt, path::Path};

/// A word that leads to a file. `None` if this machine has no name that can be written in a link.
pub(super) fn to(word: &str, path: &Path) -> Option<String> {
    let machine = rustix::system::uname();
    let machine = machine.nodename().to_str().ok()?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    // Over a network the terminal is on another machine, and must not open a file of its own.
    if !path.is_absolute() || !machine.bytes().all(plain) {
        return None;
    }
    let mut address = format!("file://{machine}");
    for &byte in path.as_os_str().as_bytes() {
        if plain(byte) || byte == b'/' {
            address.push(byte.into());
        } else {
            // Writing to a string cannot fail.
            _ = write!(address, "%{byte:02X}");
        }
    }
    Some(format!("\u{1b}]8;;{address}\u{1b}\\{word}\u{1b}]8;;\u{1b}\\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_can_leave_the_link() {
        let path = Path::new("/home/a b/\u{1b}\\é;x\n/p1-1.png");
        let linked = to("p1-1.png", path).unwrap();
        assert!(linked.ends_with(
            "/home/a%20b/%1B%5C%C3%A9%3Bx%0A/p1-1.png\u{1b}\\p1-1.png\u{1b}]8;;\u{1b}\\"
        ));
        assert_eq!(to("x", Path::new("relative")), None);
    }
}
