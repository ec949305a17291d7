//! The thread behind the keyboard: it reads the terminal, keeps the draft, and serves one request
//! at a time. [`super`] says why, and in which order.

use super::{
    Heard, Request, Typing, Withdrawals,
    answers::{Answers, Backdrop},
};
use crate::terminal::{
    draft::Draft,
    line_editor::{Careful, in_own_colour, read},
    strokes::{Stroke, Strokes},
    tty::Tty,
};
use crossterm::event as terminal_event;
use reedline::{EditCommand, KeyCode, KeyModifiers, Reedline};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fd::OwnedFd,
};
use std::{
    sync::{Arc, mpsc},
    time::{Duration, Instant},
};
use tokio::sync::watch;

mod about;

/// How long no key may come before the next one counts. Shorter than anybody reads a question.
const PAUSE: Duration = Duration::from_millis(200);

/// The same where the terminal cannot say whether it has drawn the question.
const LONG_PAUSE: Duration = Duration::from_millis(500);

/// The longest time between two looks of a line editor whether it is to give the terminal back. A
/// signal has it look at once.
const LOOK: Duration = Duration::from_hours(1);

/// How long an answer must stay alone.
const ALONE: Duration = Duration::from_millis(5);

/// How long a terminal may take to say where its cursor is, or what it is: one that never did, one
/// that does.
const FIRST_REPORT: Duration = Duration::from_secs(2);
const REPORT: Duration = Duration::from_secs(20);

/// Whether the terminal says where its cursor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reports {
    Unknown,
    Given,
    Never,
}

pub(super) struct Desk {
    inbox: mpsc::Receiver<Request>,
    /// The request that replaced this one.
    next: Option<Request>,
    bell: Arc<OwnedFd>,
    withdrawals: Arc<Withdrawals>,
    pub(super) tty: Arc<Tty>,
    strokes: Strokes,
    draft: Draft,
    reports: Reports,
    /// Answers that the terminal owes us.
    owed: u32,
    answers_of_terminal: Answers,
    background: Backdrop,
    is_gone: bool,
    /// Whether another program reads it.
    is_taken: bool,
    drafted: watch::Sender<String>,
    prompts: Reedline,
    answers: Reedline,
}

/// The reason why a wait ended.
enum Woken {
    Strokes(Vec<Stroke>),
    /// Somebody wants something else.
    Bell,
    /// The time is over.
    Late,
    /// The terminal is gone.
    Gone,
}

/// Something else was asked meanwhile, or there is nobody left to answer.
pub(super) enum Stopped {
    Withdrawn,
    Gone,
}

impl Desk {
    pub(super) fn new(
        inbox: mpsc::Receiver<Request>,
        (bell, withdrawals): (Arc<OwnedFd>, Arc<Withdrawals>),
        tty: Arc<Tty>,
        drafted: watch::Sender<String>,
        prompts: Reedline,
    ) -> Self {
        let attentive = |editor: Reedline| {
            let wanted = Arc::clone(&withdrawals.is_wanted);
            editor.with_break_signal(wanted).with_poll_interval(LOOK)
        };
        let answers = in_own_colour().with_edit_mode(Box::new(Careful::default()));
        let (prompts, answers) = (attentive(prompts), attentive(answers));
        Self {
            inbox,
            next: None,
            bell,
            withdrawals,
            tty,
            strokes: Strokes::default(),
            draft: Draft::default(),
            reports: Reports::Unknown,
            owed: 0,
            answers_of_terminal: Answers::default(),
            background: Backdrop::default(),
            is_gone: false,
            is_taken: false,
            drafted,
            prompts,
            answers,
        }
    }

    pub(super) fn serve(mut self) {
        loop {
            match self.next.take().or_else(|| self.inbox.try_recv().ok()) {
                Some(Request::Leave) => return,
                Some(request) => self.answer(request),
                None => match self.wait(None) {
                    Woken::Strokes(strokes) => {
                        self.keep(&strokes);
                        self.publish();
                    }
                    Woken::Bell | Woken::Late | Woken::Gone => {}
                },
            }
        }
    }

