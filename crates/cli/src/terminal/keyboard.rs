//! The keyboard, on a thread of its own: the one door through which a person's keys come in.
//!
//! # Threat
//! A key that a person pressed for something else and that answers a question: pressed before the
//! question was on the screen, typed to a program's fake prompt, held down, or part of a paste.
//!
//! # Mechanism
//! The thread reads the terminal at all times. While nothing is asked, keys become the draft of
//! the next prompt. When something is asked it has been drawn before: the terminal is asked where
//! its cursor is, and its answer comes behind everything that was typed before the question was
//! visible. All of that is draft. Then keys count only once there has been a pause of
//! `PAUSE` (in `desk.rs`); the mark that a person answers behind appears at that moment. An answer is one key
//! that comes alone: several at once are a paste, with or without brackets, and never an answer.
//!
//! Ctrl-C is never lost. It comes as a signal until a line editor has the terminal, and as a key from
//! then on. A signal that is heeded when the editor has it already ends its reading: a flag says so,
//! and a signal that the window has changed makes the editor look at the flag.
//!
//! At the controlling terminal, which other programs of a pipeline or script may read too, a key
//! counts only if it comes while the terminal's modes are still ours; and none counts once another
//! program was seen to read one (`tty.rs`).
//!
//! # Limits
//! A terminal that does not say where its cursor is gives no proof that it has drawn the question;
//! there the pause is longer, and all there is.

use self::desk::Desk;
use super::{
    device::Device,
    picture::Graphics,
    tty::{Quiet, Tty},
};
use interpreter_core::Background;
use reedline::Reedline;
use rustix::{
    event::{EventfdFlags, eventfd},
    fd::OwnedFd,
    process::Signal,
};
use std::{
    future::pending,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
        mpsc,
    },
    thread,
};
use tokio::{
    io::{Interest, unix::AsyncFd},
    sync::{oneshot, watch},
};

mod answers;
mod desk;
mod own_line;

/// The result of waiting for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A line, or the one key that was pressed.
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the terminal is gone.
    Ended,
    /// Ctrl-Z.
    Suspended,
    /// Something else was asked.
    Withdrawn,
    /// Another program reads the terminal.
    Taken,
}

/// Whether what is typed can be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Typing {
    Shown,
    Hidden,
}

enum Request {
    /// A prompt, with the draft in it.
    Prompt { mark: String, reply: oneshot::Sender<Heard> },
    /// A line that answers a question.
    Line { mark: String, typing: Typing, reply: oneshot::Sender<Heard> },
    /// One of these keys.
    Key { mark: String, keys: Vec<char>, reply: oneshot::Sender<Heard> },
    /// The ways to show pictures that the terminal has.
    Graphics { reply: oneshot::Sender<Graphics> },
    /// How bright the terminal's background is.
    Background { reply: oneshot::Sender<Option<Background>> },
    /// Whether typed lines have colours.
    Colours(bool),
    /// Something that wants the terminal as it was.
    Lend { act: Box<dyn FnOnce() + Send>, reply: oneshot::Sender<()> },
    /// Make the terminal quiet again, whatever another program has made of it.
    Hush,
    /// Nothing is asked any more.
    Rest,
    /// The same, and a line editor was told.
    Withdrawn,
    /// Nothing will be.
    Leave,
}

/// Questions that are withdrawn while a line editor may have the terminal.
#[derive(Debug, Default)]
struct Withdrawals {
    /// Whether an editor is to give the terminal back.
    is_wanted: Arc<AtomicBool>,
    /// Those that the thread has not heard of yet.
    open: AtomicU32,
}

impl Withdrawals {
    fn begin(&self) {
        self.open.fetch_add(1, Ordering::SeqCst);
        self.is_wanted.store(true, Ordering::SeqCst);
    }

    /// The thread has heard of one. Another one may have begun since.
    fn end(&self) {
        self.is_wanted.store(false, Ordering::SeqCst);
        if self.open.fetch_sub(1, Ordering::SeqCst) > 1 {
            self.is_wanted.store(true, Ordering::SeqCst);
        }
    }
}

/// The keyboard. The terminal is quiet for as long as it lives.
#[derive(Debug)]
pub(crate) struct Keyboard {
    requests: mpsc::Sender<Request>,
    withdrawals: Arc<Withdrawals>,
    bell: Arc<OwnedFd>,
    drafts: watch::Receiver<String>,
    device: Device,
    /// The thread, if it leaves at once: one with a line editor may not.
    thread: Option<thread::JoinHandle<()>>,
    _quiet: Quiet,
}

