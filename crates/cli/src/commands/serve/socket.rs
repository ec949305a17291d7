//! `interpreter serve --socket PATH`: the protocol on a Unix socket.

use crate::report::{Error, misuse};
use interpreter_web::socket::ListeningSocket;
use std::path::Path;

/// Listens on a socket for programs of this user.
pub(super) fn listen(path: &Path) -> Result<ListeningSocket, Error> {
    ListeningSocket::bind(path).map_err(|error| misuse(interpreter_agent::chain(&error)))
}