    /// Whoever asked may have left; then nobody hears the answer.
    fn answer(&mut self, request: Request) {
        match request {
            Request::Prompt { mark, reply } => {
                let heard = self.prompt(mark);
                _ = reply.send(self.heard(heard)).is_ok();
            }
            Request::Line { mark, typing, reply } => {
                let heard = self.line(mark, typing);
                _ = reply.send(self.heard(heard)).is_ok();
            }
            Request::Key { mark, keys, reply } => {
                let heard = self.key(&mark, &keys);
                _ = reply.send(self.heard(heard)).is_ok();
            }
            Request::Graphics { reply } => {
                _ = reply.send(self.graphics().unwrap_or_default()).is_ok();
            }
            Request::Background { reply } => {
                _ = reply.send(self.background().unwrap_or_default()).is_ok();
            }
            Request::Colours(wanted) => {
                for editor in [&mut self.prompts, &mut self.answers] {
                    let now = std::mem::replace(editor, Reedline::create());
                    *editor = now.with_ansi_colors(wanted);
                }
            }
            Request::Lend { act, reply } => {
                self.tty.lend(act);
                _ = reply.send(()).is_ok();
            }
            Request::Hush => _ = self.tty.hush().is_ok(),
            Request::Withdrawn => self.withdrawals.end(),
            Request::Rest | Request::Leave => {}
        }
    }

    fn heard(&self, heard: Result<Heard, Stopped>) -> Heard {
        match heard {
            Ok(heard) => heard,
            Err(Stopped::Withdrawn) => Heard::Withdrawn,
            Err(Stopped::Gone) if self.is_taken => Heard::Taken,
            Err(Stopped::Gone) => Heard::Ended,
        }
    }

    /// Shows the line that is being typed to whoever draws.
    fn publish(&self) {
        let line = self.draft.last_line();
        self.drafted.send_if_modified(|shown| {
            let is_new = *shown != line;
            if is_new {
                line.clone_into(shown);
            }
            is_new
        });
    }

    /// If the terminal is gone, the next look at the keyboard says so.
    pub(super) fn show(&self, text: &str) {
        _ = self.tty.device().put(text.as_bytes()).is_ok();
    }

    fn keep(&mut self, strokes: &[Stroke]) {
        for stroke in strokes {
            if *stroke == Stroke::Position {
                self.reports = Reports::Given;
                self.owed = self.owed.saturating_sub(1);
            }
            self.draft.take(stroke);
        }
    }

    /// Waits until a key comes, the bell rings, or it is `until`.
    fn wait(&mut self, until: Option<Instant>) -> Woken {
        self.next = self.next.take().or_else(|| self.inbox.try_recv().ok());
        if self.next.is_some() {
            return Woken::Bell;
        }
        // The rest of what has been begun comes soon, or never.
        let rest = self.strokes.patience().map(|patience| Instant::now() + patience);
        let first = until.into_iter().chain(rest).min();
        match self.wait_until(first) {
            Woken::Late if rest.is_some() && rest == first => {
                Woken::Strokes(vec![self.strokes.give_up()])
            }
            woken @ (Woken::Strokes(_) | Woken::Bell | Woken::Late | Woken::Gone) => woken,
        }
    }

    fn wait_until(&mut self, until: Option<Instant>) -> Woken {
        let tty = Arc::clone(&self.tty);
        let terminal = tty.device().keys();
        let bell = PollFd::new(&*self.bell, PollFlags::IN);
        let keys = PollFd::new(&terminal, PollFlags::IN);
        let mut all = [bell, keys];
        let watched = if self.is_gone { &mut all[..1] } else { &mut all[..] };
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(watched, left.as_ref()) {
            Ok(0) => return Woken::Late,
            Ok(_) => {}
            Err(_) => return Woken::Strokes(Vec::new()),
        }
        let rang = !all[0].revents().is_empty();
        let typed = !all[1].revents().is_empty();
        if typed {
            let mut bytes = [0; 4096];
            match rustix::io::read(terminal, &mut bytes) {
                Ok(0) => self.is_gone = true,
                // It was not meant for us, and the next may not be either.
                Ok(_) if !self.tty.is_held() => (self.is_gone, self.is_taken) = (true, true),
                Ok(count) => {
                    let strokes = self.strokes.feed(&bytes[..count]);
                    self.background.hear(&strokes);
                    return Woken::Strokes(self.answers_of_terminal.taken_from(strokes));
                }
                // There was one, and another program was faster.
                Err(rustix::io::Errno::AGAIN) if tty.device().is_shared() => {
                    (self.is_gone, self.is_taken) = (true, true);
                }
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {
                    return Woken::Strokes(Vec::new());
                }
                Err(_) => self.is_gone = true,
            }
            return Woken::Gone;
        }
        if rang {
            let mut rings = [0; 8];
            _ = rustix::io::read(&self.bell, &mut rings).is_ok();
            // It may have rung for what is being answered.
            self.next = self.inbox.try_recv().ok();
        }
        if self.next.is_some() { Woken::Bell } else { Woken::Strokes(Vec::new()) }
    }

