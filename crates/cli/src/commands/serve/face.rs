//! The server as a person sees it: the link, how to stop it, and what happens.
//!
//! A link is a secret until it is used. It goes to the terminal and, in a file that only this user
//! can read, to the browser: everybody on this computer sees the arguments of a program.

use super::ServeArgs;
use crate::{
    report::Error,
    terminal::{json, opener, ours::ours, screen::Screen},
};
use interpreter_agent::Context;
use interpreter_store::{Environment, ResultFiles};
use interpreter_web::http::{Doorkeeper, ServerNotice};
use std::{io, path::PathBuf};

/// The folder of the files that lead browsers to the links of servers.
const FOLDER: &str = "serve";

/// The name of this server's file: another server of the same person has its own.
fn file_name() -> String {
    format!("open-{}.html", std::process::id())
}

/// Shows what happens.
pub(super) struct Face<S> {
    door: Doorkeeper<S>,
    is_json: bool,
    opens: bool,
    logs: bool,
    files: ResultFiles,
    /// The file that was made for a browser.
    made: Option<PathBuf>,
    screen: Screen,
    errors: Screen,
}

impl<S> Face<S> {
    pub(super) fn new(args: &ServeArgs, context: &Context, door: Doorkeeper<S>) -> Self {
        Self {
            door,
            is_json: args.json,
            opens: !args.no_open && !args.json,
            logs: args.log,
            files: ResultFiles::new(&context.folders, FOLDER),
            made: None,
            screen: Screen::stdout(&context.environment),
            errors: Screen::stderr(&context.environment),
        }
    }

    /// Shows the first link and how to stop.
    pub(super) fn greet(&mut self) -> Result<String, Error> {
        let link = self.door.new_link()?;
        if self.is_json {
            let token = self.door.new_token()?;
            let address = self.door.address();
            let told = serde_json::json!({ "url": link, "token": token, "address": address });
            json::print_value(&told)?;
        } else {
            self.screen.say("Open this link within a minute; it works once:")?;
            self.screen.row(&link)?;
            self.screen.say("Enter gives a new link. Ctrl-C stops the server and its sessions.")?;
        }
        Ok(link)
    }

    /// Shows another link.
    pub(super) fn show_link(&mut self) -> Result<(), Error> {
        let link = self.door.new_link()?;
        if self.is_json {
            json::print_value(&serde_json::json!({ "url": link }))?;
        } else {
            self.screen.row(&link)?;
        }
        Ok(())
    }

    /// Opens the browser unless `--no-open` was given.
    pub(super) fn open_browser<'a>(
        &mut self,
        link: &str,
        environment: &'a Environment,
    ) -> Result<impl Future<Output = Result<(), &'static str>> + use<'a, S>, Error> {
        if self.opens {
            // The link is made of our own letters: nothing in it has to be escaped.
            let page = format!(
                "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
                 <meta http-equiv=\"refresh\" content=\"0; url={link}\"><title>Interpreter</title>"
            );
            self.made = self.files.save(&file_name(), page.as_bytes())?;
        }
        let file = self.made.clone();
        Ok(async move {
            match file {
                Some(file) => opener::open(&file, environment).await,
                None => Ok(()),
            }
        })
    }

    /// Shows why no browser opened.
    pub(super) fn show_opened(&mut self, opened: Result<(), &'static str>) -> Result<(), Error> {
        if opened.is_err() {
            self.forget();
            self.screen.say_quietly("No browser could be opened here: open the link yourself.")?;
        }
        Ok(())
    }

    /// Shows what happened on the server.
    pub(super) fn show(&mut self, notice: &ServerNotice) -> Result<(), Error> {
        if self.logs {
            self.errors.lines(&format!("{}\n", serde_json::json!(notice)))?;
        }
        match notice {
            // For the log alone.
            ServerNotice::Request { .. } | ServerNotice::WrongKey { .. } => {}
            ServerNotice::LoggedIn { .. } => {
                self.forget();
                if !self.is_json {
                    self.screen.say_quietly("A browser has logged in.")?;
                }
            }
            ServerNotice::WrongCode { peer } => {
                self.errors.tell(&format!("A wrong, used or old link was tried from {peer}."))?;
            }
            ServerNotice::ManyWrongCodes { peer } => self.errors.tell(&format!(
                "Somebody at {peer} is trying links. More of them are refused without a word."
            ))?,
            ServerNotice::LoginRefused { peer, reason, cause } => {
                let cause = cause.as_ref().map(|cause| format!(": {cause}")).unwrap_or_default();
                self.errors.tell(&format!(
                    "A login through the provider was refused ({reason}), from {peer}{cause}."
                ))?;
            }
            ServerNotice::LeftOut { count } => {
                self.errors.warn(ours("Lines left out of the log: ") + *count)?;
            }
        }
        Ok(())
    }

    pub(super) fn say_stopping(&mut self) -> io::Result<()> {
        if self.is_json {
            return Ok(());
        }
        self.screen.say_quietly("Stopping. Ctrl-C again stops at once.")
    }

    /// Removes the file for the browser: its link is used, or nobody will.
    fn forget(&mut self) {
        if let Some(made) = self.made.take() {
            // If it stays, its link has still been used or is old.
            _ = fs_err::remove_file(made).is_ok();
        }
    }
}

impl<S> Drop for Face<S> {
    fn drop(&mut self) {
        self.forget();
    }
}
