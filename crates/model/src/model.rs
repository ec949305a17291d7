//! One model, however it is reached.

use crate::{Endpoint, ModelError, Piece, Request, Tools, http::Remote, scripted::Script};
use interpreter_core::{Reply, Untrusted};
use std::path::Path;
use tokio::sync::mpsc::Sender;

/// A model that can be asked.
#[derive(Debug)]
pub struct Model {
    name: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Remote(Box<Remote>),
    Scripted(Script),
}

impl Model {
    /// A model behind an address.
    pub fn remote(endpoint: Endpoint) -> Result<Self, ModelError> {
        let name = format!("{}/{}", endpoint.provider, endpoint.model);
        Ok(Self { name, kind: Kind::Remote(Box::new(Remote::new(endpoint)?)) })
    }

    /// A model that plays the replies in a TOML file, one for each call.
    pub fn scripted(path: &Path) -> Result<Self, ModelError> {
        let file = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let name = format!("scripted:{}", Untrusted::new(file).for_terminal_line(80));
        Ok(Self { name, kind: Kind::Scripted(Script::load(path)?) })
    }

    /// What the record shows, such as `openai/gpt-x` or `scripted:demo.toml`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether this model is to be offered tools: the endpoint's setting, or for a script whether
    /// there is a call in it.
    pub fn tools(&self) -> Tools {
        match &self.kind {
            Kind::Remote(remote) => remote.endpoint().tools,
            Kind::Scripted(script) => script.tools(),
        }
    }

    /// Asks the model and waits for the whole reply. Dropping the future cancels the call and
    /// closes the connection.
    ///
    /// Pieces go to `sink` as they come, so somebody must read it meanwhile; if its other end is
    /// dropped, the reply is awaited all the same. On an error, everything that came before it has
    /// been sent as pieces: they are the only copy of a reply that broke off.
    pub async fn stream(
        &self,
        request: &Request,
        sink: &Sender<Piece>,
    ) -> Result<Reply, ModelError> {
        match &self.kind {
            Kind::Remote(remote) => remote.stream(request, sink).await,
            Kind::Scripted(script) => Ok(script.play(request, sink).await?),
        }
    }
}
