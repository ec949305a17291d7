//! From a name to addresses. Injected, so that tests can say what a name leads to.

use std::{future::Future, io, net::IpAddr, pin::Pin};

/// An answer that comes later.
pub(super) type Answer<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>>;

/// Something that knows the addresses of names.
pub(super) trait Resolve: Send + Sync {
    /// The addresses of a name, the best first.
    fn resolve<'a>(&'a self, name: &'a str) -> Answer<'a>;
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
}
