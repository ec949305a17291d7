//! `interpreter serve`: sessions on a web page and for other programs.

use crate::{report::Error, start::serve_with};
use clap::Subcommand;
use interpreter_store::Folders;
use interpreter_web::http::{HttpFront, HttpOptions};
use std::{net::IpAddr, path::PathBuf, process::ExitCode};

mod face;
mod page;
mod provider;
mod sessions;
mod socket;
mod stdio;
mod token;
mod user;
mod wishes;

/// Serve sessions to a browser and to other programs
///
/// Opens a page on which you can start sessions, watch them and answer their questions. Only this
/// computer can reach it, and only with the link that is printed here: it works once, within a
/// minute. Press Enter for a new link. Ctrl-C ends the server and its sessions.
#[derive(Debug, clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ServeArgs {
    #[command(subcommand)]
    command: Option<ServeCommand>,
    /// Port to listen on [default: a free one]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Address to listen on; any but this computer's own needs a certificate or a proxy
    #[arg(long, value_name = "A", default_value = "127.0.0.1")]
    address: IpAddr,
    /// Certificate chain in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Private key of the certificate in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Name under which a proxy in front of this server is reached
    #[arg(long, value_name = "NAME", conflicts_with = "tls_cert")]
    behind_proxy: Option<String>,
    /// Address from which the proxy connects [default: this computer]
    #[arg(long, value_name = "A", requires = "behind_proxy")]
    proxy_address: Option<IpAddr>,
    /// Do not open the browser
    #[arg(long)]
    no_open: bool,
    /// Print the link as one line of JSON
    #[arg(long)]
    json: bool,
    /// Speak the protocol on standard input and output instead
    #[arg(long, conflicts_with_all = ["port", "address", "tls_cert", "behind_proxy", "json", "log"])]
    stdio: bool,
    /// Also listen on this Unix socket, for programs of this user
    #[arg(long, value_name = "PATH", conflicts_with = "stdio")]
    socket: Option<PathBuf>,
    /// Serve several people, who log in by name and password or through a login provider
    ///
    /// `interpreter serve user` adds them, and `login.issuer` in the settings names the provider.
    /// Each has sessions of their own, and shares them with others as they like. The link is for
    /// you, with every right.
    #[arg(long, conflicts_with_all = ["stdio", "socket"])]
    team: bool,
    /// Write one line per request to standard error
    #[arg(long)]
    log: bool,
}

#[derive(Debug, Subcommand)]
enum ServeCommand {
    Token(token::TokenArgs),
    User(user::UserArgs),
}

impl ServeArgs {
    fn options(&self, folders: &Folders) -> HttpOptions {
        let front = match (&self.tls_cert, &self.tls_key, &self.behind_proxy) {
            (Some(certificate), Some(key), _) => {
                HttpFront::Tls { certificate: certificate.clone(), key: key.clone() }
            }
            (_, _, Some(name)) => {
                HttpFront::Proxy { name: name.clone(), address: self.proxy_address }
            }
            (_, _, None) => HttpFront::Direct,
        };
        HttpOptions {
            address: self.address,
            port: self.port,
            front,
            folders: folders.clone(),
            is_logged: self.log,
            provider: None,
        }
    }
}

pub(crate) fn serve(args: &ServeArgs) -> Result<ExitCode, Error> {
    match &args.command {
        Some(ServeCommand::Token(args)) => token::token(args),
        Some(ServeCommand::User(args)) => user::user(args),
        None if args.stdio => serve_with(stdio::serve)?,
        None => serve_with(|steps| page::serve(args, steps))?,
    }
}
