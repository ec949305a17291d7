//! From a name to addresses. Injected, so that tests can say what a name leads to.

use std::{
    future::Future,
    io::{self, BufRead, Read},
    net::{IpAddr, Ipv4Addr},
    pin::Pin,
};

/// Bytes of the machine's own list of hosts that are read.
const LONGEST_LIST: u64 = 16 << 20;

/// An answer that comes later.
pub(super) type Answer<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Something that knows the addresses of names.
pub(super) trait Resolve: Send + Sync {
    /// The addresses of a name, the best first.
    fn resolve<'a>(&'a self, name: &'a str) -> Answer<'a>;

    /// The addresses that this machine itself gives a name, without asking anybody.
    fn known<'a>(&'a self, name: &'a str) -> Answer<'a>;
}

/// The system's own resolver.
#[derive(Clone, Copy, Debug)]
pub(super) struct System;

impl Resolve for System {
    fn resolve<'a>(&'a self, name: &'a str) -> Answer<'a> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip().to_canonical()).collect())
        })
    }

    fn known<'a>(&'a self, name: &'a str) -> Answer<'a> {
        let name = name.to_owned();
        Box::pin(async move {
            let machine = rustix::system::uname();
            let machine = machine.nodename().to_string_lossy();
            if is_own(&name, &machine) {
                return Ok(vec![Ipv4Addr::LOCALHOST.into()]);
            }
            let looked = tokio::task::spawn_blocking(move || {
                let list = fs_err::File::open("/etc/hosts")?;
                Ok(listed(io::BufReader::new(list.take(LONGEST_LIST)), &name))
            });
            looked.await?
        })
    }
}

/// Whether a name is this machine's own.
fn is_own(name: &str, machine: &str) -> bool {
    let own = name == "localhost" || name.ends_with(".localhost");
    own || (!machine.is_empty() && name.eq_ignore_ascii_case(machine))
}

/// The addresses of a name in a hosts file.
fn listed(list: impl BufRead, name: &str) -> Vec<IpAddr> {
    let of_line = |line: String| {
        let mut words = line.split('#').next()?.split_whitespace();
        let address: IpAddr = words.next()?.parse().ok()?;
        words.any(|word| word.eq_ignore_ascii_case(name)).then(|| address.to_canonical())
    };
    list.lines().map_while(Result::ok).filter_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_knows_its_own_names_and_its_list() {
        assert!(is_own("localhost", "") && is_own("a.localhost", "") && is_own("Box", "box"));
        assert!(!is_own("notlocalhost", "box") && !is_own("", ""));
        let list = "# 9.9.9.9 other\n10.0.0.1 intranet Intra.Example # here\nx y\n::1 six\n";
        let found = |name: &str| listed(list.as_bytes(), name);
        assert_eq!(found("intra.example"), ["10.0.0.1".parse::<IpAddr>().unwrap()]);
        assert_eq!(found("six"), ["::1".parse::<IpAddr>().unwrap()]);
        assert!(found("other").is_empty() && found("here").is_empty() && found("y").is_empty());
    }
}