    /// Waits until what was drawn can have been seen, and until no key comes any more. Everything
    /// that was typed meanwhile is draft.
    fn settle(&mut self) -> Result<(), Stopped> {
        if self.is_taken {
            return Err(Stopped::Gone);
        }
        self.wait_for_screen()?;
        self.pause()
    }

    /// Waits until no key comes any more.
    fn pause(&mut self) -> Result<(), Stopped> {
        let pause = if self.reports == Reports::Given { PAUSE } else { LONG_PAUSE };
        loop {
            match self.wait(Some(Instant::now() + pause)) {
                Woken::Strokes(strokes) => self.keep(&strokes),
                Woken::Late => return Ok(()),
                Woken::Bell => return Err(Stopped::Withdrawn),
                Woken::Gone => return Err(Stopped::Gone),
            }
        }
    }

    fn wait_for_screen(&mut self) -> Result<(), Stopped> {
        let patience = match self.reports {
            Reports::Unknown => FIRST_REPORT,
            Reports::Given => REPORT,
            Reports::Never => return Ok(()),
        };
        if !self.tty.is_smart() || self.tty.ask_position().is_err() {
            self.reports = Reports::Never;
            return Ok(());
        }
        self.owed += 1;
        let until = Instant::now() + patience;
        loop {
            match self.wait(Some(until)) {
                Woken::Strokes(strokes) => {
                    self.keep(&strokes);
                    // Answers to earlier questions come first.
                    if self.owed == 0 {
                        return Ok(());
                    }
                }
                Woken::Late => {
                    (self.reports, self.owed) = (Reports::Never, 0);
                    return Ok(());
                }
                Woken::Bell => return Err(Stopped::Withdrawn),
                Woken::Gone => return Err(Stopped::Gone),
            }
        }
    }

    fn key(&mut self, mark: &str, keys: &[char]) -> Result<Heard, Stopped> {
        self.settle()?;
        self.show(mark);
        loop {
            let strokes = self.next_strokes()?;
            if strokes.is_empty() {
                continue;
            }
            if let Some(heard) = self.answer_in(&strokes, keys)? {
                let echo = if let Heard::Text(key) = &heard { key.as_str() } else { "" };
                self.show(&format!("{echo}\n"));
                return Ok(heard);
            }
            self.pause()?;
            let clear = if self.tty.is_smart() { "\r\u{1b}[2K" } else { "\n" };
            self.show(&format!(
                "{clear}{mark}{}",
                reminder(keys, self.tty.device().columns(), mark)
            ));
        }
    }

    /// The answer that these strokes give: one of the keys, if it comes alone.
    fn answer_in(&mut self, strokes: &[Stroke], keys: &[char]) -> Result<Option<Heard>, Stopped> {
        let [stroke] = strokes else {
            let control = [Stroke::Interrupt, Stroke::End, Stroke::Suspend];
            let pressed = strokes.iter().find(|one| control.contains(one));
            let heard = pressed.and_then(|one| pressed_key(one, keys));
            self.keep(strokes);
            return Ok(heard);
        };
        let Some(heard) = pressed_key(stroke, keys) else {
            // A key that means nothing here was meant for nothing else either.
            return Ok(None);
        };
        match self.wait(Some(Instant::now() + ALONE)) {
            Woken::Late => Ok(Some(heard)),
            Woken::Strokes(more) if more.is_empty() => Ok(Some(heard)),
            Woken::Strokes(more) => {
                self.keep(strokes);
                self.keep(&more);
                Ok(None)
            }
            Woken::Bell => Err(Stopped::Withdrawn),
            Woken::Gone => Err(Stopped::Gone),
        }
    }

