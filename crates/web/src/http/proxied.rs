//! The address of a client behind a proxy.
//!
//! A client can write any header, so only the last address is read, which the proxy itself has
//! added, and only if the proxy is the peer. It is used for limits and the log, and opens nothing.

use super::options::ProxyPeer;
use hyper::{HeaderMap, header::HeaderName};
use std::net::IpAddr;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The client: the peer, or whom the proxy names.
pub(super) fn client_address(
    proxy: Option<ProxyPeer>,
    peer: IpAddr,
    headers: &HeaderMap,
) -> IpAddr {
    let believed = proxy.is_some_and(|proxy| proxy.is(peer));
    let last = headers.get_all(X_FORWARDED_FOR).iter().next_back().filter(|_| believed);
    let last = last.and_then(|line| line.to_str().ok()?.rsplit(',').next()?.trim().parse().ok());
    last.unwrap_or(peer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_word_of_the_proxy_counts() {
        let of = |text: &str| text.parse::<IpAddr>().unwrap();
        let client = |proxy, peer: &str, lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(X_FORWARDED_FOR, line.parse().unwrap());
            }
            client_address(proxy, of(peer), &headers)
        };
        let proxy = Some(ProxyPeer::ThisComputer);
        assert_eq!(
            client(proxy, "127.0.0.1", &["192.0.2.9", "1.1.1.1, 192.0.2.1"]),
            of("192.0.2.1")
        );
        assert_eq!(client(proxy, "127.0.0.1", &["2001:db8::1"]), of("2001:db8::1"));
        for nonsense in ["", "unknown", "192.0.2.1,", "_hidden", "192.0.2.1:80"] {
            assert_eq!(client(proxy, "127.0.0.1", &[nonsense]), of("127.0.0.1"), "{nonsense}");
        }
        assert_eq!(client(None, "127.0.0.1", &["192.0.2.1"]), of("127.0.0.1"));
        assert_eq!(client(proxy, "192.0.2.7", &["192.0.2.1"]), of("192.0.2.7"));
    }
}
