//! A connection that has become a WebSocket, and what is spoken on it.
//!
//! It ends with the login or token that opened it, and with the server.

use super::{
    connection::Shared,
    jupyter::{ConnectedKernel, serve_channels},
    logins::Known,
    web_socket::{SocketForm, SocketLines},
};
use crate::Service;
use hyper::upgrade::OnUpgrade;
use tokio::sync::watch;

/// A WebSocket that begins when its handshake is answered.
pub(super) struct Beginning {
    pub(super) connection: OnUpgrade,
    pub(super) known: Known,
    pub(super) speech: Speech,
}

/// The language of a WebSocket.
pub(super) enum Speech {
    Protocol,
    /// The messages of this kernel.
    Kernel(ConnectedKernel),
}

impl Beginning {
    /// Serves it until it ends.
    pub(super) async fn serve<S: Service>(
        self,
        shared: &Shared<S>,
        stopped: &mut watch::Receiver<()>,
    ) {
        let Self { connection, mut known, speech } = self;
        let Ok(connection) = connection.await else { return };
        let form = match &speech {
            Speech::Protocol => SocketForm::Lines,
            Speech::Kernel(_) => SocketForm::Messages,
        };
        let lines = SocketLines::new(connection, known.clone(), form).await;
        let caller = known.caller.clone();
        let service = &shared.service;
        let serving = async {
            match speech {
                Speech::Protocol => service.serve(caller, lines).await,
                Speech::Kernel(kernel) => {
                    serve_channels(service, caller, kernel, &shared.origin, lines).await;
                }
            }
        };
        tokio::select! {
            biased;
            () = known.ended() => {}
            _ = stopped.changed() => {}
            () = serving => {}
        }
    }
}