    fn line(&mut self, mark: String, typing: Typing) -> Result<Heard, Stopped> {
        self.settle()?;
        match typing {
            Typing::Shown if self.tty.device().is_shared() => self.own_line(&mark, Typing::Shown),
            Typing::Shown => {
                self.finish_stroke()?;
                let heard = read(&mut self.answers, &self.tty, mark);
                self.keep_rest();
                Ok(heard)
            }
            Typing::Hidden => {
                // A secret that was typed too early must not stand in the next prompt.
                self.draft = Draft::default();
                self.publish();
                self.own_line(&mark, Typing::Hidden)
            }
        }
    }

    /// Waits until what has been begun is whole: the line editor would take the rest for keys.
    fn finish_stroke(&mut self) -> Result<(), Stopped> {
        while self.strokes.patience().is_some() {
            match self.wait(None) {
                Woken::Strokes(strokes) => self.keep(&strokes),
                Woken::Late => {}
                Woken::Bell => return Err(Stopped::Withdrawn),
                Woken::Gone => return Err(Stopped::Gone),
            }
        }
        Ok(())
    }

    /// Waits for keys, however long that takes.
    pub(super) fn next_strokes(&mut self) -> Result<Vec<Stroke>, Stopped> {
        match self.wait(None) {
            Woken::Strokes(strokes) => Ok(strokes),
            Woken::Late => Ok(Vec::new()),
            Woken::Bell => {
                self.show("\n");
                Err(Stopped::Withdrawn)
            }
            Woken::Gone => Err(Stopped::Gone),
        }
    }

    fn prompt(&mut self, mark: String) -> Result<Heard, Stopped> {
        self.finish_stroke()?;
        let draft = self.draft.give();
        self.publish();
        if !draft.is_empty() {
            self.prompts.run_edit_commands(&[EditCommand::InsertString(draft)]);
        }
        let heard = read(&mut self.prompts, &self.tty, mark);
        self.keep_rest();
        Ok(heard)
    }

    /// Keeps what the line editor has read and not used.
    fn keep_rest(&mut self) {
        while terminal_event::poll(Duration::ZERO).unwrap_or(false) {
            let Ok(event) = terminal_event::read() else { return };
            let stroke = match event {
                terminal_event::Event::Paste(text) => Stroke::Pasted(text),
                terminal_event::Event::Key(key) => match (key.modifiers, key.code) {
                    (KeyModifiers::NONE | KeyModifiers::SHIFT, KeyCode::Char(c)) => {
                        Stroke::Typed(c)
                    }
                    (_, KeyCode::Enter) => Stroke::Enter,
                    (_, KeyCode::Backspace) => Stroke::Backspace,
                    _ => Stroke::Other,
                },
                terminal_event::Event::FocusGained
                | terminal_event::Event::FocusLost
                | terminal_event::Event::Mouse(_)
                | terminal_event::Event::Resize(..) => Stroke::Other,
            };
            self.draft.take(&stroke);
        }
    }
}

/// Says which keys there are, as far as there is room on one row behind the mark.
fn reminder(keys: &[char], columns: usize, mark: &str) -> String {
    let keys: Vec<_> = keys.iter().map(char::to_string).collect();
    let long = format!("(press {}) ", keys.join(", "));
    let short = format!("({}) ", keys.concat());
    let fits = |text: &String| mark.chars().count() + text.chars().count() < columns;
    [long, short].into_iter().find(fits).unwrap_or_default()
}

/// Interprets a key where one of `keys` is expected.
fn pressed_key(stroke: &Stroke, keys: &[char]) -> Option<Heard> {
    match stroke {
        Stroke::Typed(c) => {
            let key = c.to_ascii_lowercase();
            keys.contains(&key).then(|| Heard::Text(key.to_string()))
        }
        Stroke::Interrupt => Some(Heard::Interrupted),
        Stroke::End => Some(Heard::Ended),
        Stroke::Suspend => Some(Heard::Suspended),
        Stroke::Enter
        | Stroke::Backspace
        | Stroke::ClearLine
        | Stroke::Pasted(_)
        | Stroke::Position
        | Stroke::Told(_)
        | Stroke::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reminder_stays_on_its_row() {
        let of = |columns| reminder(&['y', 'n', 'q'], columns, "❚ ? ");
        assert_eq!(of(80), "(press y, n, q) ");
        assert_eq!(of(20), "(ynq) ");
        assert_eq!(of(8), "");
    }
}
