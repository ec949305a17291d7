//! The page and the API of `interpreter serve`, and the optional Unix socket.
//!
//! The first signal ends every session in order, so that clients still see their last records, and
//! then the server; the second one ends everything at once.

use super::{
    ServeArgs,
    face::Face,
    provider::provider,
    sessions::{hub, team},
    socket::listen,
    wishes::Wishes,
};
use crate::{
    exit::Exit,
    report::Error,
    start::context,
    terminal::{screen::Screen, signals::Signals},
};
use interpreter_store::{Environment, Overrides};
use interpreter_web::{
    Service, SessionHub,
    http::{HttpOptions, HttpServer, ServerNotice},
    socket::ListeningSocket,
};
use std::{process::ExitCode, sync::Arc};
use tokio::{runtime::Handle, sync::Notify};

/// The end of a wait.
enum Happened {
    Ended,
    Asked,
    Notice(ServerNotice),
    LinkWanted,
    Opened(Result<(), &'static str>),
}

pub(super) async fn serve(args: &ServeArgs, steps: Handle) -> Result<ExitCode, Error> {
    if args.team {
        let team = Arc::new(team(steps)?);
        if !team.has_system_users() {
            say_one_user()?;
        }
        return serve_all(args, team, async {}).await;
    }
    let hub = Arc::new(hub(steps)?);
    let socket = args.socket.as_deref().map(listen).transpose()?;
    serve_all(args, Arc::clone(&hub), beside(socket, &hub)).await
}

/// Says that the code of everybody is one user.
fn say_one_user() -> Result<(), Error> {
    let mut errors = Screen::stderr(&Environment::read());
    errors.tell(
        "This server is not root: everybody's code runs as its user, each session in its own \
         sandbox.",
    )?;
    Ok(())
}

/// Serves the page and the API, and whatever is beside them.
async fn serve_all<S: Service>(
    args: &ServeArgs,
    hub: Arc<S>,
    beside: impl Future<Output = ()>,
) -> Result<ExitCode, Error> {
    let mut signals = Signals::new()?;
    let mut wishes = Wishes::new()?;
    let context = context(&Overrides::default())?;
    let provider = if args.team { provider(&context)? } else { None };
    let options = HttpOptions { provider, ..args.options(&context.folders) };
    let (server, mut notices) = HttpServer::bind(options, Arc::clone(&hub)).await?;
    let mut face = Face::new(args, &context, server.doorkeeper());
    let link = face.greet()?;
    let asked = Notify::new();
    let over = async {
        tokio::select! {
            () = asked.notified() => {}
            () = hub.wanted_to_end() => {}
        }
        hub.shut().await;
    };
    let running = async { tokio::join!(server.run(over), beside) };
    tokio::pin!(running);
    let opening = face.open_browser(&link, &context.environment)?;
    tokio::pin!(opening);
    let (mut is_opening, mut is_ending) = (true, false);
    loop {
        let happened = tokio::select! {
            _ = &mut running => Happened::Ended,
            _ = signals.next() => Happened::Asked,
            Some(notice) = notices.recv() => Happened::Notice(notice),
            () = wishes.next() => Happened::LinkWanted,
            opened = &mut opening, if is_opening => Happened::Opened(opened),
        };
        match happened {
            Happened::Ended => return Ok(Exit::Done.into()),
            Happened::Asked if is_ending => return Ok(Exit::CodeFailed.into()),
            Happened::Asked => {
                is_ending = true;
                face.say_stopping()?;
                asked.notify_one();
            }
            Happened::Notice(notice) => face.show(&notice)?,
            Happened::LinkWanted => face.show_link()?,
            Happened::Opened(opened) => {
                is_opening = false;
                face.show_opened(opened)?;
            }
        }
    }
}

/// Serves the socket, if there is one, until every session has ended.
async fn beside(socket: Option<ListeningSocket>, hub: &SessionHub) {
    if let Some(socket) = socket {
        socket.serve(hub).await;
    }
}