impl Keyboard {
    /// Takes the terminal and starts the thread. The editor for prompts is made on it.
    pub(crate) fn start(
        device: &Device,
        is_smart: bool,
        editor: impl FnOnce() -> Reedline + Send + 'static,
    ) -> io::Result<Self> {
        let tty = Arc::new(Tty::find(device.clone(), is_smart)?);
        let quiet = Quiet::begin(Arc::clone(&tty))?;
        let (requests, inbox) = mpsc::channel();
        let bell = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let heard = Arc::clone(&bell);
        let withdrawals = Arc::new(Withdrawals::default());
        let seen = Arc::clone(&withdrawals);
        let (drafted, drafts) = watch::channel(String::new());
        let thread = thread::Builder::new().name("keyboard".into()).spawn(move || {
            Desk::new(inbox, (heard, seen), tty, drafted, editor()).serve();
        })?;
        let thread = device.is_shared().then_some(thread);
        let device = device.clone();
        Ok(Self { requests, withdrawals, bell, drafts, device, thread, _quiet: quiet })
    }

    /// The line that is being typed for the next prompt, whenever it changes while nothing is asked.
    pub(crate) fn drafts(&self) -> watch::Receiver<String> {
        self.drafts.clone()
    }

    /// Waits for a prompt. The mark stands before what is typed.
    pub(crate) async fn prompt(&self, mark: String) -> Heard {
        self.ask(|reply| Request::Prompt { mark, reply }).await
    }

    /// Waits for a line that answers what has just been drawn.
    pub(crate) async fn line(&self, mark: String, typing: Typing) -> Heard {
        self.ask(|reply| Request::Line { mark, typing, reply }).await
    }

    /// Waits for one of these keys, to answer what has just been drawn.
    pub(crate) async fn key(&self, mark: String, keys: Vec<char>) -> Heard {
        self.ask(|reply| Request::Key { mark, keys, reply }).await
    }

    async fn ask(&self, request: impl FnOnce(oneshot::Sender<Heard>) -> Request) -> Heard {
        let (reply, answer) = oneshot::channel();
        self.send(request(reply));
        tokio::select! {
            heard = answer => heard.unwrap_or(Heard::Ended),
            () = self.hang_up() => Heard::Ended,
        }
    }

    /// Waits until the terminal is gone. No signal says so if it is not the controlling one, and the
    /// line editor would read its end for ever.
    async fn hang_up(&self) {
        let Ok(terminal) = self.device.keys().try_clone_to_owned() else { return pending().await };
        let Ok(watched) = watched(terminal) else { return pending().await };
        loop {
            match watched.ready(Interest::PRIORITY).await {
                Ok(ready) if ready.ready().is_read_closed() => return,
                Ok(mut ready) => ready.clear_ready(),
                Err(_) => return pending().await,
            }
        }
    }

    /// Asks the terminal how it can show pictures: once, and within bounds. Nothing else may be
    /// asked meanwhile, and the cursor must be at the beginning of an empty row.
    pub(crate) async fn graphics(&self) -> Graphics {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Graphics { reply });
        answer.await.unwrap_or_default()
    }

    /// Asks the terminal how bright its background is, within bounds. Nothing else may be asked
    /// meanwhile, and the cursor must be at the beginning of an empty row.
    pub(crate) async fn background(&self) -> Option<Background> {
        let (reply, answer) = oneshot::channel();
        self.send(Request::Background { reply });
        answer.await.unwrap_or_default()
    }

    /// Has typed lines drawn with colours, or without.
    pub(crate) fn use_colours(&self, wanted: bool) {
        self.send(Request::Colours(wanted));
    }

    /// Gives the terminal to `act` while it runs.
    pub(crate) async fn lend<T: Send + 'static>(
        &self,
        act: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let (done, result) = oneshot::channel();
        let act = Box::new(move || _ = done.send(act()).is_ok());
        let (reply, over) = oneshot::channel();
        self.send(Request::Lend { act, reply });
        over.await.ok()?;
        result.await.ok()
    }

    /// Nothing is asked any more. Whatever still reads the keys does so no longer.
    pub(crate) fn rest(&self) {
        self.send(Request::Rest);
    }

    /// The same, also if a line editor has the terminal.
    pub(crate) fn withdraw(&self) {
        self.withdrawals.begin();
        self.send(Request::Withdrawn);
        // Where no editor waits, nothing hears it.
        _ = signal_hook::low_level::raise(Signal::WINCH.as_raw()).is_ok();
    }

    /// Makes the terminal quiet again.
    pub(crate) fn hush(&self) {
        self.send(Request::Hush);
    }

    fn send(&self, request: Request) {
        // If the thread is gone, so is the terminal, and whoever waits for an answer sees that.
        _ = self.requests.send(request).is_ok();
        _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes()).is_ok();
    }
}

/// A terminal whose end the runtime watches, and nothing else of it.
#[expect(deprecated, reason = "the new form is `unsafe`, for things whose descriptor may change")]
fn watched(terminal: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(terminal, Interest::PRIORITY)
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        self.send(Request::Leave);
        // Whoever has the terminal next has all of its keys.
        if let Some(thread) = self.thread.take() {
            _ = thread.join().is_ok();
        }
    }
}
