//! An address of the web: its host and port, and itself without user and password.

use interpreter_core::egress::{HostRule, authority};

/// An address that packages are fetched from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) rule: HostRule,
    /// Without user and password.
    pub(super) text: String,
    /// Whether it had them.
    pub(super) has_password: bool,
}

/// Reads an address. Kinds before it, such as `sparse+`, do not matter.
pub(super) fn read(text: &str) -> Option<Address> {
    let text = text.trim();
    let (scheme, rest) = text.split_once("://")?;
    let plain = scheme.rsplit('+').next().unwrap_or(scheme).to_ascii_lowercase();
    let usual = match plain.as_str() {
        "https" => 443,
        "http" => 80,
        _ => return None,
    };
    let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (place, path) = rest.split_at(at);
    let has_password = place.contains('@');
    let place = place.rsplit_once('@').map_or(place, |(_, place)| place);
    let (host, port) = authority(place, Some(usual)).ok()?;
    let printable = !path.chars().any(|c| c.is_control() || c.is_whitespace());
    printable.then(|| Address {
        rule: HostRule::exactly(host, port),
        text: format!("{scheme}://{place}{path}"),
        has_password,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_host_and_port_are_taken() {
        let read = |text| read(text).map(|one| (one.rule.to_string(), one.text));
        let pair = |rule: &str, text: &str| Some((rule.to_owned(), text.to_owned()));
        assert_eq!(
            read("https://me:secret@packages.example/simple/"),
            pair("packages.example:443", "https://packages.example/simple/")
        );
        assert_eq!(
            read("https://me:p@ss@packages.example:8443/x"),
            pair("packages.example:8443", "https://packages.example:8443/x")
        );
        assert_eq!(
            read(" sparse+http://index.example/ "),
            pair("index.example:80", "sparse+http://index.example/")
        );
        for text in
            ["", "packages.example", "file:///srv", "cdrom:[x]/", "ftp://h.example/", "https://"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
